//! A lock of another crate, told from std's by its type.

mod tokio {
    pub mod sync {
        pub struct Mutex<T>(pub T);
    }
}

#[vt_runtime::park_safe]
mod cache {
    use super::tokio::sync::Mutex;

    struct Cache {
        cell: Mutex<u8>,
    }
}

fn main() {}
