//! Waits of virtual threads under guards.
// edition: 2024

use std::sync::Mutex;
use std::time::Duration;
use vt_runtime::sync::{Monitor, ReentrantLock};
use vt_runtime::thread;

pub fn std_lock(rows: &Mutex<Vec<u8>>) {
    let _rows = rows.lock().unwrap();
    thread::sleep(Duration::from_millis(1)); //~ guard-across-park
}

pub fn monitor(rows: &Monitor<Vec<u8>>) {
    let rows = rows.enter();
    thread::park_timeout(Duration::from_millis(rows.len() as u64)); //~ guard-across-park
    drop(rows);
    thread::park();
}

pub fn park_aware(rows: &ReentrantLock<Vec<u8>>) {
    let _rows = rows.lock();
    thread::sleep(Duration::from_millis(1));
}
