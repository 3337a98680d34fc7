//! A program that does what one process can do only once, for `stacks.rs` and `core/`: `faulty CASE BACKEND`.
#![expect(unsafe_code, reason = "calls C, and follows a null pointer on purpose")]

use std::ffi::c_int;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use vt_runtime::thread::{self, Builder, JoinHandle};
use vt_runtime::{BuildError, Runtime, SpawnError, Stacks};
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
        "address-space" => fill_address_space(stacks),
        "carriers" => too_many_carriers(stacks),
        "memory" => memory(stacks),
        "exit" => exit_inside(stacks),
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

/// Under a limit on address space: the refusal says so, and all goes on when there is room again.
fn fill_address_space(stacks: Stacks) {
    let builder = Runtime::builder().stacks(stacks).carriers(2);
    let runtime = builder.max_threads(1_000_000).build();
    let runtime = runtime.expect("carriers start");
    let ballast = ballast();
    let (threads, refusal) = park_until_refused(&runtime);
    drop(ballast);
    let SpawnError::StackLimit {
        live,
        error: Some(_),
        ..
    } = &refusal
    else {
        panic!("refused for another reason: {refusal}");
    };
    assert!(*live >= threads.len(), "{refusal}");
    assert!(refusal.to_string().contains(&live.to_string()), "{refusal}");
    eprintln!("{} threads, then: {refusal}", threads.len());
    release(threads);
    // Idle stacks serve threads of their size.
    let again = Builder::new().stack_size(1).spawn_in(&runtime, || 1);
    let again = again.expect("there are idle stacks");
    assert_eq!(again.join().expect("no panic"), 1);
}

/// Address space for what must still be allocated when a limit is reached: std aborts where an allocation fails.
fn ballast() -> Vec<u8> {
    black_box(Vec::with_capacity(128 << 20))
}

/// Under a limit on address space, which OS threads' stacks need too.
fn too_many_carriers(stacks: Stacks) {
    let builder = || Runtime::builder().stacks(stacks);
    let ballast = ballast();
    let refused = builder()
        .carriers(64)
        .build()
        .expect_err("no room for their stacks");
    drop(ballast);
    eprintln!("{refused}");
    let BuildError::Carrier { started, .. } = &refused else {
        panic!("refused for another reason: {refused}");
    };
    assert!(
        refused.to_string().contains(&format!("({started} live)")),
        "{refused}"
    );
    // The carriers that had started end, and make room.
    let answer = loop {
        let runtime = builder().carriers(1).build().ok();
        let thread = runtime.and_then(|runtime| Builder::new().spawn_in(&runtime, || 1).ok());
        match thread.map(JoinHandle::join) {
            Some(Ok(answer)) => break answer,
            _still_full => std::thread::yield_now(),
        }
    };
    assert_eq!(answer, 1);
}

/// How much memory parked threads take, and that it is given back.
fn memory(stacks: Stacks) {
    const THREADS: usize = 10_000;
    let runtime = Runtime::builder().stacks(stacks).carriers(2).build();
    let runtime = runtime.expect("carriers start");
    runtime.run(|| ());
    let before = resident();
    let gate = vt_tests::Gate::new();
    let parked: Vec<_> = (0..THREADS)
        .map(|_| {
            let gate = gate.clone();
            runtime.spawn(move || {
                while !gate.is_open() {
                    thread::park();
                }
            })
        })
        .collect();
    let all_wait = || {
        let waits = |info: &thread::ThreadInfo| info.waits_for.is_some();
        runtime.threads().iter().filter(|info| waits(info)).count() == THREADS
    };
    while !all_wait() {
        std::thread::yield_now();
    }
    let full = resident();
    let each = (full - before) as f64 / THREADS as f64;
    eprintln!("{each:.2} KiB for each parked thread");
    // Unoptimised frames are larger, and the last dump is in here as well; the generator backend needs two pages.
    let most = if stacks == Stacks::Dense { 6.0 } else { 14.0 };
    assert!(each < most, "{each} KiB");
    gate.open();
    release(parked);
    // About a second later.
    while resident() > before + (full - before) / 2 {
        std::thread::yield_now();
    }
    eprintln!("{} KiB, then {full} KiB, then {} KiB", before, resident());
}

/// Resident memory, in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number
        .and_then(|text| text.parse().ok())
        .expect("a number of KiB")
}

/// Ends the process inside a thread, with others parked, pinned and running.
fn exit_inside(stacks: Stacks) {
    let runtime = Runtime::builder().stacks(stacks).carriers(3).build();
    let runtime = runtime.expect("carriers start");
    let parked = runtime.spawn(|| {
        loop {
            thread::park();
        }
    });
    let pinned = Builder::new().carrier(1).spawn_in(&runtime, || {
        vt_runtime::pinned::critical("for ever", || {
            loop {
                thread::park();
            }
        });
    });
    let exits = Builder::new().carrier(0).spawn_in(&runtime, || {
        thread::yield_now();
        std::process::exit(7);
    });
    let _: Result<(), _> = exits.expect("spawned").join();
    drop((parked, pinned));
    panic!("the process has ended by now");
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
