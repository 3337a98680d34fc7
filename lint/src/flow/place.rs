//! Expressions as places: variables, fields, what paths stand for.

use crate::model::facts::key;
use crate::model::index::Def;
use crate::model::name::Name;
use crate::model::resolve::Namespace;
use crate::model::syntax::{Expr, Kind, Path};
use crate::model::ty::{Substitution, Ty};

use super::Flow;
use super::body::Callable;
use super::value::Value;

impl<'a> Flow<'_, 'a> {
    /// An expression as a place: nothing moves, and a value becomes a temporary.
    pub(super) fn place_of(&mut self, expr: &'a Expr, extended: bool) -> Value<'a> {
        match &expr.kind {
            Kind::Path(path) => self.path_value(path),
            Kind::Field(base, name) => {
                let base = self.place_of(base, extended);
                self.field(base, *name)
            }
            Kind::Index(base, index) => {
                let base = self.place_of(base, extended);
                self.value(index);
                let ty = self.model.element(&base.ty, true).unwrap_or(Ty::Unknown);
                Value {
                    via: self.reach(&base),
                    slot: base.slot,
                    ..Value::of(ty)
                }
            }
            Kind::Deref(inner) => {
                let inner = self.place_of(inner, extended);
                let via = self.reach(&inner);
                self.forced(&inner, expr.at);
                let ty = match &inner.ty {
                    Ty::Ref(target) => (**target).clone(),
                    other => self.model.deref(other).unwrap_or(Ty::Unknown),
                };
                Value {
                    via,
                    slot: inner.slot,
                    callable: inner.callable,
                    ..Value::of(ty)
                }
            }
            _ => {
                let mut value = self.value(expr);
                if value.slot.is_none() || value.held != 0 {
                    self.keep(expr.id, value.held, extended);
                    value.held = 0;
                    value.slot = Some(expr.id);
                    value.whole = true;
                }
                value
            }
        }
    }

    /// The guards through which a place is reached.
    pub(super) fn reach(&self, value: &Value<'a>) -> u128 {
        value.via | value.slot.map_or(0, |slot| self.state.of(slot))
    }

    pub(super) fn path_value(&mut self, path: &'a Path) -> Value<'a> {
        if let [segment] = path.segments.as_slice()
            && path.qself.is_none()
            && !path.is_global
            && let Some((_, slot)) = self
                .env
                .iter()
                .rev()
                .find(|(name, _)| *name == segment.name)
        {
            let slot = *slot;
            if !self.used.contains(&slot) {
                self.used.push(slot);
            }
            let mut value = self.vars.get(&slot).cloned().unwrap_or_else(Value::unknown);
            value.slot = Some(slot);
            value.whole = true;
            value.field = None;
            return value;
        }
        match self.resolve_value(path) {
            Some(Def::Value(id)) => Value {
                cell: Some(id),
                ..Value::of(self.model.values[id.index()].clone())
            },
            Some(Def::Function(id)) => Value {
                callable: Some(Callable::Function(id)),
                ..Value::of(Ty::Item(id))
            },
            Some(Def::Variant(id, _) | Def::Data(id)) => Value::of(
                self.place(|place| self.model.converter().of_def(place, Def::Data(id), path, 0)),
            ),
            _ => Value::of(self.associated_constant(path).unwrap_or(Ty::Unknown)),
        }
    }

    /// `Type::NAME`
    pub(super) fn associated_constant(&self, path: &'a Path) -> Option<Ty> {
        let last = path.segments.last()?;
        let ty = self.prefix_type(path)?;
        self.model.constant(key(&ty)?, last.name).cloned()
    }

    /// What a path in value position stands for, associated items included.
    pub(super) fn resolve_value(&self, path: &'a Path) -> Option<Def> {
        if path.qself.is_none()
            && path
                .segments
                .first()
                .is_none_or(|first| first.name != "Self")
            && let Some(found) =
                self.model
                    .names
                    .path(&self.model.index, self.module, path, Namespace::Values)
            && found.used == path.segments.len()
        {
            return Some(self.model.converter().swapped(self.swap, found.def));
        }
        self.associated(path)
            .map(|(function, _)| Def::Function(function))
    }

    /// `Type::name`: the function, and the type it was found on.
    pub(super) fn associated(
        &self,
        path: &'a Path,
    ) -> Option<(crate::model::index::FunctionId, Ty)> {
        let (last, _) = path.segments.split_last()?;
        let ty = self.prefix_type(path)?;
        if let Ty::Dyn(bounds) = &ty
            && let [crate::model::ty::TyBound::Trait(id, ..)] = &**bounds
        {
            // `Trait::method` as a path.
            let function = self.model.index.traits[id.index()]
                .functions
                .get(&last.name)?;
            return Some((*function, Ty::Unknown));
        }
        let function = self.model.associated_function(&ty, last.name)?;
        Some((function, ty))
    }

    /// The type in front of a path's last segment.
    pub(super) fn prefix_type(&self, path: &'a Path) -> Option<Ty> {
        if let Some(qself) = &path.qself {
            return Some(self.ty(qself));
        }
        if path.segments.len() < 2 {
            return None;
        }
        let mut prefix = path.clone();
        prefix.segments.pop();
        let ty = self.ty(&crate::model::syntax::Type::Path(prefix));
        (!ty.is_unknown()).then_some(ty)
    }

    /// `base.name`
    pub(super) fn field(&mut self, base: Value<'a>, name: Name) -> Value<'a> {
        let via = self.reach(&base);
        let direct = (base.whole || base.part) && !base.ty.is_reference();
        let mut ty = base.ty.clone();
        for step in 0..8 {
            if let Some((field, owner)) = self.field_type(&ty, name) {
                // A field of a guard struct is still the struct's variable; a field behind a guard is not.
                return Value {
                    via,
                    slot: base.slot,
                    part: direct && step == 0,
                    field: owner.map(|owner| (owner, name)),
                    ..Value::of(field)
                };
            }
            ty = match &ty {
                Ty::Ref(inner) => (**inner).clone(),
                other => match self.model.deref(other) {
                    Some(inner) => inner,
                    None => break,
                },
            };
        }
        Value {
            via,
            slot: base.slot,
            ..Value::unknown()
        }
    }

    pub(super) fn field_type(
        &self,
        ty: &Ty,
        name: Name,
    ) -> Option<(Ty, Option<crate::model::index::DataId>)> {
        match ty {
            Ty::Data(id, args) => {
                let (_, field) = self.model.fields[id.index()]
                    .iter()
                    .find(|(field, _)| *field == name)?;
                let with: Substitution = self.model.index.data[id.index()]
                    .syntax
                    .generics
                    .params
                    .iter()
                    .copied()
                    .zip(args.iter().cloned())
                    .collect();
                Some((field.substituted(&with, false), Some(*id)))
            }
            Ty::Tuple(parts) => name
                .as_str()
                .parse::<usize>()
                .ok()
                .and_then(|index| parts.get(index))
                .map(|part| (part.clone(), None)),
            _ => None,
        }
    }

    pub(super) fn struct_type(
        &mut self,
        path: &'a Path,
        fields: &'a [(Name, Expr)],
        values: &[Value<'a>],
    ) -> Ty {
        let ty = self.ty(&crate::model::syntax::Type::Path(path.clone()));
        let Ty::Data(id, args) = &ty else {
            // A variant: its enum.
            return match self.model.names.path(
                &self.model.index,
                self.module,
                path,
                Namespace::Types,
            ) {
                Some(found) => {
                    self.place(|place| self.model.converter().of_def(place, found.def, path, 0))
                }
                None => Ty::Unknown,
            };
        };
        if args.iter().all(|arg| !arg.is_unknown()) {
            return ty;
        }
        let mut learned = Substitution::new();
        for ((name, _), value) in fields.iter().zip(values) {
            if let Some((_, declared)) = self.model.fields[id.index()]
                .iter()
                .find(|(field, _)| field == name)
            {
                declared.unify(&value.ty, &mut learned);
            }
        }
        let params = &self.model.index.data[id.index()].syntax.generics.params;
        Ty::Data(
            *id,
            params
                .iter()
                .map(|param| learned.get(param).cloned().unwrap_or(Ty::Unknown))
                .collect(),
        )
    }
}
