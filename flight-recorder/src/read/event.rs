//! One event, decoded as far as it is asked.

use std::borrow::Cow;
use std::io::{Read, Seek};
use std::sync::Arc;

use super::chunk::Chunk;
use super::cursor::Cursor;
use super::pools::{MAX_KEPT, Pools};
use super::thread::Thread;
use super::types::{Field, Shape, Type, Types};
use super::value::{Resolver, Value};
use crate::format::Header;
use crate::format::schema::Unit;
use crate::format::varint::text;

/// A frame of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Frame {
    /// The path up to the function's name; a file where a place stands for a frame.
    pub class: String,
    /// The function's name, or line and column of a place.
    pub method: String,
    /// 0 where unknown.
    pub line: i64,
    /// `Native`, `Inlined`, `Place`, or what a JVM says.
    pub kind: String,
    /// Neither std's, nor the runtime's, nor tracing's (in a JVM's file: not the JDK's).
    pub application: bool,
    /// Inner workings of the runtime.
    pub hidden: bool,
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let between = match self.kind.as_str() {
            "Place" => ":",
            "Native" | "Inlined" if !self.class.is_empty() => "::",
            _ if self.class.is_empty() => "",
            _ => ".",
        };
        write!(f, "{}{between}{}", self.class, self.method)
    }
}

/// An event of a chunk.
#[derive(Clone, Copy, Debug)]
pub struct Event<'c> {
    pub(super) header: &'c Header,
    pub(super) types: &'c Types,
    pub(super) pools: &'c Pools,
    pub(super) of: &'c Type,
    /// Its fields' bytes.
    pub(super) bytes: &'c [u8],
    /// Where each field begins.
    pub(super) offsets: &'c [u32],
    pub(super) at: u64,
}

impl<'c> Event<'c> {
    /// The name of its type.
    #[must_use]
    pub fn name(&self) -> &'c str {
        &self.of.name
    }

    /// Its type.
    #[must_use]
    pub const fn of(&self) -> &'c Type {
        self.of
    }

    /// A type of its file by its number, as `jdk.ActiveSetting` names one.
    #[must_use]
    pub fn type_numbered(&self, id: u64) -> Option<&'c Type> {
        self.types.list.get(self.types.index(id)?)
    }

    /// Where it stands, in bytes from the file's start.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.at
    }

    /// Bytes its fields take.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// When it began, in nanoseconds since the Unix epoch; 0 where it does not say.
    #[must_use]
    pub fn start_ns(&self) -> i64 {
        self.nanos("startTime").unwrap_or(0)
    }

    /// How long it took, in nanoseconds; 0 for an event without a duration.
    #[must_use]
    pub fn duration_ns(&self) -> i64 {
        self.nanos("duration").unwrap_or(0)
    }

    /// The value of a field, references followed; `None` where its type has no such field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value<'c>> {
        let (field, cursor) = self.find(name)?;
        self.value_at(field, cursor)
    }

    /// Every field with its value, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&'c Field, Value<'c>)> + use<'c> {
        let event = *self;
        self.parts().map(move |(field, at)| {
            let value = event.value_at(field, at);
            (field, value.unwrap_or(Value::Null))
        })
    }

    /// A whole number as stored.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.get(name)?.integer()
    }

    /// A text, made one's own.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            Value::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    /// A time in nanoseconds by its field's unit: since the Unix epoch for a moment, a length for a
    /// span.
    #[must_use]
    pub fn nanos(&self, name: &str) -> Option<i64> {
        let (field, cursor) = self.find(name)?;
        self.to_nanos(field, self.number_at(field, cursor)?)
    }

    /// A number of a field in nanoseconds, where its unit is one of time.
    #[must_use]
    pub fn to_nanos(&self, field: &Field, number: i64) -> Option<i64> {
        Some(match field.unit {
            Unit::Ticks => self.header.wall_ns(number),
            Unit::TickSpan => self.header.span_ns(number),
            Unit::NanoSpan => number,
            Unit::MicroSpan => number.saturating_mul(1_000),
            Unit::MilliSpan | Unit::EpochMillis => number.saturating_mul(1_000_000),
            Unit::SecondSpan => number.saturating_mul(1_000_000_000),
            _ => return None,
        })
    }

    /// The key of a pooled field, by which what it stands for can be kept.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<u64> {
        let (field, mut cursor) = self.find(name)?;
        if field.pooled {
            cursor.integer().ok()
        } else {
            None
        }
    }

    /// A thread.
    #[must_use]
    pub fn thread(&self, name: &str) -> Option<Thread> {
        let (field, cursor) = self.find(name)?;
        self.thread_at(field, cursor)
    }

    /// The frames of its stack, innermost first; empty where it has none.
    #[must_use]
    pub fn stack(&self) -> Arc<[Frame]> {
        match self.find("stackTrace") {
            Some((field, cursor)) => self.stack_at(field, cursor),
            None => Arc::default(),
        }
    }

    /// The field with that number, with where its value stands.
    #[inline]
    pub(super) fn part(&self, number: usize) -> Option<(&'c Field, Cursor<'c>)> {
        let at = *self.offsets.get(number)? as usize;
        Some((
            self.of.fields.get(number)?,
            Cursor::starting_at(self.bytes, at),
        ))
    }

    /// Each field, with where its value stands.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&'c Field, Cursor<'c>)> + use<'c> {
        let bytes = self.bytes;
        let fields = self.of.fields.iter().zip(self.offsets);
        fields.map(move |(field, at)| (field, Cursor::starting_at(bytes, *at as usize)))
    }

    pub(super) fn value_at(&self, field: &'c Field, mut cursor: Cursor<'c>) -> Option<Value<'c>> {
        Resolver::new(self.types, self.pools)
            .field(field, &mut cursor, 0, 0)
            .ok()
    }

    pub(super) fn text_at(&self, field: &'c Field, cursor: Cursor<'c>) -> Option<Cow<'c, str>> {
        // Most texts that a pin has of its own it has not.
        if field.shape == Shape::Text && cursor.clone().byte() == Ok(text::NULL) {
            return None;
        }
        match self.value_at(field, cursor)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number.
    #[inline]
    pub(super) fn number_at(&self, field: &'c Field, mut cursor: Cursor<'c>) -> Option<i64> {
        match field.shape {
            Shape::Integer if !field.array && !field.pooled => {
                Some(cursor.integer().ok()?.cast_signed())
            }
            _ => self.value_at(field, cursor)?.integer(),
        }
    }

    pub(super) fn thread_at(&self, field: &'c Field, cursor: Cursor<'c>) -> Option<Thread> {
        match key_at(field, &cursor) {
            Some(key) => Thread::pooled(self, field, key),
            None => Thread::of(&self.value_at(field, cursor)?),
        }
    }

    pub(super) fn stack_at(&self, field: &'c Field, cursor: Cursor<'c>) -> Arc<[Frame]> {
        let key = key_at(field, &cursor);
        if let Some(stack) = key.and_then(|key| self.pools.stacks.borrow().get(&key).cloned()) {
            return stack;
        }
        let stack = self.value_at(field, cursor);
        let stack: Arc<[Frame]> = match stack.as_ref().map(|stack| stack.member("frames")) {
            Some(Value::Array(frames)) => frames.iter().map(Frame::of).collect(),
            _ => Arc::default(),
        };
        let mut kept = self.pools.stacks.borrow_mut();
        if let Some(key) = key.filter(|_| kept.len() < MAX_KEPT) {
            kept.insert(key, Arc::clone(&stack));
        }
        stack
    }

    fn find(&self, name: &str) -> Option<(&'c Field, Cursor<'c>)> {
        self.parts().find(|(field, _)| field.name == name)
    }
}

/// The key of a pooled value; threads and stacks are of one type each, so it tells them apart.
fn key_at(field: &Field, cursor: &Cursor<'_>) -> Option<u64> {
    let single = field.pooled && !field.array;
    single.then(|| cursor.clone().integer().ok()).flatten()
}

impl Frame {
    /// The frame in a value.
    #[must_use]
    pub fn of(value: &Value<'_>) -> Self {
        let method = value.member("method");
        let class = method.member("type");
        let text = |value: &Value<'_>| value.text().unwrap_or_default().to_owned();
        let loader = class.member("classLoader");
        let loader = match loader {
            Value::Struct(_) => text(loader.member("name")),
            _ => String::new(),
        };
        let kind = text(value.member("type"));
        let class = text(class.member("name"));
        Self {
            // A JVM's names are separated by slashes inside; ours are files and paths.
            class: if kind == "Place" {
                class
            } else {
                class.replace('/', ".")
            },
            method: text(method.member("name")),
            line: value.member("lineNumber").integer().unwrap_or(0).max(0),
            application: !loader.is_empty() && loader != "bootstrap",
            hidden: *method.member("hidden") == Value::Boolean(true),
            kind,
        }
    }
}

impl<R: Read + Seek> Chunk<'_, R> {
    /// Visits every event of the chunk.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn each(&mut self, mut visit: impl FnMut(&Event<'_>)) -> Result<(), super::ReadError> {
        while let Some(event) = self.next_event()? {
            visit(&event);
        }
        Ok(())
    }
}
