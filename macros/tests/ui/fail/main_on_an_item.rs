//! `main` stands on a function.

#[vt_runtime::main]
struct Main;

fn main() {}
