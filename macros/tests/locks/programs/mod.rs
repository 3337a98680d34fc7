//! One program for each type of lock, as it is (`plain`) and under the attribute (`swapped`).
//!
//! What a program adds up does not depend on the order in which its threads run, but on every lock doing its
//! work: numbers are read and written in two steps, with a pause between.

/// Compiles each program twice.
macro_rules! programs {
    ($family:ident $($lock:ident [$($argument:tt)*] { $($items:tt)* })+) => {
        pub(crate) mod $family {
            pub(crate) mod plain {
                $(pub(crate) mod $lock { $($items)* })+
            }

            pub(crate) mod swapped {
                $(#[vt_runtime::park_safe($($argument)*)] pub(crate) mod $lock { $($items)* })+
            }
        }
    };
}

/// What each program uses.
mod prelude {
    pub(crate) use std::cell::Cell;
    pub(crate) use std::sync::Arc;
    pub(crate) use std::sync::atomic::AtomicU64;
    pub(crate) use std::sync::atomic::Ordering::Relaxed;

    pub(crate) use crate::drive::{Driven, Gate, THREADS, next};

    pub(crate) const STEPS: usize = 100;

    /// Adds in two steps: whom the lock does not keep out comes between them.
    pub(crate) fn add(total: &AtomicU64, number: u64, pause: fn()) {
        let before = total.load(Relaxed);
        pause();
        total.store(before + number, Relaxed);
    }
}

mod parking_lots;
mod stds;

pub(crate) use parking_lots::{parking_lot, parking_lot_0_12};
pub(crate) use stds::std;
