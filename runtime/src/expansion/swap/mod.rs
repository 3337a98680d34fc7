//! Which lock becomes which under `#[park_safe]`.
//!
//! The macro sees names and no types, so it asks: it writes `<Mutex<T> as Swap>::To`, and an implementation
//! here answers for the type that the name really stands for. **Invariant:** `To` has the methods, the shapes
//! and the poisoning of what it replaces; what it does not have is a compile error that names the method.
//! A type that is already park-aware answers with itself, so an item may mix both.

mod parking_lot;
mod std;

/// A lock, or a guard or result of one, that has a park-aware counterpart.
#[diagnostic::on_unimplemented(
    message = "`park_safe` does not know `{Self}`",
    label = "named like a lock that `park_safe` swaps, but it is not std's, parking_lot's or vt_runtime's",
    note = "it swaps `Mutex`, `RwLock`, `Condvar` and their guards of std and parking_lot, std's `Barrier`, `Once`, `OnceLock` \
            and `LazyLock`, parking_lot's `ReentrantMutex`, and with `monitor = \"reentrant\"` the runtime's `Monitor`",
    note = "parking_lot's are those of version 0.13, and with the feature `parking_lot_0_12` of `vt-runtime` those of 0.12",
    note = "if it never blocks a carrier, leave it as it is: `#[vt_runtime::park_safe(skip(NAME))]`"
)]
pub trait Swap {
    /// The park-aware type.
    type To: ?Sized;
}

/// Answers for each type on the left with the park-aware one of the same shape on the right.
macro_rules! swap {
    ($([$($generics:tt)*] $from:ty => $to:ty;)+) => {
        $(
            #[diagnostic::do_not_recommend]
            impl<$($generics)*> $crate::expansion::swap::Swap for $from {
                type To = $to;
            }
        )+
    };
}
use swap;
