//! May the mounted virtual thread unmount? The stack of its pins, and the public [`pinned`](self) helpers.
//!
//! **Invariant (one owner):** a virtual thread with a pin stays mounted until its last pin is gone, so at most one
//! thread of a carrier has pins and the stack can live in thread-locals of the carrier. Only
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

/// So many pins lie in place; more are rare.
const IN_PLACE: usize = 4;

thread_local! {
    /// How many pins there are.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The first of them, the outermost first. Without a destructor, as the depth: what each monitor does needs no check
    /// whether they are still there.
    static PINS: [Cell<Pin>; IN_PLACE] = const { [const { Cell::new(NO_PIN) }; IN_PLACE] };
    /// The others.
    static MORE: RefCell<Vec<Pin>> = const { RefCell::new(Vec::new()) };
    /// Foreign calls among them. Without a destructor, so that a signal handler may read it.
    static DECLARED: Cell<u32> = const { Cell::new(0) };
}

/// What an empty place holds.
const NO_PIN: Pin = Pin {
    reason: PinReason::Unwinding,
    at: None,
    subject: None,
};

impl Pin {
    #[inline]
    fn is(&self, reason: PinReason, subject_id: u64) -> bool {
        self.reason == reason && self.subject.map_or(0, |subject| subject.id) == subject_id
    }
}

/// Pins the calling virtual thread once more; does nothing on a plain OS thread.
#[inline]
pub(crate) fn enter(reason: PinReason, at: &'static Location<'static>, subject: Option<Subject>) {
    if current::id() == 0 {
        return;
    }
    if reason == PinReason::Native {
        DECLARED.set(DECLARED.get() + 1);
    }
    push(Pin {
        reason,
        at: Some(at),
        subject,
    });
}

#[inline]
fn push(pin: Pin) {
    let depth = DEPTH.get();
    PINS.with(|pins| match pins.get(depth) {
        Some(place) => place.set(pin),
        None => push_more(pin),
    });
    DEPTH.set(depth + 1);
}

#[cold]
fn push_more(pin: Pin) {
    MORE.with(|more| more.borrow_mut().push(pin));
}

/// Takes one pin of that reason and subject back, the latest first.
#[inline]
pub(crate) fn exit(reason: PinReason, subject_id: u64) {
    if current::id() == 0 {
        return;
    }
    let last = DEPTH.get().wrapping_sub(1);
    let is_last = |pins: &[Cell<Pin>; IN_PLACE]| {
        let place = pins.get(last);
        place.is_some_and(|place| place.get().is(reason, subject_id))
    };
    if PINS.with(is_last) {
        DEPTH.set(last);
        count_out(reason);
    } else {
        exit_any(reason, subject_id);
    }
}

#[inline]
fn count_out(reason: PinReason) {
    if reason == PinReason::Native {
        DECLARED.set(DECLARED.get() - 1);
    }
}

#[cold]
fn exit_any(reason: PinReason, subject_id: u64) {
    let mut pins = take_all();
    if let Some(index) = pins.iter().rposition(|pin| pin.is(reason, subject_id)) {
        pins.remove(index);
        count_out(reason);
    }
    put_back(pins);
}

fn take_all() -> Vec<Pin> {
    let mut all: Vec<Pin> = PINS.with(|pins| pins.iter().map(Cell::get).collect());
    all.truncate(DEPTH.replace(0));
    MORE.with(|more| all.append(&mut more.borrow_mut()));
    all
}

/// Takes all pins of that reason (never [`PinReason::Native`]) and subject back, to be put back with [`put_back`].
pub(crate) fn take(reason: PinReason, subject_id: u64) -> Vec<Pin> {
    let (taken, left) = take_all()
        .into_iter()
        .partition(|pin| pin.is(reason, subject_id));
    put_back(left);
    taken
}

/// Pins the calling virtual thread again as it was before [`take`].
pub(crate) fn put_back(taken: Vec<Pin>) {
    taken.into_iter().for_each(push);
}

/// Is the calling virtual thread pinned? False on a plain OS thread.
pub(crate) fn is_pinned() -> bool {
    current::id() != 0 && (DEPTH.get() != 0 || std::thread::panicking())
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
    let depth = DEPTH.get();
    let held = (depth != 0).then(|| Effective {
        outermost: PINS.with(|pins| pins[0].get()),
        depth: u32::try_from(depth).unwrap_or(u32::MAX),
        native: innermost_native().and_then(|subject| subject.name),
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

fn innermost_native() -> Option<Subject> {
    if !is_held_by_native() {
        return None;
    }
    let native = |pin: &Pin| pin.reason == PinReason::Native;
    let in_more = MORE.with(|more| more.borrow().iter().copied().rfind(native));
    let innermost = in_more.or_else(|| {
        let depth = DEPTH.get().min(IN_PLACE);
        PINS.with(|pins| pins[..depth].iter().map(Cell::get).rfind(native))
    });
    innermost?.subject
}

/// Carrier: the thread has ended; returns what it leaked.
pub(crate) fn take_leaked() -> Vec<Pin> {
    DECLARED.set(0);
    if DEPTH.get() == 0 {
        return Vec::new();
    }
    take_all()
}
