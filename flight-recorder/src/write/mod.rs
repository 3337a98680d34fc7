//! Writes `.jfr` files: `Writer` → [`ChunkWriter`] → `Writer`.
//!
//! **Invariant:** a record is taken only by a [`ChunkWriter`], and a chunk exists only once its header's
//! facts are given; finishing it writes header, schema, constant pools and records in one go. The
//! order keeps a file that was cut short meaningful up to the cut.

mod about;
mod event;
mod metadata;
mod pools;
mod row;
mod spans;

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use foldhash::fast::RandomState;
use vt_runtime::event::{Pinned, Place, Recorded};

pub(crate) use self::about::{About, HolderRow, SiteRow};
use self::pools::Keys;
pub(crate) use self::pools::{FrameKey, Pools};
pub(crate) use self::spans::Spans;
use crate::format::schema::Schema;
use crate::format::{FLAG_LAST, FLAG_VARINTS, HEADER_LEN, Header};
use crate::symbol::{Frame, Symbolizer};

/// What a chunk says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// Wall clock at its start, in nanoseconds since the Unix epoch.
    pub start_wall_ns: u64,
    /// The runtime's clock at the same moment, in nanoseconds.
    pub start: u64,
    /// Its length in nanoseconds.
    pub duration_ns: u64,
}

impl Span {
    /// A chunk that starts at `start` of the runtime's clock, which was `start_wall_ns` of the wall's.
    #[must_use]
    pub const fn new(start_wall_ns: u64, start: u64, duration_ns: u64) -> Self {
        Self {
            start_wall_ns,
            start,
            duration_ns,
        }
    }
}

/// A `.jfr` file in the making. It takes no records: [`Writer::chunk`] gives what does.
pub struct Writer<W> {
    out: W,
    schema: Schema,
    symbolizer: Box<dyn Symbolizer + Send>,
    carriers: HashMap<u64, u64>,
    spans: Spans,
    next_keys: Keys,
}

impl<W: Write> Writer<W> {
    /// A file written to `out`, its stacks named by `symbolizer`.
    pub fn new(out: W, symbolizer: impl Symbolizer + Send + 'static) -> Self {
        Self {
            out,
            schema: Schema::new(),
            symbolizer: Box::new(symbolizer),
            carriers: HashMap::new(),
            spans: Spans::default(),
            next_keys: Keys::default(),
        }
    }

    /// Tells the operating system's thread ids of carriers, by `carrier.id`.
    #[must_use]
    pub fn carrier_threads(mut self, ids: impl IntoIterator<Item = (u64, u64)>) -> Self {
        self.carriers.extend(ids);
        self
    }

    /// Tells the program's spans, for the pins that lie in them.
    pub(crate) fn spans(mut self, spans: Spans) -> Self {
        self.spans = spans;
        self
    }

    /// Begins a chunk.
    pub fn chunk(self, span: Span) -> ChunkWriter<W> {
        let pools = Pools::new(self.next_keys);
        ChunkWriter {
            writer: self,
            span,
            pools,
            stacks: HashMap::default(),
            places: HashMap::new(),
            place_texts: HashMap::default(),
            rows: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Ends the file and gives back where it was written.
    ///
    /// # Errors
    /// What flushing `out` says.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

impl<W> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("next_keys", &self.next_keys)
            .finish_non_exhaustive()
    }
}

/// The key of each place's text, by the address of its file's name, line and column. The name is kept, so
/// that its address stays its own.
type PlaceTexts = HashMap<(usize, u32, u32), (Arc<str>, u64), RandomState>;

/// A chunk that takes records. Dropped unfinished it leaves no trace in the file.
pub struct ChunkWriter<W> {
    writer: Writer<W>,
    span: Span,
    pools: Pools,
    stacks: HashMap<Vec<u64>, u64, RandomState>,
    places: HashMap<(Option<Place>, Option<Place>), u64>,
    place_texts: PlaceTexts,
    rows: Vec<u8>,
    row: Vec<u8>,
}

impl<W: Write> ChunkWriter<W> {
    /// Takes a record of the runtime.
    pub fn push(&mut self, recorded: &Recorded) {
        event::put(self, recorded);
    }

    /// Bytes taken so far, about.
    #[must_use]
    pub fn size(&self) -> usize {
        self.rows.len() + self.pools.size()
    }

    /// Writes the chunk; `last` says that no other follows.
    ///
    /// # Errors
    /// What writing says; the file then ends somewhere inside this chunk.
    pub fn finish(self, last: bool) -> io::Result<Writer<W>> {
        let mut writer = self.writer;
        let mut bytes = vec![0; HEADER_LEN];
        metadata::put_metadata(&mut bytes, &writer.schema, 0);
        let checkpoint = bytes.len() as u64;
        self.pools.put_checkpoint(&mut bytes, &writer.schema, 0);
        let header = Header {
            major: 2,
            minor: 1,
            size: (bytes.len() + self.rows.len()) as u64,
            checkpoint,
            metadata: HEADER_LEN as u64,
            start_ns: self.span.start_wall_ns,
            duration_ns: self.span.duration_ns,
            // Ticks count from the chunk's start: fewer bytes in every record.
            start_ticks: 0,
            ticks_per_second: 1_000_000_000,
            state: 0,
            flags: FLAG_VARINTS | if last { FLAG_LAST } else { 0 },
        };
        bytes[..HEADER_LEN].copy_from_slice(&header.to_bytes());
        writer.out.write_all(&bytes)?;
        writer.out.write_all(&self.rows)?;
        writer.next_keys = self.pools.next_keys();
        Ok(writer)
    }

    /// The key of a virtual thread.
    fn thread(&mut self, id: u64, name: &str) -> u64 {
        self.pools.thread(id, name)
    }

    /// The key of a carrier.
    fn carrier(&mut self, id: u64) -> u64 {
        let carriers = &self.writer.carriers;
        let os_id = || carriers.get(&id).copied().unwrap_or(0);
        self.pools.carrier(id, os_id)
    }

    /// The key of the text of the span that a pin lies in, 0 for none.
    fn span_of(&mut self, pinned: &Pinned) -> u64 {
        let text = pinned
            .span
            .and_then(|id| self.writer.spans.text(id, pinned.start.0));
        text.map_or(0, |text| self.pools.text(&text))
    }

    /// The key of a place's text, 0 for none.
    fn place(&mut self, place: Option<&Place>) -> u64 {
        let Some(place) = place else {
            return 0;
        };
        let key = (place.file.as_ptr().addr(), place.line, place.column);
        if let Some((_, text)) = self.place_texts.get(&key) {
            return *text;
        }
        let text = self.pools.text(&place.to_string());
        self.place_texts
            .insert(key, (Arc::clone(&place.file), text));
        text
    }

    /// The key of a stack: of its addresses, or, where none could be taken, of the two places that
    /// stand for it, so that views still group by the application's line.
    fn stack(&mut self, addresses: &[u64], blocked: Option<&Place>, pinned: Option<&Place>) -> u64 {
        if addresses.is_empty() {
            let places = (blocked.cloned(), pinned.cloned());
            if let Some(key) = self.places.get(&places) {
                return *key;
            }
            let frames: Vec<_> = [blocked, pinned]
                .into_iter()
                .flatten()
                .map(|place| self.pools.frame(&Frame::of_place(place)))
                .collect();
            let key = self.pools.stack(frames);
            self.places.insert(places, key);
            return key;
        }
        if let Some(key) = self.stacks.get(addresses) {
            return *key;
        }
        let mut frames: Vec<FrameKey> = Vec::with_capacity(addresses.len());
        for address in addresses {
            if frames.len() > pools::MAX_FRAMES {
                break;
            }
            let functions = self.writer.symbolizer.functions(*address);
            if functions.is_empty() {
                frames.push(self.pools.frame(&Frame::of_address(*address)));
            }
            frames.extend(
                functions
                    .iter()
                    .map(|f| self.pools.frame(&Frame::of_function(f))),
            );
        }
        let key = self.pools.stack(frames);
        self.stacks.insert(addresses.to_vec(), key);
        key
    }
}

impl<W> std::fmt::Debug for ChunkWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkWriter")
            .field("span", &self.span)
            .finish_non_exhaustive()
    }
}
