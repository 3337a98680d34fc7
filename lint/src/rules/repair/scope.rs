//! The module around a place, as written, and what of it others can see.
//!
//! A module whose locks nobody else can name may swap their types: everything that could stop compiling stands in it.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::{Attribute, Fields, ImplItem, Item, Visibility};

use crate::model::syntax::At;

/// Derives whose code does not depend on which lock a field is.
const HARMLESS_DERIVES: [&str; 2] = ["Debug", "Default"];

/// A module: a file's own or an inline one.
pub(super) struct Scope<'f> {
    /// Its items.
    pub(super) items: &'f [Item],
    /// The item, if it is inline.
    pub(super) inline: Option<&'f syn::ItemMod>,
    /// Its place.
    pub(super) at: At,
}

impl<'f> Scope<'f> {
    /// The innermost module around a byte.
    pub(super) fn around(file: &'f syn::File, length: usize, byte: u32) -> Self {
        let mut scope = Self {
            items: &file.items,
            inline: None,
            at: At {
                start: 0,
                end: u32::try_from(length).unwrap_or(u32::MAX),
            },
        };
        loop {
            let below = scope.items.iter().find_map(|item| {
                let Item::Mod(module) = item else { return None };
                let (_, items) = module.content.as_ref()?;
                let at = place(module);
                (at.start <= byte && byte < at.end).then_some((module, items, at))
            });
            let Some((module, items, at)) = below else {
                return scope;
            };
            scope = Self {
                items,
                inline: Some(module),
                at,
            };
        }
    }

    /// Whether everything that mentions one of `names` is this module's own business.
    pub(super) fn is_private(&self, names: &[&str]) -> bool {
        self.items.iter().all(|item| is_private(item, names))
    }

    /// Whether it declares file modules, which see its private items.
    pub(super) fn has_files(&self) -> bool {
        self.items
            .iter()
            .any(|item| matches!(item, Item::Mod(module) if module.content.is_none()))
    }

    /// Whether a struct of this name with a field of this name is declared here.
    pub(super) fn declares_field(&self, owner: &str, field: &str) -> bool {
        self.items.iter().any(|item| match item {
            Item::Struct(of) if of.ident == owner => match &of.fields {
                Fields::Named(fields) => fields
                    .named
                    .iter()
                    .any(|one| one.ident.as_ref().is_some_and(|ident| ident == field)),
                fields => field.parse().is_ok_and(|index: usize| index < fields.len()),
            },
            _ => false,
        })
    }
}

/// The place of an item, attributes included.
pub(super) fn place(item: &impl ToTokens) -> At {
    let range = item.span().byte_range();
    At {
        start: u32::try_from(range.start).unwrap_or(u32::MAX),
        end: u32::try_from(range.end).unwrap_or(u32::MAX),
    }
}

/// Whether one of `names` stands in these tokens.
pub(super) fn mentions(tokens: impl ToTokens, names: &[&str]) -> bool {
    stands_in(tokens.to_token_stream(), names)
}

fn stands_in(tokens: TokenStream, names: &[&str]) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => names.iter().any(|name| ident == name),
        TokenTree::Group(group) => stands_in(group.stream(), names),
        _ => false,
    })
}

fn is_private(item: &Item, names: &[&str]) -> bool {
    let own = |visibility: &Visibility| matches!(visibility, Visibility::Inherited);
    let harmless = |attributes: &[Attribute]| attributes.iter().all(is_harmless);
    match item {
        Item::Use(of) => own(&of.vis) || !mentions(of, names),
        Item::Struct(of) => {
            !mentions(&of.fields, names)
                || harmless(&of.attrs)
                    && !mentions(&of.generics, names)
                    && of
                        .fields
                        .iter()
                        .all(|field| own(&field.vis) || !mentions(&field.ty, names))
        }
        Item::Enum(of) => !mentions(of, names) || own(&of.vis) && harmless(&of.attrs),
        Item::Static(of) => own(&of.vis) || !mentions(&of.ty, names),
        Item::Const(of) => own(&of.vis) || !mentions(&of.ty, names),
        Item::Type(of) => own(&of.vis) || !mentions(of, names),
        Item::Fn(of) => own(&of.vis) || !mentions(&of.sig, names),
        Item::Impl(of) => {
            let head = mentions(&of.generics, names)
                || mentions(&of.self_ty, names)
                || of
                    .trait_
                    .as_ref()
                    .is_some_and(|(path, _)| mentions(path, names));
            let of_trait = of.trait_.is_some();
            !head
                && of.items.iter().all(|item| match item {
                    ImplItem::Fn(of) => (own(&of.vis) && !of_trait) || !mentions(&of.sig, names),
                    other => !mentions(other, names),
                })
        }
        // Also macros, whose tokens nobody can judge, and modules, which have imports of their own.
        other => !mentions(other, names),
    }
}

fn is_harmless(attribute: &Attribute) -> bool {
    if !attribute.path().is_ident("derive") {
        return true;
    }
    let mut all = true;
    let read = attribute.parse_nested_meta(|meta| {
        let last = meta.path.segments.last().map(|last| last.ident.to_string());
        all &= last.is_some_and(|name| HARMLESS_DERIVES.contains(&name.as_str()));
        Ok(())
    });
    read.is_ok() && all
}
