//! The pins of a `.jfr` file.
//!
//! A reader of its own, and a small one, because the lint depends on no other crate of this repository: it must run
//! where the checked program does not build. A file that ends too early gives what can be read and says what is missing:
//! of its last chunk the records are walked, since what the chunk's header points to may be behind the end.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cursor::{Broken, Cursor, Text};
use super::schema::{Schema, Type, Value};

const HEADER: usize = 68;
const METADATA: u64 = 0;
const CHECKPOINT: u64 = 1;

/// A wait during which a virtual thread kept its carrier. Texts are empty where the recording does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct Pin {
    pub(super) blocked_at: String,
    pub(super) pinned_at: String,
    pub(super) operation: String,
    pub(super) lock: String,
    pub(super) native: String,
    pub(super) duration: Duration,
    pub(super) stranded: Duration,
}

/// Why a recording cannot be read.
#[derive(Debug)]
pub(in crate::cli) enum TraceError {
    Unreadable(PathBuf, std::io::Error),
    NotARecording(PathBuf),
    Broken(PathBuf, &'static str),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, cause) => {
                write!(f, "cannot read the recording `{}`: {cause}", path.display())
            }
            Self::NotARecording(path) => write!(f, "`{}` is no flight recording", path.display()),
            Self::Broken(path, cause) => {
                write!(f, "the recording `{}` is damaged: {cause}", path.display())
            }
        }
    }
}

impl Error for TraceError {}

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Recording {
    /// Its pins, in its order.
    pub(super) pins: Vec<Pin>,
    /// What could not be read, for people.
    pub(super) damage: Option<String>,
}

/// Reads a file as far as it goes.
pub(super) fn read(path: &Path) -> Result<Recording, TraceError> {
    let bytes = fs::read(path).map_err(|error| TraceError::Unreadable(path.to_owned(), error))?;
    if !bytes.starts_with(b"FLR\0") {
        return Err(TraceError::NotARecording(path.to_owned()));
    }
    let mut recording = Recording::default();
    let mut rest = &bytes[..];
    let mut readable = 0;
    let mut first_cause = None;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let (broken, after) = match split(rest) {
            Ok((chunk, after)) => match chunk.pins(&mut recording.pins) {
                Ok(None) => {
                    readable += 1;
                    (None, after)
                }
                Ok(Some(broken)) => {
                    readable += 1;
                    (Some(broken), after)
                }
                Err(broken) => (Some(broken), after),
            },
            Err(broken) => (Some(broken), &rest[..0]),
        };
        if let Some(Broken(cause)) = broken {
            first_cause.get_or_insert((at, cause));
        }
        rest = after;
    }
    match first_cause {
        Some((_, cause)) if readable == 0 => Err(TraceError::Broken(path.to_owned(), cause)),
        Some((at, cause)) => {
            recording.damage = Some(format!(
                "the recording `{}` is damaged in the part that begins at byte {at}: {cause}; what could be read is used",
                path.display()
            ));
            Ok(recording)
        }
        None => Ok(recording),
    }
}

/// One self-contained part of a file.
struct Chunk<'a> {
    /// The file ends within it.
    is_cut: bool,
    bytes: &'a [u8],
    checkpoint: usize,
    metadata: usize,
    ticks_per_second: u64,
}

/// Cuts the first chunk off.
fn split(bytes: &[u8]) -> Result<(Chunk<'_>, &[u8]), Broken> {
    if bytes.len() < HEADER || !bytes.starts_with(b"FLR\0") {
        return Err(Broken("a chunk has no header"));
    }
    let number = |at: usize| {
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[at..at + 8]);
        u64::from_be_bytes(eight)
    };
    let index = |at: usize| usize::try_from(number(at)).unwrap_or(usize::MAX);
    let size = index(8);
    let is_cut = size < HEADER || size > bytes.len();
    let (chunk, rest) = bytes.split_at(if is_cut { bytes.len() } else { size });
    let chunk = Chunk {
        is_cut,
        bytes: chunk,
        checkpoint: index(16),
        metadata: index(24),
        ticks_per_second: number(56).max(1),
    };
    Ok((chunk, rest))
}

impl Chunk<'_> {
    /// Adds its pins; gives what is wrong with what it could not read.
    fn pins(&self, pins: &mut Vec<Pin>) -> Result<Option<Broken>, Broken> {
        let mut damage = self.is_cut.then_some(Broken("it ends within a chunk"));
        let schema = match self.special(self.metadata, METADATA) {
            Ok(mut cursor) => Schema::read(&mut cursor)?,
            Err(broken) => {
                let found = self.walk(METADATA).next().ok_or(broken)?;
                Schema::read(&mut self.special(found, METADATA)?)?
            }
        };
        let texts = self.texts(&schema).or_else(|broken| {
            damage.get_or_insert(broken);
            self.texts_in_sight(&schema)
        })?;
        let mut records = Cursor::new(&self.bytes[HEADER..]);
        while !records.is_at_end() {
            let Ok(record) = records.record() else {
                damage.get_or_insert(Broken("its last record is not whole"));
                break;
            };
            let mut cursor = Cursor::new(record);
            let id = cursor.integer()?;
            // The live events tell of pins whose end is told again, and of those that never ended.
            if id > CHECKPOINT
                && let Ok(of) = schema.of(id)
                && of.name == "jdk.VirtualThreadPinned"
            {
                match self.pin(&mut cursor, &schema, of, &texts) {
                    Ok(pin) => pins.push(pin),
                    Err(broken) => {
                        damage.get_or_insert(broken);
                    }
                }
            }
        }
        Ok(damage)
    }

    /// Where the records of a type begin, as far as records follow each other.
    fn walk(&self, wanted: u64) -> impl Iterator<Item = usize> {
        let mut found = Vec::new();
        let mut records = Cursor::new(&self.bytes[HEADER..]);
        loop {
            let at = HEADER + records.position();
            let Some(record) = records.record().ok().filter(|_| !self.bytes.is_empty()) else {
                break;
            };
            if Cursor::new(record).integer().is_ok_and(|id| id == wanted) {
                found.push(at);
            }
            if records.is_at_end() {
                break;
            }
        }
        found.into_iter()
    }

    /// A special record, behind its type.
    fn special(&self, offset: usize, of: u64) -> Result<Cursor<'_>, Broken> {
        let mut cursor = self.at(offset)?;
        if cursor.integer()? == of {
            Ok(cursor)
        } else {
            Err(Broken(
                "its schema or constants are not where the header says",
            ))
        }
    }

    fn at(&self, offset: usize) -> Result<Cursor<'_>, Broken> {
        let bytes = self.bytes.get(offset..).filter(|_| offset >= HEADER);
        Ok(Cursor::new(
            Cursor::new(bytes.ok_or(Broken("its header points outside"))?).record()?,
        ))
    }

    /// The pool of texts: checkpoints are linked from the last to the first.
    fn texts(&self, schema: &Schema) -> Result<HashMap<u64, String>, Broken> {
        let mut texts = HashMap::new();
        let mut offset = self.checkpoint;
        loop {
            let back = self.add_texts(offset, schema, &mut texts)?;
            // Backwards only, so a chain of any bytes comes to an end.
            if back >= 0 {
                return Ok(texts);
            }
            let back = usize::try_from(back.unsigned_abs()).unwrap_or(usize::MAX);
            offset = offset
                .checked_sub(back)
                .ok_or(Broken("its constants lie outside"))?;
        }
    }

    /// The same from whatever checkpoints there are, when the last one is missing.
    fn texts_in_sight(&self, schema: &Schema) -> Result<HashMap<u64, String>, Broken> {
        let mut texts = HashMap::new();
        for offset in self.walk(CHECKPOINT) {
            self.add_texts(offset, schema, &mut texts)?;
        }
        Ok(texts)
    }

    /// Adds the texts of one checkpoint; gives how far back the one before it stands, 0 when there is none.
    fn add_texts(
        &self,
        offset: usize,
        schema: &Schema,
        texts: &mut HashMap<u64, String>,
    ) -> Result<i64, Broken> {
        let mut cursor = self.special(offset, CHECKPOINT)?;
        // Start and duration; then where the one before this stands; then a byte of flags.
        cursor.integer()?;
        cursor.integer()?;
        let back = cursor.integer()?.cast_signed();
        cursor.take(1)?;
        for _ in 0..cursor.integer()? {
            let of = cursor.integer()?;
            let is_text = schema.of(of)?.name == "java.lang.String";
            for _ in 0..cursor.integer()? {
                let key = cursor.integer()?;
                if !is_text {
                    schema.skip_value(&mut cursor, of, 0)?;
                } else if let Text::Here(text) = cursor.text()? {
                    texts.entry(key).or_insert(text);
                }
            }
        }
        Ok(back)
    }

    fn pin(
        &self,
        cursor: &mut Cursor<'_>,
        schema: &Schema,
        of: &Type,
        texts: &HashMap<u64, String>,
    ) -> Result<Pin, Broken> {
        let mut pin = Pin::default();
        for field in &of.fields {
            let value = schema.value(cursor, field)?;
            let span = |count: u64| {
                let nanos = u128::from(count) * 1_000_000_000
                    / u128::from(field.per_second.unwrap_or(self.ticks_per_second));
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            };
            match (field.name.as_str(), value) {
                ("duration", Value::Integer(count)) => pin.duration = span(count),
                ("strandedTime", Value::Integer(count)) => pin.stranded = span(count),
                (name, Value::Text(text)) => {
                    let text = match text {
                        Text::Here(text) => text,
                        Text::Pooled(key) => texts.get(&key).cloned().unwrap_or_default(),
                    };
                    match name {
                        "blockedAt" => pin.blocked_at = text,
                        "pinnedAt" => pin.pinned_at = text,
                        "blockingOperation" => pin.operation = text,
                        "lock" => pin.lock = text,
                        "native" => pin.native = text,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Ok(pin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../flight-recorder/tests/golden")
            .join(name)
    }

    #[test]
    fn our_recorder_s_pins_are_read() {
        let pins = read(&golden("schema-1.jfr")).expect("a recording").pins;
        let first = pins
            .iter()
            .find(|pin| pin.operation == "sleep")
            .expect("a sleep");
        assert_eq!(first.blocked_at, "shop/src/payment.rs:42:9");
        assert_eq!(first.pinned_at, "shop/src/orders.rs:75:9");
        assert_eq!(first.lock, "orders");
        assert_eq!(first.stranded, first.duration * 2);
        assert!(first.duration >= Duration::from_millis(1));
    }

    #[test]
    fn a_jvm_s_pins_are_read() {
        for name in ["jvm21.jfr", "jvm25.jfr"] {
            let pins = read(&golden(name)).expect("a recording").pins;
            assert!(!pins.is_empty(), "{name}");
            assert!(pins.iter().all(|pin| !pin.duration.is_zero()), "{name}");
        }
    }

    #[test]
    fn damaged_files_never_hang_or_panic() {
        let bytes = fs::read(golden("schema-1.jfr")).expect("a file");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cut.jfr");
        let try_read = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("a file");
            read(&path)
        };
        let whole = try_read(&bytes).expect("whole");
        assert!(whole.damage.is_none());
        let mut most = 0;
        for length in (0..bytes.len()).step_by(97) {
            // What can be read of a cut file is never more than there was, and never passes for all.
            if let Ok(cut) = try_read(&bytes[..length]) {
                assert!(cut.damage.is_some(), "cut at {length}");
                assert!(cut.pins.len() <= whole.pins.len(), "cut at {length}");
                most = most.max(cut.pins.len());
            }
        }
        let mut twice = bytes.clone();
        twice.extend(&bytes[..bytes.len() / 2]);
        let first = try_read(&twice).expect("the first chunk is whole");
        assert!(first.pins.len() >= whole.pins.len());
        assert!(
            first
                .damage
                .expect("a remark")
                .contains(&format!("begins at byte {}", bytes.len()))
        );
        for at in (0..bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x55;
            // Right or wrong does not matter here, only that there is an answer.
            let _ = try_read(&changed);
        }
    }
}
