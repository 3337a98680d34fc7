//! The pins of a `.jfr` file.
//!
//! A reader of its own, and a small one, because the lint depends on no other crate of this repository: it must run
//! where the checked program does not build. A file that ends too early gives the chunks that are whole.

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

/// All pins of a file, in its order.
pub(super) fn pins(path: &Path) -> Result<Vec<Pin>, TraceError> {
    let bytes = fs::read(path).map_err(|error| TraceError::Unreadable(path.to_owned(), error))?;
    if !bytes.starts_with(b"FLR\0") {
        return Err(TraceError::NotARecording(path.to_owned()));
    }
    let mut pins = Vec::new();
    let mut rest = &bytes[..];
    let mut whole = 0;
    while !rest.is_empty() {
        match split(rest) {
            Ok((chunk, after)) => {
                pins.extend(
                    chunk
                        .pins()
                        .map_err(|broken| TraceError::Broken(path.to_owned(), broken.0))?,
                );
                whole += 1;
                rest = after;
            }
            Err(_) if whole > 0 => break,
            Err(broken) => return Err(TraceError::Broken(path.to_owned(), broken.0)),
        }
    }
    Ok(pins)
}

/// One self-contained part of a file.
struct Chunk<'a> {
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
    if size < HEADER || size > bytes.len() {
        return Err(Broken("it ends within a chunk"));
    }
    let (chunk, rest) = bytes.split_at(size);
    let chunk = Chunk {
        bytes: chunk,
        checkpoint: index(16),
        metadata: index(24),
        ticks_per_second: number(56).max(1),
    };
    Ok((chunk, rest))
}

impl Chunk<'_> {
    fn pins(&self) -> Result<Vec<Pin>, Broken> {
        let mut cursor = self.at(self.metadata)?;
        if cursor.integer()? != METADATA {
            return Err(Broken("its schema is not where the header says"));
        }
        let schema = Schema::read(&mut cursor)?;
        let texts = self.texts(&schema)?;
        let mut pins = Vec::new();
        let mut records = Cursor::new(&self.bytes[HEADER..]);
        while !records.is_at_end() {
            let mut cursor = Cursor::new(records.record()?);
            let id = cursor.integer()?;
            // The live events tell of pins whose end is told again, and of those that never ended.
            if id > CHECKPOINT
                && let Ok(of) = schema.of(id)
                && of.name == "jdk.VirtualThreadPinned"
            {
                pins.push(self.pin(&mut cursor, &schema, of, &texts)?);
            }
        }
        Ok(pins)
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
            let mut cursor = self.at(offset)?;
            if cursor.integer()? != CHECKPOINT {
                return Err(Broken("its constants are not where the header says"));
            }
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
        let pins = pins(&golden("schema-1.jfr")).expect("a recording");
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
            let pins = pins(&golden(name)).expect("a recording");
            assert!(!pins.is_empty(), "{name}");
            assert!(pins.iter().all(|pin| !pin.duration.is_zero()), "{name}");
        }
    }

    #[test]
    fn damaged_files_never_hang_or_panic() {
        let bytes = fs::read(golden("schema-1.jfr")).expect("a file");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cut.jfr");
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("a file");
            pins(&path)
        };
        for length in (0..bytes.len()).step_by(97) {
            assert!(read(&bytes[..length]).is_err(), "cut at {length}");
        }
        let mut twice = bytes.clone();
        twice.extend(&bytes[..bytes.len() / 2]);
        let whole = read(&bytes).expect("whole").len();
        assert_eq!(read(&twice).expect("the first chunk is whole").len(), whole);
        for at in (0..bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x55;
            // Right or wrong does not matter here, only that there is an answer.
            let _ = read(&changed);
        }
    }
}
