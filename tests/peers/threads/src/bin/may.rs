//! may, the nearest peer, as a contestant: stackful coroutines with 16 KiB stacks, its own locks and channels.
//!
//! It has neither a bounded channel nor a counting semaphore with guards: the unbounded channel and its `Semphore` stand in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use may::coroutine::{self, JoinHandle, park, park_timeout, sleep, yield_now};
use may::sync::{Mutex, Semphore, mpsc};
use vt_peers::Workload;

const HOUR: Duration = Duration::from_secs(3600);

/// may calls its spawn unsafe because of the same hole that our README states.
fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    // SAFETY: the workloads keep no thread-local across a suspension and stay within their stacks.
    unsafe { coroutine::spawn(body) }
}

fn main() {
    may::config().set_workers(vt_peers::workers());
    vt_peers::measure(|workload| spawn(move || run(workload)).join().expect("no panic"));
}

fn run(workload: Workload) {
    match workload {
        Workload::SpawnJoin { threads } => {
            for _ in 0..threads / 1000 {
                join((0..1000).map(|_| spawn(|| ())).collect());
            }
        }
        Workload::Sleep { threads, pause } => {
            let start = Instant::now();
            let handles = (0..threads).map(|_| spawn(move || sleep(pause))).collect();
            if threads > 1 {
                vt_peers::created(start);
            }
            join(handles);
        }
        Workload::Yield { threads, turns } => {
            let turn = move || (0..turns).for_each(|_| yield_now());
            join((0..threads).map(|_| spawn(turn)).collect());
        }
        Workload::Channel { turns } => channel(turns),
        Workload::Unpark { turns } => unpark(turns, park),
        Workload::Timers { turns } => unpark(turns, || park_timeout(HOUR)),
        Workload::Lock {
            threads,
            turns,
            yielding,
        } => lock(threads, turns, yielding),
        Workload::Semaphore { tasks } => semaphore(tasks),
        Workload::Fairness { turns } => fairness(turns),
    }
}

fn join(handles: Vec<JoinHandle<()>>) {
    for handle in handles {
        handle.join().expect("no panic");
    }
}

fn channel(turns: u64) {
    let (there, receiver) = mpsc::channel();
    let (back, answers) = mpsc::channel();
    let asks = spawn(move || {
        for turn in 0..turns {
            there.send(turn).expect("a receiver");
            assert_eq!(answers.recv(), Ok(turn));
        }
    });
    let answers = spawn(move || {
        for turn in receiver {
            back.send(turn).expect("a receiver");
        }
    });
    join(vec![asks, answers]);
}

fn unpark(turns: u64, park: fn()) {
    let (give, take) = mpsc::channel();
    let first = spawn(move || {
        let other: coroutine::Coroutine = take.recv().expect("a coroutine");
        for _ in 0..turns {
            park();
            other.unpark();
        }
    });
    let one = first.coroutine().clone();
    let second = spawn(move || {
        give.send(coroutine::current()).expect("a receiver");
        for _ in 0..turns {
            one.unpark();
            park();
        }
    });
    join(vec![first, second]);
}

fn lock(threads: u64, turns: u64, yielding: bool) {
    let count = Arc::new(Mutex::new(0));
    let handles = (0..threads).map(|_| {
        let count = Arc::clone(&count);
        spawn(move || {
            for _ in 0..turns {
                let mut count = count.lock().expect("no poison");
                *count += 1;
                if yielding {
                    yield_now();
                }
            }
        })
    });
    join(handles.collect());
    assert_eq!(*count.lock().expect("no poison"), threads * turns);
}

fn semaphore(tasks: u64) {
    let permits = Arc::new(Semphore::new(50));
    let handles = (0..tasks).map(|_| {
        let permits = Arc::clone(&permits);
        spawn(move || {
            permits.wait();
            sleep(Duration::from_millis(1));
            permits.post();
        })
    });
    join(handles.collect());
}

fn fairness(turns: u64) {
    let lock = Arc::new(Mutex::new(()));
    let handles: Vec<_> = (0..100)
        .map(|_| {
            let lock = Arc::clone(&lock);
            spawn(move || {
                let mut longest = Duration::ZERO;
                for _ in 0..turns {
                    let start = Instant::now();
                    let guard = lock.lock().expect("no poison");
                    longest = longest.max(start.elapsed());
                    yield_now();
                    drop(guard);
                }
                longest
            })
        })
        .collect();
    let longest = handles
        .into_iter()
        .map(|handle| handle.join().expect("no panic"));
    vt_peers::waits(longest.collect());
}
