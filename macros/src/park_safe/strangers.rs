//! Names that a module itself gives to something that is no lock of ours: a type it defines, or one it imports
//! from a crate whose locks `park_safe` does not know.
//!
//! The type system would refuse each mention of such a name. The macro can see these few beforehand, so it says
//! it once, where the name comes from, and leaves the mentions alone. **Invariant:** a name that is not refused
//! here is asked about as ever; nothing stays unswapped without an error.

use std::collections::HashMap;

use proc_macro2::Span;
use quote::ToTokens;
use syn::{Ident, Item, UseTree};

use super::options::Options;

/// Crates with locks for async code, spinning locks and the like, under names that std has too.
const CRATES: &[&str] = &[
    "async_lock",
    "async_std",
    "futures",
    "futures_locks",
    "futures_util",
    "loom",
    "may",
    "shuttle",
    "smol",
    "spin",
    "tokio",
    "tokio_util",
];

/// By local name; nothing is left of one that was reported.
pub(super) type Strangers = HashMap<String, Option<Stranger>>;

/// Where the name comes from, and what to say when it is met.
pub(super) struct Stranger {
    pub(super) at: Span,
    pub(super) message: String,
}

/// The strangers among the names of one module.
pub(super) fn among<'a>(items: impl IntoIterator<Item = &'a Item>, options: &Options) -> Strangers {
    let mut found = HashMap::new();
    for item in items {
        match item {
            Item::Struct(item) => defined(&item.ident, options, &mut found),
            Item::Enum(item) => defined(&item.ident, options, &mut found),
            Item::Union(item) => defined(&item.ident, options, &mut found),
            Item::Use(import) => {
                if let UseTree::Path(path) = &import.tree
                    && CRATES.iter().any(|name| path.ident == name)
                {
                    imported(&path.tree, &path.ident, options, &mut found);
                }
            }
            _ => {}
        }
    }
    found
}

fn defined(name: &Ident, options: &Options, found: &mut Strangers) {
    note(name, name, "a type of this module's own", options, found);
}

fn imported(tree: &UseTree, root: &Ident, options: &Options, found: &mut Strangers) {
    let from = format!("a type of the crate `{root}`");
    match tree {
        UseTree::Path(path) => imported(&path.tree, root, options, found),
        UseTree::Name(name) => note(&name.ident, &name.ident, &from, options, found),
        UseTree::Rename(rename) => note(&rename.rename, &rename.ident, &from, options, found),
        UseTree::Group(group) => {
            for tree in &group.items {
                imported(tree, root, options, found);
            }
        }
        UseTree::Glob(_) => {}
    }
}

fn note(local: &Ident, at: &Ident, what: &str, options: &Options, found: &mut Strangers) {
    let path = syn::Path::from(local.clone());
    if options.lock_at(&path, 0).is_none() {
        return;
    }
    let message = format!(
        "`{at}` is {what}, not a lock that `park_safe` swaps; leave it as it is with `skip({})`, or take what uses it out of \
         this item",
        local.to_token_stream()
    );
    found.insert(
        local.to_string(),
        Some(Stranger {
            at: at.span(),
            message,
        }),
    );
}
