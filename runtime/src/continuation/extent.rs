//! The addresses of a stack, and how much of it has memory behind it.
#![expect(
    unsafe_code,
    reason = "asks the kernel which pages of a stack are in memory"
)]

use std::ops::Range;
use std::ptr;

/// The size of a page.
pub(super) fn page_size() -> usize {
    rustix::param::page_size()
}

/// The addresses of one stack; plain numbers, valid to hold whatever becomes of the stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    low: usize,
    /// Lengths in [`UNIT`]s, because every virtual thread carries one of these.
    length: u32,
    guard: u32,
}

/// The smallest page of any system; every stack and guard is a multiple of it.
const UNIT: usize = 4096;

impl Extent {
    /// A stack from `low` to `high` with `guard` bytes below it that fault.
    pub(super) fn new(low: usize, high: usize, guard: usize) -> Self {
        let units = |bytes: usize| u32::try_from(bytes / UNIT).expect("no stack has 16 TiB");
        Self {
            low,
            length: units(high - low),
            guard: units(guard),
        }
    }

    /// Where frames may be.
    pub(super) fn usable(self) -> Range<usize> {
        self.low..self.low + self.length as usize * UNIT
    }

    /// Where an access means that the stack was too small.
    pub(super) fn guard(self) -> Range<usize> {
        self.low - self.guard as usize * UNIT..self.low
    }
}

/// Bytes from the lowest page of `stack` that is in memory to its top: how deep it has been since its
/// memory was last given back. 0 where the kernel does not say. From any thread, a system call or two.
pub(crate) fn stack_used(stack: &Range<usize>) -> usize {
    let page = page_size();
    let mut in_memory = [0_u8; 64];
    let mut at = stack.start;
    while at < stack.end {
        let length = (stack.end - at).min(in_memory.len() * page);
        let from = ptr::without_provenance_mut(at);
        // SAFETY: mincore only reports on the range, whatever is mapped there, and there is a byte for
        // each page of it.
        let answer = unsafe { libc::mincore(from, length, in_memory.as_mut_ptr().cast()) };
        if answer != 0 {
            return 0;
        }
        let pages = &in_memory[..length.div_ceil(page)];
        if let Some(lowest) = pages.iter().position(|state| state & 1 == 1) {
            return stack.end - (at + lowest * page);
        }
        at += length;
    }
    0
}
