//! The one place that spells the path generated code goes through.
//!
//! Generated code names nothing of `vt-runtime` but its hidden `__private` module, by an absolute path, so it
//! resolves the same way in every module, edition and prelude. A crate that re-exports the runtime says where
//! it is with `crate = path`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Path, PathSegment, Token};

/// Where the runtime is found: `::vt_runtime`, unless the user said otherwise.
#[derive(Default)]
pub(crate) struct RuntimePath(Option<Path>);

impl RuntimePath {
    /// Takes the path of a `crate = path` argument.
    pub(crate) fn set(&mut self, path: Path) {
        self.0 = Some(path);
    }

    /// `__private::name`, to be put together with other syntax: cheaper than tokens, which must be parsed again.
    pub(crate) fn private_item(&self, name: &[&str], at: Span) -> Path {
        let span = generated(at);
        let mut path = self.0.clone().unwrap_or_else(|| Path {
            leading_colon: Some(Token![::](span)),
            segments: Punctuated::from_iter([PathSegment::from(Ident::new("vt_runtime", span))]),
        });
        path.segments.push(Ident::new("__private", span).into());
        path.segments.extend(
            name.iter()
                .map(|name| PathSegment::from(Ident::new(name, span))),
        );
        path
    }

    /// The path of `__private`, for errors to point at `at` and for names to resolve at the macro's call.
    pub(crate) fn private(&self, at: Span) -> TokenStream {
        let span = generated(at);
        match &self.0 {
            Some(path) => {
                let path = path.to_token_stream();
                quote_spanned!(span=> #path::__private)
            }
            None => quote_spanned!(span=> ::vt_runtime::__private),
        }
    }
}

/// A span at the user's token whose context is the macro's: errors point at what the user wrote, and lints see
/// that nobody wrote these tokens by hand.
pub(crate) fn generated(at: Span) -> Span {
    Span::call_site().located_at(at)
}
