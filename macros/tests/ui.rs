//! The macros under the compiler: what must compile and run, and the errors for what must not.
//!
//! Each fixture in `ui/fail` stands beside the message it must give; `TRYBUILD=overwrite` writes them anew.

#[test]
fn accepted() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}

#[test]
fn refused() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
