//! `#[native]`: a declared foreign call with what its declaration says about it.

use std::panic::Location;

use crate::event::{PinReason, Subject};
use crate::native;
use crate::pinned::PinGuard;

/// What a declaration says about its foreign function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeClass {
    /// Nothing.
    Unknown,
    /// It waits in the kernel: spare carriers may stand in meanwhile.
    Blocking,
    /// It computes.
    Computing,
    /// It returns at once.
    Quick,
}

/// Runs `call`, which makes the foreign call known in events as `label`.
#[track_caller]
pub fn native_call<T>(label: &'static str, class: NativeClass, call: impl FnOnce() -> T) -> T {
    let at = Location::caller();
    match class {
        // No clocks: an up-call that waits is still pinned, and the watchdog sees a quick call that is not.
        NativeClass::Quick => {
            let subject = Subject {
                kind: "native",
                name: Some(label),
                id: 0,
            };
            let _pin = PinGuard::enter(PinReason::Native, at, subject);
            call()
        }
        NativeClass::Blocking => native::call_blocking_at(label, at, call),
        NativeClass::Unknown | NativeClass::Computing => native::call_at(label, at, call),
    }
}
