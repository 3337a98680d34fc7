//! A lock of a crate for async code: one error where it is imported, however often it is used.

mod tokio {
    pub(crate) mod sync {
        pub(crate) struct Mutex<T>(pub(crate) T);
    }
}

vt_runtime::park_safe_items! {
    use std::sync::RwLock;
    use tokio::sync::Mutex;

    struct Cache {
        first: Mutex<u8>,
        second: Mutex<String>,
        std: RwLock<u8>,
    }
}

fn main() {
    let cache = Cache { first: Mutex(1), second: Mutex(String::new()), std: Default::default() };
    let _ = (cache.first.0, cache.second.0, *cache.std.read().unwrap());
}
