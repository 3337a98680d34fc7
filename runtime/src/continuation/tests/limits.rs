//! What happens at the machine's limits, each in a child process, and what a suspended thread costs.

use std::os::unix::process::ExitStatusExt;

use super::super::*;
use super::child::{Ending, each_in_a_child};
use super::{Setup, start};

fn ended_well(setup: Setup, ending: &Ending) {
    let (code, signal) = (ending.status.code(), ending.status.signal());
    assert_eq!(
        (code, signal),
        (Some(0), None),
        "{setup:?}: {}",
        ending.said
    );
}

/// Suspends threads until one is refused.
fn fill(pool: &Arc<StackPool>, stack_size: usize) -> (Vec<Continuation>, StackError) {
    let mut all = Vec::new();
    loop {
        let label = ThreadLabel { id: 0, name: None };
        let made = pool
            .reserve(stack_size)
            .and_then(|place| Continuation::new(place, label, suspend));
        match made {
            Ok(mut one) => {
                assert_eq!(one.resume(), Step::Suspended);
                all.push(one);
            }
            Err(refused) => return (all, refused),
        }
    }
}

fn finish(mut all: Vec<Continuation>) {
    assert!(all.iter_mut().all(|one| one.resume() == Step::Finished));
}

fn mappings() -> usize {
    let maps = std::fs::read("/proc/self/maps").expect("procfs is mounted");
    maps.iter().filter(|&&byte| byte == b'\n').count()
}

#[test]
fn at_the_kernels_mapping_limit_the_rest_goes_on() {
    let act = |setup: Setup| {
        if setup == (Setup(Stacks::Dense, guard::GuardKind::Marker)) {
            // The one setup without such a limit.
            return;
        }
        let pool = setup.pool(usize::MAX);
        let (all, refused) = fill(&pool, 16 << 10);
        let first = all.len();
        assert!(
            matches!(refused, StackError::Limit { live, cap } if live == first && cap == first)
        );
        let peak = mappings();
        let buffer = vec![1_u8; 64 << 20];
        let thread =
            std::thread::Builder::new().spawn(move || buffer.iter().map(|&b| usize::from(b)).sum());
        let sum: usize = thread
            .expect("a thread can be started")
            .join()
            .expect("it does not panic");
        assert_eq!(sum, 64 << 20);
        finish(all);
        let (all, _) = fill(&pool, 16 << 10);
        assert!(all.len() * 100 >= first * 99, "{} after {first}", all.len());
        finish(all);
        assert!(mappings() * 10 <= peak * 11, "{} after {peak}", mappings());
    };
    each_in_a_child(
        "limits::at_the_kernels_mapping_limit_the_rest_goes_on",
        act,
        ended_well,
    );
}

#[test]
fn refused_address_space_is_an_error_and_the_rest_goes_on() {
    let act = |setup: Setup| {
        let pool = setup.pool(1 << 20);
        assert_eq!(start(&pool, || ()).resume(), Step::Finished);
        limit_address_space_to(700 << 20);
        let (all, refused) = fill(&pool, DEFAULT_STACK_SIZE);
        assert!(matches!(refused, StackError::Refused(_)), "{refused}");
        assert!(all.len() > 200, "{} fitted into 600 MiB", all.len());
        assert_eq!(pool.live(), all.len());
        let before = all.len();
        finish(all);
        let (all, _) = fill(&pool, DEFAULT_STACK_SIZE);
        assert!(
            all.len() * 100 >= before * 99,
            "{} after {before}",
            all.len()
        );
        finish(all);
    };
    each_in_a_child(
        "limits::refused_address_space_is_an_error_and_the_rest_goes_on",
        act,
        ended_well,
    );
}

fn limit_address_space_to(bytes: u64) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    setrlimit(Resource::As, limit).expect("a limit may be lowered");
}

/// A field of `/proc/self/status`, in KiB.
fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs is mounted");
    let line = status.lines().find(|line| line.starts_with(name));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.expect("the kernel reports it")
}

#[test]
fn a_suspended_thread_is_one_page() {
    const THREADS: usize = 10_000;
    let act = |setup: Setup| {
        let pool = setup.pool(THREADS + 1);
        assert_eq!(start(&pool, || ()).resume(), Step::Finished);
        let (resident, tables) = (status("VmRSS"), status("VmPTE"));
        let mut all: Vec<_> = (0..THREADS).map(|_| start(&pool, suspend)).collect();
        assert!(all.iter_mut().all(|one| one.resume() == Step::Suspended));
        let resident = (status("VmRSS") - resident) as f64 / THREADS as f64;
        let tables = (status("VmPTE") - tables) as f64 / THREADS as f64;
        eprintln!("{setup:?}: {resident:.2} KiB resident, {tables:.2} KiB of page tables each");
        // Guards that are mappings leave the page with the generator crate's watermark in memory.
        let most = match setup {
            Setup(Stacks::Generator, guard::GuardKind::Mapping) => 8.5,
            _ => 4.4,
        };
        assert!(resident < most, "{resident} KiB each");
        assert!(tables < 0.7, "{tables} KiB each");
        finish(all);
    };
    each_in_a_child("limits::a_suspended_thread_is_one_page", act, ended_well);
}
