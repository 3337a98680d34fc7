//! Locks inside of other types, and of other locks.
#![deny(warnings)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};

#[vt_runtime::park_safe]
#[derive(Default)]
struct Registry {
    entries: Arc<RwLock<HashMap<String, Arc<Mutex<Option<u8>>>>>>,
}

#[vt_runtime::park_safe]
impl Registry {
    fn entry(&self, name: &str) -> Arc<Mutex<Option<u8>>> {
        let mut entries = self.entries.write().unwrap();
        entries.entry(name.to_owned()).or_insert_with(|| Arc::new(Mutex::new(None))).clone()
    }
}

fn main() {
    let registry = Registry::default();
    *registry.entry("a").lock().unwrap() = Some(1);
    assert_eq!(*registry.entry("a").lock().unwrap(), Some(1));
}
