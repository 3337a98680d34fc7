//! Decides which code is there: `#[cfg(..)]` and `#[cfg_attr(..)]` for one crate.
//!
//! A name nobody declared may be on, so its code is kept, and so is code under `not(..)` of it.

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

use crate::input::{CfgSet, CfgState, CrateInput, TargetKind};

/// The conditions of one crate.
pub(crate) struct Conditions<'a> {
    set: &'a CfgSet,
    krate: &'a CrateInput,
}

impl<'a> Conditions<'a> {
    /// The conditions of `krate`.
    pub(crate) fn new(set: &'a CfgSet, krate: &'a CrateInput) -> Self {
        Self { set, krate }
    }

    /// Whether tests are part of the run.
    pub(crate) fn tests(&self) -> bool {
        self.set.state("test", None) == CfgState::On
    }

    /// Whether an item with these attributes is there.
    pub(crate) fn keeps(&self, attributes: &[Attribute]) -> bool {
        attributes.iter().all(|attribute| {
            let Meta::List(list) = &attribute.meta else {
                return true;
            };
            if !list.path.is_ident("cfg") {
                return true;
            }
            match list.parse_args::<Meta>() {
                Ok(predicate) => self.state(&predicate) != CfgState::Off,
                Err(_) => true,
            }
        })
    }

    /// The attributes with `cfg_attr` resolved.
    pub(crate) fn effective(&self, attributes: &[Attribute]) -> Vec<Meta> {
        let mut metas = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            self.push_effective(&attribute.meta, &mut metas);
        }
        metas
    }

    fn push_effective(&self, meta: &Meta, metas: &mut Vec<Meta>) {
        match meta {
            Meta::List(list) if list.path.is_ident("cfg_attr") => {
                let Ok(parts) =
                    list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
                else {
                    return;
                };
                let mut parts = parts.iter();
                let Some(predicate) = parts.next() else {
                    return;
                };
                if self.state(predicate) == CfgState::On {
                    parts.for_each(|part| self.push_effective(part, metas));
                }
            }
            _ => metas.push(meta.clone()),
        }
    }

    /// Whether a predicate holds.
    pub(crate) fn state(&self, predicate: &Meta) -> CfgState {
        match predicate {
            Meta::Path(path) => match path.get_ident().map(ToString::to_string).as_deref() {
                Some("true") => CfgState::On,
                Some("false") => CfgState::Off,
                Some(name) => self.set.state(name, None),
                None => CfgState::Maybe,
            },
            Meta::NameValue(pair) => {
                let syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(value),
                    ..
                }) = &pair.value
                else {
                    return CfgState::Maybe;
                };
                match pair.path.get_ident().map(ToString::to_string).as_deref() {
                    Some("feature") => self.feature(&value.value()),
                    Some(name) => self.set.state(name, Some(&value.value())),
                    None => CfgState::Maybe,
                }
            }
            Meta::List(list) => {
                let Ok(parts) =
                    list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
                else {
                    return CfgState::Maybe;
                };
                let states = parts.iter().map(|part| self.state(part));
                if list.path.is_ident("all") {
                    states.fold(CfgState::On, |all, one| match (all, one) {
                        (CfgState::Off, _) | (_, CfgState::Off) => CfgState::Off,
                        (CfgState::On, CfgState::On) => CfgState::On,
                        _ => CfgState::Maybe,
                    })
                } else if list.path.is_ident("any") {
                    states.fold(CfgState::Off, |any, one| match (any, one) {
                        (CfgState::On, _) | (_, CfgState::On) => CfgState::On,
                        (CfgState::Off, CfgState::Off) => CfgState::Off,
                        _ => CfgState::Maybe,
                    })
                } else if list.path.is_ident("not") {
                    match states.last() {
                        Some(CfgState::On) => CfgState::Off,
                        Some(CfgState::Off) => CfgState::On,
                        _ => CfgState::Maybe,
                    }
                } else {
                    CfgState::Maybe
                }
            }
        }
    }

    fn feature(&self, name: &str) -> CfgState {
        if self.krate.features.contains(name) {
            CfgState::On
        } else if self.krate.target_kind == TargetKind::File {
            CfgState::Maybe
        } else {
            CfgState::Off
        }
    }
}
