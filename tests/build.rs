//! Builds the C functions that the acceptance cases call.

fn main() {
    println!("cargo::rerun-if-changed=acceptance/foreign.c");
    cc::Build::new()
        .file("acceptance/foreign.c")
        // As most C libraries are built: a large frame does not touch the pages it skips.
        .flag_if_supported("-fno-stack-clash-protection")
        .compile("vt_tests_foreign");
}
