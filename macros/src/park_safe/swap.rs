//! Rewrites the lock types and constructors of one item to go through `Swap`.
//!
//! `Mutex<T>` as a type becomes `<Mutex<T> as Swap>::To`; `Mutex::new` as a path becomes
//! `<<Mutex<_> as Swap>::To>::new`. **Invariant:** nothing else changes. Method calls, imports, patterns,
//! attributes and names stay, every token the user wrote is in the output, and the name in it still refers to
//! what the user imported, so no import becomes unused.

use proc_macro2::Span;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{
    Expr, ExprPath, GenericParam, Ident, ItemImpl, Path, QSelf, Token, Type, TypePath, Visibility,
};

use super::names::Lock;
use super::options::Options;
use super::strangers::Strangers;
use crate::args::Errors;
use crate::path::generated;
use crate::tokens::mentions;

/// Rewrites an item while it is walked (`visit`), and notes what was found.
pub(super) struct Swapper<'a> {
    pub(super) options: &'a Options,
    pub(super) errors: &'a mut Errors,
    /// Every lock that was swapped, at the user's token.
    pub(super) found: Vec<Ident>,
    /// A `Monitor` was among them.
    pub(super) monitor: bool,
    /// Locks that an earlier `park_safe` has swapped already.
    pub(super) already: bool,
    /// The public thing whose types are being read, if any.
    pub(super) surface: Option<&'static str>,
    /// What the module around calls like a lock.
    pub(super) strangers: Strangers,
}

impl<'a> Swapper<'a> {
    pub(super) fn new(options: &'a Options, errors: &'a mut Errors) -> Swapper<'a> {
        Swapper {
            options,
            errors,
            found: Vec::new(),
            monitor: false,
            already: false,
            surface: None,
            strangers: Strangers::new(),
        }
    }

    /// The lock that the segment at `index` of this path may stand for; a stranger is reported instead, once.
    pub(super) fn lock_at(&mut self, path: &Path, index: usize) -> Option<&'static Lock> {
        let lock = self.options.lock_at(path, index)?;
        if index > 0 || path.leading_colon.is_some() || self.strangers.is_empty() {
            return Some(lock);
        }
        let Some(stranger) = self.strangers.get_mut(&path.segments[0].ident.to_string()) else {
            return Some(lock);
        };
        if let Some(stranger) = stranger.take()
            && !self.options.check
        {
            self.errors.at(stranger.at, stranger.message);
        }
        None
    }

    pub(super) fn note(&mut self, name: &Ident, lock: &Lock) {
        self.found.push(name.clone());
        self.monitor |= lock.monitor;
        if self.options.check {
            self.errors.at(
                name.span(),
                format_args!("`park_safe` would swap this `{name}`, which may block a carrier"),
            );
            return;
        }
        let Some(surface) = self.surface.filter(|_| !self.options.public) else {
            return;
        };
        self.errors.at(
            name.span(),
            format_args!(
                "this {surface} names `{name}`, and swapping it would change the crate's API; narrow it to `pub(crate)`, \
                 or accept the change with `park_safe(public)`"
            ),
        );
    }

    /// Runs `visit` while types belong to a public `surface`, if `vis` is `pub`.
    pub(super) fn exposed(
        &mut self,
        vis: &Visibility,
        surface: &'static str,
        visit: impl FnOnce(&mut Self),
    ) {
        self.on_surface(
            matches!(vis, Visibility::Public(_)).then_some(surface),
            visit,
        );
    }

    pub(super) fn on_surface(
        &mut self,
        surface: Option<&'static str>,
        visit: impl FnOnce(&mut Self),
    ) {
        let outer = std::mem::replace(&mut self.surface, surface);
        visit(self);
        self.surface = outer;
    }

    /// `Ty` to `<Ty as Swap>::To`.
    pub(super) fn swapped(&self, ty: Path, at: Span) -> Type {
        let span = generated(at);
        let path = self.options.runtime.private_item(&["Swap", "To"], at);
        let ty = Type::Path(TypePath {
            attrs: Vec::new(),
            qself: None,
            path: ty,
        });
        let qself = QSelf {
            lt_token: Token![<](span),
            ty: Box::new(ty),
            // All but the last segment name the trait.
            position: path.segments.len() - 1,
            as_token: Some(Token![as](span)),
            gt_token: Token![>](span),
        };
        Type::Path(TypePath {
            attrs: Vec::new(),
            qself: Some(qself),
            path,
        })
    }

    /// `Mutex::new` to `<<Mutex<_> as Swap>::To>::new`.
    pub(super) fn swap_function(&mut self, node: &ExprPath) -> Option<Expr> {
        let last = node.path.segments.len().checked_sub(1)?;
        let index = last.checked_sub(1)?;
        let lock = self.lock_at(&node.path, index)?;
        let name = node.path.segments[index].ident.clone();
        self.note(&name, lock);

        let function = &node.path.segments[last];
        let mut ty = Path {
            leading_colon: node.path.leading_colon,
            segments: node.path.segments.clone(),
        };
        ty.segments.pop();
        ty.segments.pop_punct();
        lock.infer_missing(&mut ty.segments[index], generated(name.span()));

        let span = generated(name.span());
        let qself = QSelf {
            lt_token: Token![<](span),
            ty: Box::new(self.swapped(ty, name.span())),
            position: 0,
            as_token: None,
            gt_token: Token![>](span),
        };
        let path = Path {
            leading_colon: Some(Token![::](span)),
            segments: Punctuated::from_iter([function.clone()]),
        };
        Some(Expr::Path(ExprPath {
            attrs: node.attrs.clone(),
            qself: Some(qself),
            path,
        }))
    }

    pub(super) fn rewritten_already(&self, node: &TypePath) -> bool {
        let mut names = node
            .path
            .segments
            .iter()
            .rev()
            .map(|segment| &segment.ident);
        node.qself.is_some()
            && ["To", "Swap", "__private"]
                .iter()
                .all(|name| names.next().is_some_and(|own| own == name))
    }

    /// An `impl` for a lock itself: there is nothing to swap it *in*. Says whether it was refused.
    pub(super) fn refuse_impl_for_lock(&mut self, node: &ItemImpl) -> bool {
        let params = node.generics.params.iter().map(|param| match param {
            GenericParam::Type(param) => param.ident.to_string(),
            GenericParam::Lifetime(param) => param.lifetime.ident.to_string(),
            GenericParam::Const(param) => param.ident.to_string(),
        });
        let params = params.collect::<Vec<_>>();
        let Type::Path(TypePath {
            qself: None, path, ..
        }) = &*node.self_ty
        else {
            return false;
        };
        let Some(last) = path.segments.len().checked_sub(1) else {
            return false;
        };
        if self.lock_at(path, last).is_none() {
            return false;
        }
        let name = &path.segments[last].ident;
        if node.trait_.is_none() {
            self.errors.at(
                name.span(),
                format_args!("`{name}` is a type of this crate here, not a lock to swap; say `park_safe(skip({name}))`"),
            );
            true
        } else if mentions(path.to_token_stream(), &|ident| {
            params.iter().any(|param| ident == param)
        }) {
            self.errors.at(
                name.span(),
                format_args!(
                    "a generic `impl` for `{name}` cannot be swapped: write it for `vt_runtime::sync::{name}`, outside of \
                     `park_safe`"
                ),
            );
            true
        } else {
            false
        }
    }
}
