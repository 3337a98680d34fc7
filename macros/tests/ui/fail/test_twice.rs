//! One `test` is enough.

#[vt_runtime::test]
#[test]
fn twice() {}

#[vt_runtime::test]
fn arguments(_number: u8) {}

#[vt_runtime::test]
async fn later() {}

fn main() {}
