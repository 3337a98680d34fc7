//! Events from off the carriers (watchdog, refused spawns, OS threads): rare, so a lock and an
//! allocation each are fine, and they are kept as events, not as records.

use std::collections::VecDeque;

use crate::event::{EventClass, Recorded};

/// The newest events of each class, numbered without gaps.
#[derive(Debug)]
pub(in crate::event) struct Journal {
    capacity: usize,
    classes: [Kept; EventClass::COUNT],
}

#[derive(Debug, Default)]
struct Kept {
    /// The number of the oldest kept event.
    first: u64,
    events: VecDeque<Recorded>,
}

impl Journal {
    /// An empty journal that keeps `capacity` events of each class.
    pub(in crate::event) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            classes: Default::default(),
        }
    }

    /// Adds an event, pushing out the oldest of its class when full.
    pub(in crate::event) fn push(&mut self, recorded: Recorded) {
        let kept = &mut self.classes[recorded.event.class() as usize];
        if kept.events.len() == self.capacity {
            kept.events.pop_front();
            kept.first += 1;
        }
        kept.events.push_back(recorded);
    }

    /// Copies the events of `class` from number `from` on to `out`; returns the number to go on with
    /// and how many were gone already.
    pub(in crate::event) fn read(
        &self,
        class: EventClass,
        from: u64,
        out: &mut Vec<Recorded>,
    ) -> (u64, u64) {
        let kept = &self.classes[class as usize];
        let lost = kept.first.saturating_sub(from);
        let skip = from.saturating_sub(kept.first) as usize;
        out.extend(kept.events.iter().skip(skip).cloned());
        (self.end(class), lost)
    }

    /// The number the next event of `class` will have.
    pub(in crate::event) fn end(&self, class: EventClass) -> u64 {
        let kept = &self.classes[class as usize];
        kept.first + kept.events.len() as u64
    }

    /// The number of the oldest kept event of `class`.
    pub(in crate::event) fn first(&self, class: EventClass) -> u64 {
        self.classes[class as usize].first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Timestamp};

    fn refused(live: u64) -> Recorded {
        let event = Event::VirtualThreadSubmitFailed {
            cause: "cap".into(),
            live,
            cap: 1,
        };
        Recorded {
            at: Timestamp(live),
            event,
        }
    }

    #[test]
    fn each_reader_gets_the_newest_and_the_count_of_the_rest() {
        let mut journal = Journal::new(3);
        for live in 0..5 {
            journal.push(refused(live));
        }
        let mut out = Vec::new();
        assert_eq!(journal.read(EventClass::Pins, 0, &mut out), (5, 2));
        assert_eq!(out, [refused(2), refused(3), refused(4)]);
        out.clear();
        assert_eq!(journal.read(EventClass::Pins, 4, &mut out), (5, 0));
        assert_eq!(out, [refused(4)]);
        assert_eq!(journal.read(EventClass::Pins, 5, &mut out), (5, 0));
        assert_eq!(journal.first(EventClass::Pins), 2);
    }
}
