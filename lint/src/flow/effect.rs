//! What described, foreign and unknown calls do.

use crate::model::index::FunctionId;
use crate::model::name::Name;
use crate::model::syntax::{At, Method};
use crate::model::ty::Ty;

use super::Flow;
use super::body::{BOUNDED, Callable, Guard, GuardKind, Guards, How, UNBOUNDED, What};
use super::value::Value;

impl<'a> Flow<'_, 'a> {
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
        for (mark, channel) in [("makes_bounded", BOUNDED), ("makes_unbounded", UNBOUNDED)] {
            if self.mark(id, mark).is_some() {
                self.bodies[self.current].channels |= channel;
            }
        }
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

    /// `.lock().unwrap()` of an unknown type is a lock of std.
    pub(super) fn unwrap_by_shape(
        &mut self,
        mut receiver: Value<'a>,
        method: &'a Method,
    ) -> Value<'a> {
        self.unknown_arguments(method, 0);
        self.lock_by_shape(&mut receiver);
        receiver.slot = None;
        receiver
    }

    /// A call that does not give an iterator consumes the one it is called on.
    pub(super) fn consume_iterator(&mut self, receiver: &Value<'a>, output: &Ty) {
        if (!receiver.lazy.is_empty() || receiver.steps.is_some())
            && !self.model.is_iterator(output)
        {
            self.steps(receiver);
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

    pub(super) fn unknown_guard(&self, method: &'a Method, kind: GuardKind) -> Guard {
        let text = self.text(method.receiver.at).to_owned();
        Guard {
            at: method.name_at,
            kind,
            lock: text.split_whitespace().collect(),
            text,
            by: None,
        }
    }
}
