//! A hang must fail: ends the process when a test takes too long.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Aborts the process unless it is dropped in time.
#[must_use]
pub struct Deadline {
    _alive: mpsc::Sender<()>,
}

impl Deadline {
    /// The outer kill timer of the acceptance cases.
    pub fn standard() -> Self {
        Self::after(Duration::from_secs(60))
    }

    /// Aborts after that time.
    ///
    /// # Panics
    ///
    /// If no thread can be started.
    pub fn after(limit: Duration) -> Self {
        let (alive, ended) = mpsc::channel::<()>();
        let test = thread::current()
            .name()
            .unwrap_or("unnamed test")
            .to_owned();
        thread::Builder::new()
            .name("deadline".to_owned())
            .spawn(move || {
                if ended.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                    eprintln!("{test} hangs: not done after {limit:?}");
                    std::process::abort();
                }
            })
            .expect("a thread for the deadline");
        Self { _alive: alive }
    }
}
