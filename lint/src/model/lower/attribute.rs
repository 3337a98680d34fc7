//! Attributes the analysis knows.

use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

use super::super::syntax::{AllowAttribute, At, Mark, Swap};
use super::{Lowerer, at, name};

/// Attributes kept as marks: those of user code, then those of the interface descriptions in `knowledge/`.
const MARKS: [&str; 39] = [
    "native",
    "main",
    "test",
    "blocks",
    "parks",
    "acquires",
    "guard",
    "lock",
    "io",
    "io_call",
    "blocks_by_argument",
    "forces",
    "initializes",
    "initializer",
    "blocking_iterator",
    "parking_iterator",
    "offloads",
    "declares",
    "critical",
    "tls",
    "tells_virtual",
    "only_yields",
    "drives",
    "driven",
    "later",
    "lazy",
    "os_thread",
    "offload",
    "vthread",
    "coroutine",
    "future",
    "takes",
    "stays",
    "released",
    "drops",
    "no_mangle",
    "if_bounded",
    "makes_bounded",
    "makes_unbounded",
];

impl Lowerer<'_> {
    /// Whether an item with these attributes is looked at: `cfg` keeps it and it is no test.
    pub(super) fn keeps(&self, attributes: &[Attribute]) -> bool {
        if attributes.is_empty() {
            return true;
        }
        if !self.context.conditions.keeps(attributes) {
            return false;
        }
        self.context.conditions.tests()
            || !attributes.iter().any(|attribute| {
                attribute.path().segments.last().is_some_and(|last| {
                    [
                        "test",
                        "bench",
                        "rstest",
                        "test_case",
                        "quickcheck",
                        "wasm_bindgen_test",
                        "test_log",
                    ]
                    .iter()
                    .any(|it| last.ident == it)
                })
            })
    }

    /// The marks among the attributes.
    pub(super) fn marks(&self, attributes: &[Attribute]) -> Vec<Mark> {
        if attributes.is_empty() {
            return Vec::new();
        }
        let mut marks = Vec::new();
        for meta in self.context.conditions.effective(attributes) {
            let Some(last) = meta.path().segments.last() else {
                continue;
            };
            let last = name(&last.ident);
            // tokio has a `main` and a `test` too.
            let is_entry = last == "main" || last == "test";
            if is_entry
                && meta
                    .path()
                    .segments
                    .first()
                    .is_none_or(|first| first.ident != "vt_runtime")
            {
                continue;
            }
            if MARKS.contains(&last.as_str()) {
                let argument = match &meta {
                    Meta::Path(_) => String::new(),
                    Meta::List(list) => list.tokens.to_string(),
                    Meta::NameValue(pair) => string(&pair.value).unwrap_or_default(),
                };
                marks.push(Mark {
                    name: last,
                    argument,
                });
            }
        }
        marks
    }

    /// The string value of `#[key = ".."]`, through `cfg_attr`.
    pub(super) fn string_attribute(&self, attributes: &[Attribute], key: &str) -> Option<String> {
        self.context
            .conditions
            .effective(attributes)
            .iter()
            .find_map(|meta| match meta {
                Meta::NameValue(pair) if pair.path.is_ident(key) => string(&pair.value),
                _ => None,
            })
    }

    /// Enters an item with these attributes; the result is what to go back to.
    pub(super) fn enter_swap(&mut self, attributes: &[Attribute]) -> Swap {
        let inner = self.swap(attributes);
        std::mem::replace(&mut self.swap, inner)
    }

    /// What `#[park_safe]` among the attributes swaps, or what is swapped around the item.
    pub(super) fn swap(&self, attributes: &[Attribute]) -> Swap {
        let mut swap = self.swap;
        for attribute in attributes {
            if attribute
                .path()
                .segments
                .last()
                .is_some_and(|last| last.ident == "park_safe")
            {
                let monitors = matches!(&attribute.meta, Meta::List(list) if list.tokens.to_string().contains("reentrant"));
                swap = swap.max(if monitors {
                    Swap::LocksAndMonitors
                } else {
                    Swap::Locks
                });
            }
        }
        swap
    }

    /// Notes the `lint_allow` attributes of an item.
    pub(super) fn allows(&mut self, attributes: &[Attribute], item: At) {
        for attribute in attributes {
            if attribute
                .path()
                .segments
                .last()
                .is_none_or(|last| last.ident != "lint_allow")
            {
                continue;
            }
            let Meta::List(list) = &attribute.meta else {
                continue;
            };
            let Ok(parts) =
                Punctuated::<Meta, Token![,]>::parse_terminated.parse2(list.tokens.clone())
            else {
                continue;
            };
            let mut rules = Vec::new();
            let mut reason = None;
            for part in &parts {
                match part {
                    Meta::Path(path) => rules.extend(path.get_ident().map(ToString::to_string)),
                    Meta::NameValue(pair) if pair.path.is_ident("reason") => {
                        reason = string(&pair.value)
                    }
                    _ => {}
                }
            }
            let place = at(attribute.pound_token.span).to(at(attribute.bracket_token.span.close()));
            self.file.allows.push(AllowAttribute {
                at: place,
                item: place.to(item),
                rules,
                reason,
            });
        }
    }
}

fn string(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}
