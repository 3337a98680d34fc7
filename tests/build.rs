//! Builds the C functions that the acceptance cases call.

fn main() {
    println!("cargo::rerun-if-changed=acceptance/foreign.c");
    cc::Build::new()
        .file("acceptance/foreign.c")
        .compile("vt_tests_foreign");
}
