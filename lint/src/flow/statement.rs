//! Blocks, statements and `let`.

use crate::model::syntax::{Block, Expr, Kind, Let, PatternKind, Statement};
use crate::model::ty::Ty;

use super::Flow;
use super::state::State;
use super::value::Value;

impl<'a> Flow<'_, 'a> {
    /// A block: its locals end with it; where its tail's temporaries end depends on the edition.
    pub(super) fn block(&mut self, block: &'a Block) -> Value<'a> {
        self.block_extending(block, false)
    }

    pub(super) fn block_extending(&mut self, block: &'a Block, extending: bool) -> Value<'a> {
        let outer = self.module;
        if let Some(scope) = block.scope {
            self.module = self.model.index.scopes[self.file_index][scope as usize];
        }
        let names = self.env.len();
        self.open_frame(true);
        for statement in &block.statements {
            match statement {
                Statement::Let(of) => self.let_statement(of),
                Statement::Expr(expr) => {
                    self.scoped(|this| {
                        this.value(expr);
                    });
                }
            }
        }
        let value = match &block.tail {
            None if self.state.reachable => Value::of(Ty::unit()),
            None => Value::of(Ty::plain("!")),
            Some(tail) if extending && self.is_2024() => {
                self.scoped(|this| this.value_extending(tail, true))
            }
            Some(tail) if extending => self.value_extending(tail, true),
            Some(tail) if self.is_2024() => self.scoped(|this| this.value(tail)),
            Some(tail) => self.value(tail),
        };
        self.close_block(block.at);
        self.env.truncate(names);
        self.module = outer;
        value
    }

    fn let_statement(&mut self, of: &'a Let) {
        self.open_frame(false);
        let annotated = of
            .ty
            .as_ref()
            .map(|ty| self.ty(ty))
            .filter(|ty| !ty.is_unknown());
        let Some(init) = &of.init else {
            self.close_frame();
            self.bind(&of.pattern, &Value::of(annotated.unwrap_or(Ty::Unknown)));
            return;
        };
        if matches!(of.pattern.kind, PatternKind::Wild) {
            // Binds nothing: a temporary ends with the statement, a place is not even read.
            self.place_of(init, false);
            self.close_frame();
            return;
        }
        let mut value = self.value_extending(init, true);
        if let Some(annotated) = annotated {
            value.ty = merged(&annotated, &value.ty);
        }
        let by_reference = extends_by_pattern(&of.pattern.kind);
        self.keep(init.id, value.held, by_reference);
        value.held = 0;
        if value.slot.is_none() || !value.whole {
            value.slot = Some(init.id);
            value.whole = true;
        }
        if let Some(otherwise) = &of.otherwise {
            let before = self.state.clone();
            self.refuted(&of.pattern, &value);
            self.leave_temporaries();
            self.value(otherwise);
            self.state = before;
        }
        self.bind(&of.pattern, &value);
        self.close_frame();
    }

    /// Drops the temporaries of the innermost statement without closing its frame.
    fn leave_temporaries(&mut self) {
        let owners = self
            .frames
            .last()
            .map(|frame| frame.owners.clone())
            .unwrap_or_default();
        for owner in owners {
            self.state.take(owner);
        }
    }

    /// An initialiser: what `&` borrows in extending positions lives as long as the block.
    pub(super) fn value_extending(&mut self, expr: &'a Expr, extending: bool) -> Value<'a> {
        if !extending {
            return self.value(expr);
        }
        match &expr.kind {
            Kind::Reference(inner) => self.borrow(inner, true),
            Kind::Tuple(parts) => {
                let values = self.operands(parts, true);
                let ty = Ty::Tuple(values.iter().map(|value| value.ty.clone()).collect());
                self.combined(parts, &values, ty)
            }
            Kind::Array(parts) => {
                let values = self.operands(parts, true);
                let ty = Ty::Slice(
                    values
                        .first()
                        .map_or(Ty::Unknown, |value| value.ty.clone())
                        .into(),
                );
                self.combined(parts, &values, ty)
            }
            Kind::Cast(inner, ty) => {
                let mut value = self.value_extending(inner, true);
                value.ty = self.ty(ty);
                value
            }
            Kind::Block(None, block) => self.block_extending(block, true),
            Kind::Call(callee, args) => self.call(expr, callee, args, true),
            _ => self.value(expr),
        }
    }

    /// The state when nothing comes back.
    pub(super) fn diverge(&mut self) -> Value<'a> {
        self.state = State::unreachable();
        Value::of(Ty::plain("!"))
    }
}

/// An annotation with what inference knows better: `_` and missing arguments.
fn merged(annotated: &Ty, inferred: &Ty) -> Ty {
    match (annotated, inferred) {
        (Ty::Unknown, inferred) => inferred.clone(),
        (Ty::Data(a, a_args), Ty::Data(b, b_args)) if a == b => Ty::Data(
            *a,
            a_args
                .iter()
                .zip(b_args.iter())
                .map(|(a, b)| merged(a, b))
                .collect(),
        ),
        (Ty::Ref(a), Ty::Ref(b)) => Ty::Ref(merged(a, b).into()),
        _ => annotated.clone(),
    }
}

/// Whether the pattern borrows its initialiser with `ref`.
fn extends_by_pattern(pattern: &PatternKind) -> bool {
    match pattern {
        PatternKind::Bind { by_reference, .. } => *by_reference,
        PatternKind::Tuple(parts) | PatternKind::Slice(parts) | PatternKind::Call(_, parts) => {
            parts.iter().any(|part| extends_by_pattern(&part.kind))
        }
        PatternKind::Struct(_, fields) => fields
            .iter()
            .any(|(_, part)| extends_by_pattern(&part.kind)),
        _ => false,
    }
}
