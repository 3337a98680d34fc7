//! The types a recording of ours declares, as data: one table that the writer turns into the metadata
//! event and that each row it writes is checked against.
//!
//! Names are what readers go by, ids are ours. To add a field append it to its type's list; to add an
//! event add a type: see the compatibility rules in [`crate::format`].

mod base;
mod jdk;
mod ours;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use foldhash::fast::RandomState;

/// What kind of thing a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Built in: `long`, `java.lang.String`.
    Primitive,
    /// Says something about a type or field.
    Annotation,
    /// A value of several fields.
    Struct,
    /// A value of one field, which readers show as that field.
    Simple,
    /// What happened.
    Event,
}

/// How readers are to show a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// As it is.
    #[default]
    None,
    /// A moment in ticks.
    Ticks,
    /// A span in ticks.
    TickSpan,
    /// A span in nanoseconds.
    NanoSpan,
    /// A span in microseconds.
    MicroSpan,
    /// A span in milliseconds.
    MilliSpan,
    /// A span in seconds.
    SecondSpan,
    /// Milliseconds since the Unix epoch.
    EpochMillis,
    /// An address.
    Address,
    /// An amount of bytes.
    Bytes,
    /// A share of one.
    Percentage,
}

impl Unit {
    /// The annotation that stands for each unit, and its value where it has one.
    pub(crate) const ANNOTATIONS: &[(Self, &'static str, &'static [&'static str])] = &[
        (Self::Ticks, "jdk.jfr.Timestamp", &["TICKS"]),
        (
            Self::EpochMillis,
            "jdk.jfr.Timestamp",
            &["MILLISECONDS_SINCE_EPOCH"],
        ),
        (Self::TickSpan, "jdk.jfr.Timespan", &["TICKS"]),
        (Self::NanoSpan, "jdk.jfr.Timespan", &["NANOSECONDS"]),
        (Self::MicroSpan, "jdk.jfr.Timespan", &["MICROSECONDS"]),
        (Self::MilliSpan, "jdk.jfr.Timespan", &["MILLISECONDS"]),
        (Self::SecondSpan, "jdk.jfr.Timespan", &["SECONDS"]),
        (Self::Address, "jdk.jfr.MemoryAddress", &[]),
        (Self::Bytes, "jdk.jfr.DataAmount", &["BYTES"]),
        (Self::Percentage, "jdk.jfr.Percentage", &[]),
    ];
}

/// A field of a type.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) of: &'static str,
    pub(crate) label: &'static str,
    pub(crate) pooled: bool,
    pub(crate) array: bool,
    pub(crate) unit: Unit,
}

/// A type.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) label: &'static str,
    pub(crate) description: &'static str,
    pub(crate) category: &'static [&'static str],
    pub(crate) fields: &'static [Field],
    /// Some readers do not follow pooled strings in events that they know: these keep theirs in line.
    pub(crate) pools_text: bool,
}

impl Field {
    const fn new(name: &'static str, of: &'static str, label: &'static str) -> Self {
        Self {
            name,
            of,
            label,
            pooled: false,
            array: false,
            unit: Unit::None,
        }
    }

    const fn key(name: &'static str, of: &'static str, label: &'static str) -> Self {
        Self {
            pooled: true,
            ..Self::new(name, of, label)
        }
    }

    const fn text(name: &'static str, label: &'static str) -> Self {
        Self::new(name, "java.lang.String", label)
    }

    const fn long(name: &'static str, label: &'static str) -> Self {
        Self::new(name, "long", label)
    }

    const fn int(name: &'static str, label: &'static str) -> Self {
        Self::new(name, "int", label)
    }

    const fn nanos(name: &'static str, label: &'static str) -> Self {
        Self {
            unit: Unit::NanoSpan,
            ..Self::long(name, label)
        }
    }

    const fn thread(name: &'static str, label: &'static str) -> Self {
        Self::key(name, "java.lang.Thread", label)
    }

    const fn unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    const fn array(self) -> Self {
        Self {
            array: true,
            ..self
        }
    }
}

const START: Field = Field::long("startTime", "Start Time").unit(Unit::Ticks);
const DURATION: Field = Field::long("duration", "Duration").unit(Unit::TickSpan);
const THREAD: Field = Field::thread("eventThread", "Event Thread");
const STACK: Field = Field::key("stackTrace", "jdk.types.StackTrace", "Stack Trace");

impl Type {
    const fn new(kind: Kind, name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            name,
            kind,
            label: "",
            description: "",
            category: &[],
            fields,
            pools_text: true,
        }
    }

    const fn event(
        name: &'static str,
        label: &'static str,
        category: &'static [&'static str],
        description: &'static str,
        fields: &'static [Field],
    ) -> Self {
        Self {
            label,
            category,
            description,
            ..Self::new(Kind::Event, name, fields)
        }
    }

    const fn text_in_line(self) -> Self {
        Self {
            pools_text: false,
            ..self
        }
    }
}

/// The schema with the ids given to its types.
#[derive(Debug)]
pub(crate) struct Schema {
    types: Vec<&'static Type>,
    ids: HashMap<&'static str, u64, RandomState>,
}

/// Ids 0 and 1 are the metadata's and the checkpoint's; a gap keeps dumps easy to read by eye.
const FIRST_ID: u64 = 16;

impl Schema {
    pub(crate) fn new() -> Self {
        let types: Vec<_> = [base::TYPES, jdk::TYPES, ours::TYPES]
            .into_iter()
            .flatten()
            .collect();
        let ids = (FIRST_ID..)
            .zip(&types)
            .map(|(id, of)| (of.name, id))
            .collect();
        Self { types, ids }
    }

    /// Every type with its id.
    pub(crate) fn types(&self) -> impl Iterator<Item = (u64, &'static Type)> {
        (FIRST_ID..).zip(self.types.iter().copied())
    }

    /// The id of a type of ours.
    pub(crate) fn id(&self, name: &str) -> u64 {
        match self.ids.get(name) {
            Some(id) => *id,
            None => unreachable!("{name} is in no table of the schema"),
        }
    }

    /// The type with this name and its id.
    pub(crate) fn named(&self, name: &str) -> (u64, &'static Type) {
        let id = self.id(name);
        (id, self.types[(id - FIRST_ID) as usize])
    }

    /// A number that changes with the schema: a reader that meets a known one keeps the schema it has.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.types.hash(&mut hasher);
        // Small numbers are the JVM's.
        (hasher.finish() & 0x3fff_ffff) | 0x4000_0000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_s_type_is_declared_and_no_name_twice() {
        let schema = Schema::new();
        assert_eq!(
            schema.ids.len(),
            schema.types.len(),
            "a type name stands twice"
        );
        for (_, of) in schema.types() {
            for field in of.fields {
                assert!(
                    schema.ids.contains_key(field.of),
                    "{}.{}: {}",
                    of.name,
                    field.name,
                    field.of
                );
            }
        }
    }

    #[test]
    fn events_begin_as_readers_expect() {
        for (_, of) in Schema::new()
            .types()
            .filter(|(_, of)| of.kind == Kind::Event)
        {
            assert_eq!(of.fields[0].name, "startTime", "{}", of.name);
            let duration = of.fields.iter().position(|f| f.name == "duration");
            assert!(
                duration.is_none_or(|at| at == 1),
                "{}: duration must be second",
                of.name
            );
            assert!(
                !of.label.is_empty() && !of.category.is_empty(),
                "{} has no label",
                of.name
            );
        }
    }
}
