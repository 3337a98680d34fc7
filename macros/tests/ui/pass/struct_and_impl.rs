//! A struct and its `impl`, annotated one by one.
#![deny(warnings)]

use std::collections::HashMap;
use std::sync::{Condvar, Mutex};

#[vt_runtime::park_safe]
struct Sessions {
    live: Mutex<HashMap<u64, String>>,
    changed: Condvar,
}

#[vt_runtime::park_safe]
impl Sessions {
    fn new() -> Sessions {
        Sessions { live: Mutex::new(HashMap::new()), changed: Condvar::new() }
    }

    fn open(&self, id: u64) -> usize {
        let mut live = self.live.lock().unwrap();
        live.insert(id, String::new());
        self.changed.notify_all();
        live.len()
    }
}

fn main() {
    assert_eq!(Sessions::new().open(7), 1);
}
