//! Rules are known, spelled with `_`, and reasons say something.

#[vt_runtime::lint_allow(blocking_in_gard, reason = "the file is the device")]
fn misspelt() {}

#[vt_runtime::lint_allow(blocking-in-guard, reason = "the file is the device")]
fn dashes() {}

#[vt_runtime::lint_allow(nested_lock, reason = " ")]
fn empty() {}

#[vt_runtime::lint_allow]
fn nothing() {}

#[vt_runtime::lint_allow(colour)]
fn unknown() {}

fn main() {
    misspelt();
    dashes();
    empty();
    nothing();
    unknown();
}
