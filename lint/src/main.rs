//! `cargo vt-lint`: blocking calls under a lock guard. Everything is in the library.

use std::process::ExitCode;

/// Lowering a file makes many small boxes in many sizes, on all threads at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    vt_lint::cli::main(std::env::args_os().collect())
}
