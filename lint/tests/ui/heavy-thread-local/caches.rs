//! Caches in thread-local storage.
// edition: 2024

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use vt_runtime::thread;

thread_local! {
    static PARSED: RefCell<HashMap<String, u32>> = RefCell::default(); //~ heavy-thread-local
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(65536)); //~ heavy-thread-local
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static OF_OS_THREADS: RefCell<Vec<u8>> = RefCell::default();
}

fn lookup(name: &str) -> Option<u32> {
    PARSED.with(|parsed| parsed.borrow().get(name).copied())
}

pub fn start() {
    thread::spawn(|| {
        COUNT.set(COUNT.get() + 1);
        lookup("a")
    });
    thread::spawn(|| lookup("b"));
    thread::spawn(|| SCRATCH.with(|scratch| scratch.borrow_mut().clear()));
    std::thread::spawn(|| OF_OS_THREADS.with(|own| own.borrow_mut().clear()));
}
