//! Reads attribute arguments and collects every mistake before any is reported.
//!
//! What an argument means is its macro's business; this file knows the shapes (`flag`, `name = value`,
//! `name(..)`) and the wording of what is wrong with one. It never stops at the first mistake: an attribute
//! with three wrong arguments gives three errors, and the arguments that are right still hold.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, ExprPath, Lit, LitInt, LitStr, Meta, Path, Token};

/// The mistakes found so far, in the order of the source.
#[derive(Default)]
pub(crate) struct Errors(Vec<Error>);

impl Errors {
    /// Notes a mistake at one token.
    pub(crate) fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.0.push(Error::new(span, message));
    }

    /// Notes a mistake over a whole stretch of tokens.
    pub(crate) fn over(&mut self, tokens: &impl ToTokens, message: impl std::fmt::Display) {
        self.0.push(Error::new_spanned(tokens, message));
    }

    /// Notes a mistake that a parser found.
    pub(crate) fn add(&mut self, error: Error) {
        self.0.push(error);
    }

    /// Whether nothing was wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The item followed by one `compile_error!` for each mistake.
    pub(crate) fn beside(self, item: TokenStream) -> TokenStream {
        let errors = self.0.into_iter().map(Error::into_compile_error);
        std::iter::once(item).chain(errors).collect()
    }
}

/// The arguments of one attribute, each name at most once.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Vec<Meta> {
    let mut seen = HashSet::new();
    match Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens) {
        Ok(metas) => metas
            .into_iter()
            .filter(|meta| {
                let name = name(meta);
                let first = seen.insert(name.clone());
                if !first {
                    errors.over(meta.path(), format_args!("`{name}` is given twice"));
                }
                first
            })
            .collect(),
        Err(error) => {
            errors.add(error);
            Vec::new()
        }
    }
}

/// The argument's name as the user wrote it.
pub(crate) fn name(meta: &Meta) -> String {
    let path = meta.path();
    match path.get_ident() {
        Some(ident) => ident.to_string(),
        None => path.to_token_stream().to_string().replace(' ', ""),
    }
}

/// Reports an argument this attribute does not have.
pub(crate) fn unknown(meta: &Meta, attribute: &str, known: &[&str], errors: &mut Errors) {
    let name = name(meta);
    let known = known
        .iter()
        .map(|known| format!("`{known}`"))
        .collect::<Vec<_>>()
        .join(", ");
    errors.over(
        meta.path(),
        format_args!("`{attribute}` has no argument `{name}`; it takes {known}"),
    );
}

/// A bare word such as `public`; one with a value is an error, and does not hold.
pub(crate) fn flag(meta: &Meta, errors: &mut Errors) -> bool {
    let bare = matches!(meta, Meta::Path(_));
    if !bare {
        errors.over(meta, format_args!("`{}` takes no value", name(meta)));
    }
    bare
}

/// `name = "text"`.
pub(crate) fn text(meta: &Meta, example: &str, errors: &mut Errors) -> Option<LitStr> {
    match value(meta) {
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        })) => Some(text.clone()),
        _ => wanted(meta, &format!("a string, as in `{example}`"), errors),
    }
}

/// `name = 4`, at least `least`.
pub(crate) fn number(meta: &Meta, least: usize, errors: &mut Errors) -> Option<usize> {
    let at_least = |literal: &LitInt| {
        literal
            .base10_parse::<usize>()
            .ok()
            .filter(|number| *number >= least)
    };
    match value(meta) {
        Some(Expr::Lit(ExprLit {
            lit: Lit::Int(literal),
            ..
        })) if at_least(literal).is_some() => at_least(literal),
        _ => wanted(
            meta,
            &format!(
                "a whole number of at least {least}, as in `{} = {}`",
                name(meta),
                least + 1
            ),
            errors,
        ),
    }
}

/// `name = some::path`.
pub(crate) fn path(meta: &Meta, errors: &mut Errors) -> Option<Path> {
    match value(meta) {
        Some(Expr::Path(ExprPath {
            attrs,
            qself: None,
            path,
        })) if attrs.is_empty() => Some(path.clone()),
        // The habit of other crates: `crate = "path"`.
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        })) => match text.parse_with(Path::parse_mod_style) {
            Ok(path) => Some(path),
            Err(error) => {
                errors.add(error);
                None
            }
        },
        _ => wanted(
            meta,
            &format!("a path, as in `{} = my_crate::vt_runtime`", name(meta)),
            errors,
        ),
    }
}

/// `name(a, b, ..)`, with at least one entry.
pub(crate) fn list<T: Parse>(meta: &Meta, example: &str, errors: &mut Errors) -> Option<Vec<T>> {
    let Meta::List(list) = meta else {
        return wanted(meta, &format!("a list, as in `{example}`"), errors);
    };
    match list.parse_args_with(Punctuated::<T, Token![,]>::parse_terminated) {
        Ok(entries) if entries.is_empty() => wanted(
            meta,
            &format!("at least one entry, as in `{example}`"),
            errors,
        ),
        Ok(entries) => Some(entries.into_iter().collect()),
        Err(error) => {
            errors.add(error);
            None
        }
    }
}

fn value(meta: &Meta) -> Option<&Expr> {
    match meta {
        Meta::NameValue(pair) => Some(&pair.value),
        Meta::Path(_) | Meta::List(_) => None,
    }
}

fn wanted<T>(meta: &Meta, what: &str, errors: &mut Errors) -> Option<T> {
    errors.over(meta, format_args!("`{}` wants {what}", name(meta)));
    None
}
