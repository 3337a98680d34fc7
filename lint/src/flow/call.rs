//! Calls of functions by path or value, and what a call does.

use std::sync::Arc;

use crate::model::index::{Def, FunctionId};
use crate::model::name::Name;
use crate::model::syntax::{At, Expr, Kind, Mark, Path};
use crate::model::ty::{Substitution, Ty, TyBound};

use super::Flow;
use super::body::{Callable, Guard, GuardKind, Guards, How, What};
use super::value::Value;

/// An argument on its way.
struct Argument<'a> {
    expr: &'a Expr,
    value: Value<'a>,
    /// It waits to be run: a closure for a function that runs it now.
    closure: bool,
}

/// Where and how something is called.
pub(super) struct Site<'a> {
    /// The whole call's identity.
    pub(super) id: u32,
    /// Where to report.
    pub(super) at: At,
    /// The receiver, already evaluated, with the expression it comes from.
    pub(super) receiver: Option<(Value<'a>, Option<At>)>,
    /// `::<..>`
    pub(super) generics: Vec<Ty>,
    /// The type it was found on.
    pub(super) self_type: Ty,
}

impl<'a> Flow<'_, 'a> {
    pub(super) fn call(
        &mut self,
        expr: &'a Expr,
        callee: &'a Expr,
        args: &'a [Expr],
        extending: bool,
    ) -> Value<'a> {
        self.statistics.all += 1;
        if let Kind::Path(path) = &callee.kind {
            let is_variable = path.segments.len() == 1
                && self
                    .env
                    .iter()
                    .any(|(name, _)| *name == path.segments[0].name);
            if !is_variable {
                return self.call_path(expr, path, args, extending);
            }
        }
        let function = self.place_of(callee, false);
        if let Kind::Closure(closure) = &callee.kind {
            // Called where it is written.
            let values = self.operands(args, false);
            self.release(args);
            return self.inline(closure, &values);
        }
        self.operands(args, false);
        self.release(args);
        if let Some(callable) = function.callable {
            self.statistics.resolved += 1;
            self.call_callable(callable, callee.at);
        }
        Value::of(self.output_of(&function.ty))
    }

    /// The guards of arguments that the callee took.
    fn release(&mut self, args: &'a [Expr]) -> Guards {
        args.iter()
            .fold(0, |held, arg| held | self.state.take(arg.id))
    }

    fn call_path(
        &mut self,
        expr: &'a Expr,
        path: &'a Path,
        args: &'a [Expr],
        extending: bool,
    ) -> Value<'a> {
        let generics = || {
            path.segments
                .iter()
                .rev()
                .find(|segment| !segment.args.is_empty())
                .map(|segment| &segment.args)
        };
        match self.resolve_value(path) {
            Some(Def::Function(id)) => {
                self.statistics.resolved += 1;
                let self_type = self.associated(path).map_or(Ty::Unknown, |(_, ty)| ty);
                let of_function = path
                    .segments
                    .last()
                    .is_some_and(|last| !last.args.is_empty());
                let generics = if of_function {
                    generics()
                        .map(|args| args.iter().map(|ty| self.ty(ty)).collect())
                        .unwrap_or_default()
                } else {
                    Vec::new()
                };
                let site = Site {
                    id: expr.id,
                    at: path.at,
                    receiver: None,
                    generics,
                    self_type,
                };
                self.invoke(id, site, args)
            }
            Some(Def::Data(id)) => {
                self.construct(Ty::Data(id, Arc::new([])), None, args, extending)
            }
            Some(Def::Variant(id, index)) => {
                self.construct(Ty::Data(id, Arc::new([])), Some(index), args, extending)
            }
            found => {
                let values = self.operands(args, extending);
                for value in &values {
                    self.force(value);
                }
                self.release(args);
                if let Some(Def::External(name)) = found {
                    self.external(name, path.at);
                }
                Value::unknown()
            }
        }
    }

    /// A function of a crate nobody describes.
    fn external(&mut self, path: Name, at: At) {
        let first = path.as_str().split("::").next().unwrap_or_default();
        if self.model.is_foreign_crate(
            self.model.index.modules[self.module.index()].krate,
            Name::new(first),
        ) {
            self.statistics.resolved += 1;
            self.emit(at, What::Foreign(path, false), 0, 0, Vec::new());
        }
    }

    /// A tuple struct or variant: the value owns what its parts own.
    fn construct(
        &mut self,
        ty: Ty,
        variant: Option<u32>,
        args: &'a [Expr],
        extending: bool,
    ) -> Value<'a> {
        let Ty::Data(id, _) = ty else {
            return Value::unknown();
        };
        let values = self.operands(args, extending);
        let fields = match variant {
            Some(index) => &self.model.variants[id.index()][index as usize].1,
            None => &self.model.fields[id.index()],
        };
        let mut learned = Substitution::new();
        for ((_, declared), value) in fields.iter().zip(&values) {
            declared.unify(&value.ty, &mut learned);
        }
        let params = &self.model.index.data[id.index()].syntax.generics.params;
        let args_of = params
            .iter()
            .map(|param| learned.get(param).cloned().unwrap_or(Ty::Unknown))
            .collect();
        self.combined(args, &values, Ty::Data(id, args_of))
    }

    /// Calls a known function.
    pub(super) fn invoke(&mut self, id: FunctionId, site: Site<'a>, args: &'a [Expr]) -> Value<'a> {
        let model = self.model;
        let def = &model.index.functions[id.index()];
        let signature = &model.signatures[id.index()];
        let described = model.is_described(id);
        let mut learned = Substitution::new();
        model.learn_self(id, &site.self_type, &mut learned);
        for (param, ty) in def.syntax.generics.params.iter().zip(&site.generics) {
            learned.insert(*param, ty.clone());
        }
        // A method called by its path gets its receiver as the first argument.
        let by_path = site.receiver.is_none() && signature.receiver.is_some();
        let shift = usize::from(by_path);
        let receiver_marks: &[Mark] = def
            .syntax
            .receiver
            .as_ref()
            .map_or(&[], |receiver| &receiver.marks);
        let marks_of = |index: usize| -> &'a [Mark] {
            match index.checked_sub(shift) {
                Some(index) => def
                    .syntax
                    .params
                    .get(index)
                    .map_or(&[], |param| &param.marks),
                None => receiver_marks_static(def),
            }
        };
        let mut arguments = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let declared = match index.checked_sub(shift) {
                Some(index) => signature.params.get(index),
                None => signature.receiver.as_ref(),
            };
            arguments.push(self.argument(
                id,
                arg,
                declared,
                marks_of(index),
                described,
                &mut learned,
            ));
        }
        let mut released = 0;
        let mut consumed = 0;
        let mut passed = Vec::new();
        let mut via = 0;
        let mut through = 0;
        if let Some((receiver, _)) = &site.receiver {
            let by_value = signature
                .receiver
                .as_ref()
                .is_some_and(|ty| !ty.is_reference())
                && !receiver.ty.is_reference();
            through = receiver.via
                | if by_value {
                    0
                } else {
                    receiver.slot.map_or(0, |slot| self.state.of(slot))
                };
            if has(receiver_marks, "released") {
                released |= self.reach(receiver);
            }
            if by_value {
                consumed |= receiver.poison;
            }
            if let (true, Some(slot)) = (by_value, receiver.slot) {
                self.moved.insert(slot);
            }
            if let (true, Some(slot), true) = (
                by_value || has(receiver_marks, "takes"),
                receiver.slot,
                receiver.whole,
            ) {
                consumed |= self.state.take(slot);
            }
            via |= through;
            self.consume_iterator(receiver, &signature.output);
        }
        for (index, argument) in arguments.iter().enumerate() {
            let marks = marks_of(index);
            let own = self.state.take(argument.expr.id);
            if has(marks, "released") {
                released |= own | self.reach(&argument.value);
            }
            if let (true, Some(slot)) = (has(marks, "takes"), argument.value.slot) {
                consumed |= self.state.take(slot);
            }
            if argument.value.ty.is_reference() {
                via |= argument.value.via;
            }
            consumed |= own;
            if described {
                self.force(&argument.value);
            }
            if let (Some(how), Some(callable)) = (
                self.how(marks, described, index - shift.min(index)),
                argument.value.callable,
            ) {
                passed.push((how, callable));
            }
            if has(marks, "drops") {
                self.explicit_drop(&argument.value, site.at);
            }
        }
        let first = match &site.receiver {
            Some((receiver, _)) => receiver.clone(),
            None => arguments
                .first()
                .map_or_else(Value::unknown, |argument| argument.value.clone()),
        };
        if described && self.mark(id, "blocks_by_argument").is_some() {
            for argument in &arguments {
                self.io_effect(
                    id,
                    Name::new("copies"),
                    &argument.value.ty,
                    site.at,
                    0,
                    argument.value.via,
                );
            }
        }
        let outer = self.state.clone();
        if released != 0 && arguments.iter().any(|argument| argument.closure) {
            self.without(released);
        }
        let (closure_held, outputs) =
            self.run_closures(id, &site, &arguments, &mut learned, consumed);
        if released != 0 {
            self.state = outer;
        }
        if described {
            self.described_effect(id, site.at, &first, released, through, passed);
        } else if def.syntax.is_foreign {
            self.foreign(id, site.at, through);
        } else {
            self.emit(
                site.at,
                What::Call(vec![Callable::Function(id)]),
                released,
                through,
                passed,
            );
        }
        let mut output = signature.output.substituted(&learned, true);
        if let Ty::Unknown = output
            && let Some(known) = outputs
        {
            output = known;
        }
        if def.syntax.is_async {
            output = Self::future(output);
        }
        if matches!(&output, Ty::Plain(name) if *name == "!") {
            return self.diverge();
        }
        self.result(id, site, output, consumed | closure_held, via, &first)
    }

    /// The value a call gives: with the guards that went in, or with a new one.
    fn result(
        &mut self,
        id: FunctionId,
        site: Site<'a>,
        output: Ty,
        consumed: Guards,
        via: Guards,
        first: &Value<'a>,
    ) -> Value<'a> {
        let kind = self.guard_kind(&output);
        let is_future = matches!(output, Ty::Future(_));
        let mut value = Value::of(output);
        if let (Some(kind), false) = (kind, is_future) {
            value.held = consumed;
            if consumed == 0 {
                if !self.model.is_described(id)
                    && kind != GuardKind::Stream
                    && !self.model.function_name(id).contains("try_")
                {
                    self.emit(
                        site.at,
                        What::Acquires(id, u8::from(kind == GuardKind::Aware)),
                        0,
                        0,
                        Vec::new(),
                    );
                }
                let guard = self.guard(id, &site, kind, first);
                value.held = self.site(site.id, guard);
            }
        }
        if self.model.borrows(&value.ty) || value.ty.is_unknown() {
            value.via = via;
        }
        let steps = self
            .mark(id, "blocking_iterator")
            .or(self.mark(id, "parking_iterator"))
            .is_some();
        if steps {
            value.steps = Some((id, site.at));
        } else if self.model.is_iterator(&value.ty) && self.model.is_described(id) {
            value.steps = first.steps;
        }
        value
    }

    fn guard(
        &mut self,
        id: FunctionId,
        site: &Site<'a>,
        kind: GuardKind,
        first: &Value<'a>,
    ) -> Guard {
        let text = site
            .receiver
            .as_ref()
            .and_then(|(_, at)| *at)
            .map_or("", |at| self.text(at))
            .trim_start_matches('&')
            .to_owned();
        let lock = match &first.field {
            Some((owner, field)) => format!(
                "{}.{field}",
                self.model.index.data[owner.index()].syntax.name
            ),
            None if text.is_empty() => self.model.function_name(id),
            None => self.local_name(&text),
        };
        Guard {
            at: site.at,
            kind,
            lock,
            text,
            by: Some(id),
        }
    }

    /// A lock that is no field: as written, in its function.
    fn local_name(&self, text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join("")
    }

    fn argument(
        &mut self,
        _id: FunctionId,
        arg: &'a Expr,
        declared: Option<&Ty>,
        marks: &[Mark],
        described: bool,
        learned: &mut Substitution,
    ) -> Argument<'a> {
        let lazily = has(marks, "initializer")
            && !matches!(
                self.bodies[self.current].kind,
                super::body::BodyKind::Initializer(_)
            );
        let runs_now = described
            && !lazily
            && ![
                "later",
                "os_thread",
                "offload",
                "vthread",
                "coroutine",
                "future",
                "driven",
            ]
            .iter()
            .any(|mark| has(marks, mark));
        if let Kind::Closure(closure) = &arg.kind
            && !closure.is_async
        {
            if runs_now && declared.is_some_and(|ty| self.is_callable(ty)) {
                return Argument {
                    expr: arg,
                    value: Value::of(Ty::Closure(arg.id)),
                    closure: true,
                };
            }
            let params = declared
                .map(|ty| self.callable_types(ty))
                .unwrap_or_default();
            let params: Vec<Ty> = params
                .iter()
                .map(|ty| ty.substituted(learned, true))
                .collect();
            let mut value = self.closure_with(arg, closure, &params);
            self.keep(arg.id, value.held, false);
            value.held = 0;
            if let (Some(Ty::Opaque(bounds)), Some(output)) = (declared, self.outputs.get(&arg.id))
            {
                learn_output(bounds, output, learned);
            }
            return Argument {
                expr: arg,
                value,
                closure: false,
            };
        }
        let value = self.operand(arg, false);
        if let Some(declared) = declared {
            declared.unify(&value.ty, learned);
            if let (Ty::Opaque(bounds), true) = (declared, value.callable.is_some()) {
                learn_output(bounds, &self.output_of(&value.ty), learned);
            }
        }
        let closure = runs_now
            && value.callable.is_some()
            && declared.is_some_and(|ty| matches!(ty, Ty::Opaque(_)));
        Argument {
            expr: arg,
            value,
            closure,
        }
    }

    /// Parameter types of something callable.
    fn callable_types(&self, ty: &Ty) -> Vec<Ty> {
        match ty.peeled() {
            Ty::Opaque(bounds) | Ty::Dyn(bounds) => bounds
                .iter()
                .find_map(|bound| match bound {
                    TyBound::Function(params, _) => Some(params.to_vec()),
                    _ => None,
                })
                .unwrap_or_default(),
            Ty::Function(params, _) => params.to_vec(),
            Ty::Data(..) => self
                .model
                .deref(ty)
                .map(|inner| self.callable_types(&inner))
                .unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// Runs the closures a described function runs now. Gives the guards they return and the type of the last.
    fn run_closures(
        &mut self,
        id: FunctionId,
        site: &Site<'a>,
        arguments: &[Argument<'a>],
        learned: &mut Substitution,
        consumed: Guards,
    ) -> (Guards, Option<Ty>) {
        let model = self.model;
        let signature = &model.signatures[id.index()];
        let syntax = model.index.functions[id.index()].syntax;
        let mut held = 0;
        let mut output = None;
        for (index, argument) in arguments
            .iter()
            .enumerate()
            .filter(|(_, argument)| argument.closure)
        {
            let declared = signature.params.get(index).cloned().unwrap_or(Ty::Unknown);
            let marks = syntax
                .params
                .get(index)
                .map_or(&[][..], |param| &param.marks);
            let via = site
                .receiver
                .as_ref()
                .map_or(0, |(receiver, _)| self.reach(receiver));
            let params: Vec<Value<'a>> = self
                .callable_types(&declared)
                .iter()
                .map(|ty| {
                    let ty = ty.substituted(learned, true);
                    let owns = self.guard_kind(&ty).is_some() || (consumed != 0 && ty.is_unknown());
                    Value {
                        held: if owns { consumed } else { 0 },
                        via: via | consumed,
                        ..Value::of(ty)
                    }
                })
                .collect();
            let Kind::Closure(closure) = &argument.expr.kind else {
                if let (Some(callable), false) = (argument.value.callable, has(marks, "lazy")) {
                    self.call_callable(callable, argument.expr.at);
                }
                continue;
            };
            if has(marks, "lazy") {
                // Its type is needed now, its effects when somebody consumes the iterator.
                let state = std::mem::replace(&mut self.state, super::state::State::unreachable());
                let value = self.inline(closure, &params);
                self.state = state;
                if let Ty::Opaque(bounds) = &declared {
                    learn_output(bounds, &value.ty, learned);
                }
                self.lazy_params.insert(argument.expr.id, params);
                continue;
            }
            let declares = self.declares(id);
            let scope = if self.mark(id, "tls").is_some() {
                self.scope_guard(site.id, site.at, id)
            } else {
                0
            };
            self.state.give(site.id, scope);
            let value = self.declared(declares, |this| this.inline(closure, &params));
            self.state.take(site.id);
            if let Ty::Opaque(bounds) = &declared {
                learn_output(bounds, &value.ty, learned);
            }
            held |= value.held;
            output = Some(value.ty);
        }
        (held, output)
    }

    /// Who runs a callable argument.
    fn how(&self, marks: &[Mark], described: bool, index: usize) -> Option<How> {
        if !described {
            return Some(How::Param(index as u32));
        }
        let found = |name: &str| has(marks, name);
        if found("vthread") {
            Some(How::VirtualThread)
        } else if found("os_thread") {
            Some(How::OsThread)
        } else if found("offload") {
            Some(How::Offload)
        } else if found("driven") {
            Some(How::Driven)
        } else if found("later") || found("coroutine") {
            Some(How::Later)
        } else {
            None
        }
    }

    /// Takes guards out of all owners, while a closure runs without them.
    fn without(&mut self, guards: Guards) {
        self.state.remove(guards);
    }
}

fn has(marks: &[Mark], name: &str) -> bool {
    marks.iter().any(|mark| mark.name.as_str() == name)
}

fn receiver_marks_static<'a>(def: &crate::model::index::FunctionDef<'a>) -> &'a [Mark] {
    def.syntax
        .receiver
        .as_ref()
        .map_or(&[], |receiver| &receiver.marks)
}

/// What a closure returns says what its bound's output is.
fn learn_output(bounds: &[TyBound], output: &Ty, learned: &mut Substitution) {
    for bound in bounds {
        if let TyBound::Function(_, declared) = bound {
            declared.unify(output, learned);
        }
    }
}
