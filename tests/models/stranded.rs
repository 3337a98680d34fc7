//! The wake rule's hard shape: a waiter is woken while it could run, and then its carrier pins before it is
//! mounted, for what only the next waiter can do. Two carriers, two locks, a pin between wake and mount.

use std::sync::Arc;

use crate::channels::{buffer, receive};
use crate::locks::{Guarded, guarded, hold};
use crate::notices::Counter;
use crate::permits::semaphore;
use crate::sync::Semaphore;
use crate::{Thread, model, on, park};

/// What the threads of the shape share.
#[derive(Clone)]
struct Shape {
    guarded: Guarded,
    permits: Arc<Semaphore>,
    /// The first waiter is about to wait. It lives on carrier 0, so who waits for this goes on when it has unmounted.
    begin: Arc<Semaphore>,
    mark: Arc<Semaphore>,
}

impl Shape {
    fn new(fair: bool) -> Self {
        Self {
            guarded: guarded(fair),
            permits: semaphore(0),
            begin: semaphore(0),
            mark: semaphore(0),
        }
    }

    /// A thread of carrier 0 has the lock while the first waiter comes, gives it back, and waits, pinned, for the
    /// mark of whoever has it next.
    fn unlocks_and_pins(&self) -> Thread {
        let shape = self.clone();
        on(0, move || {
            let held = hold(&shape.guarded);
            shape.begin.acquire().forget();
            drop(held);
            park::pinned(|| shape.mark.acquire().forget());
        })
    }

    fn locks(&self, home: usize) -> Thread {
        let shape = self.clone();
        on(home, move || {
            if home == 0 {
                shape.begin.add_permits(1);
            }
            drop(hold(&shape.guarded));
            shape.mark.add_permits(1);
        })
    }

    /// The same with a permit instead of a lock.
    fn releases_and_pins(&self) -> Thread {
        let shape = self.clone();
        on(0, move || {
            shape.begin.acquire().forget();
            shape.permits.add_permits(1);
            park::pinned(|| shape.mark.acquire().forget());
            // For the one that was passed over.
            shape.permits.add_permits(1);
        })
    }

    fn acquires(&self, home: usize) -> Thread {
        let shape = self.clone();
        on(home, move || {
            if home == 0 {
                shape.begin.add_permits(1);
            }
            shape.permits.acquire().forget();
            shape.mark.add_permits(1);
        })
    }
}

/// What comes once for each of the two waiters: a message, or a notice.
#[derive(Clone, Copy)]
enum Comes {
    Message,
    Notice,
}

impl Comes {
    /// Its waiters and its bringer, in the hard shape.
    fn threads(self) -> Vec<Thread> {
        let (begin, mark) = (semaphore(0), semaphore(0));
        let buffer = buffer(None);
        let counter = Counter::new();
        let (sends, adds) = (Arc::clone(&buffer), Arc::clone(&counter));
        let bring = move || match self {
            Self::Message => sends.try_send(()).expect("no limit"),
            Self::Notice => adds.add(),
        };
        let (started, marked) = (Arc::clone(&begin), Arc::clone(&mark));
        let mut threads = vec![on(0, move || {
            started.acquire().forget();
            bring();
            park::pinned(|| marked.acquire().forget());
            // For the one that was passed over.
            bring();
        })];
        threads.extend([0, 1].map(|home| {
            let (begin, mark) = (Arc::clone(&begin), Arc::clone(&mark));
            let (buffer, counter) = (Arc::clone(&buffer), Arc::clone(&counter));
            on(home, move || {
                if home == 0 {
                    begin.add_permits(1);
                }
                match self {
                    Self::Message => assert!(receive(&buffer).is_some()),
                    Self::Notice => counter.take(),
                }
                mark.add_permits(1);
            })
        }));
        threads
    }
}

#[test]
fn a_message_goes_past_a_waiter_that_is_stranded_after_its_wake() {
    model(1, 2, || Comes::Message.threads());
}

#[test]
fn a_notice_goes_past_a_waiter_that_is_stranded_after_its_wake() {
    model(1, 2, || Comes::Notice.threads());
}

#[test]
fn a_lock_goes_past_a_waiter_that_is_stranded_after_its_wake() {
    for fair in [false, true] {
        model(1, 2, move || {
            let shape = Shape::new(fair);
            vec![shape.unlocks_and_pins(), shape.locks(0), shape.locks(1)]
        });
    }
}

#[test]
fn a_permit_goes_past_a_waiter_that_is_stranded_after_its_wake() {
    model(1, 2, || {
        let shape = Shape::new(false);
        vec![
            shape.releases_and_pins(),
            shape.acquires(0),
            shape.acquires(1),
        ]
    });
}

/// Set in the process whose model is to hang.
const CHILD: &str = "VT_TESTS_MODEL_HANGS";

/// Loom ends a model that hangs inside its threads' destructors, which ends the process: so it has one of its own.
#[test]
fn without_revoking_the_model_finds_the_hang() {
    if std::env::var_os(CHILD).is_some() {
        return model(1, 2, || {
            park::never_revoke();
            let shape = Shape::new(false);
            vec![shape.unlocks_and_pins(), shape.locks(0), shape.locks(1)]
        });
    }
    let child = std::process::Command::new(std::env::current_exe().expect("a path"))
        .args(["without_revoking_the_model_finds_the_hang", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(
        !child.status.success() && text.contains("deadlock; threads"),
        "{text}"
    );
}
