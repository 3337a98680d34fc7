//! `#[lint_allow(rule_name, reason = "..")]`: says to `cargo vt-lint` that a finding is meant.
//!
//! The lint reads the source, so the macro only checks what it is given and emits the item untouched. A
//! missing reason compiles: the lint reports it, on the attribute's line.

use proc_macro2::{TokenStream, TokenTree};
use syn::Meta;

use crate::args::{self, Errors};

/// The lint's rules, spelled with `_`; `tests/agreement.rs` compares them with the lint's own table.
const RULES: &[&str] = &[
    "blocking_in_guard",
    "blocking_through_guard",
    "blocking_in_guard_indirect",
    "guard_across_park",
    "ffi_in_guard",
    "nested_lock",
    "await_in_guard",
    "blocking_in_async",
    "blocking_on_carrier",
    "native_undeclared",
    "scoped_tls_across_park",
    "park_in_thread_local_init",
    "blocking_in_initializer",
    "heavy_thread_local",
    "pooled_virtual_threads",
    "unbounded_fanout",
    "unparsed_source",
    "unused_suppression",
    "suppression_without_reason",
];

/// Expands `#[lint_allow(args)] item`.
pub(crate) fn attribute(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut rules = 0;
    let whole = arguments.clone();
    let dash = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '-');
    if let Some(dash) = whole.clone().into_iter().find(dash) {
        errors.over(
            &dash,
            "write rule names with `_` here: `lint_allow(blocking_in_guard, reason = \"..\")`",
        );
        return errors.beside(item);
    }
    for meta in args::parse(arguments, &mut errors) {
        let name = args::name(&meta);
        match &meta {
            Meta::NameValue(_) if name == "reason" => {
                let reason = args::text(&meta, "reason = \"the file is the device\"", &mut errors);
                if let Some(reason) = reason.filter(|reason| reason.value().trim().is_empty()) {
                    errors.at(reason.span(), "say why: the reason is for the next reader");
                }
            }
            Meta::Path(_) => {
                rules += 1;
                if !RULES.contains(&name.as_str()) {
                    errors.over(&meta, unknown(&name));
                }
            }
            _ => errors.over(&meta, "`lint_allow` takes rule names and `reason = \"..\"`"),
        }
    }
    if rules == 0 && errors.is_empty() {
        errors.over(&whole, "`lint_allow` names the rules it allows: `lint_allow(blocking_in_guard, reason = \"..\")`");
    }
    errors.beside(item)
}

fn unknown(name: &str) -> String {
    let nearest = RULES
        .iter()
        .min_by_key(|rule| distance(rule, name))
        .filter(|rule| distance(rule, name) <= name.len() / 3);
    match nearest {
        Some(rule) => format!("`cargo vt-lint` has no rule `{name}`; did you mean `{rule}`?"),
        None => {
            format!("`cargo vt-lint` has no rule `{name}`; `cargo vt-lint --list-rules` lists them")
        }
    }
}

/// How many letters to insert, remove or replace.
fn distance(left: &str, right: &str) -> usize {
    let mut row = (0..=right.len()).collect::<Vec<_>>();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in right.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}
