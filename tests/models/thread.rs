//! A thread as a scope knows it: it can be interrupted.

use std::sync::Arc;

use loom::sync::{Condvar, Mutex};

#[derive(Clone)]
pub(crate) struct VirtualThread {
    id: u64,
    interrupted: Arc<(Mutex<bool>, Condvar)>,
}

#[derive(Clone, Copy)]
pub(crate) struct ThreadId(u64);

impl VirtualThread {
    pub(crate) fn new(id: u64) -> Self {
        Self {
            id,
            interrupted: Arc::new((Mutex::new(false), Condvar::new())),
        }
    }

    pub(crate) fn id(&self) -> ThreadId {
        ThreadId(self.id)
    }

    pub(crate) fn interrupt(&self) {
        *self.interrupted.0.lock().expect("no panic") = true;
        self.interrupted.1.notify_all();
    }

    /// Waits for nothing else.
    pub(crate) fn until_interrupted(&self) {
        let mut interrupted = self.interrupted.0.lock().expect("no panic");
        while !*interrupted {
            interrupted = self.interrupted.1.wait(interrupted).expect("no panic");
        }
    }
}

impl ThreadId {
    pub(crate) fn as_u64(self) -> u64 {
        self.0
    }
}
