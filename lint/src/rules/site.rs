//! One place in the code, with everything rules ask about it.

use std::collections::HashSet;

use crate::diagnostic::{Finding, Label, Span};
use crate::flow::body::{Body, Callable, Context, Event, Guard, GuardKind, Guards, How, What};
use crate::model::index::FunctionId;
use crate::model::syntax::At;
use crate::model::tree::SourceFile;
use crate::rules::Rule;
use crate::summary::{Configured, Effect, Graph};

/// Guards of whoever runs a closure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inherited {
    /// The body whose guards are alive.
    pub(crate) body: u32,
    /// At which of its events.
    pub(crate) event: u32,
    /// The body is that of the function the closure is given to, not of the one that gives it.
    pub(crate) by_callee: bool,
}

/// One event with the guards that count at it.
pub(crate) struct Site<'g, 'a> {
    pub(crate) graph: &'g Graph<'g, 'a>,
    pub(crate) files: &'a [SourceFile],
    pub(crate) body: u32,
    pub(crate) event: &'g Event,
    /// Guards inherited by the body, if it is a closure run by somebody else.
    pub(crate) inherited: &'g [Inherited],
    /// Pairs of locks, in the order in which they are taken anywhere.
    pub(crate) orders: &'g HashSet<(String, String)>,
}

/// A guard that is alive, and why.
pub(crate) struct Held<'g> {
    pub(crate) guard: &'g Guard,
    file: usize,
    /// Whose: `None` for the body's own.
    pub(crate) by_callee: Option<bool>,
}

impl<'g, 'a> Site<'g, 'a> {
    /// The body.
    pub(crate) fn body(&self) -> &'g Body {
        &self.graph.bodies[self.body as usize]
    }

    /// The own guards of the wanted kinds that are alive.
    pub(crate) fn own(&self, wanted: fn(GuardKind) -> bool) -> Guards {
        alive(self.body(), self.event, wanted)
    }

    /// A guard of the wanted kinds that is alive, the body's own first.
    pub(crate) fn held(&self, wanted: fn(GuardKind) -> bool) -> Option<Held<'g>> {
        let body = self.body();
        let own = self.own(wanted);
        if own != 0 {
            // The latest one: the nearest to the call.
            let number = 127 - own.leading_zeros() as usize;
            return body.guards.get(number).map(|guard| Held {
                guard,
                file: body.file,
                by_callee: None,
            });
        }
        self.inherited.iter().find_map(|inherited| {
            let body = &self.graph.bodies[inherited.body as usize];
            let bits = alive(body, &body.events[inherited.event as usize], wanted);
            let guard = body.guards.get(bits.checked_ilog2()? as usize)?;
            Some(Held {
                guard,
                file: body.file,
                by_callee: Some(inherited.by_callee),
            })
        })
    }

    /// Whether the event itself has the effect.
    pub(crate) fn is_direct(&self, effect: Effect) -> bool {
        self.graph.is_direct(self.event, effect)
    }

    /// The body that gives the event the effect.
    pub(crate) fn through(&self, effect: Effect) -> Option<u32> {
        self.graph.through(self.event, effect, false)
    }

    /// The foreign function called, and whether it is declared native.
    pub(crate) fn foreign(&self) -> Option<(String, bool)> {
        match &self.event.what {
            What::Foreign(name, declared) => Some((name.as_str().to_owned(), *declared)),
            What::Call(targets) => targets.iter().find_map(|target| match target {
                Callable::Function(id)
                    if self.graph.configured(*id) == Some(Configured::Foreign) =>
                {
                    Some((self.graph.model.function_name(*id), false))
                }
                _ => None,
            }),
            _ => None,
        }
    }

    /// What is called, for people.
    pub(crate) fn callee(&self) -> String {
        match &self.event.what {
            What::Blocks(id, _)
            | What::Parks(id, ..)
            | What::Acquires(id, _)
            | What::Passes(id) => self.graph.model.function_name(*id),
            What::Foreign(name, _) => name.as_str().to_owned(),
            What::Await => ".await".to_owned(),
            What::Drops(id) => self.graph.model.function_name(*id),
            What::Initializes(id) => self.graph.model.index.values[id.index()]
                .syntax
                .name
                .as_str()
                .to_owned(),
            What::Call(targets) => match targets.first() {
                Some(Callable::Function(id)) => self.graph.model.function_name(*id),
                _ => "the closure".to_owned(),
            },
        }
    }

    /// What a direct effect does, in words.
    pub(crate) fn does(&self) -> &'static str {
        match &self.event.what {
            What::Blocks(_, label) | What::Parks(_, label, _) => label.as_str(),
            What::Acquires(..) => "waits for a lock",
            What::Foreign(..) => "runs foreign code",
            What::Await => "suspends the future",
            _ => "blocks",
        }
    }

    /// Whether a virtual thread reaches the event with one of the declarations missing.
    pub(crate) fn on_carrier(&self, without: u8) -> bool {
        if self.event.context.has(Context::NOT_VIRTUAL) {
            return false;
        }
        let reached = self.graph.reached[self.body as usize];
        let declared_here = self.event.context.0 & without != 0;
        !declared_here
            && (0..4_u8).any(|declared| reached & (1 << declared) != 0 && declared & without == 0)
    }

    /// Whether the event is in code that runs when a future is polled.
    pub(crate) fn is_async(&self) -> bool {
        self.body().is_async
    }

    /// A finding at the event.
    pub(crate) fn finding(
        &self,
        rule: &Rule,
        message: String,
        label: &str,
        held: Option<&Held<'g>>,
    ) -> Finding {
        let body = self.body();
        let lock = held.map(|held| held.guard.lock.clone());
        Finding {
            rule: rule.id,
            level: rule.level,
            message,
            primary: self.span(body.file, self.event.at),
            primary_label: label.to_owned(),
            guard: held.map(|held| Label {
                span: self.span(held.file, held.guard.at),
                text: format!("the guard of `{}` is alive from here", held.guard.lock),
            }),
            chain: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            lock,
            function: body.function.map(|id| self.graph.model.function_name(id)),
            crate_index: self.files[body.file].krate,
            fix: None,
        }
    }

    /// The calls from the event to the effect.
    pub(crate) fn chain(&self, effect: Effect) -> Vec<Label> {
        let Some(first) = self.through(effect) else {
            return Vec::new();
        };
        let mut labels = Vec::new();
        for (body, event) in self.graph.witness(first, effect) {
            let body = &self.graph.bodies[body as usize];
            let step = Site {
                graph: self.graph,
                files: self.files,
                body: 0,
                event: &body.events[event as usize],
                inherited: &[],
                orders: self.orders,
            };
            let place = body.function.map_or_else(
                || "an initialiser".to_owned(),
                |id| format!("`{}`", self.graph.model.function_name(id)),
            );
            let text = if self.graph.is_direct(step.event, effect) {
                format!("`{}` {} in {place}", step.callee(), step.does())
            } else {
                format!("{place} calls `{}`", step.callee())
            };
            labels.push(Label {
                span: self.span(body.file, step.event.at),
                text,
            });
        }
        labels
    }

    /// The last link of the chain, in words.
    pub(crate) fn end_of_chain(&self, effect: Effect) -> String {
        let end = self
            .through(effect)
            .and_then(|body| self.graph.witness(body, effect).last().copied());
        end.map_or_else(String::new, |(body, event)| {
            let event = &self.graph.bodies[body as usize].events[event as usize];
            let step = Site {
                graph: self.graph,
                files: self.files,
                body,
                event,
                inherited: &[],
                orders: self.orders,
            };
            step.callee()
        })
    }

    fn span(&self, file: usize, at: At) -> Span {
        self.files[file].text.span(at)
    }

    /// The guard that the event's call gives.
    pub(crate) fn taken_here(&self) -> Option<&'g Guard> {
        let guards = &self.body().guards;
        guards
            .iter()
            .find(|guard| guard.at.start == self.event.at.start)
    }

    /// Whether a function that gives a guard waits for a lock to get it.
    pub(crate) fn takes(&self, id: FunctionId) -> bool {
        let by_shape = id.index() >= self.graph.model.index.functions.len();
        by_shape
            || self.graph.model.is_described(id)
            || self.graph.model.configured.waits.contains(&id)
            || self.graph.has(id, Effect::Locks)
    }

    /// Whether the locks are taken in the other order somewhere.
    pub(crate) fn is_inverted(&self, first: &str, second: &str) -> bool {
        first != second && self.orders.contains(&(second.to_owned(), first.to_owned()))
    }

    /// Whether a direct wait only yields.
    pub(crate) fn only_yields(&self) -> bool {
        matches!(self.event.what, What::Parks(_, _, true))
    }

    /// Whether all guards that are alive are those the call goes through.
    pub(crate) fn is_through(&self) -> bool {
        let own = self.own(monitor);
        own != 0 && own & !self.event.through == 0
    }

    /// Whether a virtual thread may unmount at the event, waiting for park-aware locks included.
    pub(crate) fn waits(&self) -> bool {
        let aware = self
            .acquired()
            .is_some_and(|(id, kind)| kind & 1 != 0 && self.graph.model.is_described(id));
        aware || self.is_direct(Effect::Parks) || self.through(Effect::Parks).is_some()
    }

    /// What the event starts on virtual threads: the bodies themselves and what they call directly.
    pub(crate) fn spawned(&self) -> impl Iterator<Item = u32> {
        let graph = self.graph;
        let started = self.event.passed.iter().filter_map(|(how, callable)| {
            let starts = match how {
                How::VirtualThread => true,
                How::Param(param) => graph
                    .uses_of(self.event, *param)
                    .is_some_and(|uses| uses.virtual_thread),
                _ => false,
            };
            graph.body_of(*callable).filter(|_| starts)
        });
        started.flat_map(move |body| {
            let events = &graph.bodies[body as usize].events;
            let calls = events.iter().filter_map(|event| match &event.what {
                What::Call(targets) => targets.first(),
                _ => None,
            });
            let called = calls.filter_map(|target| graph.body_of(*target));
            std::iter::once(body).chain(called)
        })
    }

    /// The function whose call gives a guard here.
    pub(crate) fn acquired(&self) -> Option<(FunctionId, u8)> {
        match &self.event.what {
            What::Acquires(id, kind) => Some((*id, *kind)),
            _ => None,
        }
    }
}

fn alive(body: &Body, event: &Event, wanted: fn(GuardKind) -> bool) -> Guards {
    let kinds = body
        .guards
        .iter()
        .enumerate()
        .filter(|(_, guard)| wanted(guard.kind));
    kinds.fold(0, |bits, (number, _)| {
        bits | (1_u128.checked_shl(number as u32).unwrap_or(0) & event.live)
    })
}

/// Guards that belong to OS threads.
pub(crate) fn monitor(kind: GuardKind) -> bool {
    kind == GuardKind::Monitor
}

/// Guards of any lock.
pub(crate) fn any_lock(kind: GuardKind) -> bool {
    kind != GuardKind::Stream
}

/// Output locks and thread-local scopes.
pub(crate) fn stream(kind: GuardKind) -> bool {
    kind == GuardKind::Stream
}

impl Guard {
    /// Whether it is the guard of a `Monitor`.
    pub(crate) fn is_of_runtime(&self, graph: &Graph<'_, '_>) -> bool {
        self.by
            .is_some_and(|id| graph.model.function_name(id).starts_with("Monitor::"))
    }
}
