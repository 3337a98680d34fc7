//! Expressions as values and as places.

use std::sync::Arc;

use crate::model::name::Name;
use crate::model::syntax::{Expr, Kind, Literal, MacroShape, Operator};
use crate::model::ty::Ty;

use super::Flow;
use super::body::{BodyKind, Callable, What};
use super::value::Value;

/// How deep expressions are followed.
const DEPTH: u32 = 1_400;

impl<'a> Flow<'_, 'a> {
    /// An expression whose value moves to where it is used.
    pub(super) fn value(&mut self, expr: &'a Expr) -> Value<'a> {
        if self.depth > DEPTH {
            return Value::unknown();
        }
        self.depth += 1;
        let value = self.value_unbounded(expr);
        self.depth -= 1;
        value
    }

    fn value_unbounded(&mut self, expr: &'a Expr) -> Value<'a> {
        match &expr.kind {
            Kind::Literal(literal) => Value::of(match literal {
                Literal::Text => Ty::plain("str").reference(),
                Literal::Bytes => Ty::Slice(Arc::new(Ty::plain("u8"))).reference(),
                Literal::Plain => Ty::plain("usize"),
            }),
            Kind::Path(_) | Kind::Field(..) | Kind::Index(..) | Kind::Deref(_) => {
                let mut value = self.place_of(expr, false);
                self.move_out(&mut value);
                value
            }
            Kind::Call(callee, args) => self.call(expr, callee, args, false),
            Kind::Method(method) => self.method(expr, method),
            Kind::Reference(inner) => self.borrow(inner, false),
            Kind::Unary(inner) => {
                self.value(inner);
                Value::of(Ty::plain("bool"))
            }
            Kind::Binary(operator, left, right) => self.binary(*operator, left, right),
            Kind::Assign(left, right) => self.assign(left, right),
            Kind::AssignOperator(left, right) => self.assign_operator(left, right),
            Kind::Tuple(parts) => {
                let values = self.operands(parts, false);
                let ty = Ty::Tuple(values.iter().map(|value| value.ty.clone()).collect());
                self.combined(parts, &values, ty)
            }
            Kind::Array(parts) => {
                let values = self.operands(parts, false);
                let ty = Ty::Slice(Arc::new(
                    values.first().map_or(Ty::Unknown, |value| value.ty.clone()),
                ));
                self.combined(parts, &values, ty)
            }
            Kind::Repeat(inner) => {
                let value = self.value(inner);
                Value::of(Ty::Slice(Arc::new(value.ty)))
            }
            Kind::Range(ends) => {
                let ends = self.operands(ends, false);
                let item = ends
                    .into_iter()
                    .next()
                    .map_or(Ty::plain("usize"), |end| end.ty);
                Value::of(self.model.described("std::ops::Range", vec![item]))
            }
            Kind::Cast(inner, ty) => {
                let mut value = self.value(inner);
                value.ty = self.ty(ty);
                value
            }
            Kind::Struct(literal) => {
                let parts: Vec<&'a Expr> = literal.fields.iter().map(|(_, field)| field).collect();
                let values: Vec<Value<'a>> =
                    parts.iter().map(|part| self.operand(part, false)).collect();
                if let Some(rest) = &literal.rest {
                    self.place_of(rest, false);
                }
                let ty = self.struct_type(&literal.path, &literal.fields, &values);
                let held = parts
                    .iter()
                    .fold(0, |held, part| held | self.state.take(part.id));
                Value {
                    held,
                    ..Value::of(ty)
                }
            }
            Kind::Closure(closure) => self.closure_value(expr, closure),
            Kind::Async(block) => {
                let body = self.separate(expr.id, BodyKind::Async, expr.at, true, |this| {
                    this.block(&block.block)
                });
                let held = if block.moves { self.captured() } else { 0 };
                let output = self.outputs.get(&expr.id).cloned().unwrap_or(Ty::Unknown);
                Value {
                    held,
                    callable: Some(Callable::Body(body)),
                    ..Value::of(Ty::Future(Arc::new(output)))
                }
            }
            Kind::Await(inner, word) => self.await_expr(inner, *word),
            Kind::Try(inner) => self.try_expr(inner),
            Kind::Macro(of) => self.macro_call(of),
            Kind::Opaque => Value::unknown(),
            _ => self.control(expr),
        }
    }

    /// The variable's guards go with the value.
    pub(super) fn move_out(&mut self, value: &mut Value<'a>) {
        if let Some(slot) = value.slot {
            self.moved.insert(slot);
        }
        if let (Some(slot), true, false) = (value.slot, value.whole, value.ty.is_reference()) {
            value.held |= self.state.take(slot);
        } else if let Some(slot) = value.slot.filter(|_| self.is_only_guard(value)) {
            value.held |= self.state.take(slot);
        }
        value.slot = None;
        value.whole = false;
        value.part = false;
    }

    /// Whether a field owns all the guards that its variable has: no other part of the variable can have one.
    pub(super) fn is_only_guard(&self, value: &Value<'a>) -> bool {
        let of_variable = value.slot.and_then(|slot| self.vars.get(&slot));
        value.part
            && self.guard_kind(&value.ty).is_some()
            && of_variable.is_some_and(|variable| self.model.guards_in(&variable.ty) == 1)
    }

    /// `&expr`
    pub(super) fn borrow(&mut self, inner: &'a Expr, extended: bool) -> Value<'a> {
        let mut value = self.place_of(inner, extended);
        if let (Some(slot), true) = (value.slot, value.whole) {
            value.via |= self.state.of(slot);
        }
        value.ty = value.ty.reference();
        value
    }

    /// Several expressions one after the other; each keeps its guards until the last is there.
    pub(super) fn operands(&mut self, parts: &'a [Expr], extending: bool) -> Vec<Value<'a>> {
        parts
            .iter()
            .map(|part| self.operand(part, extending))
            .collect()
    }

    /// One of several operands: its guards stay alive under its own identity.
    pub(super) fn operand(&mut self, part: &'a Expr, extending: bool) -> Value<'a> {
        let mut value = self.value_extending(part, extending);
        self.keep(part.id, value.held, false);
        value.held = 0;
        value
    }

    /// A value that owns what its parts own.
    pub(super) fn combined(
        &mut self,
        parts: &'a [Expr],
        values: &[Value<'a>],
        ty: Ty,
    ) -> Value<'a> {
        let held = parts
            .iter()
            .fold(0, |held, part| held | self.state.take(part.id));
        let via = values
            .iter()
            .filter(|value| value.ty.is_reference())
            .fold(0, |via, value| via | value.via);
        Value {
            held,
            via,
            ..Value::of(ty)
        }
    }

    fn binary(&mut self, operator: Operator, left: &'a Expr, right: &'a Expr) -> Value<'a> {
        match operator {
            Operator::And | Operator::Or => {
                self.scoped(|this| this.value(left));
                let skipped = self.state.clone();
                self.scoped(|this| this.value(right));
                self.state.join(&skipped);
                Value::of(Ty::plain("bool"))
            }
            Operator::Compare => {
                // Comparison borrows both sides.
                self.place_of(left, false);
                self.place_of(right, false);
                Value::of(Ty::plain("bool"))
            }
            Operator::Arithmetic => {
                let left = self.operand(left, false);
                self.operand(right, false);
                Value::of(left.ty)
            }
        }
    }

    fn assign(&mut self, left: &'a Expr, right: &'a Expr) -> Value<'a> {
        if matches!(left.kind, Kind::Opaque) {
            // `_ = place` reads nothing and moves nothing.
            self.place_of(right, false);
            return Value::of(Ty::unit());
        }
        let value = self.operand(right, false);
        if let Kind::Path(path) = &left.kind
            && let [segment] = path.segments.as_slice()
            && let Some((_, slot)) = self
                .env
                .iter()
                .rev()
                .find(|(name, _)| *name == segment.name)
        {
            let slot = *slot;
            let held = self.state.take(right.id);
            self.state.take(slot);
            self.state.give(slot, held);
            if let Some(known) = self.vars.get_mut(&slot) {
                if known.ty.is_unknown() {
                    known.ty = value.ty;
                }
                known.via |= value.via;
                if value.callable.is_some() {
                    known.callable = value.callable;
                }
            }
            return Value::of(Ty::unit());
        }
        if let Kind::Tuple(parts) = &left.kind {
            let held = self.state.take(right.id);
            if let Some(first) = parts.iter().find(|part| matches!(part.kind, Kind::Path(_))) {
                let target = self.place_of(first, false);
                if let Some(slot) = target.slot {
                    self.state.take(slot);
                    self.state.give(slot, held);
                }
            }
            return Value::of(Ty::unit());
        }
        let target = self.place_of(left, false);
        let held = self.state.take(right.id);
        if let Some(slot) = target.slot.filter(|_| self.is_only_guard(&target)) {
            self.state.take(slot);
        }
        if let (Some(slot), true) = (target.slot, held != 0 && target.via == 0) {
            self.state.give(slot, held);
        }
        // What stood there before is dropped now; storing a value mostly finds nothing there.
        let ends_it = matches!(&right.kind, Kind::Path(path) if path.segments.last().is_some_and(|last| last.name == "None"));
        if ends_it
            && !self
                .emptied
                .contains(self.text(left.at).trim_start_matches('*'))
            && let Some(drop) = self.model.drop_glue(&target.ty, 0)
        {
            self.emit(left.at, What::Drops(drop), 0, target.via, Vec::new());
        }
        Value::of(Ty::unit())
    }

    /// Primitives evaluate the right side first, overloaded operators the left.
    fn assign_operator(&mut self, left: &'a Expr, right: &'a Expr) -> Value<'a> {
        let overloaded = matches!(self.probe(left).peeled(), Ty::Data(..) | Ty::External(..));
        if overloaded {
            self.place_of(left, false);
            self.operand(right, false);
        } else {
            self.operand(right, false);
            self.place_of(left, false);
        }
        Value::of(Ty::unit())
    }

    /// The type of an expression, without effects.
    fn probe(&mut self, expr: &'a Expr) -> Ty {
        let state = std::mem::replace(&mut self.state, super::state::State::unreachable());
        let ty = self.place_of(expr, false).ty;
        self.state = state;
        ty
    }

    fn await_expr(&mut self, inner: &'a Expr, word: crate::model::syntax::At) -> Value<'a> {
        let value = self.value(inner);
        self.keep(inner.id, value.held, false);
        if let Some(Callable::Body(body)) = value.callable {
            self.emit(
                word,
                What::Await,
                0,
                0,
                vec![(super::body::How::Driven, Callable::Body(body))],
            );
        } else {
            self.emit(word, What::Await, 0, 0, Vec::new());
        }
        self.state.take(inner.id);
        match value.ty {
            Ty::Future(output) => Value::of((*output).clone()),
            _ => Value::unknown(),
        }
    }

    fn try_expr(&mut self, inner: &'a Expr) -> Value<'a> {
        let mut value = self.value(inner);
        if value.looks_locked.is_some() {
            self.lock_by_shape(&mut value);
        }
        self.leave_by_return();
        value.ty = match &value.ty {
            Ty::Data(id, args) if !args.is_empty() && self.model.is_wrapper(*id) => args[0].clone(),
            _ => Ty::Unknown,
        };
        value
    }

    fn macro_call(&mut self, of: &'a crate::model::syntax::Macro) -> Value<'a> {
        match of.shape {
            MacroShape::Statement => {
                self.scoped(|this| this.borrow_all(&of.args));
                Value::of(Ty::unit())
            }
            MacroShape::Format => {
                self.scoped(|this| this.borrow_all(&of.args));
                Value::of(self.model.described("std::string::String", Vec::new()))
            }
            MacroShape::Borrow => {
                self.borrow_all(&of.args);
                Value::unknown()
            }
            MacroShape::Diverge => {
                self.scoped(|this| this.borrow_all(&of.args));
                self.diverge()
            }
            MacroShape::Vector => {
                let values = self.operands(&of.args, false);
                let item = values.first().map_or(Ty::Unknown, |value| value.ty.clone());
                let ty = if of.name == "vec" {
                    self.model.described("std::vec::Vec", vec![item])
                } else {
                    Ty::Unknown
                };
                self.combined(&of.args, &values, ty)
            }
            MacroShape::Write => self.write_macro(of),
            MacroShape::Await => {
                for arg in &of.args {
                    self.operand(arg, false);
                    if matches!(arg.kind, Kind::Block(..)) {
                        continue;
                    }
                    self.emit(of.name_at, What::Await, 0, 0, Vec::new());
                    self.state.take(arg.id);
                }
                Value::unknown()
            }
            MacroShape::Coroutine => self.coroutine_macro(of),
        }
    }

    fn borrow_all(&mut self, args: &'a [Expr]) {
        for arg in args {
            self.place_of(arg, false);
        }
    }

    fn write_macro(&mut self, of: &'a crate::model::syntax::Macro) -> Value<'a> {
        let Some((sink, rest)) = of.args.split_first() else {
            return Value::unknown();
        };
        let sink = self.place_of(sink, false);
        self.borrow_all(rest);
        self.method_on(&sink, Name::new("write_fmt"), of.name_at)
    }
}
