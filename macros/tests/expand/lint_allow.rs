//! `#[lint_allow]`.

use super::check;
use crate::lint_allow::attribute;

#[test]
fn lint_allow_changes_nothing_and_checks_what_it_is_given() {
    let case = |name: &str, args: &str| {
        check(
            attribute,
            &format!("lint_allow_{name}"),
            args,
            "fn f(&self) { g() }",
        )
    };
    case(
        "one",
        "blocking_in_guard, reason = \"the file is the device\"",
    );
    case("several_without_reason", "nested_lock, ffi_in_guard");
    case("unknown", "blocking_in_gard, colour, reason = \"\"");
    case("dashes", "blocking-in-guard, reason = \"x\"");
    case("nothing", "");
    case("only_a_reason", "reason = \"x\"");
    case("wrong_shape", "nested_lock = 3, ffi_in_guard(x)");
}
