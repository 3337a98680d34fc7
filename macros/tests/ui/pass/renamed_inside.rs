//! A lock imported under another name inside of the item.
#![deny(warnings)]

#[vt_runtime::park_safe]
mod cache {
    use std::sync::{Mutex as Lock, MutexGuard as Held};

    pub(crate) struct Cache(Lock<u8>);

    impl Cache {
        pub(crate) fn new() -> Self {
            Cache(Lock::new(4))
        }

        pub(crate) fn held(&self) -> Held<'_, u8> {
            self.0.lock().unwrap()
        }
    }
}

fn main() {
    assert_eq!(*cache::Cache::new().held(), 4);
}
