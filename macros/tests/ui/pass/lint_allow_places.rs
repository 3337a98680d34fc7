//! `lint_allow` on the items and methods it may stand on.
#![deny(warnings)]

#[vt_runtime::lint_allow(blocking_in_guard, reason = "the file is the device")]
fn function() {}

struct Owner;

#[vt_runtime::lint_allow(nested_lock, ffi_in_guard, reason = "one order everywhere")]
impl Owner {
    #[vt_runtime::lint_allow(guard_across_park)]
    fn method(&self) {}
}

#[vt_runtime::lint_allow(blocking_on_carrier, reason = "start-up")]
mod inline {
    pub(crate) fn function() {}
}

fn main() {
    function();
    Owner.method();
    inline::function();
}
