//! The wrapper is as unsafe as the foreign function.

#[vt_runtime::native]
unsafe extern "C" {
    fn strlen(text: *const i8) -> usize;
}

fn main() {
    strlen(std::ptr::null());
}
