//! Closures: walked where they run, or as bodies of their own.

use std::sync::Arc;

use crate::model::syntax::{At, Closure, Expr, Kind, Macro};
use crate::model::ty::Ty;

use super::body::{BodyKind, Callable, Context, Guard, GuardKind, Guards, What};
use super::state::State;
use super::value::Value;
use super::{Flow, Frame};

impl<'a> Flow<'_, 'a> {
    /// A closure as a value: a body of its own, run whenever somebody calls it.
    pub(super) fn closure_value(&mut self, expr: &'a Expr, closure: &'a Closure) -> Value<'a> {
        self.closure_with(expr, closure, &[])
    }

    /// The same with parameter types that the context knows.
    pub(super) fn closure_with(
        &mut self,
        expr: &'a Expr,
        closure: &'a Closure,
        params: &[Ty],
    ) -> Value<'a> {
        let kind = if closure.is_async {
            BodyKind::Async
        } else {
            BodyKind::Closure
        };
        let body = self.separate(expr.id, kind, expr.at, closure.is_async, |this| {
            let values: Vec<Value<'a>> = params.iter().cloned().map(Value::of).collect();
            this.bind_params(closure, &values);
            this.value(&closure.body)
        });
        let held = if closure.moves { self.captured() } else { 0 };
        Value {
            held,
            callable: Some(Callable::Body(body)),
            ..Value::of(Ty::Closure(expr.id))
        }
    }

    /// Walks code that does not run here as a body of its own; nothing alive here is alive there.
    pub(super) fn separate(
        &mut self,
        id: u32,
        kind: BodyKind,
        at: At,
        is_async: bool,
        walk: impl FnOnce(&mut Self) -> Value<'a>,
    ) -> u32 {
        let body = match self.closures.get(&id) {
            Some(body) => *body,
            None => {
                let body = self.open(kind, at, is_async) as u32;
                self.closures.insert(id, body);
                body
            }
        };
        let current = std::mem::replace(&mut self.current, body as usize);
        let state = std::mem::replace(&mut self.state, State::start());
        let frames = std::mem::replace(
            &mut self.frames,
            vec![
                Frame {
                    is_block: false,
                    owners: Vec::new(),
                },
                Frame {
                    is_block: true,
                    owners: Vec::new(),
                },
            ],
        );
        let exits = std::mem::take(&mut self.exits);
        let context = std::mem::take(&mut self.context);
        let outer_used = std::mem::take(&mut self.used);
        let names = self.env.len();
        self.returns.push(State::unreachable());
        let value = walk(self);
        self.returns.pop();
        self.env.truncate(names);
        self.outputs.insert(id, value.ty);
        self.current = current;
        self.state = state;
        self.frames = frames;
        self.exits = exits;
        self.context = context;
        // What the inner body uses, the outer one does too, for closures around it.
        let inner = std::mem::replace(&mut self.used, outer_used);
        for slot in &inner {
            if !self.used.contains(slot) {
                self.used.push(*slot);
            }
        }
        self.last_captured = inner;
        body
    }

    /// The guards of the variables that the body walked last uses: a `move` takes them along.
    pub(super) fn captured(&mut self) -> Guards {
        let slots = std::mem::take(&mut self.last_captured);
        let mut held = 0;
        for slot in slots {
            let by_reference = self
                .vars
                .get(&slot)
                .is_some_and(|value| value.ty.is_reference());
            if !by_reference {
                self.moved.insert(slot);
                held |= self.state.take(slot);
            }
        }
        held
    }

    fn bind_params(&mut self, closure: &'a Closure, values: &[Value<'a>]) {
        for (index, (pattern, annotated)) in closure.params.iter().enumerate() {
            let mut value = values.get(index).cloned().unwrap_or_else(Value::unknown);
            if let Some(ty) = annotated
                .as_ref()
                .map(|ty| self.ty(ty))
                .filter(|ty| !ty.is_unknown())
            {
                value.ty = ty;
            }
            let held = value.held;
            value.held = 0;
            if value.slot.is_none() || held != 0 {
                self.keep(pattern.id, held, true);
                value.slot = Some(pattern.id);
                value.whole = true;
            }
            self.bind(pattern, &value);
        }
    }

    /// Runs a closure here, under the guards alive here; the result is what it returns.
    pub(super) fn inline(&mut self, closure: &'a Closure, values: &[Value<'a>]) -> Value<'a> {
        let names = self.env.len();
        let outer = self.context;
        self.repeated(closure);
        let exits = std::mem::take(&mut self.exits);
        self.returns.push(State::unreachable());
        self.open_frame(false);
        self.open_frame(true);
        self.bind_params(closure, values);
        let mut value = if self.is_2024() {
            self.scoped(|this| this.value(&closure.body))
        } else {
            self.value(&closure.body)
        };
        if let Some(output) = closure
            .output
            .as_ref()
            .map(|ty| self.ty(ty))
            .filter(|ty| !ty.is_unknown())
        {
            value.ty = output;
        }
        self.close_frame();
        self.close_frame();
        let returned = self.returns.pop().unwrap_or_else(State::unreachable);
        self.state.join(&returned);
        self.exits = exits;
        self.context = outer;
        self.env.truncate(names);
        value
    }

    /// Runs the closures of lazy adaptors, with the variables they see, and the functions they were given by name.
    pub(super) fn force(&mut self, value: &Value<'a>) {
        for (expr, names) in &value.lazy {
            let hidden = self.env.split_off((*names).min(self.env.len()));
            if let Kind::Closure(closure) = &expr.kind {
                let params = self.lazy_params.get(&expr.id).cloned().unwrap_or_default();
                self.inline(closure, &params);
            } else {
                let state = self.state.clone();
                let callable = self.operand(expr, false).callable;
                self.state = state;
                if let Some(callable) = callable {
                    self.call_callable(callable, expr.at);
                }
            }
            self.env.extend(hidden);
        }
    }

    /// Calls something by name or value at a place, with nothing known about its arguments.
    pub(super) fn call_callable(&mut self, callable: Callable, at: At) {
        match callable {
            Callable::Function(id) if self.model.is_described(id) => {
                self.described_effect(id, at, &Value::unknown(), 0, 0, Vec::new())
            }
            Callable::Function(id) if self.model.index.functions[id.index()].syntax.is_foreign => {
                self.foreign(id, at, 0)
            }
            callable => self.emit(at, What::Call(vec![callable]), 0, 0, Vec::new()),
        }
    }

    /// Runs `f` with something declared around it.
    pub(super) fn declared<T>(&mut self, bits: u8, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.context;
        self.context.0 |= bits;
        let result = f(self);
        self.context = outer;
        result
    }

    /// What a described function declares around the closures it runs.
    pub(super) fn declares(&self, id: crate::model::index::FunctionId) -> u8 {
        let bit = |name, bit| {
            if self.mark(id, name).is_some() {
                bit
            } else {
                0
            }
        };
        bit("declares", Context::NATIVE)
            | bit("offloads", Context::BLOCKING)
            | bit("critical", Context::CRITICAL)
    }

    /// A thread-local scope around a closure, as a guard.
    pub(super) fn scope_guard(
        &mut self,
        id: u32,
        at: At,
        by: crate::model::index::FunctionId,
    ) -> Guards {
        let guard = Guard {
            at,
            kind: GuardKind::Stream,
            lock: "a thread-local scope".to_owned(),
            text: String::new(),
            by: Some(by),
        };
        self.site(id, guard)
    }

    /// `go!(closure)`: another coroutine runs it.
    pub(super) fn coroutine_macro(&mut self, of: &'a Macro) -> Value<'a> {
        for arg in &of.args {
            self.value(arg);
        }
        Value::of(
            self.model
                .described("may::coroutine::JoinHandle", vec![Ty::Unknown]),
        )
    }

    /// Whether a condition asks if this is a virtual thread, and what the answer in the `if` block is.
    pub(super) fn asks_for_virtual(&self, condition: &'a Expr) -> Option<bool> {
        match &condition.kind {
            Kind::Unary(inner) => self.asks_for_virtual(inner).map(|answer| !answer),
            Kind::Call(callee, _) => match &callee.kind {
                Kind::Path(path) => match self.resolve_value(path)? {
                    crate::model::index::Def::Function(id) => {
                        self.mark(id, "tells_virtual").map(|_| true)
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// The type a closure or function gives when called.
    pub(super) fn output_of(&self, ty: &Ty) -> Ty {
        match ty.peeled() {
            Ty::Closure(id) => self.outputs.get(id).cloned().unwrap_or(Ty::Unknown),
            Ty::Item(id) => self.model.signatures[id.index()].output.clone(),
            Ty::Function(_, output) => (**output).clone(),
            Ty::Param(name) => self
                .function_bound(*name)
                .map_or(Ty::Unknown, |(_, output)| (*output).clone()),
            Ty::Opaque(bounds) | Ty::Dyn(bounds) => bounds
                .iter()
                .find_map(|bound| match bound {
                    crate::model::ty::TyBound::Function(_, output) => Some((**output).clone()),
                    _ => None,
                })
                .unwrap_or(Ty::Unknown),
            other => self
                .model
                .deref(other)
                .map_or(Ty::Unknown, |inner| self.output_of(&inner)),
        }
    }

    /// A future of a type.
    pub(super) fn future(ty: Ty) -> Ty {
        Ty::Future(Arc::new(ty))
    }
}
