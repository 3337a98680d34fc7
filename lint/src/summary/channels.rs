//! Senders of crates whose sender type does not say whether the channel is bounded.
//!
//! Where a crate of the workspace makes bounded channels only, all its senders may wait; where it makes both kinds, or
//! none, nobody can say, and nothing is said.

use std::collections::HashMap;

use super::Graph;
use crate::flow::body::{BOUNDED, Body, Event, What};
use crate::model::facts::{Model, mark};

/// Takes away what only blocks on bounded channels, in crates that do not make such channels alone.
pub(super) fn settle(graph: &mut Graph<'_, '_>) {
    let model = graph.model;
    let mut made: HashMap<usize, u8> = HashMap::new();
    for body in &graph.bodies {
        if let (true, Some(krate)) = (body.channels != 0, krate(model, body)) {
            *made.entry(krate).or_default() |= body.channels;
        }
    }
    for body in &mut graph.bodies {
        let known = krate(model, body).and_then(|krate| made.get(&krate).copied());
        if known != Some(BOUNDED) {
            body.events.retain(|event| !depends(model, event));
        }
    }
}

fn krate(model: &Model<'_>, body: &Body) -> Option<usize> {
    let module = model.index.functions[body.function?.index()].module;
    Some(model.index.modules[module.index()].krate)
}

fn depends(model: &Model<'_>, event: &Event) -> bool {
    matches!(&event.what, What::Blocks(id, _) if mark(model.marks(*id), "if_bounded").is_some())
}
