//! From words in a ring to events.

use std::sync::Arc;
use std::time::Duration;

use super::intern::Known;
use super::text::{self, ThreadNames};
use super::{UNNAMED, kind, place};
use crate::event::raw::Subject;
use crate::event::store::ring::Header;
use crate::event::{
    CarrierState, Event, Operation, PinReason, PinSource, Pinned, Recorded, ThreadRef, Timestamp,
    WaitOutcome,
};

/// Remembered names of threads; a power of two.
const NAMES: usize = 256;

/// Turns records into events; keeps what it has learned of statics and of threads' names, so that most
/// events share their texts instead of allocating them.
#[derive(Default)]
pub(in crate::event) struct Decoder {
    known: Known,
    names: Names,
}

impl Decoder {
    /// The event in a record of `carrier`, `None` if it makes no sense.
    pub(in crate::event) fn decode(
        &mut self,
        carrier: u64,
        header: Header,
        body: &[u64],
        names: Option<&ThreadNames>,
    ) -> Option<Recorded> {
        let mut body = Body(body);
        let at = Timestamp(body.word());
        let id = body.word();
        let small = body.word();
        let event = match header.kind() {
            kind::PINNED => {
                Event::VirtualThreadPinned(self.pinned(carrier, at, id, small, &mut body, names)?)
            }
            kind::NATIVE => {
                let wall = Duration::from_nanos(body.word());
                Event::NativeCall {
                    thread: self.names.thread(id, small, &mut body),
                    carrier,
                    native: self.known.shared_text((small >> 32) as u32)?,
                    wall,
                    state: CarrierState::from_code(small >> 16 & 0xff)?,
                }
            }
            kind::START => {
                let thread = self.names.thread(id, small, &mut body);
                Event::VirtualThreadStart { thread, carrier }
            }
            kind::END => {
                let thread = self.names.thread(id, small, &mut body);
                Event::VirtualThreadEnd { thread, carrier }
            }
            which @ (kind::PARK | kind::UNPARK) => {
                let operation = Operation::from_code(small >> 16 & 0xff)?;
                let parked = Duration::from_nanos(body.word());
                let thread = self.names.thread(id, small, &mut body);
                if which == kind::PARK {
                    Event::VirtualThreadPark { thread, operation }
                } else {
                    Event::VirtualThreadUnpark {
                        thread,
                        operation,
                        parked,
                    }
                }
            }
            _ => return None,
        };
        Some(Recorded { at, event })
    }

    fn pinned(
        &mut self,
        carrier: u64,
        at: Timestamp,
        id: u64,
        small: u64,
        body: &mut Body<'_>,
        names: Option<&ThreadNames>,
    ) -> Option<Pinned> {
        let [_, _, reason, operation, outcome, source, _, _] = small.to_le_bytes().map(u64::from);
        let start = Timestamp(body.word());
        let places = body.word();
        let lock = self.subject(body.word(), body.word(), names);
        let waits_for = self.subject(body.word(), body.word(), names);
        let waits_owner = body.word();
        let native = body.word();
        let counts = body.word();
        let stranded_time = Duration::from_nanos(body.word());
        let span = body.word();
        Some(Pinned {
            thread: self.names.thread(id, small, body),
            carrier,
            span: (counts & 1 != 0).then_some(span),
            reason: PinReason::from_code(reason)?,
            operation: Operation::from_code(operation)?,
            start,
            duration: at.since(start),
            pinned_at: self.known.place((places >> 32) as u32).cloned(),
            blocked_at: self
                .known
                .place(places as u32)
                .filter(|p| place::is_application(p))
                .cloned(),
            lock,
            waits_for,
            waits_owner: (waits_owner != 0).then(|| text::thread(waits_owner, names)),
            native: self.known.shared_text((native >> 32) as u32),
            depth: native as u32,
            stranded: (counts >> 32) as u32,
            stranded_time,
            outcome: WaitOutcome::from_code(outcome)?,
            source: PinSource::from_code(source)?,
            stack: body.rest((counts as u32 >> 1) as usize),
        })
    }

    fn subject(&mut self, codes: u64, id: u64, names: Option<&ThreadNames>) -> Option<Arc<str>> {
        let kind = self.known.text((codes >> 32) as u32)?;
        match self.known.shared_text(codes as u32) {
            Some(name) => Some(name),
            None => Some(text::subject(
                Subject {
                    kind,
                    name: None,
                    id,
                },
                names,
            )),
        }
    }
}

/// The last names seen, by thread.
struct Names(Box<[Option<ThreadRef>]>);

impl Default for Names {
    fn default() -> Self {
        Self(vec![None; NAMES].into())
    }
}

impl Names {
    /// The thread whose name lies next in `body`.
    fn thread(&mut self, id: u64, small: u64, body: &mut Body<'_>) -> ThreadRef {
        let remembered = &mut self.0[id as usize % NAMES];
        let len = small & 0xffff;
        if len == UNNAMED {
            // Nobody is given the name of an unnamed thread and its number too.
            return match remembered {
                Some(known) if known.id == id => known.clone(),
                _ => remembered
                    .insert(ThreadRef {
                        id,
                        name: text::thread_name(id, None),
                    })
                    .clone(),
            };
        }
        let words = body.take((len as usize).div_ceil(8));
        match remembered {
            Some(known) if known.id == id && same(&known.name, words, len) => known.clone(),
            _ => {
                let bytes = words
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .take(len as usize);
                let name = String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into();
                remembered.insert(ThreadRef { id, name }).clone()
            }
        }
    }
}

/// Whether the bytes of `name` are the first `len` of `words`.
fn same(name: &str, words: &[u64], len: u64) -> bool {
    let mut chunks = name.as_bytes().chunks(8).zip(words);
    name.len() as u64 == len
        && chunks.all(|(chunk, word)| word.to_le_bytes()[..chunk.len()] == *chunk)
}

/// A record's body, read word by word; past its end everything is 0.
struct Body<'a>(&'a [u64]);

impl<'a> Body<'a> {
    fn word(&mut self) -> u64 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    fn take(&mut self, words: usize) -> &'a [u64] {
        self.0
            .split_off(..words.min(self.0.len()))
            .unwrap_or_default()
    }

    fn rest(&mut self, words: usize) -> Vec<u64> {
        self.take(words).to_vec()
    }
}
