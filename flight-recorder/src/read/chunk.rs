//! One chunk: its schema and constants, loaded first, then its events in file order.

use std::io::{Read, Seek};

use super::cursor::{Broken, Cursor};
use super::event::Event;
use super::pools::Pools;
use super::types::{Type, Types};
use super::value::{Value, skip};
use super::{ReadError, Reader};
use crate::format::{CHECKPOINT, HEADER_LEN, Header, METADATA};

/// More schema than any real chunk has.
const MAX_METADATA: u64 = 64 << 20;
/// More bytes of constants than any real chunk has.
const MAX_CONSTANTS: u64 = 256 << 20;

/// What must be known of a chunk before its events make sense.
#[derive(Debug)]
pub(super) struct Parts {
    types: Types,
    pools: Pools,
}

/// A chunk of a recording.
#[derive(Debug)]
pub struct Chunk<'r, R> {
    reader: &'r mut Reader<R>,
    header: Header,
    start: u64,
    end: u64,
    at: u64,
    parts: Parts,
    /// Where the fields of the event at hand begin, from its first one on.
    offsets: Vec<u32>,
}

impl<'r, R: Read + Seek> Chunk<'r, R> {
    pub(super) fn new(
        reader: &'r mut Reader<R>,
        start: u64,
        end: u64,
        header: Header,
        parts: Parts,
    ) -> Self {
        Self {
            reader,
            header,
            start,
            end,
            at: start + HEADER_LEN as u64,
            parts,
            offsets: Vec::new(),
        }
    }

    /// Its header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Where it begins, in bytes from the file's start.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.start
    }

    /// The types it declares.
    #[must_use]
    pub fn types(&self) -> &[Type] {
        &self.parts.types.list
    }

    /// The next event; `None` at the chunk's end, or where the rest cannot be understood.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, ReadError> {
        loop {
            let Some(sized) = next_sized(self.reader, self.at, self.end)? else {
                self.at = self.end;
                return Ok(None);
            };
            let at = self.at;
            self.at += sized.size;
            if sized.of == METADATA || sized.of == CHECKPOINT {
                continue;
            }
            // An unknown type is one that a newer writer left undeclared: the JDK skips it as well.
            let Some(index) = self.parts.types.index(sized.of) else {
                continue;
            };
            if let Err(Broken(why)) = self.locate(index, at, &sized) {
                let name = &self.parts.types.list[index].name;
                let what = format!("a {name} was left out: {why}");
                self.reader.damage(at, what);
                continue;
            }
            let bytes = self.reader.window.bytes(at, sized.size)?;
            let fields = bytes.get(sized.fields as usize..).unwrap_or_default();
            let of = &self.parts.types.list[index];
            let Parts { types, pools } = &self.parts;
            return Ok(Some(Event {
                header: &self.header,
                types,
                pools,
                of,
                bytes: fields,
                offsets: &self.offsets,
                at,
            }));
        }
    }

    /// The id of a type by its name.
    pub(crate) fn id_of(&self, name: &str) -> Option<u64> {
        let of = self.types().iter().find(|of| of.name == name)?;
        Some(of.id)
    }

    /// The constants of a type, by key.
    pub(crate) fn constants_of(&self, name: &str) -> impl Iterator<Item = (u64, Value<'_>)> {
        let Parts { types, pools } = &self.parts;
        pools.of(types, name)
    }

    /// Every constant: its type's id, its key, and its bytes as stored.
    pub(crate) fn raw_constants(&self) -> impl Iterator<Item = (u64, u64, &[u8])> {
        let Parts { types, pools } = &self.parts;
        pools.raw(types)
    }

    /// Visits the type id and all bytes of every event, schema and constants included.
    pub(crate) fn each_raw(&mut self, mut visit: impl FnMut(u64, &[u8])) -> Result<(), ReadError> {
        let mut at = self.start + HEADER_LEN as u64;
        while let Some(sized) = next_sized(self.reader, at, self.end)? {
            visit(sized.of, self.reader.window.bytes(at, sized.size)?);
            at += sized.size;
        }
        Ok(())
    }

    /// Finds where each field of the event begins; none may reach beyond its end.
    fn locate(&mut self, index: usize, at: u64, sized: &Sized) -> Result<(), Broken> {
        let unreadable = Broken("its bytes cannot be read");
        let bytes = self
            .reader
            .window
            .bytes(at, sized.size)
            .map_err(|_| unreadable)?;
        let fields = bytes.get(sized.fields as usize..).unwrap_or_default();
        let mut cursor = Cursor::new(fields);
        let types = &self.parts.types;
        self.offsets.clear();
        types.list[index].fields.iter().try_for_each(|field| {
            self.offsets
                .push(u32::try_from(cursor.at()).unwrap_or(u32::MAX));
            skip(types, field, &mut cursor, 0)
        })
    }
}

/// An event's frame: its size, its type, and where its fields begin.
struct Sized {
    size: u64,
    of: u64,
    fields: u64,
}

/// Longest size and type id together.
const MAX_PREFIX: u64 = 18;

fn next_sized<R: Read + Seek>(
    reader: &mut Reader<R>,
    at: u64,
    end: u64,
) -> Result<Option<Sized>, ReadError> {
    if at >= end {
        return Ok(None);
    }
    let bytes = reader.window.bytes(at, MAX_PREFIX.min(end - at))?;
    let mut cursor = Cursor::new(bytes);
    let prefix = cursor
        .integer()
        .and_then(|size| Ok((size, cursor.integer()?)));
    let Ok((size, of)) = prefix else {
        reader.damage(at, "the chunk ends within an event");
        return Ok(None);
    };
    let fields = cursor.at() as u64;
    if size < fields {
        reader.damage(
            at,
            "an event of no size; the rest of the chunk was left out",
        );
        return Ok(None);
    }
    if size > end - at {
        reader.damage(at, "an event that ends beyond its chunk was left out");
        return Ok(None);
    }
    Ok(Some(Sized { size, of, fields }))
}

/// Loads a chunk's schema and constants. `None`, with the damage told, where it has no schema.
pub(super) fn load<R: Read + Seek>(
    reader: &mut Reader<R>,
    start: u64,
    end: u64,
    header: &Header,
) -> Result<Option<Parts>, ReadError> {
    let place = |position: u64| {
        let at = start.saturating_add(position);
        (position >= HEADER_LEN as u64 && at < end).then_some(at)
    };
    let (mut metadata, mut checkpoint) = (place(header.metadata), place(header.checkpoint));
    let mut found = Vec::new();
    if metadata.is_none() || checkpoint.is_none() {
        // The header does not say, or it points beyond a cut: what is there can still be found.
        let (seen, checkpoints) = scan(reader, start, end)?;
        metadata = metadata.or(seen);
        found = checkpoints;
        checkpoint = None;
    }
    let Some(metadata) = metadata else {
        reader.damage(
            start,
            "the chunk's schema is missing, so its events cannot be read",
        );
        return Ok(None);
    };
    let types = match event_at(reader, metadata, end, METADATA, MAX_METADATA)? {
        Some((bytes, fields)) => Types::parse(&mut Cursor::starting_at(&bytes, fields)),
        None => Err(Broken("its frame is broken")),
    };
    let types = match types {
        Ok(types) => types,
        Err(Broken(why)) => {
            let what =
                format!("the chunk's schema cannot be read: {why}; its events were left out");
            reader.damage(metadata, what);
            return Ok(None);
        }
    };
    let mut parts = Parts {
        types,
        pools: Pools::default(),
    };
    if let Some(last) = checkpoint {
        load_back(reader, &mut parts, last, start, end)?;
    }
    for at in found.into_iter().rev() {
        add_checkpoint(reader, &mut parts, at, end)?;
    }
    Ok(Some(parts))
}

/// Loads the checkpoints from the last one back, as each tells where the one before stands.
fn load_back<R: Read + Seek>(
    reader: &mut Reader<R>,
    parts: &mut Parts,
    last: u64,
    start: u64,
    end: u64,
) -> Result<(), ReadError> {
    let mut at = last;
    let mut sum = 0;
    while let Some((delta, size)) = add_checkpoint(reader, parts, at, end)? {
        sum += size;
        // Only ever backwards, or a chain could go round for ever.
        let before = at
            .checked_add_signed(delta)
            .filter(|before| *before < at && *before > start);
        match before {
            Some(_) if sum > MAX_CONSTANTS => {
                reader.damage(
                    at,
                    "more constants than any recording needs; the rest was left out",
                );
                break;
            }
            Some(before) => at = before,
            None => break,
        }
    }
    Ok(())
}

/// Loads one checkpoint; gives where the one before it stands and its size.
fn add_checkpoint<R: Read + Seek>(
    reader: &mut Reader<R>,
    parts: &mut Parts,
    at: u64,
    end: u64,
) -> Result<Option<(i64, u64)>, ReadError> {
    let Some((bytes, fields)) = event_at(reader, at, end, CHECKPOINT, MAX_CONSTANTS)? else {
        reader.damage(
            at,
            "no constants where the chunk says they are; names are missing",
        );
        return Ok(None);
    };
    let size = bytes.len() as u64;
    let mut cursor = Cursor::starting_at(&bytes, fields);
    let head = (|| {
        cursor.integer()?;
        cursor.integer()?;
        Ok::<_, Broken>(cursor.integer()?.cast_signed())
    })();
    let Ok(delta) = head else {
        reader.damage(at, "broken constants; names are missing");
        return Ok(None);
    };
    let body = cursor.at();
    if let Err(Broken(why)) = parts.pools.add(&parts.types, bytes, body) {
        reader.damage(at, format!("broken constants: {why}; names are missing"));
    }
    Ok(Some((delta, size)))
}

/// The bytes of the special event at `at`, and where its fields begin.
fn event_at<R: Read + Seek>(
    reader: &mut Reader<R>,
    at: u64,
    end: u64,
    of: u64,
    limit: u64,
) -> Result<Option<(Vec<u8>, usize)>, ReadError> {
    let bytes = reader
        .window
        .bytes(at, MAX_PREFIX.min(end.saturating_sub(at)))?;
    let mut cursor = Cursor::new(bytes);
    let (Ok(size), Ok(found)) = (cursor.integer(), cursor.integer()) else {
        return Ok(None);
    };
    let fields = cursor.at();
    if found != of || size > limit || size < fields as u64 || size > end.saturating_sub(at) {
        return Ok(None);
    }
    Ok(Some((reader.window.bytes(at, size)?.to_vec(), fields)))
}

/// Finds the special events by walking over all.
fn scan<R: Read + Seek>(
    reader: &mut Reader<R>,
    start: u64,
    end: u64,
) -> Result<(Option<u64>, Vec<u64>), ReadError> {
    let (mut metadata, mut checkpoints) = (None, Vec::new());
    let told = reader.damages.len();
    let mut at = start + HEADER_LEN as u64;
    let mut sum = 0;
    while let Some(sized) = next_sized(reader, at, end)? {
        if sized.of == METADATA {
            metadata = Some(at);
        } else if sized.of == CHECKPOINT && sum + sized.size <= MAX_CONSTANTS {
            sum += sized.size;
            checkpoints.push(at);
        }
        at += sized.size;
    }
    // Whoever reads the events walks the same way and tells then.
    reader.damages.truncate(told);
    Ok((metadata, checkpoints))
}
