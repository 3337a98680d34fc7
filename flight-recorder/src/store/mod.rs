//! What a recorder keeps: records by worth, in segments, bounded by size and age.
//!
//! Each class has its own share of the room, so that a flood of one never evicts another. A class is a
//! queue of segments; when its room is full the oldest segment goes as a whole, with the texts and
//! stacks only it uses. **Invariant:** the store never holds more than its size, whatever comes.

mod codec;
mod records;
mod segment;

use std::collections::VecDeque;
use std::time::Duration;

use vt_runtime::event::{Event, EventClass, Recorded, Timestamp};

pub(crate) use self::records::Records;
use self::segment::Segment;

/// A record of the program's own tracing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramRecord {
    /// When it happened; for a span, when it began.
    pub(crate) at: Timestamp,
    /// A span's length; none for an event.
    pub(crate) duration: Option<Duration>,
    /// The virtual thread, 0 for a plain one.
    pub(crate) thread: u64,
    pub(crate) thread_name: std::sync::Arc<str>,
    /// The span itself, or the one the event happened in; 0 for none.
    pub(crate) span: u64,
    pub(crate) parent: u64,
    pub(crate) level: &'static str,
    pub(crate) target: std::sync::Arc<str>,
    /// A span's name, or an event's message.
    pub(crate) text: std::sync::Arc<str>,
    /// The other fields, as `name=value`.
    pub(crate) fields: std::sync::Arc<str>,
}

/// Anything a recorder keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Runtime(Recorded),
    Program(ProgramRecord),
}

impl Record {
    /// Its class, as a place in [`CLASS_NAMES`].
    pub(crate) fn class(&self) -> usize {
        class_of(self)
    }

    /// One of the many that each tell little.
    pub(crate) fn is_common(&self) -> bool {
        let common = [EventClass::Parks, EventClass::Lifetimes];
        common.iter().any(|class| *class as usize == self.class())
    }

    pub(crate) fn at(&self) -> Timestamp {
        match self {
            Self::Runtime(recorded) => recorded.at,
            Self::Program(record) => record.at,
        }
    }
}

/// Classes of the runtime's events, and one more for the program's.
pub(crate) const CLASSES: usize = EventClass::ALL.len() + 1;
const PROGRAM: usize = CLASSES - 1;

/// The name of each class, in order.
pub(crate) const CLASS_NAMES: [&str; CLASSES] =
    ["pins", "contention", "parks", "lifetimes", "program"];

/// Sixteenths of the room each class has.
const SHARES: [usize; CLASSES] = [8, 2, 2, 2, 2];

/// Segments that a class's room is cut into: what goes at a time is one of them.
const SEGMENTS: usize = 8;

/// The store.
#[derive(Debug)]
pub(crate) struct Store {
    max_size: usize,
    max_age: Duration,
    classes: [VecDeque<Segment>; CLASSES],
    evicted: [u64; CLASSES],
}

impl Store {
    pub(crate) fn new(max_size: usize, max_age: Duration) -> Self {
        Self {
            max_size,
            max_age,
            classes: std::array::from_fn(|_| VecDeque::new()),
            evicted: [0; CLASSES],
        }
    }

    fn room(&self, class: usize) -> usize {
        self.max_size / 16 * SHARES[class]
    }

    /// Keeps a record, and gives up the oldest of its class where there is no room for both.
    pub(crate) fn push(&mut self, record: &Record) {
        let class = class_of(record);
        let room = self.room(class);
        let queue = &mut self.classes[class];
        if queue
            .back()
            .is_none_or(|segment| segment.size() >= room / SEGMENTS)
        {
            queue.push_back(Segment::default());
        }
        if let Some(segment) = queue.back_mut() {
            segment.push(record);
        }
        let mut size: usize = queue.iter().map(Segment::size).sum();
        while size > room
            && let Some(oldest) = queue.pop_front()
        {
            size -= oldest.size();
            self.evicted[class] += oldest.len();
        }
    }

    /// Gives up what is older than the age allows.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        let oldest = self.oldest(now);
        for queue in &mut self.classes {
            while queue.front().is_some_and(|segment| segment.last() < oldest) {
                queue.pop_front();
            }
        }
    }

    fn oldest(&self, now: Timestamp) -> Timestamp {
        Timestamp(
            now.0
                .saturating_sub(u64::try_from(self.max_age.as_nanos()).unwrap_or(u64::MAX)),
        )
    }

    /// Every record not older than the age allows, nor than `since`, by time.
    pub(crate) fn records(&self, now: Timestamp, since: Timestamp) -> Records {
        let oldest = self.oldest(now).max(since);
        let mut records = Vec::with_capacity(self.len() as usize);
        for segment in self.classes.iter().flatten() {
            records.extend(segment.records().filter(|record| record.at() >= oldest));
        }
        Records::new(records)
    }

    /// Records held.
    pub(crate) fn len(&self) -> u64 {
        self.classes.iter().flatten().map(Segment::len).sum()
    }

    /// Bytes held.
    pub(crate) fn size(&self) -> usize {
        self.classes.iter().flatten().map(Segment::size).sum()
    }

    /// Records given up for newer ones, by class.
    pub(crate) fn evicted(&self) -> [u64; CLASSES] {
        self.evicted
    }
}

fn class_of(record: &Record) -> usize {
    let Record::Runtime(recorded) = record else {
        return PROGRAM;
    };
    let class = match recorded.event {
        Event::VirtualThreadPark { .. } | Event::VirtualThreadUnpark { .. } => EventClass::Parks,
        Event::VirtualThreadStart { .. } | Event::VirtualThreadEnd { .. } => EventClass::Lifetimes,
        Event::NativeCall { .. } => EventClass::Contention,
        _ => EventClass::Pins,
    };
    class as usize
}

#[cfg(test)]
mod tests {
    use vt_runtime::event::{Operation, ThreadRef};

    use super::*;

    fn start(at: u64) -> Record {
        let thread = ThreadRef {
            id: at,
            name: format!("vt-{at}").into(),
        };
        Record::Runtime(Recorded {
            at: Timestamp(at),
            event: Event::VirtualThreadStart { thread, carrier: 0 },
        })
    }

    fn park(at: u64) -> Record {
        let thread = ThreadRef {
            id: 1,
            name: "vt-1".into(),
        };
        let event = Event::VirtualThreadUnpark {
            thread,
            operation: Operation::Sleep,
            parked: Duration::from_nanos(at),
        };
        Record::Runtime(Recorded {
            at: Timestamp(at),
            event,
        })
    }

    #[test]
    fn a_flood_of_one_class_evicts_only_its_own() {
        let mut store = Store::new(64 << 10, Duration::MAX);
        store.push(&start(1));
        (2..20_000).for_each(|at| store.push(&park(at)));
        assert!(store.size() <= 64 << 10, "{}", store.size());
        let records = store.records(Timestamp(20_000), Timestamp(0));
        assert_eq!(records.iter().next(), Some(&start(1)));
        assert_eq!(records.iter().last(), Some(&park(19_999)));
        assert!(records.iter().is_sorted_by_key(Record::at));
        let evicted = store.evicted();
        assert!(evicted[EventClass::Parks as usize] > 0);
        assert_eq!(evicted[EventClass::Lifetimes as usize], 0);
        assert_eq!(store.len() + evicted.iter().sum::<u64>(), 19_999);
    }

    #[test]
    fn what_is_too_old_is_neither_kept_nor_given() {
        let mut store = Store::new(1 << 20, Duration::from_nanos(100));
        (0..300).for_each(|at| store.push(&start(at)));
        let records = store.records(Timestamp(300), Timestamp(0));
        assert_eq!(records.iter().next(), Some(&start(200)));
        assert_eq!(store.records(Timestamp(300), Timestamp(290)).len(), 10);
        store.expire(Timestamp(1_000));
        assert_eq!((store.len(), store.size()), (0, 0));
    }
}
