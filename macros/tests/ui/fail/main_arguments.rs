//! What `main` takes, and what it does not.

#[vt_runtime::main(carriers = 0, threads = 4)]
fn main() {}
