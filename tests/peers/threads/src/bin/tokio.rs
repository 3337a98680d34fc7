//! tokio's multi-threaded runtime as a contestant. The workload's driver is a task, as elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, Notify, Semaphore, mpsc};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{sleep, timeout};
use vt_peers::Workload;

const HOUR: Duration = Duration::from_secs(3600);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(vt_peers::workers())
        .enable_all()
        .build()
        .expect("a runtime");
    vt_peers::measure(|workload| {
        runtime.block_on(async { tokio::spawn(run(workload)).await.expect("no panic") });
    });
}

async fn run(workload: Workload) {
    match workload {
        Workload::SpawnJoin { threads } => {
            for _ in 0..threads / 1000 {
                join((0..1000).map(|_| tokio::spawn(async {})).collect()).await;
            }
        }
        Workload::Sleep { threads, pause } => {
            let start = Instant::now();
            let handles = (0..threads).map(|_| tokio::spawn(sleep(pause))).collect();
            if threads > 1 {
                vt_peers::created(start);
            }
            join(handles).await;
        }
        Workload::Yield { threads, turns } => {
            let turns = (0..threads).map(|_| {
                tokio::spawn(async move {
                    for _ in 0..turns {
                        yield_now().await;
                    }
                })
            });
            join(turns.collect()).await;
        }
        Workload::Channel { turns } => channel(turns).await,
        Workload::Unpark { turns } => unpark(turns, false).await,
        Workload::Timers { turns } => unpark(turns, true).await,
        Workload::Lock {
            threads,
            turns,
            yielding,
        } => lock(threads, turns, yielding).await,
        Workload::Semaphore { tasks } => semaphore(tasks).await,
        Workload::Fairness { turns } => fairness(turns).await,
    }
}

async fn join(handles: Vec<JoinHandle<()>>) {
    for handle in handles {
        handle.await.expect("no panic");
    }
}

async fn channel(turns: u64) {
    let (there, mut receiver) = mpsc::channel(1);
    let (back, mut answers) = mpsc::channel(1);
    let asks = tokio::spawn(async move {
        for turn in 0..turns {
            there.send(turn).await.expect("a receiver");
            assert_eq!(answers.recv().await, Some(turn));
        }
    });
    let answers = tokio::spawn(async move {
        while let Some(turn) = receiver.recv().await {
            back.send(turn).await.expect("a receiver");
        }
    });
    join(vec![asks, answers]).await;
}

/// `Notify` is what comes nearest to a park permit.
async fn unpark(turns: u64, timed: bool) {
    async fn park(permit: &Notify, timed: bool) {
        if timed {
            timeout(HOUR, permit.notified())
                .await
                .expect("an hour is long");
        } else {
            permit.notified().await;
        }
    }
    let (one, other) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (mine, its) = (Arc::clone(&one), Arc::clone(&other));
    let first = tokio::spawn(async move {
        for _ in 0..turns {
            park(&mine, timed).await;
            its.notify_one();
        }
    });
    let second = tokio::spawn(async move {
        for _ in 0..turns {
            one.notify_one();
            park(&other, timed).await;
        }
    });
    join(vec![first, second]).await;
}

async fn lock(threads: u64, turns: u64, yielding: bool) {
    let count = Arc::new(Mutex::new(0));
    let handles = (0..threads).map(|_| {
        let count = Arc::clone(&count);
        tokio::spawn(async move {
            for _ in 0..turns {
                let mut count = count.lock().await;
                *count += 1;
                if yielding {
                    yield_now().await;
                }
            }
        })
    });
    join(handles.collect()).await;
    assert_eq!(*count.lock().await, threads * turns);
}

async fn semaphore(tasks: u64) {
    let permits = Arc::new(Semaphore::new(50));
    let handles = (0..tasks).map(|_| {
        let permits = Arc::clone(&permits);
        tokio::spawn(async move {
            let _permit = permits.acquire().await.expect("never closed");
            sleep(Duration::from_millis(1)).await;
        })
    });
    join(handles.collect()).await;
}

async fn fairness(turns: u64) {
    let lock = Arc::new(Mutex::new(()));
    let handles: Vec<_> = (0..100)
        .map(|_| {
            let lock = Arc::clone(&lock);
            tokio::spawn(async move {
                let mut longest = Duration::ZERO;
                for _ in 0..turns {
                    let start = Instant::now();
                    let guard = lock.lock().await;
                    longest = longest.max(start.elapsed());
                    yield_now().await;
                    drop(guard);
                }
                longest
            })
        })
        .collect();
    let mut longest = Vec::new();
    for handle in handles {
        longest.push(handle.await.expect("no panic"));
    }
    vt_peers::waits(longest);
}
