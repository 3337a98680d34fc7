//! What `#[park_safe]` refuses as a whole, with the reason and the cure.
//!
//! Refusals about one lock at one place are made where the lock is met (`swap`, `opaque`); here are those that
//! need to see the item.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Item;

use super::{Annotated, names};
use crate::args::Errors;
use crate::tokens::find;

/// An item the attribute can do nothing for.
pub(super) fn unswappable_kind(annotated: &Annotated) -> syn::Result<()> {
    let refused = |at: &dyn ToTokens, why| Err(syn::Error::new_spanned(at, why));
    match annotated {
        Annotated::Item(Item::Mod(module)) if module.content.is_none() => refused(
            &module.ident,
            "the contents of a file module are not visible here; annotate its items, or let `cargo vt-lint --fix` change \
             the file's `use` line",
        ),
        Annotated::Item(Item::Use(import)) => refused(
            import,
            "an import is not swapped; annotate the items that use the lock, or import it from `vt_runtime::sync`",
        ),
        Annotated::Item(Item::ForeignMod(block)) => refused(
            &block.abi,
            "foreign items hold no Rust lock; for foreign calls there is `#[vt_runtime::native]`",
        ),
        _ => Ok(()),
    }
}

/// A monitor may guard what belongs to its carrier, and foreign code is what such things are made of.
pub(super) fn monitor_beside_unsafe(item: &TokenStream, errors: &mut Errors) {
    let trees = item.clone().into_iter().collect::<Vec<_>>();
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => monitor_beside_unsafe(&group.stream(), errors),
            TokenTree::Ident(ident) if ident == "unsafe" => {
                beside("`unsafe`", ident.span(), errors)
            }
            TokenTree::Ident(ident) if ident == "libc" && path_follows(&trees, index, None) => {
                beside("`libc`", ident.span(), errors);
            }
            TokenTree::Ident(ident)
                if ident == "native" && path_follows(&trees, index, Some("call")) =>
            {
                beside("`native::call`", ident.span(), errors);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Whether `::` follows, and after it `name` if one is asked for.
fn path_follows(trees: &[TokenTree], index: usize, name: Option<&str>) -> bool {
    let colon = |at: usize| matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    let named =
        |name| matches!(trees.get(index + 3), Some(TokenTree::Ident(ident)) if ident == name);
    colon(index + 1) && colon(index + 2) && name.is_none_or(named)
}

fn beside(what: &str, at: Span, errors: &mut Errors) {
    errors.at(
        at,
        format_args!(
            "a `Monitor` beside {what} stays a monitor: it may guard something that belongs to its carrier; move this out of \
             the item, or drop `monitor = \"reentrant\"`"
        ),
    );
}

/// An attribute without effect would look like a repair.
pub(super) fn nothing_to_swap(item: &TokenStream, errors: &mut Errors) {
    let monitor = |ident: &Ident| ident == "Monitor" || ident == "MonitorGuard";
    if let Some(monitor) = find(item.clone(), &monitor) {
        errors.at(
            monitor.span(),
            format_args!(
                "`park_safe` swaps a `{monitor}` only with `monitor = \"reentrant\"`: it may guard something that belongs to \
                 its carrier"
            ),
        );
    } else {
        errors.at(
            Span::call_site(),
            format_args!(
                "`park_safe` found nothing to swap here: it knows {}; annotate the item that names the lock, and for one \
                 imported under another name outside of it write `only(Local = Mutex)`",
                names::SUMMARY
            ),
        );
    }
}
