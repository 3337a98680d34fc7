//! The end of a scope before its time: every subtask is interrupted or never begins, whenever it was forked.

use std::sync::Arc;

use crate::task::scope::CancelReason;
use crate::task::scope::cancellation::Cancellation;
use crate::thread::VirtualThread;
use crate::{Thread, model, on};

/// A subtask that would wait for ever. A cancel that misses it shows as a deadlock.
fn subtask(scope: &Arc<Cancellation>, id: u64) -> Thread {
    let scope = Arc::clone(scope);
    on(None, move || {
        let me = VirtualThread::new(id);
        if let Ok(member) = scope.enroll(me.clone()) {
            me.until_interrupted();
            assert_eq!(scope.reason(), Some(CancelReason));
            drop(member);
        }
    })
}

#[test]
fn a_cancel_reaches_every_subtask() {
    model(2, 0, || {
        let scope = Cancellation::inside(None);
        let cancels = Arc::clone(&scope);
        vec![
            subtask(&scope, 1),
            subtask(&scope, 2),
            on(None, move || assert!(cancels.cancel(&CancelReason))),
        ]
    });
}

#[test]
fn a_cancel_reaches_a_scope_that_is_being_opened_inside() {
    model(2, 0, || {
        let outer = Cancellation::inside(None);
        let cancels = Arc::clone(&outer);
        vec![
            on(None, move || {
                let inner = Cancellation::inside(Some(&outer));
                let me = VirtualThread::new(1);
                if let Ok(member) = inner.enroll(me.clone()) {
                    me.until_interrupted();
                    drop(member);
                }
                assert_eq!(inner.reason(), Some(CancelReason));
            }),
            on(None, move || assert!(cancels.cancel(&CancelReason))),
        ]
    });
}

#[test]
fn one_of_two_cancels_counts() {
    model(2, 0, || {
        let scope = Cancellation::inside(None);
        let (one, two) = (Arc::clone(&scope), Arc::clone(&scope));
        vec![
            subtask(&scope, 1),
            on(None, move || {
                one.cancel(&CancelReason);
            }),
            on(None, move || {
                two.cancel(&CancelReason);
                assert!(!two.cancel(&CancelReason));
            }),
        ]
    });
}
