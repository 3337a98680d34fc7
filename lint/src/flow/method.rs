//! Method calls: finding the method, and what described calls do.

use std::sync::Arc;

use crate::model::facts::key;
use crate::model::index::{FunctionId, Owner};
use crate::model::name::Name;
use crate::model::syntax::{At, Expr, Kind, Method};
use crate::model::ty::{Ty, TyBound};

use super::Flow;
use super::body::{Callable, Guards, What};
use super::invoke::Site;
use super::value::Value;

/// Methods that give the receiver's value itself, on types nobody describes.
const TRANSPARENT: [&str; 12] = [
    "clone",
    "to_owned",
    "as_ref",
    "as_mut",
    "borrow",
    "borrow_mut",
    "deref",
    "deref_mut",
    "by_ref",
    "into",
    "cloned",
    "into_inner",
];

/// Methods that take a wrapper and give what is in it.
const UNWRAPPING: [&str; 5] = ["unwrap", "expect", "unwrap_or_else", "map_err", "ok"];

impl<'a> Flow<'_, 'a> {
    pub(super) fn method(&mut self, expr: &'a Expr, method: &'a Method) -> Value<'a> {
        self.statistics.all += 1;
        let mut receiver = self.place_of(&method.receiver, false);
        self.note_repeats(&receiver.ty, method);
        if receiver.looks_locked.is_some() && UNWRAPPING.contains(&method.name.as_str()) {
            return self.unwrap_by_shape(receiver, method);
        }
        if let Some((id, self_type)) = self.find_method(&receiver.ty, method.name) {
            self.statistics.resolved += 1;
            let lazies = self.lazies(id, &receiver, method);
            let generics = method.generics.iter().map(|ty| self.ty(ty)).collect();
            if self_type.is_reference() || !self.owns_whole(&receiver) {
                receiver.whole = receiver.whole && !receiver.ty.is_reference();
            }
            self.through_deref(&mut receiver, &self_type, method.name_at);
            let site = Site {
                id: expr.id,
                at: method.name_at,
                receiver: Some((receiver, Some(method.receiver.at))),
                generics,
                self_type,
            };
            let item = (method.name == "collect")
                .then(|| self.model.element(&site_type(&site), false))
                .flatten();
            let mut value = self.invoke(id, site, &method.args);
            if let Some(item) = item {
                value.ty = self.collected(value.ty, item);
            }
            if self.model.is_iterator(&value.ty) {
                value.lazy.extend(lazies);
            }
            return value;
        }
        if let Some((functions, output)) = self.find_dynamic(&receiver.ty, method.name) {
            return self.call_dynamic(receiver, functions, output, method);
        }
        self.unresolved(expr, receiver, method)
    }

    /// What `collect` gives: the container asked for, of the iterator's items; a `Vec` when nothing is asked here.
    fn collected(&self, ty: Ty, item: Ty) -> Ty {
        match &ty {
            Ty::Unknown | Ty::Param(_) => self.model.described("std::vec::Vec", vec![item]),
            Ty::Data(id, args) if args.len() == 1 && args[0].is_unknown() => {
                Ty::Data(*id, [item].into())
            }
            _ => ty,
        }
    }

    fn owns_whole(&self, receiver: &Value<'a>) -> bool {
        receiver.whole && receiver.slot.is_some()
    }

    /// A method found behind a `Deref` does not take the variable itself.
    fn through_deref(&mut self, receiver: &mut Value<'a>, found_on: &Ty, at: At) {
        if key(&receiver.ty) != key(found_on) {
            receiver.via |= self.reach(receiver);
            let cell = receiver.clone();
            self.forced(&cell, at);
            receiver.cell = None;
            receiver.whole = false;
        }
    }

    /// The method of that name on a type, looking through references and `Deref`.
    pub(super) fn find_method(&self, ty: &Ty, name: Name) -> Option<(FunctionId, Ty)> {
        let mut at = ty.clone();
        for _ in 0..10 {
            if let Some(key) = key(&at) {
                let peeled = at.peeled().clone();
                if let Some(id) = self.model.pick_method(key, &peeled, name) {
                    return Some((id, peeled));
                }
                if let Some((id, iter)) = self.model.iterator_method(&peeled, name) {
                    return Some((id, iter));
                }
            }
            at = match at {
                Ty::Ref(inner) => (*inner).clone(),
                Ty::Opaque(_) | Ty::Param(_) | Ty::Dyn(_) => {
                    let bounds = self.bounds_of(&at);
                    return self.model.iterator_bound(&bounds, name);
                }
                other => self.model.deref(&other)?,
            };
        }
        None
    }

    fn bounds_of(&self, ty: &Ty) -> Arc<[TyBound]> {
        match ty {
            Ty::Opaque(bounds) | Ty::Dyn(bounds) => Arc::clone(bounds),
            Ty::Param(name) => self
                .place(|place| self.model.converter().bounds_of(place, *name, 0))
                .into(),
            _ => Arc::new([]),
        }
    }

    /// A method of a trait object or type parameter: all that may run, and the type it gives.
    fn find_dynamic(&self, ty: &Ty, name: Name) -> Option<(Vec<Callable>, Ty)> {
        let mut at = ty.clone();
        for _ in 0..10 {
            match &at {
                Ty::Dyn(_) | Ty::Opaque(_) | Ty::Param(_) => {
                    for bound in self.bounds_of(&at).iter() {
                        let TyBound::Trait(id, ..) = bound else {
                            continue;
                        };
                        let Some(function) = self.model.trait_function(*id, name) else {
                            continue;
                        };
                        let output = self.model.signatures[function.index()].output.clone();
                        let Owner::Trait(owner) =
                            self.model.index.functions[function.index()].owner
                        else {
                            continue;
                        };
                        if self.model.is_described(function) {
                            return Some((vec![], output));
                        }
                        // What a type parameter stands for is the caller's choice.
                        let candidates = if matches!(at, Ty::Dyn(_)) {
                            self.model.candidates(owner, function, name)
                        } else {
                            Vec::new()
                        };
                        return Some((candidates, output));
                    }
                    return None;
                }
                Ty::Ref(inner) => at = (**inner).clone(),
                other => at = self.model.deref(other)?,
            }
        }
        None
    }

    fn call_dynamic(
        &mut self,
        receiver: Value<'a>,
        functions: Vec<Callable>,
        output: Ty,
        method: &'a Method,
    ) -> Value<'a> {
        self.operands(&method.args, false);
        for arg in &method.args {
            self.state.take(arg.id);
        }
        let through = self.reach(&receiver);
        if !functions.is_empty() {
            self.statistics.resolved += 1;
            self.emit(
                method.name_at,
                What::Call(functions),
                0,
                through,
                Vec::new(),
            );
        }
        let mut value = Value::of(match output {
            Ty::Param(_) => Ty::Unknown,
            output => output.substituted(&Default::default(), true),
        });
        if let Some(kind) = self.guard_kind(&value.ty) {
            let guard = self.unknown_guard(method, kind);
            value.held = self.site(method.receiver.id, guard);
        }
        if self.model.borrows(&value.ty) {
            value.via = through;
        }
        value
    }

    /// The method call of a macro: no arguments to evaluate.
    pub(super) fn method_on(&mut self, receiver: &Value<'a>, name: Name, at: At) -> Value<'a> {
        if let Some((id, self_type)) = self.find_method(&receiver.ty, name) {
            let mut receiver = receiver.clone();
            self.through_deref(&mut receiver, &self_type, at);
            let site = Site {
                id: at.start,
                at,
                receiver: Some((receiver, None)),
                generics: Vec::new(),
                self_type,
            };
            return self.invoke(id, site, &[]);
        }
        if let Some(id) = self.model.described_method(name) {
            let site = Site {
                id: at.start,
                at,
                receiver: Some((receiver.clone(), None)),
                generics: Vec::new(),
                self_type: receiver.ty.clone(),
            };
            return self.invoke(id, site, &[]);
        }
        Value::unknown()
    }

    /// A method nobody could find on the receiver.
    fn unresolved(&mut self, expr: &'a Expr, receiver: Value<'a>, method: &'a Method) -> Value<'a> {
        let name = method.name.as_str();
        if let Some(id) = self.model.described_method(method.name) {
            self.statistics.resolved += 1;
            let self_type = receiver.ty.clone();
            let mut receiver = receiver;
            receiver.via |= self.reach(&receiver);
            receiver.whole = false;
            let site = Site {
                id: expr.id,
                at: method.name_at,
                receiver: Some((receiver, Some(method.receiver.at))),
                generics: Vec::new(),
                self_type,
            };
            return self.invoke(id, site, &method.args);
        }
        let is_lock = matches!(name, "lock" | "read" | "write") && method.args.is_empty();
        if is_lock && self.model.is_configured_lock(&receiver.ty) {
            let mut value = Value {
                looks_locked: Some(method.name_at),
                field: receiver.field,
                ..Value::unknown()
            };
            self.lock_by_shape(&mut value);
            return value;
        }
        if is_lock && receiver.ty.is_unknown() {
            let mut value = Value::unknown();
            value.looks_locked = Some(method.name_at);
            value.via = self.reach(&receiver);
            value.field = receiver.field;
            return value;
        }
        if matches!(name, "then" | "then_some") && receiver.ty.is_unknown() {
            // Nothing else that is called so gives an `Option`.
            let of_bool = Ty::plain("bool");
            if let Some((id, self_type)) = self.find_method(&of_bool, method.name) {
                let site = Site {
                    id: expr.id,
                    at: method.name_at,
                    receiver: Some((receiver, Some(method.receiver.at))),
                    generics: Vec::new(),
                    self_type,
                };
                return self.invoke(id, site, &method.args);
            }
        }
        let via = self.reach(&receiver);
        self.unknown_arguments(method, via);
        if matches!(
            name,
            "unwrap" | "expect" | "ok" | "unwrap_or_else" | "unwrap_or_default"
        ) {
            let mut value = Value::unknown();
            if let (Some(slot), true) = (receiver.slot, receiver.whole) {
                value.held = self.state.take(slot);
            }
            value.via = via;
            return value;
        }
        let mut value = Value {
            via,
            ..Value::unknown()
        };
        if TRANSPARENT.contains(&name)
            && method.args.is_empty()
            && name != "into"
            && name != "into_inner"
        {
            value.ty = if matches!(name, "clone" | "to_owned" | "cloned") {
                receiver.ty.peeled().clone()
            } else {
                receiver.ty
            };
            if matches!(name, "clone" | "to_owned" | "cloned") {
                value.via = 0;
                if self.guard_kind(&value.ty).is_some() {
                    value.ty = Ty::Unknown;
                }
            }
        }
        value
    }

    /// Closures for methods nobody knows run now if the name is that of a combinator.
    pub(super) fn unknown_arguments(&mut self, method: &'a Method, via: Guards) {
        let runs_now = self.model.runs_now(method.name);
        for arg in &method.args {
            match &arg.kind {
                Kind::Closure(closure) if runs_now && !closure.is_async => {
                    let params: Vec<Value<'a>> = closure
                        .params
                        .iter()
                        .map(|_| Value {
                            via,
                            ..Value::unknown()
                        })
                        .collect();
                    self.inline(closure, &params);
                }
                _ => {
                    let value = self.operand(arg, false);
                    self.force(&value);
                    if let (Some(callable), true) = (value.callable, runs_now) {
                        self.call_callable(callable, arg.at);
                    }
                }
            }
        }
        for arg in &method.args {
            self.state.take(arg.id);
        }
    }

    /// Lazy closures that travel on with an iterator: those it has, and those this adaptor adds.
    fn lazies(
        &mut self,
        id: FunctionId,
        receiver: &Value<'a>,
        method: &'a Method,
    ) -> Vec<(&'a Expr, usize)> {
        let mut lazies = receiver.lazy.clone();
        let params = &self.model.index.functions[id.index()].syntax.params;
        for (arg, param) in method.args.iter().zip(params) {
            if param.marks.iter().any(|mark| mark.name == "lazy")
                && matches!(arg.kind, Kind::Closure(_) | Kind::Path(_))
            {
                lazies.push((arg, self.env.len()));
            }
        }
        lazies
    }
}

/// The type of a site's receiver.
fn site_type(site: &Site<'_>) -> Ty {
    site.receiver
        .as_ref()
        .map_or(Ty::Unknown, |(receiver, _)| receiver.ty.clone())
}
