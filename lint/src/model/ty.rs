//! Types as the analysis knows them, with substitution and unification.

use std::collections::HashMap;
use std::sync::Arc;

use super::index::{DataId, FunctionId, TraitId};
use super::name::Name;

/// A type. What is not known is [`Ty::Unknown`], which never makes a finding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    /// Not known.
    Unknown,
    /// Numbers, `bool`, `char`, `str`, `()`, `!`.
    Plain(Name),
    /// A struct, enum or union, of the workspace or of an interface description.
    Data(DataId, Arc<[Ty]>),
    /// A type of a crate nobody describes: its full path.
    External(Name, Arc<[Ty]>),
    /// `&T`, `&mut T`, `*const T`, `*mut T`.
    Ref(Arc<Ty>),
    /// `(A, B)`.
    Tuple(Arc<[Ty]>),
    /// `[T]`, `[T; N]`.
    Slice(Arc<Ty>),
    /// A type parameter of the function or implementation at hand.
    Param(Name),
    /// `dyn Trait`.
    Dyn(Arc<[TyBound]>),
    /// `impl Trait`.
    Opaque(Arc<[TyBound]>),
    /// `fn(A) -> B`, and `Fn(A) -> B` as a bound.
    Function(Arc<[Ty]>, Arc<Ty>),
    /// A function's own type.
    Item(FunctionId),
    /// A closure: the identity of its expression.
    Closure(u32),
    /// What an async function or block gives.
    Future(Arc<Ty>),
}

/// A trait bound.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TyBound {
    /// A trait with its type arguments and associated types.
    Trait(TraitId, Arc<[Ty]>, Arc<[(Name, Ty)]>),
    /// A trait of a crate nobody describes.
    External(Name, Arc<[(Name, Ty)]>),
    /// `Fn(A) -> B` and its kin.
    Function(Arc<[Ty]>, Arc<Ty>),
}

/// What type parameters stand for.
pub(crate) type Substitution = HashMap<Name, Ty>;

impl Ty {
    /// The unit.
    pub(crate) fn unit() -> Self {
        Self::Tuple(Arc::new([]))
    }

    /// A plain type by name.
    pub(crate) fn plain(name: &str) -> Self {
        Self::Plain(Name::new(name))
    }

    /// A reference to it.
    pub(crate) fn reference(self) -> Self {
        Self::Ref(Arc::new(self))
    }

    /// Without outer references.
    pub(crate) fn peeled(&self) -> &Self {
        let mut ty = self;
        while let Self::Ref(inner) = ty {
            ty = inner;
        }
        ty
    }

    /// Whether it borrows.
    pub(crate) fn is_reference(&self) -> bool {
        matches!(self, Self::Ref(_))
    }

    /// Whether nothing is known.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// With parameters replaced; one that has no replacement becomes unknown when `strict`.
    pub(crate) fn substituted(&self, with: &Substitution, strict: bool) -> Self {
        let list = |types: &[Self]| {
            types
                .iter()
                .map(|ty| ty.substituted(with, strict))
                .collect::<Arc<[Self]>>()
        };
        match self {
            Self::Param(name) => match with.get(name) {
                Some(ty) => ty.clone(),
                None if strict => Self::Unknown,
                None => self.clone(),
            },
            Self::Data(id, args) if !args.is_empty() => Self::Data(*id, list(args)),
            Self::External(path, args) if !args.is_empty() => Self::External(*path, list(args)),
            Self::Ref(inner) => Self::Ref(Arc::new(inner.substituted(with, strict))),
            Self::Slice(inner) => Self::Slice(Arc::new(inner.substituted(with, strict))),
            Self::Future(inner) => Self::Future(Arc::new(inner.substituted(with, strict))),
            Self::Tuple(parts) if !parts.is_empty() => Self::Tuple(list(parts)),
            Self::Function(params, output) => {
                Self::Function(list(params), Arc::new(output.substituted(with, strict)))
            }
            Self::Dyn(bounds) => Self::Dyn(
                bounds
                    .iter()
                    .map(|bound| bound.substituted(with, strict))
                    .collect(),
            ),
            Self::Opaque(bounds) => Self::Opaque(
                bounds
                    .iter()
                    .map(|bound| bound.substituted(with, strict))
                    .collect(),
            ),
            _ => self.clone(),
        }
    }

    /// Learns from `actual` what the parameters in `self` stand for.
    pub(crate) fn unify(&self, actual: &Self, learned: &mut Substitution) {
        match (self, actual) {
            (_, Self::Unknown) => {}
            (Self::Param(name), actual) => {
                let known = learned.entry(*name).or_insert_with(|| actual.clone());
                if known.is_unknown() {
                    *known = actual.clone();
                }
            }
            (Self::Ref(a), Self::Ref(b)) => a.unify(b, learned),
            (Self::Ref(a), b) => a.unify(b, learned),
            (a, Self::Ref(b)) => a.unify(b, learned),
            (Self::Data(a, a_args), Self::Data(b, b_args)) if a == b => {
                unify_all(a_args, b_args, learned)
            }
            (Self::External(a, a_args), Self::External(b, b_args)) if a == b => {
                unify_all(a_args, b_args, learned)
            }
            (Self::Tuple(a), Self::Tuple(b)) => unify_all(a, b, learned),
            (Self::Slice(a), Self::Slice(b)) | (Self::Future(a), Self::Future(b)) => {
                a.unify(b, learned)
            }
            (Self::Function(a, a_out), Self::Function(b, b_out)) => {
                unify_all(a, b, learned);
                a_out.unify(b_out, learned);
            }
            _ => {}
        }
    }
}

impl TyBound {
    /// With parameters replaced.
    pub(crate) fn substituted(&self, with: &Substitution, strict: bool) -> Self {
        let list = |types: &[Ty]| {
            types
                .iter()
                .map(|ty| ty.substituted(with, strict))
                .collect::<Arc<[Ty]>>()
        };
        let named = |types: &[(Name, Ty)]| {
            types
                .iter()
                .map(|(name, ty)| (*name, ty.substituted(with, strict)))
                .collect::<Arc<[(Name, Ty)]>>()
        };
        match self {
            Self::Trait(id, args, bindings) => Self::Trait(*id, list(args), named(bindings)),
            Self::External(path, bindings) => Self::External(*path, named(bindings)),
            Self::Function(params, output) => {
                Self::Function(list(params), Arc::new(output.substituted(with, strict)))
            }
        }
    }
}

fn unify_all(patterns: &[Ty], actuals: &[Ty], learned: &mut Substitution) {
    for (pattern, actual) in patterns.iter().zip(actuals) {
        pattern.unify(actual, learned);
    }
}
