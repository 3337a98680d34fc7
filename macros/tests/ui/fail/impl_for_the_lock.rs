//! An `impl` for the lock itself has nothing to swap it in.

#[vt_runtime::park_safe]
mod own {
    struct Mutex<T>(T);

    impl<T> Mutex<T> {
        fn get(self) -> T {
            self.0
        }
    }
}

trait Extension {}

#[vt_runtime::park_safe]
impl<T> Extension for std::sync::Mutex<T> {}

fn main() {}
