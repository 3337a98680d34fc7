//! What is wrong with the arguments of `native`.

#[vt_runtime::native(blocking, quick)]
fn both() {}

#[vt_runtime::native(slow)]
fn unknown() {}

#[vt_runtime::native(label = 3)]
fn label() {}

#[vt_runtime::native(label = "the C library")]
unsafe extern "C" {
    #[vt_runtime::native(lazy)]
    safe fn abs(number: i32) -> i32;
}

fn main() {
    both();
    unknown();
    label();
    abs(1);
}
