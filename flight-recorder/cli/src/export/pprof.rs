//! A profile for `go tool pprof` and Pyroscope: each stack with its pins, the time carriers were kept
//! and the time others waited. Encoded by hand: the format is a protobuf of a few flat messages.

use std::collections::{BTreeMap, HashMap};

use vt_flight_recorder::{Frame, Pin};

use crate::args::Weight;

/// What each sample counts, with its unit, in the order of [`Profile::add`]'s values.
const KINDS: [(&str, &str); 3] = [
    ("pins", "count"),
    ("pinned", "nanoseconds"),
    ("stranded", "nanoseconds"),
];

/// A profile in the making.
pub(super) struct Profile {
    texts: Vec<String>,
    text_ids: HashMap<String, u64>,
    /// Function by name; its location is by name and line.
    functions: BTreeMap<u64, u64>,
    locations: BTreeMap<(u64, i64), u64>,
    samples: BTreeMap<(Vec<u64>, u64), [u64; 3]>,
    first: i64,
    last: i64,
    default: usize,
}

impl Profile {
    pub(super) fn new(weight: Weight) -> Self {
        let default = match weight {
            Weight::Count => 0,
            Weight::Duration => 1,
            Weight::Stranded => 2,
        };
        let mut profile = Self {
            texts: Vec::new(),
            text_ids: HashMap::new(),
            functions: BTreeMap::new(),
            locations: BTreeMap::new(),
            samples: BTreeMap::new(),
            first: i64::MAX,
            last: 0,
            default,
        };
        // The first text must be the empty one.
        profile.text("");
        profile
    }

    pub(super) fn add(&mut self, pin: &Pin) {
        let mut stack: Vec<u64> = pin
            .frames
            .iter()
            .map(|frame| self.location(frame))
            .collect();
        if stack.is_empty() {
            let frame = Frame::default();
            stack.push(self.location(&frame));
        }
        let reason = self.text(&pin.reason);
        let values = [
            1,
            pin.duration_ns.unsigned_abs(),
            pin.stranded_ns.unsigned_abs(),
        ];
        let sums = self.samples.entry((stack, reason)).or_default();
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = sum.saturating_add(value);
        }
        self.first = self.first.min(pin.start_ns);
        self.last = self.last.max(pin.start_ns.saturating_add(pin.duration_ns));
    }

    fn text(&mut self, text: &str) -> u64 {
        if let Some(id) = self.text_ids.get(text) {
            return *id;
        }
        let id = self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.text_ids.insert(text.to_owned(), id);
        id
    }

    fn location(&mut self, frame: &Frame) -> u64 {
        let name = self.text(&frame.to_string());
        let next = self.functions.len() as u64 + 1;
        let function = *self.functions.entry(name).or_insert(next);
        let next = self.locations.len() as u64 + 1;
        *self.locations.entry((function, frame.line)).or_insert(next)
    }

    /// The profile's bytes.
    pub(super) fn encode(mut self) -> Vec<u8> {
        let mut out = Message::default();
        let kinds = KINDS.map(|(name, unit)| (self.text(name), self.text(unit)));
        let label = self.text("reason");
        for (name, unit) in kinds {
            out.message(1, |kind| {
                kind.number(1, name);
                kind.number(2, unit);
            });
        }
        for ((stack, reason), values) in &self.samples {
            out.message(2, |sample| {
                sample.packed(1, stack);
                sample.packed(2, values);
                sample.message(3, |pair| {
                    pair.number(1, label);
                    pair.number(2, *reason);
                });
            });
        }
        for ((function, line), id) in &self.locations {
            out.message(4, |location| {
                location.number(1, *id);
                location.message(4, |place| {
                    place.number(1, *function);
                    place.number(2, line.unsigned_abs());
                });
            });
        }
        for (name, id) in &self.functions {
            out.message(5, |function| {
                function.number(1, *id);
                function.number(2, *name);
                function.number(3, *name);
            });
        }
        for text in &self.texts {
            out.bytes(6, text.as_bytes());
        }
        let first = if self.first == i64::MAX {
            0
        } else {
            self.first
        };
        out.number(9, first.unsigned_abs());
        out.number(10, self.last.saturating_sub(first).unsigned_abs());
        out.number(14, kinds[self.default].0);
        out.0
    }
}

/// A protobuf message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn packed(&mut self, field: u64, values: &[u64]) {
        let mut packed = Self::default();
        values.iter().for_each(|value| packed.varint(*value));
        self.bytes(field, &packed.0);
    }

    fn message(&mut self, field: u64, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        self.bytes(field, &inner.0);
    }
}
