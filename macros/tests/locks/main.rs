//! Every lock that `park_safe` swaps, before and after: the same results, and no more pins.
//!
//! `programs` holds one program for each type of lock, compiled twice, as it is and under the attribute. Here each
//! pair runs the same seeded stress on OS threads and, swapped, on virtual ones; and a virtual thread waits for
//! a lock that is held elsewhere, which keeps the carrier before and gives it away after.

mod drive;
mod programs;

/// The tests of one pair of programs.
macro_rules! compare {
    ($family:ident $($lock:ident)+) => {mod $family {$(
        mod $lock {
            use crate::drive;
            use crate::programs::$family as programs;

            #[test]
            fn os_threads_end_with_the_same() {
                let expected = drive::os_threads::<programs::plain::$lock::Program>();
                assert_eq!(drive::os_threads::<programs::swapped::$lock::Program>(), expected);
            }

            #[test]
            fn virtual_threads_end_with_the_same_and_do_not_pin() {
                let expected = drive::os_threads::<programs::plain::$lock::Program>();
                assert_eq!(drive::virtual_threads::<programs::swapped::$lock::Program>(), expected);
            }

            #[test]
            fn a_wait_keeps_the_carrier_before() {
                drive::wait_that_pins::<programs::plain::$lock::Program>();
            }

            #[test]
            fn a_wait_gives_the_carrier_away_after() {
                drive::wait_that_parks::<programs::swapped::$lock::Program>();
            }
        }
    )+}};
}

compare!(std mutex rw_lock condvar barrier once once_lock lazy_lock monitor);
compare!(parking_lot mutex rw_lock condvar reentrant_mutex);
compare!(parking_lot_0_12 mutex rw_lock condvar reentrant_mutex);
