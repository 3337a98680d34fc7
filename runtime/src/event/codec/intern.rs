//! Numbers for `&'static str` and `&'static Location`, so that a record can name them in half a word
//! and a reader can find them again without `unsafe`.
//!
//! The table is global and only grows (by what the program has of static names). A carrier takes its
//! lock at the first sight of an item; after that its own [`Cache`] answers.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;

use super::place;
use crate::event::Place;
use crate::event::store::sites::Site;

/// Entries of a carrier's cache; a power of two.
const CACHED: usize = 256;

/// How many neighbouring entries one item may be found in.
const WAYS: usize = 4;

/// The number of an interned item; 0 is "none".
pub(in crate::event) type Code = u32;

/// Something static that records name by number.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) enum Static {
    /// A name, label or kind.
    Text(&'static str),
    /// A place in source.
    Place(&'static Location<'static>),
}

impl Static {
    /// Address and size: what tells two items apart. (Two names may share an address: one may begin
    /// with the other. A place has no length, so it cannot be taken for a name.)
    fn key(self) -> (u64, u32) {
        match self {
            Self::Text(text) => (text.as_ptr().addr() as u64, text.len() as u32),
            Self::Place(place) => (std::ptr::from_ref(place).addr() as u64, u32::MAX),
        }
    }
}

#[derive(Default)]
struct Table {
    items: Vec<Static>,
    codes: HashMap<(u64, u32), Code>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

/// The number of `item` from the global table, given at the first sight.
fn global_code(item: Static) -> Code {
    let key = item.key();
    if let Some(&code) = TABLE.read().codes.get(&key) {
        return code;
    }
    let mut table = TABLE.write();
    let table = &mut *table;
    *table.codes.entry(key).or_insert_with(|| {
        table.items.push(item);
        table.items.len() as Code
    })
}

/// One carrier's memory of numbers it has asked for. Only its carrier may call it; entries are atomics
/// because the structure around it is shared.
#[derive(Debug)]
pub(in crate::event) struct Cache {
    /// Pairs of address and (length, code).
    entries: Box<[[AtomicU64; 2]]>,
}

impl Cache {
    /// An empty one.
    pub(in crate::event) fn new() -> Self {
        Self {
            entries: (0..CACHED)
                .map(|_| [AtomicU64::new(0), AtomicU64::new(0)])
                .collect(),
        }
    }

    /// The number of a name.
    pub(in crate::event) fn text(&self, text: Option<&'static str>) -> Code {
        text.map_or(0, |text| self.code(Static::Text(text)))
    }

    /// The number of a place.
    pub(in crate::event) fn place(&self, place: Option<&'static Location<'static>>) -> Code {
        place.map_or(0, |place| self.code(Static::Place(place)))
    }

    fn code(&self, item: Static) -> Code {
        let (address, len) = item.key();
        // Fibonacci hashing: neighbouring addresses spread.
        let home = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        let entry = |way: usize| &self.entries[(home + way) % CACHED];
        let mut free = home % CACHED;
        for way in 0..WAYS {
            let [at, value] = entry(way);
            let at = at.load(Ordering::Relaxed);
            if at == 0 {
                free = (home + way) % CACHED;
                break;
            }
            let value = value.load(Ordering::Relaxed);
            if at == address && (value >> 32) as u32 == len {
                return value as Code;
            }
        }
        let code = global_code(item);
        let [at, value] = &self.entries[free];
        at.store(address, Ordering::Relaxed);
        value.store(u64::from(len) << 32 | u64::from(code), Ordering::Relaxed);
        code
    }
}

/// A reader's copy of the table, brought up to date when a record names something newer.
#[derive(Debug, Default)]
pub(in crate::event) struct Known(Vec<Shared>);

/// An item in the form that events carry it.
#[derive(Debug)]
enum Shared {
    Text(&'static str, Arc<str>),
    Place(Place),
}

impl Known {
    /// The name with this number.
    pub(in crate::event) fn text(&mut self, code: Code) -> Option<&'static str> {
        match self.get(code)? {
            Shared::Text(text, _) => Some(text),
            Shared::Place(_) => None,
        }
    }

    /// The name with this number, to keep.
    pub(in crate::event) fn shared_text(&mut self, code: Code) -> Option<Arc<str>> {
        match self.get(code)? {
            Shared::Text(_, text) => Some(Arc::clone(text)),
            Shared::Place(_) => None,
        }
    }

    /// The place with this number.
    pub(in crate::event) fn place(&mut self, code: Code) -> Option<&Place> {
        match self.get(code)? {
            Shared::Place(place) => Some(place),
            Shared::Text(..) => None,
        }
    }

    /// The site whose two places have these numbers.
    pub(in crate::event) fn site(&mut self, places: u64) -> Site {
        let pinned_at = self.place((places >> 32) as Code).cloned();
        let blocked_at = self.place(places as Code);
        Site {
            pinned_at,
            blocked_at: blocked_at.filter(|at| place::is_application(at)).cloned(),
            ..Site::default()
        }
    }

    fn get(&mut self, code: Code) -> Option<&Shared> {
        let index = code.checked_sub(1)? as usize;
        if index >= self.0.len() {
            let table = TABLE.read();
            let newer = table.items.iter().skip(self.0.len());
            self.0.extend(newer.map(|item| match *item {
                Static::Text(text) => Shared::Text(text, text.into()),
                Static::Place(place) => Shared::Place(place.into()),
            }));
        }
        self.0.get(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_keeps_its_number_in_every_cache() {
        let (one, other, mut known) = (Cache::new(), Cache::new(), Known::default());
        let code = one.text(Some("monitor of intern test"));
        assert_ne!(code, 0);
        assert_eq!(one.text(Some("monitor of intern test")), code);
        assert_eq!(other.text(Some("monitor of intern test")), code);
        assert_eq!(known.text(code), Some("monitor of intern test"));
        assert_eq!(known.place(code), None);
    }

    #[test]
    fn names_that_share_an_address_are_told_apart() {
        let (cache, mut known) = (Cache::new(), Known::default());
        let whole = "prefix and rest";
        let (long, short) = (cache.text(Some(whole)), cache.text(Some(&whole[..6])));
        assert_ne!(long, short);
        assert_eq!(
            (known.text(long), known.text(short)),
            (Some("prefix and rest"), Some("prefix"))
        );
    }

    #[test]
    fn a_cache_smaller_than_the_program_stays_right() {
        let (cache, mut known) = (Cache::new(), Known::default());
        let texts: Vec<&'static str> = (0..4 * CACHED)
            .map(|i| &*Box::leak(format!("static {i}").into_boxed_str()))
            .collect();
        for _ in 0..2 {
            for text in &texts {
                let code = cache.text(Some(text));
                assert_eq!(known.text(code), Some(*text));
            }
        }
    }

    #[test]
    fn none_and_unknown_numbers_are_nothing() {
        let (cache, mut known) = (Cache::new(), Known::default());
        assert_eq!((cache.text(None), cache.place(None)), (0, 0));
        assert_eq!(known.text(0), None);
        assert!(known.place(Code::MAX).is_none());
    }

    #[test]
    fn places_are_found_again() {
        let (cache, mut known) = (Cache::new(), Known::default());
        let here = Location::caller();
        let code = cache.place(Some(here));
        assert_eq!(known.place(code), Some(&Place::from(here)));
    }
}
