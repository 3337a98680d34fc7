//! What a spawn and a parked thread cost in memory.

use vt_runtime::thread::{self, JoinHandle};
use vt_runtime::{Runtime, Stacks};
use vt_tests::{BACKENDS, Deadline};

use crate::counting::allocations;
use crate::in_a_program;

/// Fewer than a deque's first buffer holds.
const BATCH: usize = 32;

fn spawn_and_join(handles: &mut Vec<JoinHandle<u64>>, spawn: impl Fn(u64) -> JoinHandle<u64>) {
    handles.extend((0..BATCH as u64).map(spawn));
    let sum: u64 = handles
        .drain(..)
        .map(|handle| handle.join().expect("no panic"))
        .sum();
    assert_eq!(sum, (BATCH * (BATCH - 1) / 2) as u64);
}

#[test]
fn a_virtual_thread_spawns_runs_and_joins_others_without_an_allocation() {
    let _deadline = Deadline::standard();
    let runtime = Runtime::builder().stacks(Stacks::Dense).carriers(1).build();
    let runtime = runtime.expect("a carrier starts");
    // All on one OS thread, which so counts the spawns, the starts, the ends and the joins.
    let allocated = runtime.run(|| {
        let mut handles = Vec::with_capacity(BATCH);
        let spawn = |number| thread::spawn(move || number);
        (0..4).for_each(|_warming_up| spawn_and_join(&mut handles, spawn));
        let before = allocations();
        (0..20).for_each(|_| spawn_and_join(&mut handles, spawn));
        allocations() - before
    });
    assert_eq!(allocated, 0, "in {} spawns", 20 * BATCH);
}

#[test]
fn an_os_thread_allocates_for_its_queue_only() {
    let _deadline = Deadline::standard();
    let runtime = Runtime::builder().stacks(Stacks::Dense).carriers(1).build();
    let runtime = runtime.expect("a carrier starts");
    let mut handles = Vec::with_capacity(BATCH);
    let spawn = |number| runtime.spawn(move || number);
    (0..20).for_each(|_warming_up| spawn_and_join(&mut handles, spawn));
    let before = allocations();
    (0..40).for_each(|_| spawn_and_join(&mut handles, spawn));
    let allocated = allocations() - before;
    // The queue has blocks of 63. A record that its carrier lets go after its joiner stays with the carrier.
    assert!(
        allocated <= 20 * BATCH as u64,
        "{allocated} in {} spawns",
        40 * BATCH
    );
}

#[test]
fn large_closures_and_results_are_whole_too() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(2).build();
        let runtime = runtime.expect("carriers start");
        let large = [7_u64; 200];
        let handle = runtime.spawn(move || {
            let _aligned = u128::MAX;
            large.map(|word| u128::from(word) * 2)
        });
        assert_eq!(handle.join().expect("no panic"), [14_u128; 200]);
    }
}

#[test]
fn a_parked_thread_is_little_more_than_a_page_and_a_burst_is_given_back() {
    let _deadline = Deadline::after(std::time::Duration::from_secs(120));
    for stacks in BACKENDS {
        let (output, said) = in_a_program("memory", stacks, None);
        assert!(output.status.success(), "{said}");
    }
}

#[test]
fn what_std_has_right_for_virtual_threads_is_found_under_its_name() {
    let _deadline = Deadline::standard();
    struct Looks(std::sync::mpsc::Sender<bool>);
    impl Drop for Looks {
        fn drop(&mut self) {
            self.0.send(thread::panicking()).expect("the test listens");
        }
    }
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(1).build();
        let runtime = runtime.expect("carriers start");
        let (tells, told) = std::sync::mpsc::channel();
        let looks = Looks(tells);
        let unwinds = runtime.spawn(move || {
            let _looks = looks;
            assert!(!thread::panicking());
            std::panic::resume_unwind(Box::new("away"))
        });
        let ended: thread::Result<()> = unwinds.join();
        assert!(ended.is_err());
        assert!(told.recv().expect("it was dropped"), "while it unwinds");
        assert!(
            !runtime.run(thread::panicking),
            "nor after it, on its carrier"
        );
        assert!(thread::available_parallelism().is_ok());
    }
}
