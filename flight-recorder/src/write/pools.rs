//! The constant pools of one chunk: what events refer to by key. A value is encoded when it is first
//! interned, so that the checkpoint is a concatenation.
//!
//! **Invariant:** a key is never reused for another value within a file: the JDK keeps what an earlier
//! chunk said. So keys go on from chunk to chunk, and 0 is null.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::format::CHECKPOINT;
use crate::format::schema::Schema;
use crate::format::varint::{put, put_sized, put_text};
use crate::symbol::Frame;

/// A frame in a stack, as interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FrameKey {
    method: u64,
    line: u32,
    kind: u64,
}

/// A thread, as readers know it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ThreadKey {
    Virtual { id: u64, name: Arc<str> },
    Carrier { id: u64, os_id: u64 },
}

/// One pool: values by content, their bytes in order.
struct Pool<K> {
    of: &'static str,
    keys: HashMap<K, u64>,
    bytes: Vec<u8>,
}

impl<K: Eq + Hash> Pool<K> {
    fn new(of: &'static str) -> Self {
        Self {
            of,
            keys: HashMap::new(),
            bytes: Vec::new(),
        }
    }

    fn add(&mut self, next: &mut u64, key: K, encode: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let number = *next;
        *next += 1;
        put(&mut self.bytes, number);
        encode(&mut self.bytes);
        self.keys.insert(key, number);
        number
    }

    fn put(&self, schema: &Schema, bytes: &mut Vec<u8>) -> bool {
        // Readers refuse an empty pool.
        if self.keys.is_empty() {
            return false;
        }
        put(bytes, schema.id(self.of));
        put(bytes, self.keys.len() as u64);
        bytes.extend_from_slice(&self.bytes);
        true
    }
}

/// The pools of one chunk.
pub(super) struct Pools {
    next: u64,
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
    /// Empty pools whose keys begin at `next`.
    pub(super) fn new(next: u64) -> Self {
        Self {
            next: next.max(1),
            texts: Pool::new("java.lang.String"),
            symbols: Pool::new("jdk.types.Symbol"),
            loaders: Pool::new("jdk.types.ClassLoader"),
            packages: Pool::new("jdk.types.Package"),
            classes: Pool::new("java.lang.Class"),
            methods: Pool::new("jdk.types.Method"),
            kinds: Pool::new("jdk.types.FrameType"),
            stacks: Pool::new("jdk.types.StackTrace"),
            threads: Pool::new("java.lang.Thread"),
        }
    }

    /// The first key these pools have not used.
    pub(super) fn next_key(&self) -> u64 {
        self.next
    }

    pub(super) fn text(&mut self, text: &str) -> u64 {
        text_in(&mut self.texts, &mut self.next, text)
    }

    fn symbol(&mut self, text: &str) -> u64 {
        text_in(&mut self.symbols, &mut self.next, text)
    }

    /// The loader that tells the JDK's views whose code a class is.
    fn loader(&mut self, application: bool) -> u64 {
        if let Some(key) = self.loaders.keys.get(&application) {
            return *key;
        }
        let name = self.symbol(if application { "app" } else { "bootstrap" });
        self.loaders.add(&mut self.next, application, |bytes| {
            put(bytes, 0);
            put(bytes, name);
        })
    }

    fn package(&mut self, name: &str) -> u64 {
        let name = self.symbol(name);
        if let Some(key) = self.packages.keys.get(&name) {
            return *key;
        }
        self.packages
            .add(&mut self.next, name, |bytes| put(bytes, name))
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
        self.classes.add(&mut self.next, key, |bytes| {
            for part in [key.0, key.1, key.2, 0] {
                put(bytes, part);
            }
            bytes.push(0);
        })
    }

    pub(super) fn frame(&mut self, frame: &Frame) -> FrameKey {
        let class = self.class(&frame.class, &frame.package, frame.application);
        let name = self.symbol(&frame.method);
        // Readers parse it for arguments, so it must look like one.
        let descriptor = self.symbol("()V");
        let key = (class, name, frame.hidden);
        let method = match self.methods.keys.get(&key) {
            Some(method) => *method,
            None => self.methods.add(&mut self.next, key, |bytes| {
                for part in [class, name, descriptor, 0] {
                    put(bytes, part);
                }
                bytes.push(u8::from(frame.hidden));
            }),
        };
        let kind = text_in(&mut self.kinds, &mut self.next, frame.kind.as_str());
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
        self.stacks.add(&mut self.next, key, |bytes| {
            bytes.push(u8::from(truncated));
            put(bytes, frames.len() as u64);
            for frame in &frames {
                put(bytes, frame.method);
                put(bytes, u64::from(frame.line));
                put(bytes, 0);
                put(bytes, frame.kind);
            }
        })
    }

    pub(super) fn thread(&mut self, thread: ThreadKey) -> u64 {
        if let Some(key) = self.threads.keys.get(&thread) {
            return *key;
        }
        self.threads
            .add(&mut self.next, thread.clone(), |bytes| match &thread {
                ThreadKey::Virtual { id, name } => {
                    put_text(bytes, Some(name));
                    put(bytes, 0);
                    put_text(bytes, Some(name));
                    put(bytes, *id);
                    bytes.push(1);
                }
                // No thread id of the JDK's kind: carriers are named by the operating system's.
                ThreadKey::Carrier { id, os_id } => {
                    let name = format!("carrier-{id}");
                    put_text(bytes, Some(&name));
                    put(bytes, *os_id);
                    put_text(bytes, Some(&name));
                    put(bytes, 0);
                    bytes.push(0);
                }
            })
    }

    /// Bytes the pools hold so far.
    pub(super) fn size(&self) -> usize {
        self.texts.bytes.len() + self.symbols.bytes.len() + self.stacks.bytes.len()
    }

    /// Appends the checkpoint event.
    pub(super) fn put_checkpoint(&self, bytes: &mut Vec<u8>, schema: &Schema, start_ticks: u64) {
        let mut pools = Vec::new();
        let count = [
            self.texts.put(schema, &mut pools),
            self.symbols.put(schema, &mut pools),
            self.loaders.put(schema, &mut pools),
            self.packages.put(schema, &mut pools),
            self.classes.put(schema, &mut pools),
            self.methods.put(schema, &mut pools),
            self.kinds.put(schema, &mut pools),
            self.stacks.put(schema, &mut pools),
            self.threads.put(schema, &mut pools),
        ]
        .into_iter()
        .filter(|written| *written)
        .count();
        let mut body = Vec::with_capacity(pools.len() + 32);
        put(&mut body, CHECKPOINT);
        put(&mut body, start_ticks);
        // No duration, no earlier checkpoint, no special kind.
        put(&mut body, 0);
        put(&mut body, 0);
        body.push(0);
        put(&mut body, count as u64);
        body.extend_from_slice(&pools);
        put_sized(bytes, &body);
    }
}

fn text_in(pool: &mut Pool<Arc<str>>, next: &mut u64, text: &str) -> u64 {
    if let Some(key) = pool.keys.get(text) {
        return *key;
    }
    pool.add(next, text.into(), |bytes| put_text(bytes, Some(text)))
}
