//! The arguments of the function-like form.

vt_runtime::park_safe_items! {
    #![deny(unused)]
    #![park_safe(skip(absent))]

    static CELL: std::sync::Mutex<u8> = std::sync::Mutex::new(1);
}

fn main() {}
