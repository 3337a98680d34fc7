//! Constructors in closures and in async code.
#![deny(warnings)]

use std::sync::{Arc, LazyLock, Mutex};

#[vt_runtime::park_safe]
fn closures() -> usize {
    static LATE: LazyLock<Vec<u8>> = LazyLock::new(|| vec![1, 2]);
    let made = (0..3).map(Mutex::new).map(Arc::new).collect::<Vec<Arc<Mutex<i32>>>>();
    let make = |value: u8| Mutex::new(value);
    made.len() + LATE.len() + usize::from(make(4).lock().map_or(0, |guard| *guard))
}

#[vt_runtime::park_safe]
async fn later() -> Mutex<u8> {
    async { Mutex::new(1) }.await
}

fn main() {
    assert_eq!(closures(), 9);
    drop(later());
}
