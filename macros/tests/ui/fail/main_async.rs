//! A virtual thread blocks.

#[vt_runtime::main]
async fn main() {}
