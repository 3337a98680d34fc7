//! From types as written to types as known.

use std::sync::Arc;

use super::index::{Def, Index, ModuleId};
use super::name::Name;
use super::resolve::{Names, Namespace};
use super::syntax::{Bound, Generics, Path, Segment, Swap, Type};
use super::ty::{Substitution, Ty, TyBound};

/// How many aliases are looked through behind each other.
const ALIAS_DEPTH: u32 = 8;

/// Where a type is written.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The module.
    pub(crate) module: ModuleId,
    /// Type parameters in scope, outermost first.
    pub(crate) generics: &'a [&'a Generics],
    /// `Self`.
    pub(crate) self_type: Option<&'a Ty>,
    /// Associated types of the implementation around it.
    pub(crate) assoc: &'a [(Name, Ty)],
    /// What `#[park_safe]` swaps here.
    pub(crate) swap: Swap,
}

/// Converts types; also knows which types `#[park_safe]` swaps.
pub(crate) struct Converter<'a> {
    /// Definitions.
    pub(crate) index: &'a Index<'a>,
    /// Names.
    pub(crate) names: &'a Names,
    /// Swapped definitions: locks, then monitors.
    pub(crate) swaps: &'a [(Swap, Def, Def)],
}

impl Converter<'_> {
    /// A type.
    pub(crate) fn ty(&self, place: Place<'_>, source: &Type) -> Ty {
        self.at_depth(place, source, 0)
    }

    fn at_depth(&self, place: Place<'_>, source: &Type, depth: u32) -> Ty {
        let list = |types: &[Type]| {
            types
                .iter()
                .map(|ty| self.at_depth(place, ty, depth))
                .collect::<Arc<[Ty]>>()
        };
        match source {
            Type::Path(path) => self.path(place, path, depth),
            Type::Reference(inner) | Type::Pointer(inner) => {
                self.at_depth(place, inner, depth).reference()
            }
            Type::Slice(inner) => Ty::Slice(Arc::new(self.at_depth(place, inner, depth))),
            Type::Tuple(parts) => Ty::Tuple(list(parts)),
            Type::Function(params, output) => {
                let output = output
                    .as_ref()
                    .map_or_else(Ty::unit, |output| self.at_depth(place, output, depth));
                Ty::Function(list(params), Arc::new(output))
            }
            Type::Impl(bounds) => Ty::Opaque(self.bounds(place, bounds, depth)),
            Type::Dyn(bounds) => Ty::Dyn(self.bounds(place, bounds, depth)),
            Type::Never => Ty::plain("!"),
            Type::Unknown => Ty::Unknown,
        }
    }

    /// Trait bounds.
    pub(crate) fn bounds(&self, place: Place<'_>, source: &[Bound], depth: u32) -> Arc<[TyBound]> {
        source
            .iter()
            .filter_map(|bound| self.bound(place, bound, depth))
            .collect()
    }

    fn bound(&self, place: Place<'_>, source: &Bound, depth: u32) -> Option<TyBound> {
        match source {
            Bound::Function(params, output) => {
                let params = params
                    .iter()
                    .map(|ty| self.at_depth(place, ty, depth))
                    .collect();
                let output = output
                    .as_ref()
                    .map_or_else(Ty::unit, |output| self.at_depth(place, output, depth));
                Some(TyBound::Function(params, Arc::new(output)))
            }
            Bound::Trait(path) => {
                let last = path.segments.last()?;
                let named = |segment: &Segment| {
                    segment
                        .bindings
                        .iter()
                        .map(|(name, ty)| (*name, self.at_depth(place, ty, depth)))
                        .collect::<Arc<[(Name, Ty)]>>()
                };
                match self
                    .names
                    .path(self.index, place.module, path, Namespace::Types)?
                    .def
                {
                    Def::Trait(id) => {
                        let args = last
                            .args
                            .iter()
                            .map(|ty| self.at_depth(place, ty, depth))
                            .collect();
                        Some(TyBound::Trait(id, args, named(last)))
                    }
                    Def::External(path) => Some(TyBound::External(path, named(last))),
                    _ => None,
                }
            }
        }
    }

    fn path(&self, place: Place<'_>, path: &Path, depth: u32) -> Ty {
        if let Some(qself) = &path.qself {
            return self.projection(place, qself, path, depth);
        }
        let Some(first) = path.segments.first() else {
            return Ty::Unknown;
        };
        if path.segments.len() == 1 {
            if first.name == "Self" {
                return place.self_type.cloned().unwrap_or(Ty::Unknown);
            }
            if place
                .generics
                .iter()
                .any(|generics| generics.params.contains(&first.name))
            {
                return Ty::Param(first.name);
            }
        } else if first.name == "Self" {
            let assoc = path.segments[1].name;
            return place
                .assoc
                .iter()
                .find(|(name, _)| *name == assoc)
                .map_or(Ty::Unknown, |(_, ty)| ty.clone());
        } else if place
            .generics
            .iter()
            .any(|generics| generics.params.contains(&first.name))
        {
            return self.param_projection(place, first.name, path.segments[1].name, depth);
        }
        match self
            .names
            .path(self.index, place.module, path, Namespace::Types)
        {
            Some(found) if found.used == path.segments.len() => {
                self.of_def(place, found.def, path, depth)
            }
            _ => Ty::Unknown,
        }
    }

    /// The type a definition is, with the arguments of the path's last segments.
    pub(crate) fn of_def(&self, place: Place<'_>, def: Def, path: &Path, depth: u32) -> Ty {
        let written = path
            .segments
            .iter()
            .rev()
            .find(|segment| !segment.args.is_empty());
        let args: Vec<Ty> = written
            .map(|segment| {
                segment
                    .args
                    .iter()
                    .map(|ty| self.at_depth(place, ty, depth))
                    .collect()
            })
            .unwrap_or_default();
        match self.swapped(place.swap, def) {
            Def::Data(id) | Def::Variant(id, _) => self.data(id, args),
            Def::Plain(name) => Ty::Plain(name),
            Def::External(path) => Ty::External(path, args.into()),
            Def::Alias(id) if depth < ALIAS_DEPTH => {
                let (module, generics, ty) = self.index.aliases[id.index()];
                let inner = Place {
                    module,
                    generics: &[generics],
                    self_type: None,
                    assoc: &[],
                    swap: place.swap,
                };
                let with: Substitution = generics.params.iter().copied().zip(args).collect();
                self.at_depth(inner, ty, depth + 1).substituted(&with, true)
            }
            Def::Trait(id) => Ty::Dyn(Arc::new([TyBound::Trait(id, args.into(), Arc::new([]))])),
            _ => Ty::Unknown,
        }
    }

    /// A data type with as many arguments as it has parameters.
    pub(crate) fn data(&self, id: super::index::DataId, mut args: Vec<Ty>) -> Ty {
        args.resize(
            self.index.data[id.index()].syntax.generics.params.len(),
            Ty::Unknown,
        );
        Ty::Data(id, args.into())
    }

    /// What `#[park_safe]` makes of a definition.
    pub(crate) fn swapped(&self, swap: Swap, def: Def) -> Def {
        if swap == Swap::Nothing {
            return def;
        }
        self.swaps
            .iter()
            .find(|(least, from, _)| *least <= swap && *from == def)
            .map_or(def, |(_, _, to)| *to)
    }

    /// `<T as Trait>::Name`, as far as `T` says it itself.
    fn projection(&self, place: Place<'_>, qself: &Type, path: &Path, depth: u32) -> Ty {
        let Some(last) = path.segments.last() else {
            return Ty::Unknown;
        };
        match qself {
            Type::Path(inner) if inner.segments.len() == 1 && inner.qself.is_none() => {
                let name = inner.segments[0].name;
                if name == "Self" {
                    return place
                        .assoc
                        .iter()
                        .find(|(assoc, _)| *assoc == last.name)
                        .map_or(Ty::Unknown, |(_, ty)| ty.clone());
                }
                self.param_projection(place, name, last.name, depth)
            }
            _ => Ty::Unknown,
        }
    }

    /// `T::Name` by a bound `T: Trait<Name = X>`.
    fn param_projection(&self, place: Place<'_>, param: Name, assoc: Name, depth: u32) -> Ty {
        for bound in self.bounds_of(place, param, depth + 1).iter() {
            let (TyBound::Trait(_, _, bindings) | TyBound::External(_, bindings)) = bound else {
                continue;
            };
            if let Some((_, ty)) = bindings.iter().find(|(name, _)| *name == assoc) {
                return ty.clone();
            }
        }
        Ty::Unknown
    }

    /// The bounds of a type parameter.
    pub(crate) fn bounds_of(&self, place: Place<'_>, param: Name, depth: u32) -> Vec<TyBound> {
        if depth > ALIAS_DEPTH {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (ty, bounds) in place.generics.iter().flat_map(|generics| &generics.bounds) {
            if matches!(ty, Type::Path(path) if path.segments.len() == 1 && path.segments[0].name == param)
            {
                found.extend(self.bounds(place, bounds, depth).iter().cloned());
            }
        }
        found
    }
}
