//! Durations have a number and a unit.

#[vt_runtime::test(should_pin(longer_than = "soon"))]
fn soon() {}

#[vt_runtime::test(should_pin(longer_than = 20))]
fn bare() {}

fn main() {}
