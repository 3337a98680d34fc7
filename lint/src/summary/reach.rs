//! Which bodies run on virtual threads, and with what declared around them.

use super::Graph;
use crate::flow::body::{BodyKind, Callable, Context, Event, How, What};

/// Declarations that travel along calls.
const TRAVELS: u8 = Context::NATIVE | Context::BLOCKING;

/// By body: the set of declarations it is reached with, one bit for each of the four.
pub(super) fn reached(graph: &Graph<'_, '_>) -> Vec<u8> {
    let mut reached = vec![0_u8; graph.bodies.len()];
    let mut work: Vec<(u32, u8)> = entries(graph).into_iter().map(|body| (body, 0)).collect();
    while let Some((body, declared)) = work.pop() {
        let bit = 1 << declared;
        if reached[body as usize] & bit != 0 {
            continue;
        }
        reached[body as usize] |= bit;
        for event in &graph.bodies[body as usize].events {
            if event.context.has(Context::NOT_VIRTUAL) {
                continue;
            }
            let declared = declared | (event.context.0 & TRAVELS);
            work.extend(runs(graph, event).into_iter().map(|next| (next, declared)));
        }
    }
    reached
}

/// Where virtual threads start.
fn entries(graph: &Graph<'_, '_>) -> Vec<u32> {
    let mut found = Vec::new();
    for (index, body) in graph.bodies.iter().enumerate() {
        if let BodyKind::Function(id) = body.kind {
            let marks = graph.model.marks(id);
            if marks
                .iter()
                .any(|mark| mark.name == "main" || mark.name == "test")
            {
                found.push(index as u32);
            }
        }
        for event in &body.events {
            for (how, callable) in &event.passed {
                let starts = match how {
                    How::VirtualThread => true,
                    How::Param(param) => graph
                        .uses_of(event, *param)
                        .is_some_and(|uses| uses.virtual_thread),
                    _ => false,
                };
                if starts {
                    found.extend(graph.body_of(*callable));
                }
            }
        }
    }
    found
}

/// The bodies an event runs on the same thread.
fn runs(graph: &Graph<'_, '_>, event: &Event) -> Vec<u32> {
    let mut found = Vec::new();
    match &event.what {
        What::Call(targets) => {
            found.extend(targets.iter().filter_map(|target| graph.body_of(*target)))
        }
        What::Initializes(id) => found.extend(graph.initializer(*id)),
        What::Drops(id) => found.extend(graph.body_of(Callable::Function(*id))),
        _ => {}
    }
    for (how, callable) in &event.passed {
        let now = match how {
            How::Driven => true,
            How::Param(param) => graph.runs_now(event, *param),
            _ => false,
        };
        if now {
            found.extend(graph.body_of(*callable));
        }
    }
    found
}
