//! `#[native]`: declares calls into foreign code, so that a pin or a block inside them is seen and named.
//!
//! On an `extern` block every function becomes a wrapper of the same name and signature (`block`); on a safe
//! wrapper function the whole body counts as one foreign call (`function`). Both go through
//! `__private::native_call`, and neither changes what the caller may write.

mod block;
mod function;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Item, Meta};

use crate::args::{self, Errors};
use crate::path::{RuntimePath, generated};

const KNOWN: &[&str] = &["blocking", "quick", "computing", "label", "crate"];

/// Expands `#[native(args)] item`.
pub(crate) fn attribute(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut options = Options::default();
    options.read(args, &mut errors);
    let expanded = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::ForeignMod(block)) => {
            if let Some(label) = &options.label {
                errors.at(
                    label.span(),
                    "the functions of a block are labelled with their own names",
                );
            }
            block::expand(block, &options, &mut errors)
        }
        Ok(Item::Fn(function)) => {
            function::expand(&function, &options, &mut errors).unwrap_or(item)
        }
        Ok(other) => {
            errors.over(
                &other,
                "`native` stands on an `extern` block or on a function that wraps foreign calls",
            );
            item
        }
        Err(error) => {
            errors.add(error);
            item
        }
    };
    errors.beside(expanded)
}

/// What the runtime may expect of the call.
#[derive(Clone, Copy, Default)]
enum Class {
    /// Nothing is known: it is timed, and told apart by what it did.
    #[default]
    Unknown,
    /// It blocks in the kernel: the runtime may start a spare carrier.
    Blocking,
    /// It computes: waiting is not expected of it.
    Computing,
    /// It returns at once: no clock is read.
    Quick,
}

impl Class {
    fn named(name: &str) -> Option<Class> {
        match name {
            "blocking" => Some(Class::Blocking),
            "computing" => Some(Class::Computing),
            "quick" => Some(Class::Quick),
            _ => None,
        }
    }

    fn variant(self, span: Span) -> Ident {
        let name = match self {
            Class::Unknown => "Unknown",
            Class::Blocking => "Blocking",
            Class::Computing => "Computing",
            Class::Quick => "Quick",
        };
        Ident::new(name, span)
    }
}

#[derive(Default)]
struct Options {
    runtime: RuntimePath,
    class: Class,
    label: Option<syn::LitStr>,
}

impl Options {
    fn read(&mut self, tokens: TokenStream, errors: &mut Errors) {
        let mut chosen: Option<String> = None;
        for meta in args::parse(tokens, errors) {
            let name = args::name(&meta);
            match name.as_str() {
                "label" => self.label = args::text(&meta, "label = \"decode a thumbnail\"", errors),
                "crate" => {
                    if let Some(path) = args::path(&meta, errors) {
                        self.runtime.set(path);
                    }
                }
                _ => match Class::named(&name) {
                    Some(class) => {
                        args::flag(&meta, errors);
                        if let Some(first) = &chosen {
                            errors.over(
                                meta.path(),
                                format_args!("a call is either `{first}` or `{name}`"),
                            );
                        } else {
                            self.class = class;
                            chosen = Some(name);
                        }
                    }
                    None => args::unknown(&meta, "native", KNOWN, errors),
                },
            }
        }
    }

    /// The class that `#[native(..)]` on one function of a block gives it.
    fn for_function(&self, attribute: &Meta, errors: &mut Errors) -> Class {
        let tokens = match attribute {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let mut own = Options::default();
        own.read(tokens, errors);
        if let Some(label) = own.label {
            errors.at(
                label.span(),
                "the functions of a block are labelled with their own names",
            );
        }
        own.class
    }

    /// `native_call("label", class, call)`.
    fn call(&self, label: &str, class: Class, call: impl ToTokens, at: Span) -> TokenStream {
        let span = generated(at);
        let private = self.runtime.private(at);
        let class = class.variant(span);
        quote_spanned!(span=> #private::native_call(#label, #private::NativeClass::#class, #call))
    }
}
