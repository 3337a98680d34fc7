//! Looks into the arguments of macros, as far as they are Rust.
//!
//! Expressions (`vec!`, `assert!`, `format!`), repeat lists, lists of statics (`thread_local!`) and statements
//! are rewritten like other code. Where a macro has a syntax of its own and names a lock in it, that is an
//! error: a lock that stays because nobody could see it would be silent.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Block, Expr, Ident, Macro, Stmt, Token, Type, Visibility};

use super::swap::Swapper;

/// Rewrites the arguments of one macro call.
pub(super) fn visit(swapper: &mut Swapper<'_>, mac: &mut Macro) {
    if lock_path(&mac.tokens, swapper).is_none() {
        return;
    }
    let tokens = mac.tokens.clone();
    let rewritten = expressions(swapper, tokens.clone())
        .or_else(|| statics(swapper, tokens.clone()))
        .or_else(|| statements(swapper, tokens.clone()))
        .or_else(|| pieces(swapper, tokens));
    match rewritten {
        Some(tokens) => mac.tokens = tokens,
        None => refuse(swapper, mac, "has a syntax of its own"),
    }
}

/// A `macro_rules!` whose text names a lock: the names mean what they mean where it is used.
pub(super) fn refuse_definition(swapper: &mut Swapper<'_>, mac: &Macro) {
    if lock_path(&mac.tokens, swapper).is_some() {
        refuse(swapper, mac, "is a definition");
    }
}

fn refuse(swapper: &mut Swapper<'_>, mac: &Macro, why: &str) {
    let Some(name) = lock_path(&mac.tokens, swapper) else {
        return;
    };
    let Some(mac) = mac.path.segments.last().map(|segment| &segment.ident) else {
        return;
    };
    swapper.errors.at(
        name.span(),
        format_args!(
            "`park_safe` cannot look into `{mac}!`, which {why}, to swap this `{name}`; move the lock out of it, or say \
             `skip({name})`"
        ),
    );
}

fn expressions(swapper: &mut Swapper<'_>, tokens: TokenStream) -> Option<TokenStream> {
    let mut all = Punctuated::<Expr, Token![,]>::parse_terminated
        .parse2(tokens)
        .ok()?;
    all.iter_mut().for_each(|expr| swapper.visit_expr_mut(expr));
    Some(all.to_token_stream())
}

fn statements(swapper: &mut Swapper<'_>, tokens: TokenStream) -> Option<TokenStream> {
    let mut all: Vec<Stmt> = Block::parse_within.parse2(tokens).ok()?;
    all.iter_mut().for_each(|stmt| swapper.visit_stmt_mut(stmt));
    Some(all.iter().map(ToTokens::to_token_stream).collect())
}

/// The arguments one by one, between commas and semicolons; a piece that names no lock stays as it is.
fn pieces(swapper: &mut Swapper<'_>, tokens: TokenStream) -> Option<TokenStream> {
    let mut output = TokenStream::new();
    let mut piece = TokenStream::new();
    for tree in tokens {
        match tree {
            TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => {
                output.extend(rewrite_piece(swapper, std::mem::take(&mut piece))?);
                output.extend([TokenTree::Punct(punct)]);
            }
            tree => piece.extend([tree]),
        }
    }
    output.extend(rewrite_piece(swapper, piece)?);
    Some(output)
}

fn rewrite_piece(swapper: &mut Swapper<'_>, piece: TokenStream) -> Option<TokenStream> {
    if lock_path(&piece, swapper).is_none() {
        return Some(piece);
    }
    if let Ok(mut expr) = syn::parse2::<Expr>(piece.clone()) {
        swapper.visit_expr_mut(&mut expr);
        return Some(expr.to_token_stream());
    }
    let mut ty = syn::parse2::<Type>(piece).ok()?;
    swapper.visit_type_mut(&mut ty);
    Some(ty.to_token_stream())
}

/// `static NAME: Type = value;` entries, as `thread_local!` and its relatives have them.
fn statics(swapper: &mut Swapper<'_>, tokens: TokenStream) -> Option<TokenStream> {
    let entries = Statics::parse.parse2(tokens).ok()?.0;
    let rewritten = entries.into_iter().map(|mut entry| {
        if !swapper.options.skips(&entry.name) {
            let vis = entry.vis.clone();
            swapper.exposed(&vis, "public static", |swapper| {
                swapper.visit_type_mut(&mut entry.ty)
            });
            swapper.visit_expr_mut(&mut entry.value);
        }
        entry.into_tokens()
    });
    Some(rewritten.collect())
}

struct Statics(Vec<StaticEntry>);

struct StaticEntry {
    attrs: Vec<Attribute>,
    vis: Visibility,
    keyword: Token![static],
    by_ref: Option<Token![ref]>,
    name: Ident,
    colon: Token![:],
    ty: Type,
    equals: Token![=],
    value: Expr,
    end: Option<Token![;]>,
}

impl Parse for Statics {
    fn parse(input: ParseStream<'_>) -> syn::Result<Statics> {
        let mut entries = Vec::new();
        while !input.is_empty() {
            entries.push(StaticEntry {
                attrs: input.call(Attribute::parse_outer)?,
                vis: input.parse()?,
                keyword: input.parse()?,
                by_ref: input.parse()?,
                name: input.parse()?,
                colon: input.parse()?,
                ty: input.parse()?,
                equals: input.parse()?,
                value: input.parse()?,
                end: input.parse()?,
            });
        }
        Ok(Statics(entries))
    }
}

impl StaticEntry {
    fn into_tokens(self) -> TokenStream {
        let StaticEntry {
            attrs,
            vis,
            keyword,
            by_ref,
            name,
            colon,
            ty,
            equals,
            value,
            end,
        } = self;
        quote::quote!(#(#attrs)* #vis #keyword #by_ref #name #colon #ty #equals #value #end)
    }
}

/// The first name of a lock that stands where a type or a constructor can stand: followed by `::` or `<`.
fn lock_path(tokens: &TokenStream, swapper: &Swapper<'_>) -> Option<Ident> {
    let mut trees = tokens.clone().into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(ident) => {
                let path = syn::Path::from(ident.clone());
                let opens = matches!(trees.peek(), Some(TokenTree::Punct(next)) if matches!(next.as_char(), ':' | '<'));
                if opens && swapper.options.lock_at(&path, 0).is_some() {
                    return Some(ident);
                }
            }
            TokenTree::Group(group) => {
                if let Some(found) = lock_path(&group.stream(), swapper) {
                    return Some(found);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    None
}
