//! `threads()`: everybody who lives, with what they wait for, while others come and go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use vt_runtime::Runtime;
use vt_runtime::sync::ReentrantLock;
use vt_runtime::thread::{self, Builder, ThreadState};
use vt_tests::{BACKENDS, Deadline, Gate};

#[test]
fn everybody_is_listed_while_others_come_and_go() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(2).build();
        let runtime = runtime.expect("carriers start");
        let stay: Vec<_> = (0..3000).map(|_| runtime.spawn(thread::park)).collect();
        let is_over = Arc::new(AtomicBool::new(false));
        let (churns, over) = (runtime.clone(), Arc::clone(&is_over));
        let churn = runtime.spawn(move || {
            while !over.load(Ordering::SeqCst) {
                let few: Vec<_> = (0..20).map(|_| churns.spawn(thread::yield_now)).collect();
                few.into_iter()
                    .for_each(|thread| thread.join().expect("no panic"));
            }
        });
        for _ in 0..5 {
            let listed = runtime.threads();
            assert!(
                listed.is_sorted_by(|one, next| one.id < next.id),
                "each once, by id"
            );
            let ids: Vec<_> = listed.iter().map(|info| info.id).collect();
            for thread in &stay {
                assert!(
                    ids.binary_search(&thread.thread().id()).is_ok(),
                    "{thread:?}"
                );
            }
        }
        is_over.store(true, Ordering::SeqCst);
        churn.join().expect("no panic");
        for thread in stay {
            thread.thread().unpark();
            thread.join().expect("no panic");
        }
        assert!(runtime.threads().is_empty());
    }
}

#[test]
fn a_waiter_is_listed_with_the_lock_and_its_owner() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(1).build();
        let runtime = runtime.expect("a carrier starts");
        let lock = Arc::new(ReentrantLock::named("ledger", ()));
        let (held, release) = (Gate::new(), Gate::new());
        let (taken, wanted, open, let_go) = (
            Arc::clone(&lock),
            Arc::clone(&lock),
            held.clone(),
            release.clone(),
        );
        let owner = Builder::new().name("owner").spawn_in(&runtime, move || {
            let _guard = taken.lock();
            open.open();
            let_go.pass();
        });
        let owner = owner.expect("spawned");
        held.pass();
        let waiter = Builder::new()
            .name("waiter")
            .spawn_in(&runtime, move || drop(wanted.lock()));
        let waiter = waiter.expect("spawned");
        let info = loop {
            let listed = runtime.threads();
            let info = listed
                .into_iter()
                .find(|info| info.id == waiter.thread().id());
            match info.filter(|info| info.waits_owner.is_some()) {
                Some(info) => break info,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!(info.state, ThreadState::Waiting);
        assert_eq!(info.carrier, Some(0));
        assert!(
            info.waits_for
                .as_ref()
                .is_some_and(|text| text.contains("ledger")),
            "{info:?}"
        );
        assert_eq!(info.waits_owner, Some(owner.thread().id().as_u64()));
        assert!(info.since.is_some() && info.stack_used > 0, "{info:?}");
        release.open();
        owner.join().expect("no panic");
        waiter.join().expect("no panic");
    }
}

#[test]
fn a_thread_is_called_by_its_number_and_shown_in_the_jdks_manner() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(1).build();
        let runtime = runtime.expect("a carrier starts");
        let plain = runtime.spawn(|| thread::current().to_string());
        let id = plain.thread().id();
        let shown = plain.join().expect("no panic");
        let number = id.to_string().parse::<u64>().expect("a number");
        let expected = format!("VirtualThread[#{id},vt-{}]/runnable@carrier-0", number - 1);
        assert_eq!(shown, expected, "{stacks}");
        let named = Builder::new()
            .name("ledger")
            .spawn_in(&runtime, || thread::current().to_string());
        let named = named.expect("spawned");
        let id = named.thread().id();
        let shown = named.join().expect("no panic");
        assert_eq!(
            shown,
            format!("VirtualThread[#{id},ledger]/runnable@carrier-0"),
            "{stacks}"
        );
    }
}
