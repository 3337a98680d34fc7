//! A program that does what must not be done, for `stacks.rs`: `faulty CASE BACKEND`.
#![expect(unsafe_code, reason = "calls C, and follows a null pointer on purpose")]

use std::ffi::c_int;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use vt_runtime::thread::{self, Builder, JoinHandle};
use vt_runtime::{Runtime, SpawnError, Stacks};
use vt_tests::Deadline;

unsafe extern "C" {
    /// Recurses until the stack ends, in frames of 48 KiB without stack probes.
    safe fn c_recurse(depth: c_int) -> c_int;
}

fn main() {
    let _deadline = Deadline::after(Duration::from_secs(50));
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().expect("a case");
    let stacks: Stacks = arguments
        .next()
        .and_then(|name| name.parse().ok())
        .expect("a backend");
    match &*case {
        "rust" => on_a_virtual_thread(stacks, || assert_eq!(recurse(0), 0)),
        // vt-lint: allow(native-undeclared) -- overflows on purpose, before it could return
        "c" => on_a_virtual_thread(stacks, || assert_eq!(c_recurse(0), 0)),
        "null" => on_a_virtual_thread(stacks, follow_a_null_pointer),
        "main" => {
            on_a_virtual_thread(stacks, || ());
            assert_eq!(recurse(0), 0);
        }
        "fill" => fill(stacks),
        _ => panic!("no case is called {case}"),
    }
}

/// As the acceptance case has it: the thread holds a lock that must never be seen free or poisoned.
fn on_a_virtual_thread(stacks: Stacks, act: impl FnOnce() + Send + 'static) {
    static LOCK: Mutex<()> = Mutex::new(());
    let runtime = Runtime::builder().stacks(stacks).carriers(1).build();
    let runtime = runtime.expect("a carrier starts");
    let thread = Builder::new().name("deep").stack_size(64 << 10);
    let thread = thread.spawn_in(&runtime, || {
        let _held = LOCK.lock();
        act();
    });
    let ended = thread.expect("spawned").join();
    eprintln!("joined: {}", ended.is_ok());
}

#[expect(unconditional_recursion, reason = "overflows the stack on purpose")]
fn recurse(depth: u64) -> u64 {
    let block = black_box([depth; 32]);
    recurse(depth + 1) + black_box(block)[3]
}

fn follow_a_null_pointer() {
    let null = black_box(std::ptr::null::<u64>());
    // SAFETY: not safe: the fault is the test.
    black_box(unsafe { null.read_volatile() });
}

/// Fills the runtime with parked threads until one is refused; twice.
fn fill(stacks: Stacks) {
    let mut builder = Runtime::builder().stacks(stacks).carriers(2);
    if stacks == Stacks::Dense {
        // Its own limit is the machine's memory, which others need too.
        builder = builder.max_threads(20_000);
    }
    let runtime = builder.build().expect("carriers start");
    let (first, refusal) = park_until_refused(&runtime);
    let (count, peak) = (first.len(), mappings());
    let SpawnError::StackLimit { live, cap, .. } = refusal else {
        panic!("refused for another reason: {refusal}");
    };
    assert_eq!((live, cap), (count, count));
    let text = refusal.to_string();
    assert!(text.contains(&count.to_string()), "{text}");
    let buffer = black_box(vec![1_u8; 64 << 20]);
    let other = std::thread::Builder::new().spawn(move || buffer.len());
    let other = other.expect("another OS thread starts");
    assert_eq!(other.join().expect("it ends"), 64 << 20);
    release(first);
    let (second, _) = park_until_refused(&runtime);
    assert!(
        second.len() * 100 >= count * 99,
        "{} after {count}",
        second.len()
    );
    release(second);
    // A tenth more, or what an allocator takes for one more OS thread.
    let most = (peak + peak / 10).max(peak + 100);
    assert!(mappings() <= most, "{} after {peak}", mappings());
    eprintln!("{count} threads fitted");
}

/// Returns when all of them have a stack.
fn park_until_refused(runtime: &Runtime) -> (Vec<JoinHandle<()>>, SpawnError) {
    let started = Arc::new(AtomicUsize::new(0));
    let mut parked = Vec::new();
    let refusal = loop {
        let counted = Arc::clone(&started);
        let thread = Builder::new().stack_size(1).spawn_in(runtime, move || {
            counted.fetch_add(1, Ordering::SeqCst);
            thread::park();
        });
        match thread {
            Ok(thread) => parked.push(thread),
            Err(refusal) => break refusal,
        }
    };
    while started.load(Ordering::SeqCst) < parked.len() {
        std::thread::yield_now();
    }
    (parked, refusal)
}

fn release(parked: Vec<JoinHandle<()>>) {
    for thread in &parked {
        thread.thread().unpark();
    }
    for thread in parked {
        thread.join().expect("it ends well");
    }
}

fn mappings() -> usize {
    let maps = std::fs::read("/proc/self/maps").expect("procfs is mounted");
    maps.iter().filter(|&&byte| byte == b'\n').count()
}
