//! Questions about token streams that need no parser.

use proc_macro2::{Ident, TokenStream, TokenTree};

/// Whether an identifier for which `wanted` holds stands anywhere in these tokens.
pub(crate) fn mentions(tokens: TokenStream, wanted: &impl Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => wanted(&ident),
        TokenTree::Group(group) => mentions(group.stream(), wanted),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
