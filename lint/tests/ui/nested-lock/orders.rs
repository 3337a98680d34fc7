//! Second locks, taken in both orders.
// edition: 2021

use std::sync::Mutex;

pub struct Bank {
    from: Mutex<u64>,
    to: Mutex<u64>,
}

impl Bank {
    pub fn forth(&self) {
        let mut from = self.from.lock().unwrap();
        let mut to = self.to.lock().unwrap(); //~ nested-lock
        *from -= 1;
        *to += 1;
    }

    pub fn back(&self) {
        let mut to = self.to.lock().unwrap();
        *self.from.lock().unwrap() += 1; //~ nested-lock
        *to -= 1;
    }

    pub fn one_after_the_other(&self) -> u64 {
        let from = *self.from.lock().unwrap();
        let to = self.to.try_lock().map(|to| *to).unwrap_or(0);
        from + to
    }
}
