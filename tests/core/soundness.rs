//! The one class of hole of virtual threads that keep their OS thread: code that assumes last-in-first-out nesting on
//! it. Each test shows one of the two known forms, as far as it can be seen without following a bad reference, and its
//! cure. The lint finds both: `park-in-thread-local-init` and `scoped-tls-across-park`.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use vt_runtime::{Runtime, pinned, thread};
use vt_tests::{BACKENDS, Deadline};

/// Lets neighbours run so often; a new thread begins within eight turns.
fn turns(count: u32) {
    (0..count).for_each(|_| thread::yield_now());
}

/// Values that were dropped.
static DROPPED: AtomicUsize = AtomicUsize::new(0);
/// Initialisers that began.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// The case under way: values of earlier ones are dropped when their carriers end.
static CASE: AtomicUsize = AtomicUsize::new(0);

struct Value {
    case: usize,
}

impl Value {
    /// The first one gives way in the middle, as one that reads a file would.
    fn new() -> Self {
        if BEGUN.fetch_add(1, Ordering::SeqCst) == 0 {
            turns(100);
        }
        Self {
            case: CASE.load(Ordering::SeqCst),
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        if self.case == CASE.load(Ordering::SeqCst) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
}

thread_local! {
    // vt-lint: allow(park-in-thread-local-init) -- the test shows what the rule is there for
    static LAZY: Value = Value::new();
}

/// How many values were dropped while a neighbour had one borrowed.
fn dropped_under_a_borrow(runtime: &Runtime, first: fn()) -> usize {
    CASE.fetch_add(1, Ordering::SeqCst);
    BEGUN.store(0, Ordering::SeqCst);
    DROPPED.store(0, Ordering::SeqCst);
    runtime.run(|| {
        let one = thread::spawn(first);
        let other = thread::spawn(|| {
            LAZY.with(|_borrowed| {
                // The first one goes on meanwhile.
                turns(300);
                DROPPED.load(Ordering::SeqCst)
            })
        });
        one.join().expect("no panic");
        other.join().expect("no panic")
    })
}

#[test]
fn a_thread_local_initialiser_that_waits_drops_a_neighbours_borrowed_value() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = || {
            Runtime::builder()
                .stacks(stacks)
                .carriers(1)
                .build()
                .expect("a carrier")
        };
        // Each on a carrier of its own, where nobody has initialised the cell.
        let hole = dropped_under_a_borrow(&runtime(), || LAZY.with(|_| ()));
        assert_eq!(hole, 1, "std drops what the neighbour has borrowed");
        let cured = dropped_under_a_borrow(&runtime(), || {
            pinned::critical("LAZY's initialiser", || LAZY.with(|_| ()));
        });
        assert_eq!(cured, 0, "nobody runs in between");
    }
}

thread_local! {
    static SCOPED: Cell<*const u32> = const { Cell::new(std::ptr::null()) };
}

/// What crates with scoped thread-locals do: a pointer is there while `f` runs, then the one from before.
fn with_scoped<R>(value: &u32, f: impl FnOnce() -> R) -> R {
    let before = SCOPED.replace(value);
    let result = f();
    SCOPED.set(before);
    result
}

/// Opens two scopes of which the first ends first; is a pointer left behind when both have ended?
fn a_pointer_is_left(runtime: &Runtime, enter: fn(&dyn Fn())) -> bool {
    runtime.run(|| {
        let first = thread::spawn(move || {
            let value = 1;
            enter(&|| with_scoped(&value, || turns(100)));
        });
        let second = thread::spawn(move || {
            let value = 2;
            enter(&|| with_scoped(&value, || turns(300)));
        });
        first.join().expect("no panic");
        second.join().expect("no panic");
        // Of a frame that is gone: only its address is looked at.
        !SCOPED.get().is_null()
    })
}

#[test]
fn scoped_pointers_of_two_threads_end_in_the_wrong_order() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = || {
            Runtime::builder()
                .stacks(stacks)
                .carriers(1)
                .build()
                .expect("a carrier")
        };
        assert!(
            a_pointer_is_left(&runtime(), |scope| scope()),
            "into a stack that is gone"
        );
        let cured = a_pointer_is_left(&runtime(), |scope| pinned::critical("scope", scope));
        assert!(!cured, "no scope is open while another one begins");
    }
}
