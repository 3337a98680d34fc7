//! Blocking below a call: helpers, traits, `Drop`, initialisers, closures.
// edition: 2021

use std::fs;
use std::sync::{LazyLock, Mutex};
use std::thread::JoinHandle;

static CONFIG: LazyLock<String> = LazyLock::new(|| fs::read_to_string("app.conf").unwrap_or_default());

trait Store {
    fn put(&self);
    fn both(&self) {
        self.put();
    }
}

struct Disk;
struct Other;

impl Store for Disk {
    fn put(&self) {
        let _ = fs::write("a", "b");
    }
}

impl Store for Other {
    fn put(&self) {
        let _ = fs::write("a", "c");
    }
}

pub struct Worker(Option<JoinHandle<()>>);

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

pub struct Rows {
    rows: Mutex<Vec<u8>>,
    worker: Mutex<Option<Worker>>,
}

impl Rows {
    pub fn lazy(&self) -> usize {
        let rows = self.rows.lock().unwrap();
        rows.len() + CONFIG.len() //~ blocking-in-guard-indirect
    }

    pub fn replace_worker(&self) {
        let mut slot = self.worker.lock().unwrap();
        if let Some(old) = slot.take() {
            let _seen = &old;
        } //~ blocking-in-guard-indirect
        *slot = None;
    }

    pub fn drop_worker(&self) {
        drop(self.worker.lock().unwrap().take()); //~ blocking-in-guard-indirect
        let old = self.worker.lock().unwrap().take();
        drop(old);
    }

    fn with<R>(&self, f: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let mut rows = self.rows.lock().unwrap();
        f(&mut rows)
    }

    pub fn use_with(&self) -> usize {
        self.with(|rows| {
            rows.push(1);
            fs::read("x").map(|read| read.len()).unwrap_or(0) //~ blocking-in-guard-indirect
        })
    }
}

pub fn every_implementation(store: &dyn Store, lock: &Mutex<u32>) {
    let _guard = lock.lock().unwrap();
    store.put(); //~ blocking-in-guard-indirect
}

pub fn default_body(lock: &Mutex<u32>) {
    let _guard = lock.lock().unwrap();
    Disk.both(); //~ blocking-in-guard-indirect
    let _ = Other;
}

pub fn whatever_it_is<T: Store>(store: &T, f: fn(), lock: &Mutex<u32>) {
    let _guard = lock.lock().unwrap();
    store.both();
    f();
}
