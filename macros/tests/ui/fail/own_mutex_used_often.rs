//! A type of the module's own: one error, however often it is used.

#[vt_runtime::park_safe]
mod cache {
    struct Mutex<T>(T);

    impl<T> Mutex<T> {
        fn new(value: T) -> Self {
            Mutex(value)
        }
    }

    struct Cache {
        first: Mutex<u8>,
        second: Mutex<String>,
        std: std::sync::Mutex<u8>,
    }

    impl Cache {
        fn new() -> Cache {
            Cache { first: Mutex::new(1), second: Mutex::new(String::new()), std: std::sync::Mutex::new(2) }
        }

        fn sum(&self, other: &Mutex<u8>) -> u8 {
            self.first.0 + other.0 + *self.std.lock().unwrap()
        }
    }

    fn made() -> Mutex<Vec<Mutex<u8>>> {
        let many = vec![Mutex::new(1), Mutex::new(2)];
        Mutex::new(many)
    }
}

fn main() {}
