//! The operating system starts no further thread: work for the offload pool is done all the same.
//!
//! In a process of its own, since the limit is the process'.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use vt_runtime::event::Event;
use vt_runtime::{Runtime, blocking, thread};

use super::{events, in_its_own_process, until, within_limit};

/// Leaves so little of the address space that no stack of an OS thread fits; gives back what the limit was, and what keeps
/// the stacks that the C library had left over from threads that ended.
fn allow_no_thread() -> (Rlimit, Sender<()>) {
    let before = getrlimit(Resource::As);
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let used: u64 = status
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmSize:")?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .expect("a size in KiB");
    let limit = Rlimit {
        current: Some((used + 1024) * 1024),
        ..before
    };
    setrlimit(Resource::As, limit).expect("lower is allowed");
    let (keeps, kept) = channel();
    let kept = Arc::new(Mutex::new(kept));
    let occupies = || {
        let kept = Arc::clone(&kept);
        // They end when the sender is dropped.
        std::thread::Builder::new().spawn(move || drop(kept.lock().map(|kept| kept.recv())))
    };
    let left_over = (0..100).take_while(|_| occupies().is_ok()).count();
    assert!(left_over < 100, "the limit does not hold");
    (before, keeps)
}

/// Fifty threads send work away; returns the sum of what the work gave, and where each piece ran.
fn fifty(runtime: &Runtime) -> (u32, Vec<bool>) {
    let (mut sum, mut on_virtual) = (0, Vec::new());
    let threads: Vec<_> = (0..50_u32)
        .map(|number| runtime.spawn(move || blocking(move || (number, thread::is_virtual()))))
        .collect();
    for thread in threads {
        let (number, is_virtual) = thread.join().expect("no panic");
        sum += number;
        on_virtual.push(is_virtual);
    }
    (sum, on_virtual)
}

#[test]
fn no_work_is_lost_when_no_thread_can_be_started() {
    const CHILD: &str = "VT_TEST_REFUSED";
    match std::env::var(CHILD).as_deref() {
        Ok("none") => return within_limit(without_any_thread),
        Ok("one") => return within_limit(with_one_thread),
        _ => {}
    }
    for case in ["none", "one"] {
        let test = "refused::no_work_is_lost_when_no_thread_can_be_started";
        in_its_own_process(test, &[(CHILD, case)]);
    }
}

fn runtime() -> Runtime {
    let runtime = Runtime::builder()
        .carriers(2)
        .build()
        .expect("carriers can be started");
    // The stacks are there before the limit is.
    let all: Vec<_> = (0..50).map(|_| runtime.spawn(thread::yield_now)).collect();
    all.into_iter()
        .for_each(|one| one.join().expect("no panic"));
    // So is the kill timer, and what events need.
    drop(events(&runtime));
    runtime
}

/// In place then, declared as a region that blocks, for which no spare carrier can be started either.
fn without_any_thread() {
    let runtime = runtime();
    let (before, _keeps) = allow_no_thread();
    let (sum, on_virtual) = fifty(&runtime);
    setrlimit(Resource::As, before).expect("it was so before");
    assert_eq!(sum, 1225);
    assert!(on_virtual.iter().all(|&is_virtual| is_virtual));
    assert_eq!(runtime.metrics().offload.threads, 0);
    let exhausted = |event: &Event| matches!(event, Event::CompensationExhausted(_));
    let spare = events(&runtime).into_iter().find(exhausted);
    if let Some(Event::CompensationExhausted(refused)) = spare {
        assert!(["os", "cap"].contains(&&*refused.cause), "{refused:?}");
    }
    // The refusal is no lasting state.
    let (sum, on_virtual) = fifty(&runtime);
    assert_eq!(sum, 1225);
    assert!(on_virtual.iter().all(|&is_virtual| !is_virtual));
}

/// What the pool took in, its only thread does.
fn with_one_thread() {
    let runtime = runtime();
    runtime.run(|| blocking(|| ()));
    until(|| runtime.metrics().offload.idle == 1);
    let (before, _keeps) = allow_no_thread();
    let (sum, on_virtual) = fifty(&runtime);
    let threads = runtime.metrics().offload.threads;
    setrlimit(Resource::As, before).expect("it was so before");
    assert_eq!((sum, threads), (1225, 1));
    assert!(on_virtual.iter().all(|&is_virtual| !is_virtual));
}
