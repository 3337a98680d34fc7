//! The runtime of this project as a contestant.

use std::sync::Arc;
use std::time::{Duration, Instant};

use vt_peers::Workload;
use vt_runtime::Runtime;
use vt_runtime::sync::{Mutex, Semaphore, mpsc};
use vt_runtime::thread::{self, JoinHandle};

const HOUR: Duration = Duration::from_secs(3600);

fn main() {
    let runtime = Runtime::builder()
        .carriers(vt_peers::workers())
        .build()
        .expect("a runtime");
    // What else lives meanwhile: parked for ever, until the process ends.
    for _ in 0..vt_peers::bystanders() {
        drop(runtime.spawn(|| thread::sleep(HOUR)));
    }
    vt_peers::measure(|workload| {
        runtime
            .spawn(move || run(workload))
            .join()
            .expect("no panic");
    });
}

fn run(workload: Workload) {
    match workload {
        Workload::SpawnJoin { threads } => {
            for _ in 0..threads / 1000 {
                join((0..1000).map(|_| thread::spawn(|| ())).collect());
            }
        }
        Workload::Sleep { threads, pause } => {
            let start = Instant::now();
            let handles = (0..threads)
                .map(|_| thread::spawn(move || thread::sleep(pause)))
                .collect();
            if threads > 1 {
                vt_peers::created(start);
            }
            join(handles);
        }
        Workload::Yield { threads, turns } => {
            let turn = move || (0..turns).for_each(|_| thread::yield_now());
            join((0..threads).map(|_| thread::spawn(turn)).collect());
        }
        Workload::Channel { turns } => channel(turns),
        Workload::Unpark { turns } => unpark(turns, thread::park),
        Workload::Lock {
            threads,
            turns,
            yielding,
        } => lock(threads, turns, yielding),
        Workload::Semaphore { tasks } => semaphore(tasks),
        Workload::Timers { turns } => unpark(turns, || thread::park_timeout(HOUR)),
        Workload::Fairness { turns } => fairness(turns),
    }
}

fn join(handles: Vec<JoinHandle<()>>) {
    for handle in handles {
        handle.join().expect("no panic");
    }
}

fn channel(turns: u64) {
    let (there, receiver) = mpsc::sync_channel(1);
    let (back, answers) = mpsc::sync_channel(1);
    let asks = thread::spawn(move || {
        for turn in 0..turns {
            there.send(turn).expect("a receiver");
            assert_eq!(answers.recv(), Ok(turn));
        }
    });
    let answers = thread::spawn(move || {
        for turn in receiver {
            back.send(turn).expect("a receiver");
        }
    });
    join(vec![asks, answers]);
}

fn unpark(turns: u64, park: fn()) {
    let (give, take) = mpsc::channel();
    let first = thread::spawn(move || {
        let other: thread::VirtualThread = take.recv().expect("a thread");
        for _ in 0..turns {
            park();
            other.unpark();
        }
    });
    let one = first.thread().clone();
    let second = thread::spawn(move || {
        give.send(thread::current()).expect("a receiver");
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
        thread::spawn(move || {
            for _ in 0..turns {
                let mut count = count.lock().expect("no poison");
                *count += 1;
                if yielding {
                    thread::yield_now();
                }
            }
        })
    });
    join(handles.collect());
    assert_eq!(*count.lock().expect("no poison"), threads * turns);
}

fn semaphore(tasks: u64) {
    let permits = Arc::new(Semaphore::new(50));
    let handles = (0..tasks).map(|_| {
        let permits = Arc::clone(&permits);
        thread::spawn(move || {
            let _permit = permits.acquire();
            thread::sleep(Duration::from_millis(1));
        })
    });
    join(handles.collect());
}

fn fairness(turns: u64) {
    let lock = Arc::new(Mutex::new(()));
    let handles: Vec<_> = (0..100)
        .map(|_| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                let mut longest = Duration::ZERO;
                for _ in 0..turns {
                    let start = Instant::now();
                    let guard = lock.lock().expect("no poison");
                    longest = longest.max(start.elapsed());
                    thread::yield_now();
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
