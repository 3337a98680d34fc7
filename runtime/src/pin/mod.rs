//! May the mounted virtual thread unmount? The stack of its pins, and the public [`pinned`](self) helpers.
//!
//! **Invariant (one owner):** a virtual thread with a pin stays mounted until its last pin is gone, so at most one
//! thread of a carrier has pins and the stack can live in a thread-local of the carrier. Only
//! `Monitor::wait` gives a pin back in the middle, and it does so before it waits.
//!
//! **Invariant (balance):** each `enter` has one `exit`, in any order; what a thread leaks is reported at its
//! end, never carried over to the next one.

pub mod native;
pub mod pinned;
pub(crate) mod watch;

use std::cell::{Cell, RefCell};
use std::panic::Location;

use crate::current;
use crate::event::{PinReason, Subject};

/// One reason why the mounted thread cannot unmount.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pin {
    pub(crate) reason: PinReason,
    pub(crate) at: Option<&'static Location<'static>>,
    pub(crate) subject: Option<Subject>,
}

/// What a pinned wait reports about its pins: the outermost, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effective {
    pub(crate) outermost: Pin,
    pub(crate) depth: u32,
    /// Label of the innermost foreign call on the stack.
    pub(crate) native: Option<&'static str>,
}

thread_local! {
    static PINS: RefCell<Vec<Pin>> = const { RefCell::new(Vec::new()) };
    /// Foreign calls among them. Without a destructor, so that a signal handler may read it.
    static DECLARED: Cell<u32> = const { Cell::new(0) };
}

/// Pins the calling virtual thread once more; does nothing on a plain OS thread.
pub(crate) fn enter(reason: PinReason, at: &'static Location<'static>, subject: Option<Subject>) {
    if current::id() != 0 {
        if reason == PinReason::Native {
            DECLARED.set(DECLARED.get() + 1);
        }
        PINS.with(|pins| {
            pins.borrow_mut().push(Pin {
                reason,
                at: Some(at),
                subject,
            })
        });
    }
}

/// Takes one pin of that reason and subject back, the latest first.
pub(crate) fn exit(reason: PinReason, subject_id: u64) {
    if current::id() != 0 {
        PINS.with(|pins| {
            let mut pins = pins.borrow_mut();
            let same =
                |pin: &Pin| pin.reason == reason && pin.subject.map_or(0, |s| s.id) == subject_id;
            if let Some(index) = pins.iter().rposition(same) {
                if reason == PinReason::Native {
                    DECLARED.set(DECLARED.get() - 1);
                }
                pins.remove(index);
            }
        });
    }
}

/// Takes all pins of that reason (never [`PinReason::Native`]) and subject back, to be put back with [`put_back`].
pub(crate) fn take(reason: PinReason, subject_id: u64) -> Vec<Pin> {
    let is_it =
        |pin: &mut Pin| pin.reason == reason && pin.subject.map_or(0, |s| s.id) == subject_id;
    PINS.with(|pins| pins.borrow_mut().extract_if(.., is_it).collect())
}

/// Pins the calling virtual thread again as it was before [`take`].
pub(crate) fn put_back(taken: Vec<Pin>) {
    PINS.with(|pins| pins.borrow_mut().extend(taken));
}

/// Is the calling virtual thread pinned? False on a plain OS thread.
pub(crate) fn is_pinned() -> bool {
    current::id() != 0 && (PINS.with(|pins| !pins.borrow().is_empty()) || std::thread::panicking())
}

/// Is a declared foreign call on the calling thread's stack?
pub(crate) fn is_held_by_native() -> bool {
    DECLARED.get() != 0
}

/// What keeps the calling virtual thread mounted.
pub(crate) fn effective() -> Option<Effective> {
    if !is_pinned() {
        return None;
    }
    let held = PINS.with(|pins| {
        let pins = pins.borrow();
        let outermost = *pins.first()?;
        let native = pins
            .iter()
            .rev()
            .find(|pin| pin.reason == PinReason::Native);
        Some(Effective {
            outermost,
            depth: u32::try_from(pins.len()).unwrap_or(u32::MAX),
            native: native
                .and_then(|pin| pin.subject)
                .and_then(|subject| subject.name),
        })
    });
    // While a panic unwinds the panic count belongs to this thread: unmounting would lend it to a neighbour.
    held.or_else(|| {
        std::thread::panicking().then_some(Effective {
            outermost: Pin {
                reason: PinReason::Unwinding,
                at: None,
                subject: None,
            },
            depth: 1,
            native: None,
        })
    })
}

/// Carrier: the thread has ended; returns what it leaked.
pub(crate) fn take_leaked() -> Vec<Pin> {
    DECLARED.set(0);
    PINS.with(|pins| std::mem::take(&mut *pins.borrow_mut()))
}
