//! A variadic function can be declared, not tracked.

#[vt_runtime::native(blocking)]
unsafe extern "C" {
    fn printf(format: *const u8, ...) -> i32;
}

#[vt_runtime::native]
unsafe extern "C" {
    #[vt_runtime::native(blocking)]
    fn dprintf(file: i32, format: *const u8, ...) -> i32;
    #[vt_runtime::native(quick)]
    fn exit(code: i32) -> !;
}

fn main() {}
