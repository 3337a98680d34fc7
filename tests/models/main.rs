//! Loom models of the wait queue, of the locks and channels on it, and of a scope's cancellation: the runtime's own sources, run under every
//! interleaving (with few preemptions) of a few threads.
//!
//! `sync/` includes the sources as they are; `door.rs` stands for `park`, with carriers that mount one thread at
//! a time, pin, and revoke wake-ones as the real ones do. A wake-up that is lost leaves all threads of a model
//! waiting, which loom reports as a deadlock.

mod cancel;
mod channels;
mod event;
mod locks;
mod notices;
#[path = "door.rs"]
mod park;
mod permits;
mod primitive;
mod stranded;
mod sync;
mod task;
mod thread;

use std::sync::Arc;

use park::Carrier;

/// A thread of a model, and the carrier it lives on (`None`: a plain OS thread).
type Thread = (Option<usize>, Box<dyn Fn() + Send>);

/// Runs `make`'s threads on that many carriers under every interleaving with at most that many preemptions, or as many
/// as `LOOM_MAX_PREEMPTIONS` says.
fn model(
    preemptions: usize,
    carriers: usize,
    make: impl Fn() -> Vec<Thread> + Sync + Send + 'static,
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(move || {
        park::begin();
        let carriers: Vec<Arc<Carrier>> = (0..carriers).map(|_| Arc::default()).collect();
        let threads: Vec<_> = (1..)
            .zip(make())
            .map(|(id, (home, body))| {
                let home = home.map(|home| Arc::clone(&carriers[home]));
                loom::thread::spawn(move || park::run(id, home, body))
            })
            .collect();
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}

/// A thread of a model.
fn on(carrier: impl Into<Option<usize>>, body: impl Fn() + Send + 'static) -> Thread {
    (carrier.into(), Box::new(body))
}
