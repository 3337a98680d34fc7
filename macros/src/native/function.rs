//! `#[native]` on a function that wraps foreign calls: the body becomes a closure inside `native_call`.
//!
//! Only the body changes; the signature and the attributes are the user's.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::ItemFn;

use super::Options;
use crate::args::Errors;
use crate::body;
use crate::path::generated;

/// The function with its body wrapped, or nothing where that is refused.
pub(super) fn expand(
    function: &ItemFn,
    options: &Options,
    errors: &mut Errors,
) -> Option<TokenStream> {
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = function;
    let name = &sig.ident;
    if let Some(token) = &sig.constness {
        errors.at(
            token.span,
            "a `const fn` cannot be tracked: the compiler may run it",
        );
        return None;
    }
    if let Some(token) = &sig.asyncness {
        errors.at(token.span, "an `async fn` returns before its body runs; put `native` on the function that calls into C");
        return None;
    }
    if let Some(abi) = &sig.abi {
        errors.over(
            abi,
            "this function is called by foreign code; `native` declares calls into it",
        );
        return None;
    }
    if body::never_returns(&sig.output) {
        errors.over(&sig.output, "a call that never returns cannot be tracked");
        return None;
    }
    let span = generated(name.span());
    let own_name = || name.to_string().trim_start_matches("r#").to_owned();
    let label = options
        .label
        .as_ref()
        .map_or_else(own_name, syn::LitStr::value);
    let closure = body::closure(&sig.output, block, name.span());
    let call = options.call(&label, options.class, closure, name.span());
    let attrs = body::outer_attributes(attrs);
    Some(quote_spanned! {span=>
        #(#attrs)*
        #[track_caller]
        #vis #sig {
            #call
        }
    })
}
