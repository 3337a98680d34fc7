//! Guards on some paths only, in options, and behind `?`.
// edition: 2024

use std::fs;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

pub struct State {
    rows: Mutex<Vec<u8>>,
}

impl State {
    fn guard(&self) -> Option<MutexGuard<'_, Vec<u8>>> {
        self.rows.lock().ok()
    }

    pub fn in_option(&self) {
        if let Some(rows) = self.guard() {
            thread::sleep(Duration::from_millis(rows.len() as u64)); //~ blocking-in-guard
        }
        let Some(rows) = self.guard() else { return };
        thread::park(); //~ blocking-in-guard
        drop(rows);
        thread::park();
    }

    pub fn behind_question_mark(&self) -> Result<usize, Box<dyn std::error::Error + '_>> {
        let rows = self.rows.lock()?;
        let read = fs::read("rows")?.len(); //~ blocking-in-guard
        Ok(rows.len() + read)
    }

    pub fn on_one_arm(&self, kind: u8) {
        let rows = self.rows.lock().unwrap();
        match kind {
            0 => {
                drop(rows);
                thread::sleep(Duration::from_secs(1));
            }
            _ => thread::sleep(Duration::from_secs(1)), //~ blocking-in-guard
        }
    }

    pub fn in_loop(&self) {
        loop {
            let rows = self.rows.lock().unwrap();
            if rows.is_empty() {
                drop(rows);
                thread::sleep(Duration::from_secs(1));
                continue;
            }
            break;
        }
        thread::sleep(Duration::from_secs(1));
    }
}
