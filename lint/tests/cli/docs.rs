//! The rules table of `docs/lint.md` is the table of the program.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- rules -->\n";
const END: &str = "<!-- /rules -->";

#[test]
fn docs_list_the_rules_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/lint.md");
    let text = fs::read_to_string(&path).expect("the manual");
    let (before, rest) = text.split_once(BEGIN).expect("the table's begin");
    let (_, after) = rest.split_once(END).expect("the table's end");
    let mut table = String::from("| rule | flags | default |\n| --- | --- | --- |\n");
    for rule in vt_lint::rules::TABLE {
        writeln!(
            table,
            "| `{}` | {} | {} |",
            rule.id,
            rule.summary,
            rule.level.name()
        )
        .expect("text");
    }
    let current = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, current).expect("the manual is written");
    } else {
        assert!(
            text == current,
            "docs/lint.md is out of date; run `UPDATE_DOCS=1 cargo test -p cargo-vt-lint docs`"
        );
    }
}
