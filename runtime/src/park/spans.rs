//! `tracing` spans follow their virtual thread: they are left before an unmount and entered again after.
//!
//! The current-span stack of a subscriber is a thread-local of the carrier. Left alone, a neighbour's events
//! would land in the spans of the thread that was mounted before it. Runs on the virtual thread's own stack,
//! outside mount and unmount, and costs one look at the dispatcher where no span is entered, and next to nothing where the
//! program never set one.

use tracing::{Dispatch, dispatcher, span};

use crate::current;

/// More spans than this are left entered: a stack that deep is a leak of entered spans.
const MOST: usize = 64;

/// Spans that were left.
pub(super) type Left = Option<(Dispatch, Vec<span::Id>)>;

/// Leaves the spans that the calling thread has entered, before it unmounts.
#[inline(always)]
pub(super) fn leave() -> Left {
    // Without a subscriber there are no spans, and a switch is quicker than the look for them.
    if may_be_entered() { leave_all() } else { None }
}

/// Enters them again.
#[inline(always)]
pub(super) fn enter_again(left: Left) {
    if let Some(left) = left {
        enter_all(left);
    }
}

#[cold]
fn enter_all((dispatch, left): (Dispatch, Vec<span::Id>)) {
    current::as_os_thread(|| left.iter().rev().for_each(|id| dispatch.enter(id)));
}

/// Could the calling thread have entered spans?
#[inline]
pub(super) fn may_be_entered() -> bool {
    dispatcher::has_been_set()
}

/// Leaves the entered spans; `None` if there are none.
#[cold]
fn leave_all() -> Left {
    // A subscriber that waits in turn must not take the wait that is under way for its own.
    current::as_os_thread(|| dispatcher::get_default(leave_in))
}

fn leave_in(dispatch: &Dispatch) -> Left {
    let mut left = Vec::new();
    while left.len() < MOST {
        let current = dispatch.current_span();
        let Some(id) = current.id().filter(|id| left.last() != Some(*id)) else {
            break;
        };
        dispatch.exit(id);
        left.push(id.clone());
    }
    (!left.is_empty()).then(|| (dispatch.clone(), left))
}

/// The number of the innermost span of the calling thread.
pub(super) fn innermost() -> Option<u64> {
    dispatcher::get_default(|dispatch| dispatch.current_span().id().map(span::Id::into_u64))
}
