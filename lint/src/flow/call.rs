//! Calls of functions by path or value, and what a call does.

use std::sync::Arc;

use crate::model::index::{Def, FunctionId};
use crate::model::name::Name;
use crate::model::syntax::{At, Expr, Kind, Mark, Path};
use crate::model::ty::{Substitution, Ty, TyBound};

use super::Flow;
use super::body::{Guards, What};
use super::invoke::Site;
use super::value::Value;

/// An argument on its way.
pub(super) struct Argument<'a> {
    pub(super) expr: &'a Expr,
    pub(super) value: Value<'a>,
    /// It waits to be run: a closure for a function that runs it now.
    pub(super) closure: bool,
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
    pub(super) fn release(&mut self, args: &'a [Expr]) -> Guards {
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

    pub(super) fn argument(
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
    pub(super) fn callable_types(&self, ty: &Ty) -> Vec<Ty> {
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
    pub(super) fn run_closures(
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
                        via: if ty.is_unknown() || self.model.borrows(&ty) {
                            via | consumed
                        } else {
                            0
                        },
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
}

pub(super) fn has(marks: &[Mark], name: &str) -> bool {
    marks.iter().any(|mark| mark.name.as_str() == name)
}

/// What a closure returns says what its bound's output is.
fn learn_output(bounds: &[TyBound], output: &Ty, learned: &mut Substitution) {
    for bound in bounds {
        if let TyBound::Function(_, declared) = bound {
            declared.unify(output, learned);
        }
    }
}
