//! What functions do with closures they are given.

use std::collections::{HashMap, HashSet};

use super::Graph;
use crate::flow::body::{BodyKind, Callable, Event, How, What};
use crate::model::index::FunctionId;

/// What becomes of a callable parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// It runs before the function returns.
    pub(crate) now: bool,
    /// It runs on a virtual thread.
    pub(crate) virtual_thread: bool,
    /// Where it runs under guards of the function: body and event.
    pub(crate) under: Vec<(u32, u32)>,
}

type All = HashMap<(FunctionId, u32), Uses>;

/// Computes the uses of all callable parameters, through functions that pass them on.
pub(super) fn uses(graph: &Graph<'_, '_>) -> All {
    let mut all = All::new();
    let mut closures: HashMap<u32, Uses> = HashMap::new();
    let on_virtual = bodies_of_virtual_threads(graph);
    loop {
        let mut changed = false;
        for (index, body) in graph.bodies.iter().enumerate() {
            let Some(function) = body.function else {
                continue;
            };
            let run = closures.get(&(index as u32)).cloned().unwrap_or_default();
            let is_main = matches!(body.kind, BodyKind::Function(_)) || run.now;
            for (number, event) in body.events.iter().enumerate() {
                let here = (index as u32, number as u32);
                let mut under = run.under.clone();
                if event.live != 0 && is_main {
                    under.push(here);
                }
                changed |= handed_on(event, &all, is_main, &under, &mut closures);
                for (param, more) in
                    of_event(event, &all, is_main, on_virtual.contains(&here.0), &under)
                {
                    changed |= add(&mut all, (function, param), more);
                }
            }
        }
        if !changed {
            return all;
        }
    }
}

/// Closures written here that the callee runs: what they call runs then, too.
fn handed_on(
    event: &Event,
    all: &All,
    is_main: bool,
    under: &[(u32, u32)],
    closures: &mut HashMap<u32, Uses>,
) -> bool {
    let What::Call(targets) = &event.what else {
        return false;
    };
    let mut changed = false;
    for (how, callable) in &event.passed {
        let (How::Param(inner), Callable::Body(closure)) = (how, callable) else {
            continue;
        };
        for target in targets {
            let Callable::Function(id) = target else {
                continue;
            };
            let Some(uses) = all.get(&(*id, *inner)) else {
                continue;
            };
            let mut uses = uses.clone();
            uses.now &= is_main;
            if uses.now {
                uses.under.extend(under);
            }
            changed |= merge(closures.entry(*closure).or_default(), uses);
        }
    }
    changed
}

/// What one event adds to the parameters of the function it stands in.
fn of_event(
    event: &Event,
    all: &All,
    is_main: bool,
    on_virtual: bool,
    under: &[(u32, u32)],
) -> Vec<(u32, Uses)> {
    let mut found = Vec::new();
    let What::Call(targets) = &event.what else {
        for (how, callable) in &event.passed {
            if let (How::VirtualThread, Callable::Param(param)) = (how, callable) {
                found.push((
                    *param,
                    Uses {
                        virtual_thread: true,
                        ..Uses::default()
                    },
                ));
            }
        }
        return found;
    };
    for target in targets {
        if let Callable::Param(param) = target {
            found.push((
                *param,
                Uses {
                    now: is_main,
                    virtual_thread: on_virtual,
                    under: under.to_vec(),
                },
            ));
        }
    }
    for (how, callable) in &event.passed {
        let (How::Param(inner), Callable::Param(param)) = (how, callable) else {
            continue;
        };
        for target in targets {
            let Callable::Function(id) = target else {
                continue;
            };
            let Some(inner) = all.get(&(*id, *inner)) else {
                continue;
            };
            let mut more = inner.clone();
            more.now &= is_main;
            if more.now {
                more.under.extend(under);
            }
            found.push((*param, more));
        }
    }
    found
}

fn add(all: &mut All, key: (FunctionId, u32), more: Uses) -> bool {
    merge(all.entry(key).or_default(), more)
}

fn merge(known: &mut Uses, more: Uses) -> bool {
    let before = (known.now, known.virtual_thread, known.under.len());
    known.now |= more.now;
    known.virtual_thread |= more.virtual_thread;
    for place in more.under {
        if !known.under.contains(&place) {
            known.under.push(place);
        }
    }
    before != (known.now, known.virtual_thread, known.under.len())
}

/// Closures handed to a spawn where they are written.
fn bodies_of_virtual_threads(graph: &Graph<'_, '_>) -> HashSet<u32> {
    let events = graph.bodies.iter().flat_map(|body| &body.events);
    events
        .flat_map(|event| &event.passed)
        .filter_map(|(how, callable)| match (how, callable) {
            (How::VirtualThread, Callable::Body(body)) => Some(*body),
            _ => None,
        })
        .collect()
}
