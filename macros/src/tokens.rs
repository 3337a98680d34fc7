//! Questions about token streams that need no parser.

use proc_macro2::{Ident, TokenStream, TokenTree};

/// The first identifier in these tokens for which `wanted` holds.
pub(crate) fn find(tokens: TokenStream, wanted: &impl Fn(&Ident) -> bool) -> Option<Ident> {
    tokens.into_iter().find_map(|tree| match tree {
        TokenTree::Ident(ident) => wanted(&ident).then_some(ident),
        TokenTree::Group(group) => find(group.stream(), wanted),
        TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}

/// Whether an identifier for which `wanted` holds stands anywhere in these tokens.
pub(crate) fn mentions(tokens: TokenStream, wanted: &impl Fn(&Ident) -> bool) -> bool {
    find(tokens, wanted).is_some()
}
