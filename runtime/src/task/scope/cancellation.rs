//! The end of a scope before its time: once, with a reason, seen by all.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use super::CancelReason;
use crate::primitive::constant::Mutex;
use crate::thread::VirtualThread;

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct Cancellation {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    reason: Option<CancelReason>,
    /// Subtasks that have begun and not ended.
    members: BTreeMap<u64, VirtualThread>,
    /// Scopes opened by members.
    inner: Vec<Weak<Cancellation>>,
}

/// A subtask that has begun; ends when dropped.
pub(crate) struct Member {
    cancellation: Arc<Cancellation>,
    id: u64,
}

impl Cancellation {
    /// One that is cancelled with `outer`, the one of the subtask that opens the scope.
    pub(crate) fn inside(outer: Option<&Arc<Self>>) -> Arc<Self> {
        let inner = Arc::new(Self::default());
        if let Some(outer) = outer {
            let mut state = outer.state.lock();
            match state.reason.clone() {
                Some(reason) => {
                    drop(state);
                    inner.cancel(&reason);
                }
                None => {
                    state.inner.retain(|inner| inner.strong_count() > 0);
                    state.inner.push(Arc::downgrade(&inner));
                }
            }
        }
        inner
    }

    /// The first call counts; true for it.
    pub(crate) fn cancel(&self, reason: &CancelReason) -> bool {
        let (members, inner) = {
            let mut state = self.state.lock();
            if state.reason.is_some() {
                return false;
            }
            state.reason = Some(reason.clone());
            (
                std::mem::take(&mut state.members),
                std::mem::take(&mut state.inner),
            )
        };
        for member in members.into_values() {
            member.interrupt();
        }
        for inner in inner {
            if let Some(inner) = inner.upgrade() {
                inner.cancel(reason);
            }
        }
        true
    }

    pub(crate) fn reason(&self) -> Option<CancelReason> {
        self.state.lock().reason.clone()
    }

    /// A subtask begins, unless the scope was cancelled: then it must not, and learns why.
    ///
    /// Either `cancel` comes first and is seen here, or this comes first and `cancel` finds the member.
    pub(crate) fn enroll(self: &Arc<Self>, thread: VirtualThread) -> Result<Member, CancelReason> {
        let mut state = self.state.lock();
        match state.reason.clone() {
            Some(reason) => Err(reason),
            None => {
                let id = thread.id().as_u64();
                state.members.insert(id, thread);
                Ok(Member {
                    cancellation: Arc::clone(self),
                    id,
                })
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.cancellation.state.lock().members.remove(&self.id);
    }
}
