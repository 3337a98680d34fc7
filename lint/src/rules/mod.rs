//! All rules: one table, one file each.
//!
//! Adding a rule takes three steps: a file whose `//!` text is the manual that `--explain` prints, a row in
//! [`TABLE`], and a folder of fixtures in `tests/ui`. A test fails when one of the three is missing.

pub mod carrier;
pub mod code;
pub mod guard;
pub mod hygiene;
pub(crate) mod repair;
pub(crate) mod site;

use crate::diagnostic::{Finding, Level, RuleId};
use site::Site;

/// One row of the table.
#[derive(Debug)]
pub struct Rule {
    /// The name.
    pub id: RuleId,
    /// The level without configuration.
    pub level: Level,
    /// What it flags, in one line for tables.
    pub summary: &'static str,
    /// The text of the rule's source file, whose leading `//!` lines are the manual.
    pub source: &'static str,
}

/// Every rule, in order of precedence: of several that fit one call site, the first reports.
pub static TABLE: &[Rule] = &[
    guard::await_in_guard::RULE,
    guard::ffi_in_guard::RULE,
    guard::nested_lock::RULE,
    guard::guard_across_park::RULE,
    guard::blocking_in_guard::RULE,
    guard::blocking_through_guard::RULE,
    guard::blocking_in_guard_indirect::RULE,
    carrier::blocking_on_carrier::RULE,
    carrier::native_undeclared::RULE,
    code::blocking_in_async::RULE,
    code::blocking_in_initializer::RULE,
    carrier::scoped_tls_across_park::RULE,
    carrier::park_in_thread_local_init::RULE,
    carrier::heavy_thread_local::RULE,
    carrier::pooled_virtual_threads::RULE,
    carrier::unbounded_fanout::RULE,
    hygiene::unparsed_source::RULE,
    hygiene::unused_suppression::RULE,
    hygiene::suppression_without_reason::RULE,
];

/// Looks at one event.
pub(crate) type Check = fn(&Site<'_, '_>) -> Option<Finding>;

/// The rules that look at one event, in order of precedence.
pub(crate) static CHECKS: &[Check] = &[
    guard::await_in_guard::check,
    guard::ffi_in_guard::check,
    guard::nested_lock::check,
    guard::guard_across_park::check,
    guard::blocking_in_guard::check,
    guard::blocking_through_guard::check,
    guard::blocking_in_guard_indirect::check,
    carrier::blocking_on_carrier::check,
    carrier::native_undeclared::check,
    code::blocking_in_async::check,
    code::blocking_in_initializer::check,
    carrier::scoped_tls_across_park::check,
    carrier::park_in_thread_local_init::check,
    carrier::heavy_thread_local::check,
    carrier::pooled_virtual_threads::check,
    carrier::unbounded_fanout::check,
];

/// The rule of that name, `-` and `_` being the same.
pub fn find(name: &str) -> Option<&'static Rule> {
    TABLE.iter().find(|rule| same_name(rule.id.name(), name))
}

/// Whether two spellings name the same rule: attributes write `_` where flags write `-`.
pub fn same_name(a: &str, b: &str) -> bool {
    let fold = |byte: u8| if byte == b'_' { b'-' } else { byte };
    a.len() == b.len() && a.bytes().map(fold).eq(b.bytes().map(fold))
}

impl Rule {
    /// The manual, in Markdown.
    pub fn manual(&self) -> String {
        let lines = self
            .source
            .lines()
            .map_while(|line| line.strip_prefix("//!"));
        let mut text: String = lines
            .flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"])
            .collect();
        text.truncate(text.trim_end().len());
        text
    }
}
