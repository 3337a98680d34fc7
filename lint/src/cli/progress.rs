//! Shows that a long run is alive: a line on a terminal, from the second second on.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::workspace::Disk;

/// Shows the line until it is dropped.
pub(super) struct Progress {
    /// Dropping the sender ends the thread.
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Watches how many files of `disk` were read. Does nothing when `wanted` is false or nobody looks.
    pub(super) fn start(disk: &Disk, wanted: bool) -> Self {
        if !wanted || !io::stderr().is_terminal() {
            return Self { running: None };
        }
        let files = disk.files_read();
        let (sender, receiver) = mpsc::channel();
        let show = move || {
            let started = Instant::now();
            let mut wait = Duration::from_secs(1);
            let mut shown = false;
            while receiver.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                shown = true;
                wait = Duration::from_millis(100);
                draw(&files, started.elapsed());
            }
            if shown {
                eprint!("\r\x1b[K");
            }
        };
        // Without the thread there is no line, and the run goes on.
        let thread = Builder::new()
            .name("vt-lint-progress".to_owned())
            .spawn(show);
        Self {
            running: thread.ok().map(|thread| (sender, thread)),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.running.take() {
            drop(sender);
            // It only prints; a panic there is no reason to lose the findings.
            let _ = thread.join();
        }
    }
}

fn draw(files: &Arc<AtomicUsize>, elapsed: Duration) {
    let mut err = io::stderr();
    let line = format!(
        "\r\x1b[Kanalysing: {} files read, {} s",
        files.load(Relaxed),
        elapsed.as_secs()
    );
    // A terminal that went away is no reason to stop.
    let _ = err.write_all(line.as_bytes());
    let _ = err.flush();
}
