//! Calls of known functions: arguments, closures, effects, and the guards that come out.

use crate::model::index::FunctionId;
use crate::model::name::Name;
use crate::model::syntax::{At, Expr, Mark};
use crate::model::ty::{Substitution, Ty};

use super::Flow;
use super::body::{Callable, Guard, GuardKind, Guards, How, What};
use super::call::{Argument, has};
use super::value::Value;

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
            if has(receiver_marks, "takes")
                && let Some((_, Some(at))) = site.receiver
            {
                self.emptied.insert(self.text(at));
            }
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
                receiver.whole || self.is_only_guard(receiver),
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
            if let (true, Some(slot)) = (
                has(marks, "takes") && self.owns_guard(&argument.value),
                argument.value.slot,
            ) {
                consumed |= self.state.take(slot);
            }
            if argument.value.ty.is_reference() {
                via |= argument.value.via;
            }
            if described && own != 0 && self.keeps(&site, &arguments, marks, own) {
                continue;
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
        if described && matches!(def.syntax.name.as_str(), "cloned" | "copied") {
            output = owned_items(output);
        }
        if def.syntax.is_async {
            output = Self::future(output);
        }
        if matches!(&output, Ty::Plain(name) if *name == "!") {
            return self.diverge();
        }
        self.result(id, site, output, consumed | closure_held, via, &first)
    }

    /// Gives a guard that is put into another place to that place: `guards.push(guard)`, `mem::replace(&mut old, new)`.
    /// Says whether there is such a place.
    fn keeps(
        &mut self,
        site: &Site<'a>,
        arguments: &[Argument<'a>],
        marks: &[Mark],
        guards: Guards,
    ) -> bool {
        if !has(marks, "stays") {
            return false;
        }
        let place = match &site.receiver {
            Some((receiver, _)) => receiver.slot,
            None => arguments.first().and_then(|first| first.value.slot),
        };
        if let Some(slot) = place {
            self.state.give(slot, guards);
        }
        place.is_some()
    }

    /// The value a call gives: with the guards that went in, or with a new one.
    pub(super) fn result(
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

    pub(super) fn guard(
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
    pub(super) fn local_name(&self, text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join("")
    }

    /// Who runs a callable argument.
    pub(super) fn how(&self, marks: &[Mark], described: bool, index: usize) -> Option<How> {
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

    /// Whether what a reference points to has a guard of its own, so that taking it takes the guard.
    fn owns_guard(&self, value: &Value<'a>) -> bool {
        let ty = value.ty.peeled();
        ty.is_unknown() && value.whole || self.guard_kind(ty).is_some()
    }

    /// Takes guards out of all owners, while a closure runs without them.
    pub(super) fn without(&mut self, guards: Guards) {
        self.state.remove(guards);
    }
}

fn receiver_marks_static<'a>(def: &crate::model::index::FunctionDef<'a>) -> &'a [Mark] {
    def.syntax
        .receiver
        .as_ref()
        .map_or(&[], |receiver| &receiver.marks)
}

/// What `cloned` and `copied` give: descriptions do not say that they take the reference away.
fn owned_items(ty: Ty) -> Ty {
    match ty {
        Ty::Data(id, args) => {
            let item = |ty: &Ty| match ty {
                Ty::Ref(inner) => (**inner).clone(),
                other => other.clone(),
            };
            Ty::Data(id, args.iter().map(item).collect())
        }
        other => other,
    }
}
