//! What bodies do to whoever calls them, through any number of calls.
//!
//! Joins the bodies of all functions into one graph and computes, to a fixed point: which bodies block, park or call
//! foreign code, each with its shortest witness; what functions do with closures they are given; and which bodies a
//! virtual thread can reach, with what is declared on the way.

mod channels;
mod params;
mod reach;

use std::collections::HashMap;

use crate::config::{Config, is_named};
use crate::flow::body::{Body, BodyKind, Callable, Event, How, What};
use crate::model::facts::Model;
use crate::model::index::{FunctionId, ValueId};

pub(crate) use params::Uses;

/// A kind of effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Blocks the OS thread.
    Blocks,
    /// Waits in a coroutine runtime.
    Parks,
    /// Waits for a lock.
    Locks,
}

/// How a body comes to an effect: at which event, and which body that leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The event.
    pub(crate) event: u32,
    /// The body it runs; `None` when the event has the effect itself.
    pub(crate) next: Option<u32>,
}

/// All bodies with what is known about them.
pub(crate) struct Graph<'m, 'a> {
    /// Facts.
    pub(crate) model: &'m Model<'a>,
    /// Bodies.
    pub(crate) bodies: Vec<Body>,
    of_function: HashMap<FunctionId, u32>,
    of_value: HashMap<ValueId, u32>,
    blocks: Vec<Option<Step>>,
    parks: Vec<Option<Step>>,
    locks: Vec<Option<Step>>,
    /// What functions do with their callable parameters.
    pub(crate) uses: HashMap<(FunctionId, u32), Uses>,
    /// By body: with which declarations virtual threads reach it, as a set.
    pub(crate) reached: Vec<u8>,
    /// Functions that configuration says block, do not block, park.
    configured: HashMap<FunctionId, Configured>,
}

/// What configuration says about a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Configured {
    /// It blocks.
    Blocking,
    /// It does not block.
    NotBlocking,
    /// It parks.
    Park,
    /// It is foreign.
    Foreign,
}

impl<'m, 'a> Graph<'m, 'a> {
    /// Joins the bodies of each function, in order, and computes everything.
    pub(crate) fn build(model: &'m Model<'a>, parts: Vec<Vec<Body>>, config: &Config) -> Self {
        let mut graph = Self {
            model,
            bodies: Vec::new(),
            of_function: HashMap::new(),
            of_value: HashMap::new(),
            blocks: Vec::new(),
            parks: Vec::new(),
            locks: Vec::new(),
            uses: HashMap::new(),
            reached: Vec::new(),
            configured: configured(model, config),
        };
        for part in parts {
            graph.append(part);
        }
        channels::settle(&mut graph);
        graph.uses = params::uses(&graph);
        graph.blocks = graph.fixed_point(Effect::Blocks);
        graph.parks = graph.fixed_point(Effect::Parks);
        graph.locks = graph.fixed_point(Effect::Locks);
        graph.reached = reach::reached(&graph);
        graph
    }

    fn append(&mut self, part: Vec<Body>) {
        let base = self.bodies.len() as u32;
        let global = |callable: &mut Callable| {
            if let Callable::Body(body) = callable {
                *body += base;
            }
        };
        for (index, mut body) in part.into_iter().enumerate() {
            for event in &mut body.events {
                if let What::Call(targets) = &mut event.what {
                    targets.iter_mut().for_each(global);
                }
                event
                    .passed
                    .iter_mut()
                    .for_each(|(_, callable)| global(callable));
            }
            match body.kind {
                BodyKind::Function(id) => {
                    self.of_function.insert(id, base + index as u32);
                }
                BodyKind::Initializer(id) => {
                    self.of_value.insert(id, base + index as u32);
                }
                _ => {}
            }
            self.bodies.push(body);
        }
    }

    /// The body something callable runs.
    pub(crate) fn body_of(&self, callable: Callable) -> Option<u32> {
        match callable {
            Callable::Function(id) => self.of_function.get(&id).copied(),
            Callable::Body(body) => Some(body),
            Callable::Param(_) => None,
        }
    }

    /// The body of an initialiser.
    pub(crate) fn initializer(&self, id: ValueId) -> Option<u32> {
        self.of_value.get(&id).copied()
    }

    /// What configuration says about a callee.
    pub(crate) fn configured(&self, id: FunctionId) -> Option<Configured> {
        self.configured.get(&id).copied()
    }

    fn steps(&self, effect: Effect) -> &[Option<Step>] {
        match effect {
            Effect::Blocks => &self.blocks,
            Effect::Parks => &self.parks,
            Effect::Locks => &self.locks,
        }
    }

    /// Whether an event has an effect itself.
    pub(crate) fn is_direct(&self, event: &Event, effect: Effect) -> bool {
        let configured = |id: &FunctionId| self.configured.get(id).copied();
        match (&event.what, effect) {
            (What::Blocks(id, _), Effect::Blocks) => {
                configured(id) != Some(Configured::NotBlocking)
            }
            (What::Parks(..), Effect::Parks) => true,
            (What::Acquires(id, _), Effect::Locks) => {
                id.0 == u32::MAX
                    || self.model.is_described(*id)
                    || self.model.configured.waits.contains(id)
            }
            (What::Call(targets), _) => targets.iter().any(|target| match target {
                Callable::Function(id) => match configured(id) {
                    Some(Configured::Blocking) => effect == Effect::Blocks,
                    Some(Configured::Park) => effect == Effect::Parks,
                    _ => false,
                },
                _ => false,
            }),
            _ => false,
        }
    }

    /// The body through which an event has an effect; closures it passes on count only when asked for.
    pub(crate) fn through(
        &self,
        event: &Event,
        effect: Effect,
        with_closures: bool,
    ) -> Option<u32> {
        let steps = self.steps(effect);
        self.through_by(event, with_closures, |body| steps[body as usize].is_some())
    }

    fn through_by(
        &self,
        event: &Event,
        with_closures: bool,
        has: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let runs = |body: u32| !self.bodies[body as usize].is_async && has(body);
        let found = match &event.what {
            What::Call(targets) => {
                let quiet = |target: &Callable| matches!(target, Callable::Function(id) if self.configured(*id) == Some(Configured::NotBlocking));
                let bodies: Option<Vec<u32>> = targets
                    .iter()
                    .map(|target| self.body_of(*target).filter(|_| !quiet(target)))
                    .collect();
                bodies
                    .filter(|bodies| bodies.iter().all(|body| runs(*body)))
                    .and_then(|bodies| bodies.first().copied())
            }
            What::Initializes(id) => self.initializer(*id).filter(|body| runs(*body)),
            What::Drops(id) => self
                .body_of(Callable::Function(*id))
                .filter(|body| runs(*body)),
            _ => None,
        };
        if found.is_some() || !with_closures {
            return found;
        }
        event.passed.iter().find_map(|(how, callable)| match how {
            How::Param(index) if self.runs_now(event, *index) => {
                self.body_of(*callable).filter(|body| runs(*body))
            }
            _ => None,
        })
    }

    /// Whether the callee of an event runs its parameter before it returns.
    pub(crate) fn runs_now(&self, event: &Event, param: u32) -> bool {
        self.uses_of(event, param).is_some_and(|uses| uses.now)
    }

    /// What the callee of an event does with a parameter.
    pub(crate) fn uses_of(&self, event: &Event, param: u32) -> Option<&Uses> {
        match &event.what {
            What::Call(targets) => targets.iter().find_map(|target| match target {
                Callable::Function(id) => self.uses.get(&(*id, param)),
                _ => None,
            }),
            _ => None,
        }
    }

    /// Which bodies have an effect, breadth first, so that each witness is a shortest one.
    fn fixed_point(&self, effect: Effect) -> Vec<Option<Step>> {
        let mut steps: Vec<Option<Step>> = vec![None; self.bodies.len()];
        for (index, body) in self.bodies.iter().enumerate() {
            let direct = body
                .events
                .iter()
                .position(|event| self.is_direct(event, effect));
            steps[index] = direct.map(|event| Step {
                event: event as u32,
                next: None,
            });
        }
        loop {
            let mut found = Vec::new();
            for (index, body) in self.bodies.iter().enumerate() {
                if steps[index].is_some() {
                    continue;
                }
                for (event, of) in body.events.iter().enumerate() {
                    if let Some(next) =
                        self.through_by(of, true, |body| steps[body as usize].is_some())
                    {
                        found.push((
                            index,
                            Step {
                                event: event as u32,
                                next: Some(next),
                            },
                        ));
                        break;
                    }
                }
            }
            if found.is_empty() {
                return steps;
            }
            for (index, step) in found {
                steps[index] = Some(step);
            }
        }
    }

    /// Whether a function has an effect.
    pub(crate) fn has(&self, id: FunctionId, effect: Effect) -> bool {
        self.body_of(Callable::Function(id))
            .is_some_and(|body| self.steps(effect)[body as usize].is_some())
    }

    /// The way from a body to an effect: events of bodies, in call order.
    pub(crate) fn witness(&self, body: u32, effect: Effect) -> Vec<(u32, u32)> {
        let steps = self.steps(effect);
        let mut way = Vec::new();
        let mut at = Some(body);
        while let Some(body) = at {
            let Some(step) = steps[body as usize] else {
                break;
            };
            way.push((body, step.event));
            at = step.next;
            if way.len() > 32 {
                break;
            }
        }
        way
    }
}

fn configured(model: &Model<'_>, config: &Config) -> HashMap<FunctionId, Configured> {
    let mut found = HashMap::new();
    let lists = [
        (&config.blocking, Configured::Blocking),
        (&config.park, Configured::Park),
        (&config.not_blocking, Configured::NotBlocking),
        (&config.foreign, Configured::Foreign),
    ];
    if lists.iter().all(|(list, _)| list.is_empty()) {
        return found;
    }
    for id in 0..model.index.functions.len() {
        let id = FunctionId(id as u32);
        let path = model.function_path(id);
        let short = model.function_name(id);
        for (list, what) in &lists {
            if list
                .iter()
                .any(|entry| *entry == short || is_named(&path, entry))
            {
                found.insert(id, *what);
            }
        }
    }
    found
}
