//! A test either pins or does not.

#[vt_runtime::test(should_pin, should_not_pin)]
fn both() {}

#[vt_runtime::test(should_not_pin(at_most = 3))]
fn at_most_of_none() {}

#[vt_runtime::test(should_pin(at_most = 0))]
fn none() {}

fn main() {}
