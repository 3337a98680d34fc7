//! Frames of owners, which open and close with syntactic scopes, and the events noted between.

use crate::model::name::Name;
use crate::model::syntax::At;

use super::body::{Callable, Event, Guards, How, What};
use super::state::State;
use super::value::Value;
use super::{Flow, Frame};

impl<'a> Flow<'_, 'a> {
    pub(super) fn open_frame(&mut self, is_block: bool) {
        self.frames.push(Frame {
            is_block,
            owners: Vec::new(),
        });
    }

    /// Ends the innermost frame: what its owners still have is dropped, last first.
    pub(super) fn close_frame(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        for owner in frame.owners.iter().rev() {
            self.state.take(*owner);
        }
    }

    /// The same at a closing brace, where variables that nobody moved run their `Drop`.
    pub(super) fn close_block(&mut self, block: At) {
        let brace = At {
            start: block.end.saturating_sub(1),
            end: block.end,
        };
        let Some(frame) = self.frames.pop() else {
            return;
        };
        for owner in frame.owners.iter().rev() {
            self.state.take(*owner);
            if self.state.live() == 0 || self.moved.contains(owner) {
                continue;
            }
            let ty = self.vars.get(owner).map(|value| value.ty.clone());
            if let Some(drop) = ty.and_then(|ty| self.model.drop_glue(&ty, 0)) {
                self.emit(brace, What::Drops(drop), 0, 0, Vec::new());
            }
        }
    }

    /// Runs `f` in a temporary scope of its own.
    pub(super) fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.open_frame(false);
        let result = f(self);
        self.close_frame();
        result
    }

    /// Makes guards belong to a temporary of the innermost statement, or of the block when its life is extended.
    pub(super) fn keep(&mut self, owner: u32, guards: Guards, extended: bool) {
        self.state.give(owner, guards);
        if let Some(frame) = self
            .frames
            .iter_mut()
            .rev()
            .find(|frame| frame.is_block == extended)
            && !frame.owners.contains(&owner)
        {
            frame.owners.push(owner);
        }
    }

    /// Declares a variable in the innermost block.
    pub(super) fn declare(&mut self, name: Name, slot: u32, value: Value<'a>) {
        self.env.push((name, slot));
        self.vars.insert(slot, value);
        if let Some(frame) = self.frames.iter_mut().rev().find(|frame| frame.is_block)
            && !frame.owners.contains(&slot)
        {
            frame.owners.push(slot);
        }
    }

    /// The state as seen from outside the frames above `frames`.
    pub(super) fn unwound(&self, frames: usize) -> State {
        let mut state = self.state.clone();
        for frame in &self.frames[frames.min(self.frames.len())..] {
            for owner in &frame.owners {
                state.take(*owner);
            }
        }
        state
    }

    /// Notes that something happens; `released` guards are not alive meanwhile.
    pub(super) fn emit(
        &mut self,
        at: At,
        what: What,
        released: Guards,
        through: Guards,
        passed: Vec<(How, Callable)>,
    ) {
        if !self.state.reachable {
            return;
        }
        let live = self.state.live() & !released;
        let kind = match &what {
            What::Blocks(..) => 0,
            What::Parks(..) => 1,
            What::Acquires(..) => 2,
            What::Foreign(..) => 3,
            What::Await => 4,
            What::Call(_) => 5,
            What::Initializes(_) => 6,
            What::Drops(_) => 7,
            What::Passes(_) => 8,
        };
        let events = &mut self.bodies[self.current].events;
        match self.seen.get(&(self.current, at.start, kind)) {
            Some(index) => {
                let event = &mut events[*index];
                event.live |= live;
                event.through &= through;
                event.context.0 &= self.context.0;
                for one in passed {
                    if !event.passed.contains(&one) {
                        event.passed.push(one);
                    }
                }
            }
            None => {
                self.seen
                    .insert((self.current, at.start, kind), events.len());
                events.push(Event {
                    at,
                    what,
                    live,
                    through,
                    context: self.context,
                    passed,
                });
            }
        }
    }
}
