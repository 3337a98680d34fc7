//! `#[main]` and `#[test]`.

use super::check;
use crate::entry::{main, test};

#[test]
fn main_runs_as_a_virtual_thread() {
    let main =
        |name: &str, args: &str, item: &str| check(main, &format!("main_{name}"), args, item);
    main("plain", "", "fn main() { serve(); }");
    main(
        "result",
        "carriers = 4",
        "/// Serves.\nfn main() -> Result<(), Box<dyn Error>> { #![expect(unused)] serve()?; Ok(()) }",
    );
    main(
        "impl_trait",
        "crate = facade::vt",
        "fn main() -> impl Termination { ExitCode::from(3) }",
    );
    main(
        "refused",
        "carriers = 0, threads = 3",
        "async fn main<T>(x: u8) { serve(); }",
    );
    main("on_struct", "", "struct Main;");
}

#[test]
fn a_test_has_its_own_runtime() {
    let test =
        |name: &str, args: &str, item: &str| check(test, &format!("test_{name}"), args, item);
    test("plain", "", "fn waits() { park(); }");
    test(
        "unit",
        "carriers = 2",
        "#[ignore] #[should_panic(expected = \"x\")] fn waits() -> () { park(); }",
    );
    test(
        "result",
        "should_not_pin",
        "fn waits() -> io::Result<()> { park()?; Ok(()) }",
    );
    test("should_pin", "should_pin", "fn waits() {}");
    test(
        "at_most",
        "should_pin(at_most = 3, longer_than = \"20ms\"), carriers = 1",
        "fn waits() {}",
    );
    test(
        "longer_than",
        "should_not_pin(longer_than = \"1s\"), crate = facade::vt",
        "fn waits() {}",
    );
}

#[test]
fn a_wrong_test_is_said() {
    let test =
        |name: &str, args: &str, item: &str| check(test, &format!("test_{name}"), args, item);
    test("both", "should_pin, should_not_pin", "fn waits() {}");
    test(
        "wrong_duration",
        "should_pin(longer_than = \"soon\", at_most = 0, often)",
        "fn waits() {}",
    );
    test(
        "at_most_of_none",
        "should_not_pin(at_most = 2)",
        "fn waits() {}",
    );
    test(
        "value",
        "should_pin = 3, carriers = \"two\"",
        "fn waits() {}",
    );
    test("twice", "", "#[test] fn waits() {}");
    test("async", "", "async fn waits() {}");
    test("arguments", "", "fn waits(n: u8) {}");
}
