//! A file module: its contents are elsewhere.

#[vt_runtime::park_safe]
#[path = "../parts/contents.rs"]
mod contents;

fn main() {}
