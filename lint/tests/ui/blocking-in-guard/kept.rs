//! Guards that a container, an `Option` or a signature keeps.
// edition: 2021
use std::fs::{self, File};
use std::ops::DerefMut;
use std::sync::{Mutex, MutexGuard};

pub fn pushed<'a>(locks: &'a [Mutex<u32>]) {
    let mut held = Vec::new();
    for lock in locks {
        held.push(lock.lock().unwrap()); //~ nested-lock
    }
    let _ = fs::remove_file("a"); //~ blocking-in-guard
    drop(held);
    let _ = fs::remove_file("a");
}

pub fn replaced(lock: &Mutex<u32>, other: &Mutex<u32>) {
    let mut guard = lock.lock().unwrap();
    drop(std::mem::replace(&mut guard, other.lock().unwrap())); //~ nested-lock
    let _ = fs::remove_file("a"); //~ blocking-in-guard
    drop(guard);
    let _ = fs::remove_file("a");
}

pub fn on_demand(lock: &Mutex<u32>, wanted: bool) {
    let guard: Option<MutexGuard<'_, u32>> = wanted.then(|| lock.lock().unwrap());
    let _ = fs::remove_file("a"); //~ blocking-in-guard
    drop(guard);
    let _ = fs::remove_file("a");
    let number = (1 > 0).then(|| *lock.lock().unwrap());
    let _ = fs::remove_file(number.map_or("a", |_| "b"));
}

pub struct Table {
    rows: Mutex<Vec<String>>,
}

impl Table {
    fn locked(&self) -> MutexGuard<'_, Vec<String>> {
        self.rows.lock().unwrap()
    }

    fn rows(&self) -> impl DerefMut<Target = Vec<String>> + '_ {
        self.locked()
    }

    fn copies(&self) -> impl DerefMut<Target = Vec<String>> {
        Box::new(self.locked().clone())
    }

    pub fn opened(&self) -> usize {
        let rows = self.rows();
        let opened = rows.iter().map(File::open).flatten().count(); //~ blocking-in-guard
        drop(rows);
        opened + self.copies().iter().map(File::open).flatten().count()
    }
}
