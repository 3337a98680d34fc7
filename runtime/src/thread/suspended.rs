//! The return addresses of virtual threads that wait, taken without their help.
//!
//! The door announces the frame pointer of the frame that waits. From there the saved frame pointers are followed
//! within the thread's stack, read through `/proc/self/mem`: a thread that goes on, ends and gives its stack back
//! meanwhile costs a wrong or a short read, never a fault, and what was read of it is thrown away. In a build without frame
//! pointers it is the stack pointer, and the compilers' tables lead on from there.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use crate::park::{Record, has_frame_pointers};
use crate::watchdog;

/// Frames kept at most, as the JDK's default.
const DEPTH: usize = 64;
/// Bytes read from the waiting frame up.
const WINDOW: usize = 16 * 1024;
const WORD: usize = size_of::<usize>();

/// Reads stacks of this process.
pub(crate) struct Stacks(Option<File>);

impl Stacks {
    pub(crate) fn open() -> Self {
        Self(File::open("/proc/self/mem").ok())
    }

    /// The return addresses of a thread that waits, innermost first; empty where it does not, or nothing can be told.
    pub(crate) fn of(&self, record: &Arc<Record>) -> Vec<u64> {
        let (Some(memory), Some(waiting)) = (&self.0, record.waiting()) else {
            return Vec::new();
        };
        let bounds = record.as_virtual().and_then(|part| part.stack());
        let Some(bounds) = bounds.filter(|bounds| bounds.contains(&waiting.frame.0)) else {
            return Vec::new();
        };
        let (frame, address) = waiting.frame;
        let addresses = if has_frame_pointers() {
            let words = read(memory, frame, bounds.end.min(frame + WINDOW));
            let mut addresses = follow(&words, frame, &bounds);
            addresses.insert(0, address as u64);
            addresses
        } else {
            watchdog::stack_from(&bounds, (address as u64, frame as u64), DEPTH)
        };
        // While the same wait lasts nothing above its frame changes.
        match record.waiting() {
            Some(still) if still.epoch == waiting.epoch => addresses,
            _ => Vec::new(),
        }
    }
}

fn read(memory: &File, from: usize, to: usize) -> Vec<usize> {
    let mut bytes = vec![0; to.saturating_sub(from)];
    let count = rustix::io::pread(memory, &mut *bytes, from as u64).unwrap_or(0);
    let word = |chunk: &[u8]| usize::from_ne_bytes(chunk.try_into().unwrap_or([0; WORD]));
    bytes[..count].chunks_exact(WORD).map(word).collect()
}

/// Follows the chain of saved frame pointers that begins with the first of `words`, which lie from `base` up.
fn follow(words: &[usize], base: usize, bounds: &Range<usize>) -> Vec<u64> {
    let mut addresses = Vec::new();
    let mut frame = base;
    while addresses.len() < DEPTH && frame.is_multiple_of(WORD) {
        let index = (frame - base) / WORD;
        let (Some(&saved), Some(&address)) = (words.get(index), words.get(index + 1)) else {
            break;
        };
        if address == 0 {
            break;
        }
        addresses.push(address as u64);
        if saved <= frame || saved >= bounds.end {
            break;
        }
        frame = saved;
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_followed_up_and_no_further_than_the_stack() {
        let at = |index: usize| 0x1000 + index * WORD;
        let bounds = 0x1000..at(8);
        let words = [at(3), 11, 0, at(6), 12, 0, 0, 13];
        assert_eq!(follow(&words, 0x1000, &bounds), [11, 12, 13]);
        // Down, round, beyond the end, crooked: each ends it.
        for saved in [0x800, at(0), at(8), at(3) + 1] {
            assert_eq!(follow(&[saved, 11, 0, 0], 0x1000, &bounds), [11]);
        }
        assert_eq!(follow(&[], 0x1000, &bounds), [0; 0]);
    }
}
