//! Values whose type only giver and taker know, kept in place if they are small: what a thread is to do, and what it
//! leaves. Spawning a thread so allocates nothing for the common closure and result.
//!
//! **Invariant (whole):** from its making to the one call that takes it or drops it, a room holds a value of the
//! type that its function was made for: the value itself if it [fits](fits), else a box of it.
#![expect(
    unsafe_code,
    reason = "keeps values of forgotten type in place instead of in boxes"
)]

use std::mem::{ManuallyDrop, MaybeUninit};

/// Words of a closure that is kept in place.
const BODY_WORDS: usize = 8;
/// Words of a result that is kept in place.
const PARCEL_WORDS: usize = 3;

/// Memory for one small value. Whole words, so that no byte of it is padding, which moves would not keep.
struct Room<const WORDS: usize>(MaybeUninit<[usize; WORDS]>);

/// Does a `V` lie in the room itself?
const fn fits<V, const WORDS: usize>() -> bool {
    size_of::<V>() <= size_of::<[usize; WORDS]>() && align_of::<V>() <= align_of::<usize>()
}

impl<const WORDS: usize> Room<WORDS> {
    fn holding<V>(value: V) -> Self {
        let mut room = MaybeUninit::<[usize; WORDS]>::uninit();
        if fits::<V, WORDS>() {
            // SAFETY: it fits, in size and in alignment.
            unsafe { room.as_mut_ptr().cast::<V>().write(value) };
        } else {
            // SAFETY: a box is one word, and a room has at least one.
            unsafe { room.as_mut_ptr().cast::<Box<V>>().write(Box::new(value)) };
        }
        Self(room)
    }

    /// Takes the value out.
    ///
    /// # Safety
    ///
    /// The room was made by `holding` with a `V`, and this is the last use of its contents.
    unsafe fn take<V>(&self) -> V {
        if fits::<V, WORDS>() {
            // SAFETY: the caller's promise, and `holding` put it there.
            unsafe { self.0.as_ptr().cast::<V>().read() }
        } else {
            // SAFETY: as above.
            *unsafe { self.0.as_ptr().cast::<Box<V>>().read() }
        }
    }
}

/// What a thread does: a closure that is run once, on any OS thread.
pub(crate) struct Body {
    room: Room<BODY_WORDS>,
    /// Takes the closure out and runs or drops it.
    act: unsafe fn(&Room<BODY_WORDS>, Act),
}

#[derive(Clone, Copy)]
enum Act {
    Run,
    Drop,
}

// SAFETY: made only of closures that are `Send`.
unsafe impl Send for Body {}

impl Body {
    /// A closure that may borrow.
    ///
    /// # Safety
    ///
    /// The body is run or dropped before what the closure borrows ends.
    pub(crate) unsafe fn lent<F: FnOnce() + Send>(closure: F) -> Self {
        unsafe fn act<F: FnOnce()>(room: &Room<BODY_WORDS>, act: Act) {
            // SAFETY: "whole": the room of this body holds an `F`, and its one taker calls this.
            let closure = unsafe { room.take::<F>() };
            match act {
                Act::Run => closure(),
                Act::Drop => drop(closure),
            }
        }
        Self {
            room: Room::holding(closure),
            act: act::<F>,
        }
    }

    /// Runs the closure.
    pub(crate) fn run(self) {
        let body = ManuallyDrop::new(self);
        // SAFETY: "whole": neither a second `run` nor `drop` follows.
        unsafe { (body.act)(&body.room, Act::Run) };
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        // SAFETY: "whole": `run` forgets the body, so this is the one taker.
        unsafe { (self.act)(&self.room, Act::Drop) };
    }
}

/// What a thread leaves: a value for whoever knows its type.
pub(crate) struct Parcel {
    room: Room<PARCEL_WORDS>,
    /// Takes the value out and drops it.
    end: unsafe fn(&Room<PARCEL_WORDS>),
}

// SAFETY: made only of values that are `Send`.
unsafe impl Send for Parcel {}

impl Parcel {
    /// A value that may borrow.
    ///
    /// # Safety
    ///
    /// The parcel is taken or dropped before what the value borrows ends, or never.
    pub(crate) unsafe fn lent<V: Send>(value: V) -> Self {
        unsafe fn end<V>(room: &Room<PARCEL_WORDS>) {
            // SAFETY: "whole": the room of this parcel holds a `V`, and its one taker calls this.
            drop(unsafe { room.take::<V>() });
        }
        Self {
            room: Room::holding(value),
            end: end::<V>,
        }
    }

    /// Takes the value out.
    ///
    /// # Safety
    ///
    /// It is a `V`.
    pub(crate) unsafe fn open<V>(self) -> V {
        let parcel = ManuallyDrop::new(self);
        // SAFETY: the caller's promise; by "whole" nobody takes it after this.
        unsafe { parcel.room.take::<V>() }
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        // SAFETY: "whole": `open` forgets the parcel, so this is the one taker.
        unsafe { (self.end)(&self.room) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A closure of `V` runs once, and one that is not run drops what it holds once.
    fn a_body_holds<V: Send + Sync + Clone + PartialEq + std::fmt::Debug + 'static>(value: V) {
        let (sent, received) = std::sync::mpsc::channel();
        let owned = Arc::new(value.clone());
        let held = Arc::clone(&owned);
        // SAFETY: borrows nothing.
        let body = unsafe { Body::lent(move || sent.send((value, held)).expect("a receiver")) };
        let moved = Box::new(body);
        moved.run();
        let (back, held) = received.recv().expect("it ran");
        assert_eq!(back, *held);
        drop(held);
        let held = Arc::clone(&owned);
        // SAFETY: borrows nothing.
        drop(unsafe { Body::lent(move || drop((held, back))) });
        assert_eq!(Arc::strong_count(&owned), 1);
    }

    #[test]
    fn small_and_large_closures_run_once_or_are_dropped() {
        a_body_holds(());
        a_body_holds(7_u8);
        a_body_holds(String::from("a word or three"));
        a_body_holds([9_u64; 40]);
        a_body_holds(u128::MAX);
    }

    #[test]
    fn small_and_large_values_come_out_whole_or_are_dropped() {
        let owned = Arc::new(());
        // SAFETY: borrows nothing.
        let parcel = unsafe { Parcel::lent(Arc::clone(&owned)) };
        // SAFETY: it is one.
        let back: Arc<()> = unsafe { parcel.open() };
        assert!(Arc::ptr_eq(&owned, &back));
        // SAFETY: borrows nothing.
        drop(unsafe { Parcel::lent((back, [1_u128; 4])) });
        assert_eq!(Arc::strong_count(&owned), 1);
        // SAFETY: borrows nothing.
        let parcel = unsafe { Parcel::lent([5_u8; 100]) };
        // SAFETY: it is that array.
        assert_eq!(unsafe { parcel.open::<[u8; 100]>() }, [5; 100]);
    }
}
