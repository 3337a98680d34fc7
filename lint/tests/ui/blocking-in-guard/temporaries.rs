//! Guards in temporaries: what ends with the statement and what does not.
// edition: 2021

use std::collections::HashMap;
use std::process::Child;
use std::sync::{Mutex, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub struct Pool {
    child: Mutex<Option<Child>>,
    workers: Mutex<Vec<JoinHandle<()>>>,
    sizes: RwLock<HashMap<String, u64>>,
}

impl Pool {
    pub fn stop_child(&self) -> std::io::Result<()> {
        if let Some(mut child) = self.child.lock().unwrap().take() {
            child.wait()?; //~ blocking-in-guard
        }
        let taken = self.child.lock().unwrap().take();
        if let Some(mut child) = taken {
            child.wait()?;
        }
        Ok(())
    }

    pub fn stop_workers(&self) {
        for worker in self.workers.lock().unwrap().drain(..) {
            let _ = worker.join(); //~ blocking-in-guard
        }
        let taken: Vec<_> = self.workers.lock().unwrap().drain(..).collect();
        taken.into_iter().for_each(|worker| {
            let _ = worker.join();
        });
    }

    pub fn size(&self, path: &str) -> u64 {
        *self.sizes.write().unwrap().entry(path.to_string()).or_insert_with(|| {
            std::fs::metadata(path).map(|of| of.len()).unwrap_or(0) //~ blocking-in-guard
        })
    }

    pub fn forget_missing(&self) {
        self.sizes.write().unwrap().retain(|path, _| {
            std::fs::exists(path).unwrap_or(false) //~ blocking-in-guard
        });
    }

    pub fn poisoned(&self) -> usize {
        match self.workers.try_lock() {
            Ok(workers) => workers.len(),
            Err(_) => {
                thread::sleep(Duration::from_millis(1));
                0
            }
        }
    }
}
