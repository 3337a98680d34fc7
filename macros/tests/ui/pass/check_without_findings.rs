//! `check` accepts what needs no swap.
#![deny(warnings)]

#[vt_runtime::park_safe(check)]
struct Plain {
    count: u8,
}

#[vt_runtime::park_safe(check)]
fn main() {
    assert_eq!(Plain { count: 1 }.count, 1);
}
