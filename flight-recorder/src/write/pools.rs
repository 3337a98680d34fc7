//! The constant pools of one chunk: what events refer to by key. A value is encoded when it is first
//! interned, so that the checkpoint is a concatenation.
//!
//! **Invariant:** a key is never reused for another value of its pool within a file: the JDK keeps what
//! an earlier chunk said. So each pool's keys go on from chunk to chunk, and 0 is null.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::format::schema::Schema;
use crate::format::varint::{put, put_sized, put_text};
use crate::format::{CHECKPOINT, is_unnamed};
use crate::symbol::Frame;

/// A frame in a stack, as interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FrameKey {
    method: u64,
    line: u32,
    kind: u64,
}

impl FrameKey {
    /// A frame as a recording stores it: method, line, bytecode index, type.
    pub(crate) fn stored([method, line, _, kind]: [u64; 4]) -> Self {
        Self {
            method,
            line: u32::try_from(line).unwrap_or(0),
            kind,
        }
    }
}

/// A thread, as readers know it: by its number, which no other has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ThreadKey {
    Virtual(u64),
    Carrier(u64),
}

/// One pool: values by content, their bytes in order.
struct Pool<K> {
    of: &'static str,
    next: u64,
    keys: HashMap<K, u64, RandomState>,
    bytes: Vec<u8>,
}

impl<K: Eq + Hash> Pool<K> {
    /// An empty pool. Counting for itself keeps the keys of small pools short, however many threads there are.
    fn new(of: &'static str, next: u64) -> Self {
        Self {
            of,
            next: next.max(1),
            keys: HashMap::default(),
            bytes: Vec::new(),
        }
    }

    fn add(&mut self, key: K, encode: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let number = self.next;
        self.next += 1;
        put(&mut self.bytes, number);
        encode(&mut self.bytes);
        self.keys.insert(key, number);
        number
    }

    fn part(&self) -> (&'static str, usize, &[u8]) {
        (self.of, self.keys.len(), &self.bytes)
    }
}

/// The first key each pool has not used.
pub(crate) type Keys = [u64; 9];

/// The pools of one chunk.
pub(crate) struct Pools {
    texts: Pool<Arc<str>>,
    symbols: Pool<Arc<str>>,
    loaders: Pool<bool>,
    packages: Pool<u64>,
    classes: Pool<(u64, u64, u64)>,
    methods: Pool<(u64, u64, bool)>,
    kinds: Pool<Arc<str>>,
    stacks: Pool<Vec<FrameKey>>,
    threads: Pool<ThreadKey>,
}

/// The most frames of a stack that are kept, as in the JDK.
pub(super) const MAX_FRAMES: usize = 64;

impl Pools {
    /// Empty pools whose keys begin where another chunk's ended.
    pub(crate) fn new(next: Keys) -> Self {
        Self {
            texts: Pool::new("java.lang.String", next[0]),
            symbols: Pool::new("jdk.types.Symbol", next[1]),
            loaders: Pool::new("jdk.types.ClassLoader", next[2]),
            packages: Pool::new("jdk.types.Package", next[3]),
            classes: Pool::new("java.lang.Class", next[4]),
            methods: Pool::new("jdk.types.Method", next[5]),
            kinds: Pool::new("jdk.types.FrameType", next[6]),
            stacks: Pool::new("jdk.types.StackTrace", next[7]),
            threads: Pool::new("java.lang.Thread", next[8]),
        }
    }

    /// The first keys these pools have not used.
    pub(crate) fn next_keys(&self) -> Keys {
        [
            self.texts.next,
            self.symbols.next,
            self.loaders.next,
            self.packages.next,
            self.classes.next,
            self.methods.next,
            self.kinds.next,
            self.stacks.next,
            self.threads.next,
        ]
    }

    pub(super) fn text(&mut self, text: &str) -> u64 {
        text_in(&mut self.texts, text)
    }

    pub(super) fn symbol(&mut self, text: &str) -> u64 {
        text_in(&mut self.symbols, text)
    }

    /// The loader that tells the JDK's views whose code a class is.
    fn loader(&mut self, application: bool) -> u64 {
        if let Some(key) = self.loaders.keys.get(&application) {
            return *key;
        }
        let name = self.symbol(if application { "app" } else { "bootstrap" });
        self.loaders.add(application, |bytes| {
            put(bytes, 0);
            put(bytes, name);
        })
    }

    fn package(&mut self, name: &str) -> u64 {
        let name = self.symbol(name);
        if let Some(key) = self.packages.keys.get(&name) {
            return *key;
        }
        self.packages.add(name, |bytes| put(bytes, name))
    }

    /// A class by name; `application` says whose code it is.
    pub(super) fn class(&mut self, name: &str, package: &str, application: bool) -> u64 {
        let key = (
            self.loader(application),
            self.symbol(name),
            self.package(package),
        );
        if let Some(key) = self.classes.keys.get(&key) {
            return *key;
        }
        self.classes.add(key, |bytes| {
            for part in [key.0, key.1, key.2, 0] {
                put(bytes, part);
            }
            bytes.push(0);
        })
    }

    pub(crate) fn frame(&mut self, frame: &Frame) -> FrameKey {
        let class = self.class(&frame.class, &frame.package, frame.application);
        let name = self.symbol(&frame.method);
        // Readers parse it for arguments, so it must look like one.
        let descriptor = self.symbol("()V");
        let key = (class, name, frame.hidden);
        let method = match self.methods.keys.get(&key) {
            Some(method) => *method,
            None => self.methods.add(key, |bytes| {
                for part in [class, name, descriptor, 0] {
                    put(bytes, part);
                }
                bytes.push(u8::from(frame.hidden));
            }),
        };
        let kind = text_in(&mut self.kinds, frame.kind.as_str());
        FrameKey {
            method,
            line: frame.line,
            kind,
        }
    }

    /// A stack by its frames, innermost first; null where there are none.
    pub(super) fn stack(&mut self, mut frames: Vec<FrameKey>) -> u64 {
        let truncated = frames.len() > MAX_FRAMES;
        frames.truncate(MAX_FRAMES);
        if frames.is_empty() {
            return 0;
        }
        if let Some(key) = self.stacks.keys.get(&frames) {
            return *key;
        }
        let key = frames.clone();
        self.stacks
            .add(key, |bytes| Self::put_stack(bytes, truncated, &frames))
    }

    /// Appends a stack's fields.
    pub(crate) fn put_stack(bytes: &mut Vec<u8>, truncated: bool, frames: &[FrameKey]) {
        bytes.push(u8::from(truncated));
        put(bytes, frames.len() as u64);
        for frame in frames {
            put(bytes, frame.method);
            put(bytes, u64::from(frame.line));
            put(bytes, 0);
            put(bytes, frame.kind);
        }
    }

    /// A virtual thread. No name of the operating system's: readers take the other one.
    pub(super) fn thread(&mut self, id: u64, name: &str) -> u64 {
        let key = ThreadKey::Virtual(id);
        if let Some(key) = self.threads.keys.get(&key) {
            return *key;
        }
        let name = if is_unnamed(id, name) { "" } else { name };
        self.threads.add(key, |bytes| {
            put_text(bytes, None);
            put(bytes, 0);
            put_text(bytes, Some(name));
            put(bytes, id);
            bytes.push(1);
        })
    }

    /// A carrier, with what the operating system calls it. No thread id of the JDK's kind: carriers are named by the
    /// operating system's.
    pub(super) fn carrier(&mut self, id: u64, os_id: impl FnOnce() -> u64) -> u64 {
        let key = ThreadKey::Carrier(id);
        if let Some(key) = self.threads.keys.get(&key) {
            return *key;
        }
        let os_id = os_id();
        self.threads.add(key, |bytes| {
            let name = format!("carrier-{id}");
            put_text(bytes, Some(&name));
            put(bytes, os_id);
            put_text(bytes, Some(&name));
            put(bytes, 0);
            bytes.push(0);
        })
    }

    /// Bytes the pools hold so far.
    pub(super) fn size(&self) -> usize {
        self.texts.bytes.len()
            + self.symbols.bytes.len()
            + self.stacks.bytes.len()
            + self.threads.bytes.len()
    }

    /// Each pool: its type, how many it holds, and their bytes.
    pub(crate) fn parts(&self) -> [(&'static str, usize, &[u8]); 9] {
        [
            self.texts.part(),
            self.symbols.part(),
            self.loaders.part(),
            self.packages.part(),
            self.classes.part(),
            self.methods.part(),
            self.kinds.part(),
            self.stacks.part(),
            self.threads.part(),
        ]
    }

    /// Appends the checkpoint event.
    pub(super) fn put_checkpoint(&self, bytes: &mut Vec<u8>, schema: &Schema, start_ticks: u64) {
        let mut pools = Vec::new();
        let mut count = 0_u64;
        for (of, entries, held) in self.parts() {
            // Readers refuse an empty pool.
            if entries > 0 {
                count += 1;
                put(&mut pools, schema.id(of));
                put(&mut pools, entries as u64);
                pools.extend_from_slice(held);
            }
        }
        let mut body = Vec::with_capacity(pools.len() + 32);
        put(&mut body, CHECKPOINT);
        put(&mut body, start_ticks);
        // No duration, no earlier checkpoint, no special kind.
        put(&mut body, 0);
        put(&mut body, 0);
        body.push(0);
        put(&mut body, count);
        body.extend_from_slice(&pools);
        put_sized(bytes, &body);
    }
}

fn text_in(pool: &mut Pool<Arc<str>>, text: &str) -> u64 {
    if let Some(key) = pool.keys.get(text) {
        return *key;
    }
    pool.add(text.into(), |bytes| put_text(bytes, Some(text)))
}
