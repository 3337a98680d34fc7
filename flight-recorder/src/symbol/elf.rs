//! What of a process's memory is mapped from which file, and how addresses there relate to those the
//! file itself uses.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file mapped into this process to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// Where it was mapped from.
    pub(crate) path: PathBuf,
    /// Where it can be opened, whatever became of that path since.
    pub(crate) open: PathBuf,
    /// The addresses of its code.
    pub(crate) addresses: Range<u64>,
    /// What is added to the file's own addresses.
    pub(crate) bias: u64,
    /// Its build id in hexadecimal; empty where it has none.
    pub(crate) build_id: String,
}

/// The modules of this process, by address; empty where the platform does not tell.
pub(crate) fn modules() -> Vec<Module> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let own = std::env::current_exe().ok();
    maps.lines()
        .filter_map(|line| module(line, own.as_deref()))
        .collect()
}

fn module(line: &str, own: Option<&Path>) -> Option<Module> {
    let mut parts = line.split_whitespace();
    let (start, end) = parts.next()?.split_once('-')?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = (hex(start)?, hex(end)?);
    let executable = parts.next()?.contains('x');
    let offset = hex(parts.next()?)?;
    let path = Path::new(parts.nth(2)?);
    if !executable || !path.is_absolute() {
        return None;
    }
    // The program's own file may have been replaced since it was started; this is still the old one.
    let open = if Some(path) == own {
        Path::new("/proc/self/exe")
    } else {
        path
    };
    let file = File::open(open).ok()?;
    let headers = program_headers(&file).ok()?;
    // The mapping begins at a whole page, the segment need not; both differ from the file's addresses
    // by the same amount.
    let mapped = offset..offset.saturating_add(end - start);
    let load = headers.iter().find(|header| {
        let of_file = header.offset..header.offset + header.len;
        header.kind == LOAD
            && header.executable
            && mapped.start < of_file.end
            && of_file.start < mapped.end
    })?;
    let bias = start.wrapping_sub(offset.wrapping_add(load.address.wrapping_sub(load.offset)));
    let build_id = build_id(&file, &headers).unwrap_or_default();
    let (path, open) = (path.to_owned(), open.to_owned());
    Some(Module {
        path,
        open,
        addresses: start..end,
        bias,
        build_id,
    })
}

const LOAD: u32 = 1;
const NOTE: u32 = 4;
/// A note that holds a build id.
const BUILD_ID: u32 = 3;
/// Notes are small; more is not one we look for.
const MAX_NOTES: u64 = 64 << 10;

/// A part of an ELF file.
struct ProgramHeader {
    kind: u32,
    executable: bool,
    offset: u64,
    address: u64,
    len: u64,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The program headers of a 64-bit little-endian ELF file.
fn program_headers(file: &File) -> io::Result<Vec<ProgramHeader>> {
    let other = || io::Error::from(io::ErrorKind::InvalidData);
    let mut head = [0; 64];
    file.read_exact_at(&mut head, 0)?;
    if head[..6] != *b"\x7fELF\x02\x01" {
        return Err(other());
    }
    let (at, count) = (
        u64_at(&head, 32).ok_or_else(other)?,
        u16_at(&head, 56).ok_or_else(other)?,
    );
    let mut headers = Vec::new();
    for index in 0..u64::from(count) {
        let mut bytes = [0; 56];
        file.read_exact_at(&mut bytes, at.saturating_add(index * 56))?;
        let header = (|| {
            Some(ProgramHeader {
                kind: u32_at(&bytes, 0)?,
                executable: u32_at(&bytes, 4)? & 1 != 0,
                offset: u64_at(&bytes, 8)?,
                address: u64_at(&bytes, 16)?,
                len: u64_at(&bytes, 32)?,
            })
        })();
        headers.push(
            header
                .filter(|h| h.offset.checked_add(h.len).is_some())
                .ok_or_else(other)?,
        );
    }
    Ok(headers)
}

fn build_id(file: &File, headers: &[ProgramHeader]) -> Option<String> {
    for header in headers
        .iter()
        .filter(|header| header.kind == NOTE && header.len < MAX_NOTES)
    {
        let mut notes = vec![0; header.len as usize];
        file.read_exact_at(&mut notes, header.offset).ok()?;
        let mut at = 0;
        while let (Some(name), Some(len), Some(kind)) = (
            u32_at(&notes, at),
            u32_at(&notes, at + 4),
            u32_at(&notes, at + 8),
        ) {
            let padded = |len: u32| (len as usize).next_multiple_of(4);
            let begin = at + 12 + padded(name);
            if kind == BUILD_ID && notes.get(at + 12..at + 16) == Some(b"GNU\0") {
                let id = notes.get(begin..begin + len as usize)?;
                return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
            }
            at = begin + padded(len);
        }
    }
    None
}

/// The build id of a file; empty where it has none.
///
/// # Errors
/// The file cannot be read or is no 64-bit little-endian ELF file.
pub fn build_id_of(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    let headers = program_headers(&file)?;
    Ok(build_id(&file, &headers).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_ours_lies_in_a_module_of_ours() {
        let address = modules as fn() -> Vec<Module> as usize as u64;
        let modules = modules();
        let own = modules
            .iter()
            .find(|module| module.addresses.contains(&address));
        assert!(
            own.is_some_and(|own| own.open == Path::new("/proc/self/exe")),
            "{modules:?}"
        );
    }

    #[test]
    fn what_is_no_elf_file_has_no_build_id() {
        assert!(build_id_of(Path::new(file!())).is_err());
        assert!(build_id_of(Path::new("/proc/self/maps")).is_err());
    }
}
