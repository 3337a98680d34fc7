//! The function-like form around items.
#![deny(warnings)]

vt_runtime::park_safe_items! {
    #![park_safe(skip(raw))]

    use std::sync::Mutex;

    struct Cell {
        raw: Mutex<u8>,
        swapped: Mutex<u8>,
    }

    fn cell() -> Cell {
        Cell { raw: Mutex::new(1), swapped: Mutex::new(2) }
    }
}

fn main() {
    let cell = cell();
    let raw: std::sync::MutexGuard<'_, u8> = cell.raw.lock().unwrap();
    let swapped: vt_runtime::sync::MutexGuard<'_, u8> = cell.swapped.lock().unwrap();
    assert_eq!(*raw + *swapped, 3);
}
