//! The stacks nobody uses now and no carrier has at hand, by size.
//!
//! They are *warm*, with memory behind them, until [`Store::give_back_idle`] finds that nobody needed them
//! since it last looked; then the memory goes back to the system, and they are *cold*: an address range
//! and a guard. Giving back at once would cost a stack that is needed again two microseconds, one to free
//! its page and one to fault it in.
//!
//! Locks are leaves, held for a few instructions and at most one mapping call.
#![expect(unsafe_code, reason = "ends slabs, when nothing lives on them")]

use std::io;

use parking_lot::Mutex;

use super::aging::Aging;
use super::guard::GuardKind;
use super::slab::{CLASSES, Class, Slab, Slot, give_back};

/// Stacks given back in one go: a few milliseconds of system calls.
const SLICE: usize = 4096;

/// Idle stacks of our own slabs.
#[derive(Default)]
pub(super) struct Store {
    classes: [Mutex<Stock>; CLASSES],
}

/// The idle stacks of one class, and its slabs.
#[derive(Default)]
struct Stock {
    warm: Aging<Slot>,
    cold: Vec<Slot>,
    slabs: Vec<Slab>,
}

impl Store {
    /// Between one and `most` stacks: the warmest there are, else new ones.
    pub(super) fn take(
        &self,
        class: Class,
        most: usize,
        guards: GuardKind,
    ) -> io::Result<Vec<Slot>> {
        let mut stock = self.classes[class.index()].lock();
        let stock = &mut *stock;
        let mut slots: Vec<Slot> = stock.warm.take_newest(most).collect();
        if slots.is_empty() {
            let rest = stock.cold.len().saturating_sub(most);
            slots.extend(stock.cold.drain(rest..));
        }
        if slots.is_empty() {
            if stock.slabs.last().is_none_or(Slab::is_used_up) {
                stock.slabs.push(Slab::map(class, guards)?);
            }
            if let Some(slab) = stock.slabs.last_mut() {
                slab.carve(most, &mut slots);
            }
        }
        Ok(slots)
    }

    /// Takes stacks back; the longest idle first.
    pub(super) fn put(&self, class: Class, slots: impl IntoIterator<Item = Slot>) {
        self.classes[class.index()].lock().warm.extend(slots);
    }

    /// Gives memory back that was not needed since the last call. Bounded work; says whether there is
    /// more to do at once.
    pub(super) fn give_back_idle(&self) -> bool {
        let mut more = false;
        for stock in &self.classes {
            let (mut slice, rest) = stock.lock().warm.take_unneeded(SLICE);
            if !slice.is_empty() {
                give_back(&mut slice);
                stock.lock().cold.append(&mut slice);
            }
            more |= rest;
        }
        more
    }

    /// Gives all idle memory back, for a store that is not used any more.
    pub(super) fn give_back_all(&self) {
        for stock in &self.classes {
            let mut warm: Vec<Slot> = stock.lock().warm.take_newest(usize::MAX).collect();
            give_back(&mut warm);
        }
    }

    /// Whether idle stacks hold memory.
    pub(super) fn has_idle(&self) -> bool {
        self.classes.iter().any(|stock| stock.lock().warm.len() > 0)
    }

    /// Unmaps everything.
    ///
    /// # Safety
    ///
    /// No stack that was taken may be in use now, or later.
    pub(super) unsafe fn unmap(&self) {
        for stock in &self.classes {
            for slab in std::mem::take(&mut *stock.lock()).slabs {
                // SAFETY: the caller's promise.
                unsafe { slab.unmap() };
            }
        }
    }
}
