//! Method calls: finding the method, and what described calls do.

use std::sync::Arc;

use crate::model::facts::key;
use crate::model::index::{FunctionId, Owner};
use crate::model::name::Name;
use crate::model::syntax::{At, Expr, Kind, Method};
use crate::model::ty::{Ty, TyBound};

use super::Flow;
use super::body::{Callable, Guard, GuardKind, Guards, How, What};
use super::call::Site;
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
            let mut value = self.invoke(id, site, &method.args);
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

    /// Using the value of a lazily initialised cell may initialise it.
    pub(super) fn forced(&mut self, value: &Value<'a>, at: At) {
        if let Some(id) = value.cell
            && self.model.values[id.index()].peeled() != &Ty::Unknown
            && self.model.is_lazy_cell(&self.model.values[id.index()])
        {
            self.emit(at, What::Initializes(id), 0, 0, Vec::new());
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

    fn unknown_guard(&self, method: &'a Method, kind: GuardKind) -> Guard {
        let text = self.text(method.receiver.at).to_owned();
        Guard {
            at: method.name_at,
            kind,
            lock: text.split_whitespace().collect(),
            text,
            by: None,
        }
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
        if matches!(name, "lock" | "read" | "write")
            && method.args.is_empty()
            && receiver.ty.is_unknown()
        {
            let mut value = Value::unknown();
            value.looks_locked = Some(method.name_at);
            value.via = self.reach(&receiver);
            value.field = receiver.field;
            return value;
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
    fn unknown_arguments(&mut self, method: &'a Method, via: Guards) {
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

    /// `.lock().unwrap()` of an unknown type is a lock of std.
    fn unwrap_by_shape(&mut self, mut receiver: Value<'a>, method: &'a Method) -> Value<'a> {
        self.unknown_arguments(method, 0);
        self.lock_by_shape(&mut receiver);
        receiver.slot = None;
        receiver
    }

    pub(super) fn lock_by_shape(&mut self, value: &mut Value<'a>) {
        let Some(at) = value.looks_locked.take() else {
            return;
        };
        let line = self.text(At {
            start: at.start.saturating_sub(60),
            end: at.start,
        });
        let text: String = line
            .rsplit([' ', '\n', '(', '=', '{', ';'])
            .next()
            .unwrap_or_default()
            .trim_end_matches('.')
            .to_owned();
        let lock = match &value.field {
            Some((owner, field)) => format!(
                "{}.{field}",
                self.model.index.data[owner.index()].syntax.name
            ),
            None => text.clone(),
        };
        self.emit(
            at,
            What::Acquires(FunctionId(u32::MAX), 0),
            0,
            0,
            Vec::new(),
        );
        value.held |= self.site(
            at.start,
            Guard {
                at,
                kind: GuardKind::Monitor,
                lock,
                text,
                by: None,
            },
        );
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
                && matches!(arg.kind, Kind::Closure(_))
            {
                lazies.push((arg, self.env.len()));
            }
        }
        lazies
    }

    /// A call that does not give an iterator consumes the one it is called on.
    pub(super) fn consume_iterator(&mut self, receiver: &Value<'a>, output: &Ty) {
        if (!receiver.lazy.is_empty() || receiver.steps.is_some())
            && !self.model.is_iterator(output)
        {
            self.steps(receiver);
        }
    }

    /// What calling a described function does.
    pub(super) fn described_effect(
        &mut self,
        id: FunctionId,
        at: At,
        first: &Value<'a>,
        released: Guards,
        through: Guards,
        passed: Vec<(How, Callable)>,
    ) {
        let what = if let Some(label) = self.mark(id, "blocks") {
            What::Blocks(id, Name::new(label))
        } else if let Some(label) = self.mark(id, "parks") {
            What::Parks(id, Name::new(label), self.mark(id, "only_yields").is_some())
        } else if let Some(argument) = self.mark(id, "acquires") {
            let aware = self.guard_kind(&self.model.signatures[id.index()].output)
                == Some(GuardKind::Aware);
            What::Acquires(
                id,
                u8::from(aware) | if argument == "reentrant" { 2 } else { 0 },
            )
        } else if let Some(label) = self.mark(id, "io_call") {
            return self.io_effect(id, Name::new(label), &first.ty, at, released, through);
        } else if self.mark(id, "forces").is_some() || self.mark(id, "initializes").is_some() {
            self.forced(first, at);
            What::Passes(id)
        } else if passed.is_empty() {
            return;
        } else {
            What::Passes(id)
        };
        self.emit(at, what, released, through, passed);
    }

    /// Reading or writing blocks if the value is a file or socket, and calls the workspace's own implementation if it
    /// is of the workspace.
    pub(super) fn io_effect(
        &mut self,
        id: FunctionId,
        label: Name,
        ty: &Ty,
        at: At,
        released: Guards,
        through: Guards,
    ) {
        let mut ty = ty.clone();
        for _ in 0..10 {
            match self.model.io(&ty) {
                Some(true) => {
                    return self.emit(
                        at,
                        What::Parks(id, label, false),
                        released,
                        through,
                        Vec::new(),
                    );
                }
                Some(false) => {
                    return self.emit(at, What::Blocks(id, label), released, through, Vec::new());
                }
                None => {}
            }
            if let Some(own) = self
                .model
                .own_io(&ty, self.model.index.functions[id.index()].syntax.name)
            {
                return self.emit(
                    at,
                    What::Call(vec![Callable::Function(own)]),
                    released,
                    through,
                    Vec::new(),
                );
            }
            ty = match &ty {
                Ty::Ref(inner) => (**inner).clone(),
                other => match self.model.deref(other) {
                    Some(inner) => inner,
                    None => return,
                },
            };
        }
    }

    /// A foreign function of an `extern` block.
    pub(super) fn foreign(&mut self, id: FunctionId, at: At, through: Guards) {
        let declared = self.mark(id, "native").is_some();
        let name = Name::new(&self.model.function_name(id));
        self.emit(at, What::Foreign(name, declared), 0, through, Vec::new());
    }

    /// `drop(value)`: its `Drop` runs now.
    pub(super) fn explicit_drop(&mut self, value: &Value<'a>, at: At) {
        if let Some(drop) = self.model.drop_glue(&value.ty, 0) {
            self.emit(at, What::Drops(drop), 0, 0, Vec::new());
        }
    }
}
