//! Spare carriers while declared regions block the regular ones.

use std::sync::mpsc::{self, Receiver, Sender};

use vt_runtime::event::{Compensation, Event};
use vt_runtime::thread::JoinHandle;
use vt_runtime::{Runtime, Stacks, blocking_in_place, pinned, thread};

use super::{events, until, within_limit};

fn runtime(stacks: Stacks, carriers: usize, most: usize) -> Runtime {
    Runtime::builder()
        .stacks(stacks)
        .carriers(carriers)
        .max_carriers(most)
        .build()
        .expect("carriers can be started")
}

/// A virtual thread in a region, until the sender is dropped; returns when it is there.
fn in_region(runtime: &Runtime) -> (JoinHandle<()>, Sender<()>) {
    let (release, released) = mpsc::channel();
    let (inside, is_inside): (Sender<()>, Receiver<()>) = mpsc::channel();
    let handle = runtime.spawn(move || {
        blocking_in_place(move || {
            inside.send(()).expect("the test listens");
            released.recv().expect_err("the test lets go");
        });
    });
    is_inside.recv().expect("it runs");
    (handle, release)
}

fn compensations(runtime: &Runtime) -> (Vec<Compensation>, Vec<Compensation>) {
    let (mut made, mut refused) = (Vec::new(), Vec::new());
    for event in events(runtime) {
        match event {
            Event::CarrierCompensated(compensation) => made.push(compensation),
            Event::CompensationExhausted(compensation) => refused.push(compensation),
            _ => {}
        }
    }
    (made, refused)
}

/// The cap is kept, said once, and what it held back runs when a carrier comes free; then all works again.
#[test]
fn a_spare_stands_in_up_to_the_cap_and_again_after_it() {
    for stacks in [Stacks::Dense, Stacks::Generator] {
        within_limit(|| {
            let runtime = runtime(stacks, 1, 2);
            let (first, release_first) = in_region(&runtime);
            runtime.spawn(|| ()).join().expect("a spare runs it");
            let (made, refused) = compensations(&runtime);
            assert_eq!((made.len(), refused.len()), (1, 0), "{made:?} {refused:?}");
            assert_eq!((made[0].live, made[0].max), (2, 2));
            assert_eq!(&*made[0].reason, "blocking_in_place");
            let (second, release_second) = in_region(&runtime);
            let waiting: Vec<_> = (0..20).map(|_| runtime.spawn(|| ())).collect();
            let (made, refused) = compensations(&runtime);
            assert_eq!((made.len(), refused.len()), (1, 1), "{made:?} {refused:?}");
            assert_eq!(&*refused[0].cause, "cap");
            assert_eq!((refused[0].live, refused[0].max), (2, 2));
            assert!(waiting.iter().all(|handle| !handle.is_finished()));
            drop((release_first, release_second));
            for handle in waiting.into_iter().chain([first, second]) {
                handle.join().expect("no panic");
            }
            let (third, release_third) = in_region(&runtime);
            runtime.spawn(|| ()).join().expect("the spare is there");
            drop(release_third);
            third.join().expect("no panic");
            assert_eq!(runtime.metrics().carriers, 2);
        });
    }
}

#[test]
fn no_spare_while_a_regular_carrier_is_free() {
    within_limit(|| {
        let runtime = runtime(Stacks::default(), 2, 4);
        let (first, release) = in_region(&runtime);
        for _ in 0..50 {
            runtime.spawn(|| ()).join().expect("the other runs it");
        }
        assert_eq!(runtime.metrics().carriers, 2);
        drop(release);
        first.join().expect("no panic");
    });
}

#[test]
fn work_spawned_before_the_region_is_rescued() {
    within_limit(|| {
        let runtime = runtime(Stacks::default(), 1, 2);
        let done = runtime.run(|| {
            let child = thread::spawn(|| 5);
            // Nothing can unmount here, and the only carrier is this one.
            blocking_in_place(|| until(|| child.is_finished()));
            child.join().expect("no panic")
        });
        assert_eq!(done, 5);
    });
}

#[test]
fn a_spare_leaves_new_work_to_the_regular_carrier_when_that_is_free() {
    within_limit(|| {
        let runtime = runtime(Stacks::default(), 1, 2);
        let (first, release) = in_region(&runtime);
        let on = runtime.spawn(thread::current_carrier).join();
        assert_eq!(on.expect("no panic"), Some(1));
        drop(release);
        first.join().expect("no panic");
        until(|| {
            let on = runtime.spawn(thread::current_carrier).join();
            on.expect("no panic") == Some(0)
        });
        for _ in 0..50 {
            let on = runtime.spawn(thread::current_carrier).join();
            assert_eq!(on.expect("no panic"), Some(0));
        }
    });
}

#[vt_runtime::native(blocking)]
fn foreign_wait(inside: &Sender<()>, released: &Receiver<()>) {
    inside.send(()).expect("the test listens");
    released.recv().expect_err("the test lets go");
}

#[test]
fn a_foreign_call_declared_to_block_is_compensated() {
    within_limit(|| {
        let runtime = runtime(Stacks::default(), 1, 2);
        let ((release, released), (inside, is_inside)) = (mpsc::channel(), mpsc::channel());
        let calls = runtime.spawn(move || foreign_wait(&inside, &released));
        is_inside.recv().expect("it runs");
        runtime.spawn(|| ()).join().expect("a spare runs it");
        let (made, _) = compensations(&runtime);
        assert_eq!(&*made[0].reason, "foreign_wait");
        drop(release);
        calls.join().expect("no panic");
    });
}

#[test]
fn pins_are_compensated_only_where_asked_for() {
    within_limit(|| {
        let builder = Runtime::builder().carriers(1).max_carriers(2);
        let runtime = builder
            .compensate_pinned(true)
            .build()
            .expect("carriers can be started");
        let sleeper = runtime.spawn(|| pinned::critical("parks", thread::park));
        runtime.spawn(|| ()).join().expect("the spare runs it");
        sleeper.thread().unpark();
        sleeper.join().expect("no panic");
        let (made, _) = compensations(&runtime);
        assert!(made.iter().all(|made| &*made.reason == "pinned"));
    });
}
