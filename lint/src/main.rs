//! `cargo vt-lint`: blocking calls under a lock guard. Everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    vt_lint::cli::main(std::env::args_os().collect())
}
