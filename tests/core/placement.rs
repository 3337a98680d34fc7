//! Where threads come to live: spread over the carriers, and never where they cannot run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use vt_runtime::thread::{self, Builder};
use vt_runtime::{Runtime, Stacks, pinned};
use vt_tests::{BACKENDS, Deadline, Gate};

/// Connections that stay.
const CONNECTIONS: usize = 1000;

/// A quiet machine shows halves, within a slack of 16. On a busy one a carrier may lack a core for long, and the other
/// takes what comes meanwhile; without placement the figures are 1 and 999.
fn are_spread(stacks: Stacks, homes: [usize; 2]) {
    assert_eq!(homes[0] + homes[1], CONNECTIONS);
    assert!(homes.iter().all(|&home| home >= 100), "{stacks}: {homes:?}");
}

#[test]
fn connections_that_come_slowly_and_stay_are_spread() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(2).build();
        let runtime = runtime.expect("carriers start");
        let homes: Arc<[AtomicUsize; 2]> = Arc::default();
        let turns: Arc<[AtomicUsize; 2]> = Arc::default();
        let (all_homes, all_turns) = (Arc::clone(&homes), Arc::clone(&turns));
        let acceptor = Builder::new().carrier(0).spawn_in(&runtime, move || {
            let connections: Vec<_> = (0..CONNECTIONS)
                .map(|_| {
                    let (homes, turns) = (Arc::clone(&all_homes), Arc::clone(&all_turns));
                    let here = Gate::new();
                    let arrived = here.clone();
                    let connection = thread::spawn(move || {
                        let home = thread::current_carrier().expect("a virtual thread");
                        homes[home].fetch_add(1, Ordering::SeqCst);
                        arrived.open();
                        // Idle until the load comes, which is all of them at once.
                        thread::park();
                        for _request in 0..10 {
                            turns[home].fetch_add(1, Ordering::SeqCst);
                            thread::yield_now();
                        }
                    });
                    // The next one comes when this one is served.
                    here.pass();
                    connection
                })
                .collect();
            for connection in &connections {
                connection.thread().unpark();
            }
            for connection in connections {
                connection.join().expect("no panic");
            }
        });
        acceptor.expect("spawned").join().expect("no panic");
        let homes = [0, 1].map(|carrier| homes[carrier].load(Ordering::SeqCst));
        let turns = [0, 1].map(|carrier| turns[carrier].load(Ordering::SeqCst));
        println!("{stacks}: homes {homes:?}, turns under load {turns:?}");
        are_spread(stacks, homes);
    }
}

#[test]
fn threads_that_come_slowly_from_outside_are_spread() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(2).build();
        let runtime = runtime.expect("carriers start");
        let homes: Arc<[AtomicUsize; 2]> = Arc::default();
        let threads: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                let homes = Arc::clone(&homes);
                let here = Gate::new();
                let arrived = here.clone();
                let thread = runtime.spawn(move || {
                    let home = thread::current_carrier().expect("a virtual thread");
                    homes[home].fetch_add(1, Ordering::SeqCst);
                    arrived.open();
                    thread::park();
                });
                here.pass();
                thread
            })
            .collect();
        let homes = [0, 1].map(|carrier| homes[carrier].load(Ordering::SeqCst));
        println!("{stacks}: homes {homes:?}");
        are_spread(stacks, homes);
        for thread in threads {
            thread.thread().unpark();
            thread.join().expect("no panic");
        }
    }
}

#[test]
fn nothing_is_placed_on_a_pinned_carrier_while_another_can_take_it() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(2).build();
        let runtime = runtime.expect("carriers start");
        let (inside, leave) = (Gate::new(), Gate::new());
        let (entered, left) = (inside.clone(), leave.clone());
        let pinned = Builder::new().carrier(1).spawn_in(&runtime, move || {
            // Spawned here before the pin: others must rescue it.
            let child = thread::spawn(thread::current_carrier);
            pinned::critical("test", || {
                entered.open();
                while !left.is_open() {
                    thread::park();
                }
            });
            child.join().expect("no panic")
        });
        let pinned = pinned.expect("spawned");
        inside.pass();
        let threads: Vec<_> = (0..50)
            .map(|_| runtime.spawn(thread::current_carrier))
            .collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no panic"), Some(0), "{stacks}");
        }
        leave.open();
        pinned.thread().unpark();
        assert_eq!(
            pinned.join().expect("no panic"),
            Some(0),
            "{stacks}: rescued"
        );
    }
}
