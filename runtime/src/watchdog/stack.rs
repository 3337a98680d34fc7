//! The return addresses of a thread that is blocked, taken without its help.
//!
//! The kernel tells stack pointer and program counter, but not the frame pointer. It is found: the words above the
//! stack pointer are looked through for the first one that begins a chain of saved frame pointers, each above the
//! last, which leads near the top of the stack. Memory is read through `/proc/self/mem`, so that a thread which goes
//! on, ends and gives its stack back meanwhile costs a short read, never a fault.

use std::fs::File;
use std::ops::Range;

use super::procfs::Syscall;

/// Bytes read from the stack pointer up.
const WINDOW: usize = 64 * 1024;
/// Words looked through for the first frame: the C library's frame of the call and its callers' locals.
const SEARCH: usize = 512;
/// A chain of fewer frames than this is taken for chance.
const LEAST_CHAIN: usize = 3;

const WORD: usize = size_of::<usize>();

/// The stack of a thread whose frames lie within `bounds` and which sits in `call`; empty if nothing can be told.
pub(super) fn of_blocked(bounds: &Range<usize>, call: &Syscall, depth: usize) -> Vec<u64> {
    if depth == 0 {
        return Vec::new();
    }
    let mut addresses = vec![call.program_counter];
    let pointer = usize::try_from(call.stack_pointer).unwrap_or(0);
    if !bounds.contains(&pointer) {
        return addresses;
    }
    let words = read(pointer, bounds.end.min(pointer + WINDOW));
    let frames = Frames {
        base: pointer,
        end: bounds.end,
        words: &words,
        depth,
    };
    // A word that happens to be a function's address, a closure's say, may stand below a saved frame pointer too.
    let returns = |chain: &Vec<u64>| {
        chain
            .first()
            .is_some_and(|&address| follows_a_call(address))
    };
    let chain =
        (0..words.len().min(SEARCH)).find_map(|index| frames.chain_from(index).filter(returns));
    addresses.extend(chain.into_iter().flatten());
    addresses
}

fn read(from: usize, to: usize) -> Vec<usize> {
    let mut bytes = vec![0; to - from];
    let Ok(memory) = File::open("/proc/self/mem") else {
        return Vec::new();
    };
    let count = rustix::io::pread(&memory, &mut *bytes, from as u64).unwrap_or(0);
    let word = |chunk: &[u8]| usize::from_ne_bytes(chunk.try_into().unwrap_or([0; WORD]));
    bytes[..count].chunks_exact(WORD).map(word).collect()
}

/// Words of a stack, and what they could mean.
struct Frames<'a> {
    base: usize,
    end: usize,
    words: &'a [usize],
    /// Frames kept at most.
    depth: usize,
}

impl Frames<'_> {
    /// The return addresses of the chain whose first saved frame pointer is the word at `index`.
    fn chain_from(&self, mut index: usize) -> Option<Vec<u64>> {
        let mut addresses = Vec::new();
        // The outermost frame saved whatever the register held before, and a backend's first frame returns nowhere:
        // the chain is whole then, or chance.
        let whole = |addresses: Vec<u64>| (addresses.len() >= LEAST_CHAIN).then_some(addresses);
        loop {
            let (Some(&saved), Some(&address)) = (self.words.get(index), self.words.get(index + 1))
            else {
                return whole(addresses);
            };
            let here = self.base + index * WORD;
            if !is_code(address) {
                return whole(addresses);
            }
            addresses.push(address as u64);
            let leads_up = saved > here && saved < self.end && saved.is_multiple_of(WORD);
            if !leads_up || addresses.len() == self.depth {
                return whole(addresses);
            }
            index = (saved - self.base) / WORD;
        }
    }
}

/// Does a call end right before this address, as before every return address? Unknown counts as yes.
fn follows_a_call(address: u64) -> bool {
    const LONGEST: u64 = 7;
    let mut before = [0_u8; LONGEST as usize];
    let from = address.saturating_sub(LONGEST);
    let count = File::open("/proc/self/mem")
        .and_then(|memory| Ok(rustix::io::pread(&memory, &mut before, from)?));
    if !cfg!(target_arch = "x86_64") || !matches!(count, Ok(count) if count == before.len()) {
        return true;
    }
    ends_in_a_call(&before)
}

/// Are the last bytes a call of x86-64: near and direct (`E8` and four bytes), or indirect (`FF` with 2 in the middle
/// of the next byte, which is followed by at most five more)?
fn ends_in_a_call(code: &[u8; 7]) -> bool {
    let is_indirect = |length: usize| {
        let at = code.len() - length;
        code[at] == 0xff && code[at + 1] >> 3 & 0b111 == 2
    };
    code[2] == 0xe8 || [2, 3, 4, 6, 7].into_iter().any(is_indirect)
}

/// Could this be an address of code? User space above the first pages, below the kernel's half, and not a small number.
fn is_code(address: usize) -> bool {
    (0x1_0000..1 << 47).contains(&address)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: usize = 0x5555_0000;

    fn frames(words: &[usize]) -> Frames<'_> {
        Frames {
            base: 0x1000,
            end: 0x1000 + words.len() * WORD,
            words,
            depth: 64,
        }
    }

    #[test]
    fn a_chain_that_climbs_is_followed_to_its_end() {
        let at = |index: usize| 0x1000 + index * WORD;
        let words = [7, at(3), CODE + 1, at(5), CODE + 2, 0, CODE + 3, 9];
        assert_eq!(frames(&words).chain_from(0), None);
        let chain = frames(&words).chain_from(1).expect("a chain");
        assert_eq!(chain, [CODE as u64 + 1, CODE as u64 + 2, CODE as u64 + 3]);
    }

    #[test]
    fn a_loop_or_two_frames_by_chance_are_not() {
        let at = |index: usize| 0x1000 + index * WORD;
        let words = [at(0), CODE, at(0), CODE];
        assert_eq!(frames(&words).chain_from(0), None);
        let words = [at(2), CODE, at(4), CODE, 1, 0];
        assert_eq!(frames(&words).chain_from(0), None);
    }

    #[test]
    fn what_follows_no_call_is_no_return_address() {
        // call +0x10; call *%rax; call *0x20(%rip); push %rbp behind a return and padding.
        assert!(ends_in_a_call(&[0x90, 0x90, 0xe8, 0x10, 0, 0, 0]));
        assert!(ends_in_a_call(&[0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0]));
        assert!(ends_in_a_call(&[0x90, 0xff, 0x15, 0x20, 0, 0, 0]));
        assert!(!ends_in_a_call(&[0x5d, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc]));
    }

    #[test]
    fn a_chain_ends_at_a_frame_that_returns_nowhere() {
        let at = |index: usize| 0x1000 + index * WORD;
        let words = [at(2), CODE, at(4), CODE, at(6), CODE, 1, 0];
        assert_eq!(
            frames(&words).chain_from(0).map(|chain| chain.len()),
            Some(3)
        );
    }
}
