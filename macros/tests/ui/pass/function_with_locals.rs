//! Types and constructors inside one function, with nested items.
#![deny(warnings)]

#[vt_runtime::park_safe]
fn run() -> usize {
    use std::sync::{Arc, Mutex};

    static TURNS: Mutex<usize> = Mutex::new(1);
    type Shared = Arc<Mutex<Vec<u8>>>;

    let shared: Shared = Shared::new(Mutex::new(vec![1, 2]));
    let typed = Mutex::<u8>::new(3);
    let turbofish = Vec::<Mutex<u8>>::with_capacity(1);
    shared.lock().unwrap().push(*typed.lock().unwrap());
    let length = Mutex::lock(&shared).unwrap().len();
    length + *TURNS.lock().unwrap() + turbofish.len()
}

fn main() {
    assert_eq!(run(), 4);
}
