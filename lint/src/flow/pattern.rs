//! Patterns: which names they bind, and where guards go.

use crate::model::index::Def;
use crate::model::name::Name;
use crate::model::resolve::Namespace;
use crate::model::syntax::{Path, Pattern, PatternKind};
use crate::model::ty::{Substitution, Ty};

use super::Flow;
use super::value::Value;

impl<'a> Flow<'_, 'a> {
    /// Binds a pattern to a value that is in a variable or temporary.
    pub(super) fn bind(&mut self, pattern: &'a Pattern, value: &Value<'a>) {
        match &pattern.kind {
            PatternKind::Bind {
                name,
                by_reference,
                inner,
            } => {
                if inner.is_none() && !by_reference && self.is_constant(*name) {
                    return self.without_payload(value, *name);
                }
                let mut bound = value.clone();
                if *by_reference {
                    bound.ty = bound.ty.reference();
                    bound.via |= self.reach(value);
                } else if let Some(slot) = value.slot.inspect(|slot| {
                    if !value.ty.is_reference() {
                        self.moved.insert(*slot);
                    }
                }) && (self.guard_kind(&value.ty).is_some()
                    || matches!(value.ty, Ty::Closure(_) | Ty::Future(_))
                    || (value.ty.is_unknown() && value.whole))
                {
                    let held = self.state.take(slot);
                    if self.model.is_poison(&value.ty) {
                        bound.poison = held;
                    } else {
                        self.state.give(pattern.id, held);
                    }
                } else {
                    bound.via |= if value.ty.is_reference() || value.ty.is_unknown() {
                        self.reach(value)
                    } else {
                        0
                    };
                }
                bound.slot = Some(pattern.id);
                bound.whole = true;
                self.declare(*name, pattern.id, bound);
                if let Some(inner) = inner {
                    self.bind(inner, value);
                }
            }
            PatternKind::Tuple(parts) => {
                let (types, borrowed) = match value.ty.peeled() {
                    Ty::Tuple(types) => (types.to_vec(), value.ty.is_reference()),
                    _ => (Vec::new(), value.ty.is_reference()),
                };
                self.bind_sequence(parts, &types, borrowed, value);
            }
            PatternKind::Slice(parts) => {
                let item = self.model.element(&value.ty, true).unwrap_or(Ty::Unknown);
                for part in parts {
                    self.bind(
                        part,
                        &self.part(value, item.clone(), value.ty.is_reference()),
                    );
                }
            }
            PatternKind::Call(path, parts) => {
                let types = self.payload(path, &value.ty);
                if types.iter().all(|(_, ty)| self.guard_kind(ty).is_none()) && is_failure(path) {
                    self.forget(value);
                }
                let types: Vec<Ty> = types.into_iter().map(|(_, ty)| ty).collect();
                self.bind_sequence(parts, &types, value.ty.is_reference(), value);
                if is_failure(path) && parts.iter().all(|part| self.binds_nothing(&part.kind)) {
                    self.forget(value);
                }
            }
            PatternKind::Struct(path, fields) => {
                let types = self.payload(path, &value.ty);
                for (name, part) in fields {
                    let ty = types
                        .iter()
                        .find(|(field, _)| field == name)
                        .map_or(Ty::Unknown, |(_, ty)| ty.clone());
                    self.bind(part, &self.part(value, ty, value.ty.is_reference()));
                }
            }
            PatternKind::Path(path) => {
                if let Some(last) = path.segments.last() {
                    self.without_payload(value, last.name);
                }
            }
            PatternKind::Reference(inner) => {
                let ty = match &value.ty {
                    Ty::Ref(target) => (**target).clone(),
                    _ => Ty::Unknown,
                };
                self.bind(inner, &self.part(value, ty, false));
            }
            PatternKind::Or(cases) => {
                // All cases bind the same names; the first that binds any stands for all.
                let best = cases.iter().find(|case| binds(case)).or(cases.first());
                if let Some(case) = best {
                    self.bind(case, value);
                }
            }
            PatternKind::Typed(inner, ty) => {
                let ty = self.ty(ty);
                let known = if ty.is_unknown() {
                    value.clone()
                } else {
                    Value {
                        ty,
                        ..value.clone()
                    }
                };
                self.bind(inner, &known);
            }
            PatternKind::Rest | PatternKind::Wild | PatternKind::Constant => {}
        }
    }

    /// `_`, `..`, or a variant without payload, such as `WouldBlock`.
    fn binds_nothing(&self, pattern: &PatternKind) -> bool {
        match pattern {
            PatternKind::Wild | PatternKind::Rest | PatternKind::Path(_) => true,
            PatternKind::Bind {
                name, inner: None, ..
            } => self.is_constant(*name),
            _ => false,
        }
    }

    fn bind_sequence(
        &mut self,
        parts: &'a [Pattern],
        types: &[Ty],
        borrowed: bool,
        value: &Value<'a>,
    ) {
        let rest = parts
            .iter()
            .position(|part| matches!(part.kind, PatternKind::Rest));
        for (index, part) in parts.iter().enumerate() {
            let position = match rest {
                Some(rest) if index > rest => types.len().checked_sub(parts.len() - index),
                _ => Some(index),
            };
            let ty = position
                .and_then(|position| types.get(position))
                .cloned()
                .unwrap_or(Ty::Unknown);
            let mut part_value = self.part(value, ty, borrowed);
            // Of several parts of unknown type nobody can say which owns the guard.
            part_value.whole = value.whole && parts.len() == 1;
            self.bind(part, &part_value);
        }
    }

    /// Part of a value, a reference if the value is one.
    fn part(&self, value: &Value<'a>, ty: Ty, borrowed: bool) -> Value<'a> {
        let ty = if borrowed && !ty.is_unknown() {
            ty.reference()
        } else {
            ty
        };
        Value {
            via: value.via,
            slot: value.slot,
            whole: value.whole,
            ..Value::of(ty)
        }
    }

    /// The fields that a variant or struct pattern matches.
    fn payload(&self, path: &'a Path, ty: &Ty) -> Vec<(Name, Ty)> {
        let def = self
            .model
            .names
            .path(&self.model.index, self.module, path, Namespace::Values);
        let def = match def {
            Some(found) if found.used == path.segments.len() => Some(found.def),
            _ => self
                .model
                .names
                .path(&self.model.index, self.module, path, Namespace::Types)
                .map(|found| found.def),
        };
        let (id, fields) = match (def, ty.peeled()) {
            (Some(Def::Variant(id, index)), _) => {
                (id, &self.model.variants[id.index()][index as usize].1)
            }
            (Some(Def::Data(id)), Ty::Data(of, _)) if id == *of => {
                (id, &self.model.fields[id.index()])
            }
            (Some(Def::Data(id)), _) => (id, &self.model.fields[id.index()]),
            // `Self::Variant` and aliases of enums.
            (_, Ty::Data(id, _)) => {
                let Some(last) = path.segments.last() else {
                    return Vec::new();
                };
                match self.model.variants[id.index()]
                    .iter()
                    .find(|(variant, _)| *variant == last.name)
                {
                    Some((_, fields)) => (*id, fields),
                    None => (*id, &self.model.fields[id.index()]),
                }
            }
            _ => return Vec::new(),
        };
        let args: Vec<Ty> = match ty.peeled() {
            Ty::Data(of, args) if *of == id => args.to_vec(),
            _ => Vec::new(),
        };
        let with: Substitution = self.model.index.data[id.index()]
            .syntax
            .generics
            .params
            .iter()
            .copied()
            .zip(args)
            .collect();
        fields
            .iter()
            .map(|(name, ty)| (*name, ty.substituted(&with, true)))
            .collect()
    }

    /// Whether a lone identifier in a pattern is a constant or unit variant.
    fn is_constant(&self, name: Name) -> bool {
        name.as_str()
            .starts_with(|first: char| first.is_ascii_uppercase())
            && matches!(
                self.model
                    .names
                    .lexical(&self.model.index, self.module, name, Namespace::Values),
                Some(Def::Variant(..) | Def::Value(_) | Def::Data(_))
            )
    }

    /// A pattern without payload matched: there is no guard in the value.
    fn without_payload(&mut self, value: &Value<'a>, name: Name) {
        if name == "None" {
            self.forget(value);
        }
    }

    fn forget(&mut self, value: &Value<'a>) {
        if let (Some(slot), true, false) = (value.slot, value.whole, value.ty.is_reference()) {
            let direct = self.guard_kind(&value.ty).is_some() || value.ty.is_unknown();
            if direct {
                self.state.take(slot);
            }
        }
    }

    /// The state in which a refutable pattern did not match.
    pub(super) fn refuted(&mut self, pattern: &'a Pattern, value: &Value<'a>) {
        match &pattern.kind {
            PatternKind::Call(path, _)
                if path
                    .segments
                    .last()
                    .is_some_and(|last| last.name == "Some" || last.name == "Ok") =>
            {
                self.forget(value);
            }
            // Tuples of wrapped guards, as in `(Ok(a), Ok(b))`.
            PatternKind::Tuple(parts)
                if parts
                    .iter()
                    .any(|part| matches!(part.kind, PatternKind::Call(..))) =>
            {
                self.forget(value)
            }
            _ => {}
        }
    }
}

/// Whether the pattern takes the failing side of a `Result`.
fn is_failure(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.name == "Err")
}

fn binds(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Bind { .. } => true,
        PatternKind::Tuple(parts)
        | PatternKind::Slice(parts)
        | PatternKind::Call(_, parts)
        | PatternKind::Or(parts) => parts.iter().any(binds),
        PatternKind::Struct(_, fields) => fields.iter().any(|(_, part)| binds(part)),
        PatternKind::Reference(inner) | PatternKind::Typed(inner, _) => binds(inner),
        _ => false,
    }
}
