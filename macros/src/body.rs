//! A function's body as a closure, for macros that run the body elsewhere.
//!
//! **Invariant:** the body's tokens are the user's own; `return`, `?` and borrowed parameters mean in the
//! closure what they meant in the function.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{AttrStyle, Attribute, Block, ReturnType};

use crate::path::generated;
use crate::tokens::mentions;

/// `move || -> Output { body }`.
pub(crate) fn closure(output: &ReturnType, body: &Block, at: Span) -> TokenStream {
    let span = generated(at);
    let annotation = match output {
        // A closure cannot be annotated with `impl Trait`; there the type is inferred.
        ReturnType::Type(arrow, ty)
            if !mentions(ty.to_token_stream(), &|ident| ident == "impl") =>
        {
            Some(quote_spanned!(span=> #arrow #ty))
        }
        ReturnType::Type(..) | ReturnType::Default => None,
    };
    quote_spanned!(span=> move || #annotation #body)
}

/// The attributes as outer ones: those inside the body apply to the whole function anyway.
pub(crate) fn outer_attributes(attrs: &[Attribute]) -> Vec<Attribute> {
    let outer = |attr: &Attribute| Attribute {
        style: AttrStyle::Outer,
        ..attr.clone()
    };
    attrs.iter().map(outer).collect()
}

/// Whether the function says it returns nothing.
pub(crate) fn returns_unit(output: &ReturnType) -> bool {
    match output {
        ReturnType::Default => true,
        ReturnType::Type(_, ty) => {
            matches!(&**ty, syn::Type::Tuple(tuple) if tuple.elems.is_empty())
        }
    }
}

/// Whether the function says it never returns.
pub(crate) fn never_returns(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty) if matches!(**ty, syn::Type::Never(_)))
}
