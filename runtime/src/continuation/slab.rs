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
//! Slots are a power of two in size and come in classes. A guard is 64 KiB: C code built without stack
//! probes jumps over a single page.
//!
//! **Invariant (slot ownership):** a [`Slot`] value is the only handle of its memory. It is made once,
//! by [`Slab::carve`], and moves between the pool and one stack. Not `Clone`.
//!
//! **Invariant (guarded):** the guard of a carved slot faults on every access for as long as the slab is
//! mapped; giving memory back never touches it.
//!
//! Must not: decide how many stacks there are, or which one is used next.
#![expect(unsafe_code, reason = "maps, protects and gives back raw memory")]

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// Bytes below each stack that fault.
pub(super) const GUARD: usize = 64 << 10;

/// The smallest slot, guard included.
const MIN_SLOT: usize = 128 << 10;

/// Size classes: slots of 128 KiB, 256 KiB, .. up to 64 GiB.
pub(super) const CLASSES: usize = 20;

/// What one slab aims at in address space, and the most slots it has.
const SLAB_BYTES: usize = 256 << 20;
const SLAB_SLOTS: usize = 1024;

/// `madvise` values of the lightweight guards of Linux 6.13; the libc crate has no names for them.
const MADV_GUARD_INSTALL: i32 = 102;
const MADV_GUARD_REMOVE: i32 = 103;

/// The size of a page, read once.
pub(super) fn page_size() -> usize {
    rustix::param::page_size()
}

/// A slot size. `Class(0)` is the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u8);

impl Class {
    /// The smallest class whose stacks hold `stack_size` bytes.
    pub(super) fn for_stack(stack_size: usize) -> Option<Self> {
        let slot = stack_size
            .checked_add(GUARD)?
            .checked_next_power_of_two()?
            .max(MIN_SLOT);
        let index = slot.trailing_zeros() - MIN_SLOT.trailing_zeros();
        u8::try_from(index)
            .ok()
            .filter(|&index| usize::from(index) < CLASSES)
            .map(Self)
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    fn slot_size(self) -> usize {
        MIN_SLOT << self.0
    }
}

/// The addresses of one stack; plain numbers, valid to hold whatever becomes of the stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    low: usize,
    high: usize,
    guard: usize,
}

impl Extent {
    /// A stack from `low` to `high` with `guard` bytes below it that fault.
    pub(super) fn new(low: usize, high: usize, guard: usize) -> Self {
        Self { low, high, guard }
    }

    /// Where frames may be.
    pub(super) fn usable(self) -> Range<usize> {
        self.low..self.high
    }

    /// Where an access means that the stack was too small.
    pub(super) fn guard(self) -> Range<usize> {
        self.low - self.guard..self.low
    }

    /// Bytes from the lowest page that has memory behind it to the top. 0 where the kernel does not say.
    pub(super) fn used(self) -> usize {
        let page = page_size();
        let mut seen = [0_u8; 64];
        let mut at = self.low;
        while at < self.high {
            let length = (self.high - at).min(seen.len() * page);
            // SAFETY: mincore only reports on the range, whatever is mapped there, and `seen` has one
            // byte for each page of it.
            let answer = unsafe {
                libc::mincore(
                    ptr::without_provenance_mut(at),
                    length,
                    seen.as_mut_ptr().cast(),
                )
            };
            if answer != 0 {
                return 0;
            }
            if let Some(first) = seen[..length.div_ceil(page)]
                .iter()
                .position(|state| state & 1 == 1)
            {
                return self.high - (at + first * page);
            }
            at += length;
        }
        0
    }
}

/// One stack's memory, guard included.
#[derive(Debug)]
pub(super) struct Slot {
    base: usize,
    class: Class,
}

impl Slot {
    pub(super) fn class(&self) -> Class {
        self.class
    }

    pub(super) fn extent(&self) -> Extent {
        Extent::new(self.base + GUARD, self.base + self.class.slot_size(), GUARD)
    }

    /// Gives the stack's memory back to the system. Its address range and its guard stay.
    pub(super) fn give_back(&mut self) {
        let stack = self.extent().usable();
        // SAFETY: "slot ownership": nobody has a frame or a value on a slot that is not on a stack, so
        // that its contents may become zero. Failure leaves the memory resident and is harmless.
        unsafe {
            libc::madvise(
                ptr::without_provenance_mut(stack.start),
                stack.len(),
                libc::MADV_DONTNEED,
            )
        };
    }
}

/// How guards are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuardKind {
    /// Markers in the page table: no mapping of their own.
    Marker,
    /// Inaccessible mappings: two mappings per stack.
    Mapping,
}

impl GuardKind {
    /// What this kernel can do, asked once.
    pub(super) fn detect() -> Self {
        static KIND: OnceLock<GuardKind> = OnceLock::new();
        *KIND.get_or_init(|| {
            let Ok(probe) = map(page_size(), ProtFlags::READ | ProtFlags::WRITE) else {
                return Self::Mapping;
            };
            // SAFETY: the page was mapped just now and nothing else knows it.
            let marked = unsafe { Self::Marker.close(probe, page_size()) };
            // SAFETY: as above; it is not used after this.
            let _ = unsafe { munmap(ptr::without_provenance_mut(probe), page_size()) };
            if marked.is_ok() {
                Self::Marker
            } else {
                Self::Mapping
            }
        })
    }

    /// Makes every access to the range fault.
    ///
    /// # Safety
    ///
    /// The range must be mapped private and anonymous, and nobody may use it: markers lose its contents.
    pub(super) unsafe fn close(self, base: usize, length: usize) -> io::Result<()> {
        match self {
            // SAFETY: the caller's promise.
            Self::Marker => unsafe { mark(base, length, MADV_GUARD_INSTALL) },
            // SAFETY: the caller's promise.
            Self::Mapping => unsafe { allow(base, length, MprotectFlags::empty()) },
        }
    }

    /// Makes a closed range accessible again; after markers it reads as zero.
    ///
    /// # Safety
    ///
    /// The range must have been closed by `close`.
    pub(super) unsafe fn open(self, base: usize, length: usize) -> io::Result<()> {
        match self {
            // SAFETY: the caller's promise.
            Self::Marker => unsafe { mark(base, length, MADV_GUARD_REMOVE) },
            // SAFETY: the caller's promise.
            Self::Mapping => unsafe {
                allow(base, length, MprotectFlags::READ | MprotectFlags::WRITE)
            },
        }
    }
}

/// One mapping and how much of it was handed out.
pub(super) struct Slab {
    base: usize,
    class: Class,
    slots: usize,
    carved: usize,
    guards: GuardKind,
}

impl Slab {
    /// Maps room for stacks of `class`: as much as the system allows, down to a single slot.
    pub(super) fn map(class: Class, guards: GuardKind) -> io::Result<Self> {
        let mut slots = (SLAB_BYTES / class.slot_size()).clamp(1, SLAB_SLOTS);
        let access = match guards {
            GuardKind::Marker => ProtFlags::READ | ProtFlags::WRITE,
            GuardKind::Mapping => ProtFlags::empty(),
        };
        loop {
            match map(slots * class.slot_size(), access) {
                Ok(base) => {
                    avoid_huge_pages(base, slots * class.slot_size());
                    return Ok(Self {
                        base,
                        class,
                        slots,
                        carved: 0,
                        guards,
                    });
                }
                Err(_) if slots > 1 => slots /= 2,
                Err(refused) => return Err(refused),
            }
        }
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.carved == self.slots
    }

    /// Makes up to `count` slots that were never used and appends them to `out`.
    pub(super) fn carve(&mut self, count: usize, out: &mut Vec<Slot>) -> io::Result<()> {
        let size = self.class.slot_size();
        for _ in 0..count.min(self.slots - self.carved) {
            let slot = Slot {
                base: self.base + self.carved * size,
                class: self.class,
            };
            match self.guards {
                // SAFETY: the slot lies within the slab, which is mapped, and nobody has it yet.
                GuardKind::Marker => unsafe { self.guards.close(slot.base, GUARD) }?,
                GuardKind::Mapping => {
                    let stack = slot.extent().usable();
                    // SAFETY: as above; the whole slab was mapped closed, and the guard stays so.
                    unsafe { self.guards.open(stack.start, stack.len()) }?;
                }
            }
            self.carved += 1;
            out.push(slot);
        }
        Ok(())
    }

    /// Unmaps the slab.
    ///
    /// # Safety
    ///
    /// No frame may live on any of its slots, and no slot of it may be used afterwards.
    pub(super) unsafe fn unmap(self) {
        // SAFETY: the caller's promise; the range is the one `map` returned.
        let _ = unsafe {
            munmap(
                ptr::without_provenance_mut(self.base),
                self.slots * self.class.slot_size(),
            )
        };
    }
}

fn map(length: usize, access: ProtFlags) -> io::Result<usize> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: no address is asked for, so the new mapping replaces nothing.
    let memory = unsafe { mmap_anonymous(ptr::null_mut(), length, access, flags) }?;
    Ok(memory.expose_provenance())
}

/// A huge page under a stack would make two megabytes resident for a few bytes of frames.
fn avoid_huge_pages(base: usize, length: usize) {
    // SAFETY: this advice changes no contents. A kernel without huge pages refuses it, which is as good.
    unsafe {
        libc::madvise(
            ptr::without_provenance_mut(base),
            length,
            libc::MADV_NOHUGEPAGE,
        )
    };
}

/// Sets or takes away guard markers.
///
/// # Safety
///
/// As for `GuardKind::close` and `open`.
unsafe fn mark(base: usize, length: usize, advice: i32) -> io::Result<()> {
    let start: *mut c_void = ptr::without_provenance_mut(base);
    loop {
        // SAFETY: the caller's promise.
        if unsafe { libc::madvise(start, length, advice) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        // The kernel gives up a marking that races with faults in the range; it says to try again.
        if error.kind() != io::ErrorKind::Interrupted && error.raw_os_error() != Some(libc::EAGAIN)
        {
            return Err(error);
        }
    }
}

/// Changes what may be done with a range.
///
/// # Safety
///
/// As for `GuardKind::close` and `open`.
unsafe fn allow(base: usize, length: usize, access: MprotectFlags) -> io::Result<()> {
    // SAFETY: the caller's promise.
    unsafe { mprotect(ptr::without_provenance_mut(base), length, access) }?;
    Ok(())
}
