//! Where the process's code lies, and where each piece of it has its tables.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::time::{Duration, Instant};

use super::WORD;

/// The kernel's list is read again for an address that is in none of them, and then not for so many times as long as it took.
const PAUSE: u32 = 100;

/// Fills its second argument with memory from its first on; returns how many bytes it could.
pub(super) trait Read: Fn(u64, &mut [u8]) -> usize {
    /// So many bytes, all of them.
    fn exactly<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        (self(at, &mut bytes) == N).then_some(bytes)
    }

    fn bytes(&self, at: u64, count: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; count];
        (self(at, &mut bytes) == count).then_some(bytes)
    }
}

impl<F: Fn(u64, &mut [u8]) -> usize> Read for F {}

/// An executable part of the program or of a library.
#[derive(Clone, Debug)]
pub(super) struct Module {
    text: Range<u64>,
    /// The sorted table of its functions (`.eh_frame_hdr`): where it begins, and its first bytes.
    pub(super) header: u64,
    prefix: [u8; PREFIX],
}

/// Version, three encodings, a pointer and the number of entries; then the entries.
pub(super) const PREFIX: usize = 12;
/// The encodings that linkers write: the pointer relative to itself, the count as it is, entries relative to the table.
const ENCODINGS: [u8; 4] = [1, 0x1b, 0x03, 0x3b];

impl Module {
    /// Its functions, counted.
    pub(super) fn functions(&self) -> u64 {
        let [.., a, b, c, d] = self.prefix;
        u32::from_ne_bytes([a, b, c, d]).into()
    }
}

/// All of them, sorted by address.
#[derive(Default)]
pub(super) struct Modules {
    list: Vec<Module>,
    due: Option<Instant>,
}

impl Modules {
    /// The one that this address lies in.
    pub(super) fn find(&mut self, address: u64, read: &impl Read) -> Option<Module> {
        let found = |list: &[Module]| {
            let index = list.partition_point(|module| module.text.end <= address);
            let module = list.get(index)?.clone();
            // It may have been unloaded since.
            let is_there = read.exactly(module.header) == Some(module.prefix);
            (module.text.contains(&address) && is_there).then_some(module)
        };
        if let Some(module) = found(&self.list) {
            return Some(module);
        }
        let began = Instant::now();
        if self.due.is_some_and(|due| began < due) {
            return None;
        }
        self.list = list(read).unwrap_or_default();
        self.due = Some(Instant::now() + (began.elapsed() * PAUSE).max(Duration::from_millis(100)));
        found(&self.list)
    }
}

/// Reads the kernel's list of mappings: `5581e000-5581f000 r-xp 00001000 08:01 77   /usr/bin/shop`.
fn list(read: &impl Read) -> Option<Vec<Module>> {
    let mut lines = BufReader::with_capacity(64 << 10, File::open("/proc/self/maps").ok()?);
    let (mut line, mut image, mut modules) = (Vec::new(), None, Vec::new());
    while lines
        .read_until(b'\n', &mut line)
        .is_ok_and(|count| count > 0)
    {
        if let Some(mapping) = Mapping::parse(&line) {
            if mapping.is_first {
                image = Some((mapping.path.to_vec(), mapping.range.start));
            }
            let start = image.as_ref().filter(|(path, _)| path == mapping.path);
            if let Some((_, start)) = start.filter(|_| mapping.is_code) {
                modules.extend(module(read, *start, mapping.range));
            }
        }
        line.clear();
    }
    Some(modules)
}

/// One line of the list.
struct Mapping<'a> {
    range: Range<u64>,
    is_code: bool,
    /// It begins where its file does.
    is_first: bool,
    path: &'a [u8],
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let mut text = || std::str::from_utf8(fields.next()?).ok();
        let number = |text| u64::from_str_radix(text, 16).ok();
        let (start, end) = text()?.split_once('-')?;
        let range = number(start)?..number(end)?;
        let is_code = text()?.as_bytes().get(2) == Some(&b'x');
        let is_first = number(text()?)? == 0;
        let path = fields.nth(2)?.trim_ascii();
        (!path.is_empty()).then_some(Self {
            range,
            is_code,
            is_first,
            path,
        })
    }
}

/// The code at `text` of the file that is mapped from `start` on.
fn module(read: &impl Read, start: u64, text: Range<u64>) -> Option<Module> {
    const HEADER: usize = 64;
    const SEGMENT: usize = 56;
    const LOADED: u32 = 1;
    const TABLE: u32 = 0x6474_e550;
    let file: [u8; HEADER] = read.exactly(start)?;
    let is_little = cfg!(target_endian = "little");
    if file[..6] != [0x7f, b'E', b'L', b'F', 2, if is_little { 1 } else { 2 }] {
        return None;
    }
    let half = |at: usize| usize::from(u16::from_ne_bytes([file[at], file[at + 1]]));
    if half(54) != SEGMENT {
        return None;
    }
    let segments = read.bytes(start + word(&file, 32)?, half(56) * SEGMENT)?;
    let mut segments = segments.chunks_exact(SEGMENT).filter_map(|segment| {
        let kind = segment
            .first_chunk()
            .map(|bytes| u32::from_ne_bytes(*bytes));
        Some((kind?, word(segment, 16)?))
    });
    let mut of = |wanted| segments.find(|(kind, _)| *kind == wanted).map(|(_, at)| at);
    // Segments are sorted by address, and the table's comes behind the first that is loaded.
    let first = of(LOADED)?;
    let header = start.wrapping_sub(first & !0xfff).wrapping_add(of(TABLE)?);
    let prefix: [u8; PREFIX] = read.exactly(header)?;
    (prefix[..4] == ENCODINGS).then_some(Module {
        text,
        header,
        prefix,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + WORD)?.try_into().ok()?;
    Some(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_read_with_its_path() {
        let line = b"5581e000-5581f000 r-xp 00001000 08:01 77      /opt/my shop\n";
        let mapping = Mapping::parse(line).expect("well formed");
        assert_eq!(mapping.range, 0x5581_e000..0x5581_f000);
        assert_eq!(mapping.path, b"/opt/my shop");
        assert!(mapping.is_code && !mapping.is_first);
        let line = b"7f00-7f01 rw-p 00000000 00:00 0\n";
        assert!(Mapping::parse(line).is_none(), "memory without a file");
    }
}
