//! Stack memory: large mappings, cut into slots, each with a guard below its stack.
//!
//! ```text
//!   Slab (one mapping, MAP_NORESERVE, no huge pages)
//!   ┌───────┬──────────────┬───────┬──────────────┬────
//!   │ guard │  stack 0  <- │ guard │  stack 1  <- │ ..      stacks grow down, towards their guard
//!   └───────┴──────────────┴───────┴──────────────┴────
//!   base   low           high = next base
//! ```
//!
//! **Invariant (slot ownership):** a [`Slot`] value is the only handle of its memory. It is made once,
//! by [`Slab::carve`], and moves between the store and one stack. Not `Clone`.
//!
//! **Invariant (guarded):** from [`Slot::ensure_guard`] on, the guard of a slot faults on every access for
//! as long as the slab is mapped; giving memory back never touches it.
//!
//! Must not: decide how many stacks there are, or which one is used next.
#![expect(unsafe_code, reason = "maps, unmaps and gives back memory")]

use std::ffi::c_int;
use std::io;
use std::num::NonZeroUsize;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::extent::{Extent, page_size};
use super::guard::{GUARD, GuardKind};

/// The smallest slot, guard included, and the page that every slot is short of.
const MIN_SLOT: usize = 128 << 10;

/// Size classes: slots of 128 KiB, 256 KiB, .. up to 64 GiB, each less a page: an odd number of pages from one stack
/// to the next spreads them over all sets of the TLB and of the caches that hold its tables (a switch among 1,000
/// stacks took 140 ns instead of 111).
pub(super) const CLASSES: usize = 20;

/// What one slab aims at in address space, and the most slots it has.
const SLAB_BYTES: usize = 256 << 20;
const SLAB_SLOTS: usize = 1024;

/// Address space that a slab leaves free: std ends a process that cannot allocate, so the refusal must come first.
const RESERVE: usize = 32 << 20;

/// By how much the tops of neighbouring stacks differ: lines of a cache, in so many steps.
const CACHE_LINE: usize = 64;
const COLOURS: usize = 16;

/// A slot size. `Class(0)` is the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u8);

impl Class {
    /// The smallest class whose stacks hold `stack_size` bytes.
    pub(super) fn for_stack(stack_size: usize) -> Option<Self> {
        let needed = stack_size.checked_add(GUARD + page_size())?;
        let slot = needed.checked_next_power_of_two()?.max(MIN_SLOT);
        let index = slot.trailing_zeros() - MIN_SLOT.trailing_zeros();
        let index = u8::try_from(index).ok()?;
        (usize::from(index) < CLASSES).then_some(Self(index))
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    fn slot_size(self) -> usize {
        (MIN_SLOT << self.0) - page_size()
    }
}

/// One stack's memory, guard included.
#[derive(Debug)]
pub(super) struct Slot {
    base: NonZeroUsize,
    class: Class,
    guarded: bool,
}

impl Slot {
    pub(super) fn class(&self) -> Class {
        self.class
    }

    pub(super) fn extent(&self) -> Extent {
        let base = self.base.get();
        Extent::new(base + GUARD, base + self.class.slot_size(), GUARD)
    }

    /// Where the first frame goes. Stacks start at sixteen different distances from their end: the lines
    /// that are hot on every stack would otherwise all fall into the same sets of the cache (a switch
    /// among 1,000 stacks took 7.5 ns instead of 5.5).
    pub(super) fn top(&self) -> NonZeroUsize {
        let colour = (self.base.get() / self.class.slot_size()) % COLOURS;
        // Less than what follows the base within the slot, so this neither overflows nor is zero.
        self.base
            .saturating_add(self.class.slot_size() - colour * CACHE_LINE)
    }

    /// Makes the guard, if this is the slot's first use: about a microsecond, spent on the carrier that
    /// runs the thread and not in `spawn`.
    pub(super) fn ensure_guard(&mut self, guards: GuardKind) -> io::Result<()> {
        if !self.guarded {
            match guards {
                // SAFETY: the range lies within a slab, which is mapped, and no frame is below a stack.
                GuardKind::Marker => unsafe { guards.close(self.base.get(), GUARD) }?,
                GuardKind::Mapping => {
                    let stack = self.extent().usable();
                    // SAFETY: as above; the whole slab was mapped closed, and the guard stays so.
                    unsafe { guards.open(stack.start, stack.len()) }?;
                }
            }
            self.guarded = true;
        }
        Ok(())
    }
}

/// Gives the memory of idle stacks back to the system. Their address ranges and their guards stay.
pub(super) fn give_back(slots: &mut [Slot]) {
    /// `PIDFD_SELF_THREAD_GROUP` of Linux 6.14; older kernels refuse it.
    const OWN_PROCESS: c_int = -10_001;
    const AT_ONCE: usize = 256;
    const NOWHERE: libc::iovec = libc::iovec {
        iov_base: ptr::null_mut(),
        iov_len: 0,
    };
    for slots in slots.chunks_mut(AT_ONCE) {
        let mut ranges = [NOWHERE; AT_ONCE];
        let mut expected = 0;
        for (range, slot) in ranges.iter_mut().zip(&*slots) {
            let stack = slot.extent().usable();
            range.iov_base = ptr::without_provenance_mut(stack.start);
            range.iov_len = stack.len();
            expected += stack.len();
        }
        // SAFETY: "slot ownership": nobody has a frame or a value on a slot that is not on a stack, so
        // that its contents may become zero.
        let done = unsafe {
            libc::syscall(
                libc::SYS_process_madvise,
                OWN_PROCESS,
                ranges.as_ptr(),
                slots.len(),
                libc::MADV_DONTNEED,
                0,
            )
        };
        if usize::try_from(done) == Ok(expected) {
            continue;
        }
        for range in &ranges[..slots.len()] {
            // SAFETY: as above. Failure leaves the memory resident and is harmless.
            unsafe { libc::madvise(range.iov_base, range.iov_len, libc::MADV_DONTNEED) };
        }
    }
}

/// Is there address space for that much, and for the reserve?
pub(super) fn has_room(length: usize) -> bool {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    let length = length + RESERVE;
    // SAFETY: no address is asked for, so the new mapping replaces nothing.
    let probe = unsafe { mmap_anonymous(ptr::null_mut(), length, ProtFlags::empty(), flags) };
    // SAFETY: mapped just now, and nobody knows it.
    probe.is_ok_and(|memory| unsafe { munmap(memory, length) }.is_ok())
}

/// One mapping and how much of it was handed out.
pub(super) struct Slab {
    base: NonZeroUsize,
    class: Class,
    slots: usize,
    carved: usize,
}

impl Slab {
    /// Maps room for stacks of `class`: as much as the system allows, down to a single slot.
    pub(super) fn map(class: Class, guards: GuardKind) -> io::Result<Self> {
        let access = match guards {
            GuardKind::Marker => ProtFlags::READ | ProtFlags::WRITE,
            GuardKind::Mapping => ProtFlags::empty(),
        };
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let mut slots = (SLAB_BYTES / class.slot_size()).clamp(1, SLAB_SLOTS);
        loop {
            let length = slots * class.slot_size();
            // SAFETY: no address is asked for, so the new mapping replaces nothing.
            match unsafe { mmap_anonymous(ptr::null_mut(), length + RESERVE, access, flags) } {
                Ok(memory) => {
                    // SAFETY: the end of the mapping just made, which nobody knows.
                    let _ = unsafe { munmap(memory.wrapping_byte_add(length), RESERVE) };
                    // A huge page under a stack would keep two megabytes for a few bytes of frames.
                    // SAFETY: changes no contents; a kernel without huge pages refuses it.
                    unsafe { libc::madvise(memory, length, libc::MADV_NOHUGEPAGE) };
                    let base = NonZeroUsize::new(memory.expose_provenance())
                        .ok_or(io::ErrorKind::OutOfMemory)?;
                    return Ok(Self {
                        base,
                        class,
                        slots,
                        carved: 0,
                    });
                }
                Err(_) if slots > 1 => slots /= 2,
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.carved == self.slots
    }

    /// Makes up to `count` slots that were never used, without guards yet, and appends them to `out`.
    pub(super) fn carve(&mut self, count: usize, out: &mut Vec<Slot>) {
        let size = self.class.slot_size();
        let count = count.min(self.slots - self.carved);
        out.extend((self.carved..self.carved + count).map(|number| Slot {
            base: self.base.saturating_add(number * size),
            class: self.class,
            guarded: false,
        }));
        self.carved += count;
    }

    /// Unmaps the slab.
    ///
    /// # Safety
    ///
    /// No frame may live on any of its slots, and no slot of it may be used afterwards.
    pub(super) unsafe fn unmap(self) {
        let length = self.slots * self.class.slot_size();
        // SAFETY: the caller's promise; the range is the one `map` returned.
        let _ = unsafe { munmap(ptr::without_provenance_mut(self.base.get()), length) };
    }
}
