//! `#[native]` on an `extern` block.
//!
//! The block stays where it was, with its link attributes, statics, types and whatever cannot be wrapped. Each
//! other function moves into a wrapper of its own name: same signature, visibility, documentation and safety,
//! marked `#[track_caller]` so that an event names the caller's line. Not wrapped, and so not tracked, are
//! variadic functions (Rust cannot pass such arguments on) and functions that never return.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Abi, Attribute, Expr, ExprLit, FnArg, ForeignItem, ForeignItemFn, ItemForeignMod, Lit, Meta,
    Pat, Safety, Type,
};

use super::{Class, Options};
use crate::args::Errors;
use crate::body;
use crate::path::generated;
use crate::tokens::mentions;

pub(super) fn expand(block: ItemForeignMod, options: &Options, errors: &mut Errors) -> TokenStream {
    let ItemForeignMod {
        attrs,
        unsafety,
        abi,
        brace_token,
        items,
    } = block;
    // A block's `cfg` and lint levels hold for its functions; its link attributes and documentation do not.
    let (inherited, own): (Vec<_>, Vec<_>) = attrs.into_iter().partition(|attr| {
        !attr.path().is_ident("doc") && !mentions(attr.to_token_stream(), &|ident| ident == "link")
    });
    let mut kept = Vec::new();
    let mut wrappers = Vec::new();
    for item in items {
        let ForeignItem::Fn(mut function) = item else {
            kept.push(item);
            continue;
        };
        let own = take_native(&mut function.attrs);
        let class = own.as_ref().map_or(options.class, |attr| {
            options.for_function(&attr.meta, errors)
        });
        if let Some(reason) = untracked(&function) {
            if let Some(attr) = own {
                errors.over(
                    &attr,
                    format_args!("`{}` {reason}, so it cannot be tracked", function.sig.ident),
                );
            }
            kept.push(ForeignItem::Fn(function));
            continue;
        }
        if let (None, Safety::Safe(token)) = (&unsafety, &function.sig.safety) {
            errors.at(token.span, "only an `unsafe extern` block may say `safe`");
        }
        wrappers.push(wrap(function, &abi, &inherited, class, options));
    }
    // Built from the user's own tokens: whether `extern` needs `unsafe` depends on the edition they come from.
    let remainder = (!kept.is_empty() || !own.is_empty()).then(|| ItemForeignMod {
        attrs: own.into_iter().chain(inherited).collect(),
        unsafety,
        abi,
        brace_token,
        items: kept,
    });
    quote! {
        #remainder
        #(#wrappers)*
    }
}

/// Takes `#[native(..)]` off a function, under whatever path the user reaches it.
fn take_native(attrs: &mut Vec<Attribute>) -> Option<Attribute> {
    let at = attrs.iter().position(|attr| {
        attr.path()
            .segments
            .last()
            .is_some_and(|last| last.ident == "native")
    })?;
    Some(attrs.remove(at))
}

fn untracked(function: &ForeignItemFn) -> Option<&'static str> {
    if function.sig.variadic.is_some() {
        return Some("takes a variable number of arguments");
    }
    body::never_returns(&function.sig.output).then_some("never returns")
}

fn wrap(
    function: ForeignItemFn,
    abi: &Abi,
    inherited: &[Attribute],
    class: Class,
    options: &Options,
) -> TokenStream {
    let ForeignItemFn {
        attrs, vis, sig, ..
    } = function;
    let name = &sig.ident;
    let span = generated(name.span());
    let (foreign, own) = share(attrs);

    let params = sig
        .inputs
        .iter()
        .enumerate()
        .map(|(index, input)| param(index, input, name))
        .collect::<Vec<_>>();
    let names = params.iter().map(|(_, name, _)| name).collect::<Vec<_>>();
    let wrapped = params
        .iter()
        .map(|(attrs, name, ty)| quote!(#(#attrs)* #name: #ty));
    let declared = &sig.inputs;
    let output = &sig.output;
    let generics = &sig.generics;
    let where_clause = &sig.generics.where_clause;

    let safe = matches!(sig.safety, Safety::Safe(_));
    let unsafe_fn = (!safe).then(|| quote_spanned!(span=> unsafe));
    let declared_safety = &sig.safety;
    let foreign_call = if safe {
        quote_spanned!(span=> #name(#(#names),*))
    } else {
        // SAFETY of the generated block: the wrapper is `unsafe` with the foreign function's own contract.
        quote_spanned!(span=> unsafe { #name(#(#names),*) })
    };
    let call = options.call(
        &symbol(&foreign, name),
        class,
        quote_spanned!(span=> move || #foreign_call),
        name.span(),
    );
    let camel = name
        .to_string()
        .chars()
        .any(char::is_uppercase)
        .then(|| quote_spanned!(span=> non_snake_case,));
    quote_spanned! {span=>
        #(#inherited)*
        #(#own)*
        #[allow(#camel clippy::missing_safety_doc, clippy::too_many_arguments)]
        #[track_caller]
        #[inline]
        #vis #unsafe_fn fn #name #generics(#(#wrapped),*) #output #where_clause {
            unsafe #abi {
                #(#foreign)*
                #declared_safety fn #name #generics(#declared) #output #where_clause;
            }
            #call
        }
    }
}

/// The attributes that belong to the foreign declaration, and those that belong to the wrapper.
fn share(attrs: Vec<Attribute>) -> (Vec<Attribute>, Vec<Attribute>) {
    attrs.into_iter().partition(|attr| match &attr.meta {
        Meta::List(list) if attr.path().is_ident("cfg_attr") => {
            mentions(list.tokens.clone(), &|ident| is_linkage(&ident.to_string()))
        }
        meta => meta
            .path()
            .get_ident()
            .is_some_and(|ident| is_linkage(&ident.to_string())),
    })
}

fn is_linkage(attribute: &str) -> bool {
    matches!(
        attribute,
        "link_name" | "link_ordinal" | "ffi_const" | "ffi_pure" | "linkage"
    )
}

/// The symbol the call is reported under.
fn symbol(foreign: &[Attribute], name: &Ident) -> String {
    let renamed = foreign.iter().find_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if attr.path().is_ident("link_name") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    renamed.unwrap_or_else(|| name.to_string().trim_start_matches("r#").to_owned())
}

/// A parameter of the wrapper, with a name where the declaration has none or one that its own function hides.
fn param(index: usize, input: &FnArg, function: &Ident) -> (Vec<Attribute>, Ident, Type) {
    let numbered = |span: Span| Ident::new(&format!("arg{index}"), generated(span));
    match input {
        FnArg::Typed(typed) => {
            let name = match &*typed.pat {
                Pat::Ident(binding) if binding.ident != *function => binding.ident.clone(),
                other => numbered(other.span()),
            };
            (typed.attrs.clone(), name, (*typed.ty).clone())
        }
        // A foreign function has no receiver; the compiler says so on the declaration.
        FnArg::Receiver(receiver) => {
            let ty = Type::Verbatim(quote!(()));
            (Vec::new(), numbered(receiver.self_token.span), ty)
        }
    }
}
