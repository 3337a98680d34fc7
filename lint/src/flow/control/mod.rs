//! Branches, loops, and everything that leaves early.

mod repeat;

use crate::model::name::Name;
use crate::model::syntax::{Arm, At, Block, Expr, For, If, Kind, Operator, Pattern};
use crate::model::ty::Ty;

use crate::flow::body::{Context, What};
use crate::flow::state::State;
use crate::flow::value::Value;
use crate::flow::{Exit, Flow};
use repeat::is_counted;

/// After how many rounds a loop is taken to have settled; owners only gain guards, so few are needed.
const ROUNDS: u32 = 4;

impl<'a> Flow<'_, 'a> {
    pub(in crate::flow) fn control(&mut self, expr: &'a Expr) -> Value<'a> {
        match &expr.kind {
            Kind::If(of) => self.if_expr(expr.at, of),
            Kind::While(label, condition, body) => {
                self.while_loop(expr.at, *label, condition, body)
            }
            Kind::Loop(label, body) => self.plain_loop(*label, body),
            Kind::For(of) => self.for_loop(expr.at, of),
            Kind::Match(scrutinee, arms) => self.match_expr(expr.at, scrutinee, arms),
            Kind::Block(None, block) => self.block(block),
            Kind::Block(Some(label), block) => {
                self.enter(Some(*label), false);
                let value = self.block(block);
                let broken = self.leave_joined();
                either(value, broken)
            }
            Kind::Let(pattern, scrutinee) => {
                // Outside of a condition's chain, as in `matches!` expansions.
                let value = self.place_of(scrutinee, false);
                self.bind(pattern, &value);
                Value::of(Ty::plain("bool"))
            }
            Kind::Return(value) => {
                if let Some(value) = value {
                    self.scoped(|this| {
                        let value = this.value(value);
                        this.steps(&value);
                    });
                }
                self.leave_by_return();
                self.diverge()
            }
            Kind::Break(label, value) => {
                let value = value
                    .as_ref()
                    .map(|value| self.scoped(|this| this.value(value)));
                self.exit(*label, value);
                self.diverge()
            }
            Kind::Continue(label) => {
                self.again(*label);
                self.diverge()
            }
            _ => Value::unknown(),
        }
    }

    /// Adds the state to what the innermost function or inlined closure returns with.
    pub(in crate::flow) fn leave_by_return(&mut self) {
        let state = self.state.clone();
        if let Some(returns) = self.returns.last_mut() {
            returns.join(&state);
        }
    }

    fn enter(&mut self, label: Option<Name>, is_loop: bool) {
        let frames = self.frames.len();
        self.exits.push(Exit {
            label,
            is_loop,
            frames,
            leave: State::unreachable(),
            again: State::unreachable(),
            value: None,
        });
    }

    fn target(&self, label: Option<Name>) -> Option<usize> {
        self.exits.iter().rposition(|exit| match label {
            Some(label) => exit.label == Some(label),
            None => exit.is_loop,
        })
    }

    fn exit(&mut self, label: Option<Name>, value: Option<Value<'a>>) {
        if let Some(target) = self.target(label) {
            let state = self.unwound(self.exits[target].frames);
            let exit = &mut self.exits[target];
            exit.leave.join(&state);
            if let Some(value) = value {
                exit.value = Some(either(value, exit.value.take()));
            }
        }
    }

    fn again(&mut self, label: Option<Name>) {
        if let Some(target) = self.target(label) {
            let state = self.unwound(self.exits[target].frames);
            self.exits[target].again.join(&state);
        }
    }

    fn leave_joined(&mut self) -> Option<Value<'a>> {
        let exit = self.exits.pop()?;
        self.state.join(&exit.leave);
        exit.value
    }

    /// A condition; the result is the state when it does not hold. Names it binds stay.
    /// `whole` is the expression the condition is the beginning of, `is_first` that nothing is evaluated before it.
    fn condition(&mut self, condition: &'a Expr, whole: At, is_first: bool) -> State {
        match &condition.kind {
            Kind::Let(pattern, scrutinee) => {
                self.condition_let(pattern, scrutinee, whole, is_first)
            }
            Kind::Binary(Operator::And, left, right) if has_let(left) || has_let(right) => {
                let mut refused = self.condition(left, whole, false);
                refused.join(&self.condition(right, whole, false));
                refused
            }
            _ => {
                self.scoped(|this| this.value(condition));
                self.state.clone()
            }
        }
    }

    fn condition_let(
        &mut self,
        pattern: &'a Pattern,
        scrutinee: &'a Expr,
        whole: At,
        is_first: bool,
    ) -> State {
        let value = self.scrutinee(scrutinee, whole, is_first);
        let matched = self.state.clone();
        self.refuted(pattern, &value);
        let refused = std::mem::replace(&mut self.state, matched);
        self.bind(pattern, &value);
        refused
    }

    fn if_expr(&mut self, at: At, of: &'a If) -> Value<'a> {
        let names = self.env.len();
        let frames = self.frames.len();
        let early = self.is_2024();
        if early {
            self.open_frame(false);
        }
        let asks = self.asks_for_virtual(&of.condition);
        self.open_frame(true);
        let refused = self.condition(&of.condition, at, true);
        let outer = self.context;
        if asks == Some(false) {
            self.context.0 |= Context::NOT_VIRTUAL;
        }
        let then = self.scoped(|this| this.block(&of.then));
        self.context = outer;
        let owners: Vec<u32> = self.frames[frames..]
            .iter()
            .flat_map(|frame| frame.owners.iter().copied())
            .collect();
        self.close_block(of.then.at);
        if early {
            self.close_frame();
        }
        self.env.truncate(names);
        let after = std::mem::replace(&mut self.state, refused);
        // What the condition owned is gone on the other side too: bindings always, temporaries by edition.
        for owner in owners {
            self.state.take(owner);
        }
        if asks == Some(true) {
            self.context.0 |= Context::NOT_VIRTUAL;
        }
        let otherwise = of
            .otherwise
            .as_ref()
            .map(|otherwise| self.scoped_else(otherwise));
        self.context = outer;
        let other_reaches = self.state.reachable;
        let mut joined = std::mem::replace(&mut self.state, State::unreachable());
        joined.join(&after);
        self.state = joined;
        match otherwise {
            Some(value) if !after.reachable || then.ty.is_unknown() => value,
            Some(value) if other_reaches => Value {
                held: then.held | value.held,
                via: then.via | value.via,
                ..then
            },
            _ => then,
        }
    }

    /// `else if` continues the statement; an `else` block is a scope of its own.
    fn scoped_else(&mut self, otherwise: &'a Expr) -> Value<'a> {
        self.scoped(|this| this.value(otherwise))
    }

    fn while_loop(
        &mut self,
        at: At,
        label: Option<Name>,
        condition: &'a Expr,
        body: &'a Block,
    ) -> Value<'a> {
        let names = self.env.len();
        let mut after = State::unreachable();
        self.rounds(label, false, |this| {
            this.open_frame(false);
            this.open_frame(true);
            let refused = this.condition(condition, at, false);
            this.scoped(|this| this.block(body));
            let frames = this.frames.len() - 2;
            let looping = std::mem::replace(&mut this.state, refused);
            let refused = this.unwound(frames);
            after.join(&refused);
            this.state = looping;
            this.close_frame();
            this.close_frame();
            this.env.truncate(names);
        });
        self.state.join(&after);
        Value::of(Ty::unit())
    }

    fn plain_loop(&mut self, label: Option<Name>, body: &'a Block) -> Value<'a> {
        let broken = self.rounds(label, false, |this| {
            this.scoped(|this| this.block(body));
        });
        broken.unwrap_or_else(Value::unknown)
    }

    fn for_loop(&mut self, at: At, of: &'a For) -> Value<'a> {
        let names = self.env.len();
        let mut iterable = self.scrutinee(&of.iterable, at, true);
        let reach = self.reach(&iterable);
        if iterable
            .slot
            .is_some_and(|slot| self.vars.contains_key(&slot))
        {
            self.move_out(&mut iterable);
            self.keep(of.iterable.id, iterable.held, false);
        }
        let item = self
            .model
            .element(&iterable.ty, false)
            .unwrap_or(Ty::Unknown);
        let borrowed = item.is_unknown() || self.model.borrows(&item);
        let item = Value {
            via: if borrowed { reach } else { 0 },
            ..Value::of(item)
        };
        let mut after = State::unreachable();
        self.rounds(of.label, is_counted(&of.iterable), |this| {
            after.join(&this.state);
            this.steps(&iterable);
            this.open_frame(true);
            this.bind(&of.pattern, &item);
            this.scoped(|this| this.block(&of.body));
            this.close_frame();
            this.env.truncate(names);
        });
        self.state.join(&after);
        Value::of(Ty::unit())
    }

    /// What consuming an iterator does, here and now.
    pub(in crate::flow) fn steps(&mut self, iterable: &Value<'a>) {
        if let Some((function, at)) = iterable.steps {
            let what = match self.mark(function, "parking_iterator") {
                Some(_) => What::Parks(function, Name::new("receives from a channel"), false),
                None => What::Blocks(function, Name::new("waits for the next item")),
            };
            self.emit(at, what, 0, iterable.via, Vec::new());
        }
        self.force(iterable);
    }

    /// Walks a loop until its entry state no longer grows; leaves with the state behind it.
    fn rounds(
        &mut self,
        label: Option<Name>,
        is_counted: bool,
        mut round: impl FnMut(&mut Self),
    ) -> Option<Value<'a>> {
        let outer = self.context;
        self.context = outer.repeated(is_counted);
        let mut head = self.state.clone();
        let mut leave = State::unreachable();
        let mut value = None;
        for _ in 0..ROUNDS {
            self.enter(label, true);
            self.state.clone_from(&head);
            round(self);
            let Some(exit) = self.exits.pop() else { break };
            leave.join(&exit.leave);
            value = exit.value.or(value);
            let mut next = head.clone();
            next.join(&self.state);
            next.join(&exit.again);
            if next == head {
                break;
            }
            head = next;
        }
        self.context = outer;
        self.state = leave;
        value
    }

    fn match_expr(&mut self, at: At, scrutinee: &'a Expr, arms: &'a [Arm]) -> Value<'a> {
        let value = self.scrutinee(scrutinee, at, true);
        let before = self.state.clone();
        let names = self.env.len();
        let mut after = State::unreachable();
        let mut result: Option<Value<'a>> = None;
        for arm in arms {
            self.state.clone_from(&before);
            self.open_frame(true);
            self.bind(&arm.pattern, &value);
            if let Some(guard) = &arm.guard {
                self.scoped(|this| this.condition(guard, at, false));
            }
            let body = self.scoped(|this| this.value(&arm.body));
            self.close_frame();
            self.env.truncate(names);
            if self.state.reachable {
                result = Some(either(body, result));
            }
            after.join(&self.state);
        }
        if !arms.is_empty() {
            self.state = after;
        }
        result.unwrap_or_else(|| Value::of(Ty::plain("!")))
    }
}

/// One of two values, the other one's first if its type is known.
fn either<'a>(value: Value<'a>, other: Option<Value<'a>>) -> Value<'a> {
    let Some(other) = other else { return value };
    let (held, via) = (value.held | other.held, value.via | other.via);
    let says_nothing =
        other.ty.is_unknown() || matches!(&other.ty, Ty::Plain(name) if *name == "!");
    let known = if says_nothing { value } else { other };
    Value { held, via, ..known }
}

fn has_let(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Let(..) => true,
        Kind::Binary(Operator::And, left, right) => has_let(left) || has_let(right),
        _ => false,
    }
}
