//! Writes a recording anew with names in the place of addresses that its process could not name.
//!
//! Events stay byte for byte as they are: only the constants change, in which a frame of a numbered
//! address becomes the frames of its functions. A chunk is held in memory at a time. **Invariant:** stacks
//! keep their keys, and what is added begins at keys no recorder comes to.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Seek, Write};

use crate::format::varint::{put, put_sized};
use crate::format::{CHECKPOINT, HEADER_LEN, METADATA};
use crate::read::{Chunk, Cursor, ReadError, Reader};
use crate::symbol::{Frame, Function};
use crate::write::{FrameKey, Pools};

/// Where the keys of what is added begin.
const ADDED: u64 = 1 << 40;

/// What [`rename`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renamed {
    /// Addresses that have names now.
    pub named: u64,
    /// Addresses that still have none.
    pub unnamed: u64,
}

/// Copies the recording of `reader` to `out`, its numbered addresses named by `functions`. What is damaged
/// in it is left out, as everywhere: see [`Reader::damages`].
///
/// # Errors
/// The recording cannot be read, or `out` cannot be written.
pub fn rename<R: Read + Seek, W: Write>(
    reader: &mut Reader<R>,
    mut out: W,
    mut functions: impl FnMut(u64) -> Vec<Function>,
) -> Result<Renamed, ReadError> {
    let mut renamed = Renamed::default();
    let mut known: BTreeMap<u64, Vec<Function>> = BTreeMap::new();
    let mut next = Pools::new([ADDED; 9]).next_keys();
    while let Some(mut chunk) = reader.next_chunk()? {
        let addresses = numbered(&chunk);
        for address in addresses.values() {
            known.entry(*address).or_insert_with(|| functions(*address));
        }
        let mut pools = Pools::new(next);
        let constants = constants(&chunk, &addresses, &known, &mut pools);
        next = pools.next_keys();
        write_chunk(&mut chunk, &constants, &mut out)?;
    }
    out.flush()?;
    for functions in known.values() {
        *(match functions.is_empty() {
            true => &mut renamed.unnamed,
            false => &mut renamed.named,
        }) += 1;
    }
    Ok(renamed)
}

/// The address in a frame's name, where the process had nothing but that.
#[must_use]
pub fn numbered_address(class: &str, method: &str) -> Option<u64> {
    let digits = method.strip_prefix("0x").filter(|_| class == "unknown")?;
    u64::from_str_radix(digits, 16).ok()
}

/// The methods of a chunk that are numbered addresses, by key.
fn numbered<R: Read + Seek>(chunk: &Chunk<'_, R>) -> HashMap<u64, u64> {
    let mut found = HashMap::new();
    for (key, value) in chunk.constants_of("jdk.types.Method") {
        let text = |value: &crate::Value<'_>| value.text().unwrap_or_default().to_owned();
        let class = text(value.member("type").member("name"));
        if let Some(address) = numbered_address(&class, &text(value.member("name"))) {
            found.insert(key, address);
        }
    }
    found
}

/// The checkpoint's pools: their count, and what they hold.
fn constants<R: Read + Seek>(
    chunk: &Chunk<'_, R>,
    addresses: &HashMap<u64, u64>,
    known: &BTreeMap<u64, Vec<Function>>,
    pools: &mut Pools,
) -> (u64, Vec<u8>) {
    let named = |method: u64| {
        let functions = known.get(addresses.get(&method)?)?;
        (!functions.is_empty()).then_some(functions)
    };
    // By type: how many, and their bytes.
    let mut old: BTreeMap<u64, (u64, Vec<u8>)> = BTreeMap::new();
    for (id, key, bytes) in chunk.raw_constants() {
        let (count, held) = old.entry(id).or_default();
        *count += 1;
        put(held, key);
        let stack = Some(id) == chunk.id_of("jdk.types.StackTrace");
        match stack.then(|| stack_of(bytes)).flatten() {
            Some((truncated, frames)) if frames.iter().any(|f| named(f[0]).is_some()) => {
                let mut list: Vec<FrameKey> = Vec::with_capacity(frames.len());
                for frame in &frames {
                    match named(frame[0]) {
                        Some(functions) => {
                            list.extend(
                                functions
                                    .iter()
                                    .map(|f| pools.frame(&Frame::of_function(f))),
                            );
                        }
                        None => list.push(FrameKey::stored(*frame)),
                    }
                }
                Pools::put_stack(held, truncated, &list);
            }
            _ => held.extend_from_slice(bytes),
        }
    }
    for (name, count, bytes) in pools.parts() {
        if let Some(id) = chunk.id_of(name).filter(|_| count > 0) {
            let (all, held) = old.entry(id).or_default();
            *all += count as u64;
            held.extend_from_slice(bytes);
        }
    }
    let mut body = Vec::new();
    for (id, (count, bytes)) in &old {
        put(&mut body, *id);
        put(&mut body, *count);
        body.extend_from_slice(bytes);
    }
    (old.len() as u64, body)
}

/// Method, line, bytecode index and type of each frame of a stored stack; `None` where it is none of ours.
fn stack_of(bytes: &[u8]) -> Option<(bool, Vec<[u64; 4]>)> {
    let mut cursor = Cursor::new(bytes);
    let truncated = cursor.byte().ok()? != 0;
    let mut frames = Vec::new();
    for _ in 0..cursor.count().ok()? {
        let mut frame = [0; 4];
        for part in &mut frame {
            *part = cursor.integer().ok()?;
        }
        frames.push(frame);
    }
    (cursor.left() == 0).then_some((truncated, frames))
}

fn write_chunk<R: Read + Seek>(
    chunk: &mut Chunk<'_, R>,
    (count, constants): &(u64, Vec<u8>),
    out: &mut impl Write,
) -> Result<(), ReadError> {
    let (mut bytes, mut events) = (vec![0; HEADER_LEN], Vec::new());
    chunk.each_raw(|of, raw| match of {
        METADATA if bytes.len() == HEADER_LEN => bytes.extend_from_slice(raw),
        METADATA | CHECKPOINT => {}
        _ => events.extend_from_slice(raw),
    })?;
    let mut header = *chunk.header();
    header.metadata = HEADER_LEN as u64;
    header.checkpoint = bytes.len() as u64;
    let mut body = Vec::with_capacity(constants.len() + 32);
    put(&mut body, CHECKPOINT);
    put(&mut body, header.start_ticks);
    // No duration, no earlier checkpoint, no special kind.
    body.extend_from_slice(&[0, 0, 0]);
    put(&mut body, *count);
    body.extend_from_slice(constants);
    put_sized(&mut bytes, &body);
    header.size = (bytes.len() + events.len()) as u64;
    header.state = 0;
    bytes[..HEADER_LEN].copy_from_slice(&header.to_bytes());
    let written = out.write_all(&bytes).and_then(|()| out.write_all(&events));
    written.map_err(|error: io::Error| error.into())
}
