//! An inline module, whose imports must not become unused.
#![deny(warnings)]

#[vt_runtime::park_safe]
mod sessions {
    use std::sync::{Condvar, Mutex, RwLock};

    pub struct Sessions {
        live: Mutex<u64>,
        changed: Condvar,
        motd: RwLock<String>,
    }

    impl Sessions {
        pub fn new() -> Sessions {
            Sessions { live: Mutex::new(0), changed: Condvar::new(), motd: RwLock::new(String::new()) }
        }

        pub fn await_some(&self) -> u64 {
            *self.live.lock().unwrap() += 1;
            let mut live = self.live.lock().unwrap();
            while *live < self.motd.read().unwrap().len() as u64 {
                live = self.changed.wait(live).unwrap();
            }
            *live
        }
    }
}

fn main() {
    assert_eq!(sessions::Sessions::new().await_some(), 1);
}
