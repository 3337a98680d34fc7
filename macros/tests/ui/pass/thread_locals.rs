//! Statics inside of `thread_local!`.
#![deny(warnings)]

#[vt_runtime::park_safe]
mod local {
    use std::sync::{Mutex, OnceLock};

    thread_local! {
        static HERE: Mutex<u8> = const { Mutex::new(1) };
        pub(crate) static LATE: OnceLock<u8> = OnceLock::new();
    }

    pub(crate) fn here() -> u8 {
        HERE.with(|here| *here.lock().unwrap())
    }
}

fn main() {
    assert_eq!(local::here() + local::LATE.with(|late| *late.get_or_init(|| 2)), 3);
}
