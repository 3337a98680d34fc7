//! The constants of a chunk: where each stands, by its type and key, and what was made of those that are asked for
//! again and again.
//!
//! **Invariant:** the first definition of a key that is taken holds; whoever reads checkpoints takes the last one first.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::cursor::{Broken, Cursor, SHORT};
use super::event::Frame;
use super::pin::{KindKey, PinKind};
use super::types::Types;
use super::value::{Resolver, Value, skip};

/// Where each constant stands, and the checkpoints' bytes they stand in.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    segments: Vec<Vec<u8>>,
    /// By the index of their type.
    places: Vec<Places>,
    count: usize,
    /// Stacks that were made already, by key.
    pub(super) stacks: RefCell<HashMap<u64, Arc<[Frame]>, RandomState>>,
    /// What many pins share, made already, by the keys it is made of.
    pub(super) kinds: RefCell<HashMap<KindKey, Arc<PinKind>, RandomState>>,
}

/// Values that are kept made, of each sort; more are made anew.
pub(super) const MAX_KEPT: usize = 4_096;

/// More constants than any real chunk has; what keeps a hostile one from filling the memory.
const MAX_CONSTANTS: usize = 4_000_000;

/// The segment of a constant, and where in it.
type Place = (u32, u32);

/// The constants of one type. Writers count keys up, so most stand in one run.
#[derive(Debug, Default)]
struct Places {
    first: u64,
    run: Vec<Place>,
    others: HashMap<u64, Place, RandomState>,
}

impl Places {
    /// Takes a constant, unless its key is known; gives whether it did.
    fn add(&mut self, key: u64, place: Place) -> bool {
        if self.run.is_empty() && self.others.is_empty() {
            self.first = key;
        }
        let at = key.wrapping_sub(self.first);
        let next = self.run.len() as u64;
        if at < next {
            return false;
        }
        if at > next {
            let before = self.others.len();
            self.others.entry(key).or_insert(place);
            return self.others.len() > before;
        }
        // The run has come to one that was known before.
        let known = if self.others.is_empty() {
            None
        } else {
            self.others.remove(&key)
        };
        self.run.push(known.unwrap_or(place));
        known.is_none()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<Place> {
        let at = usize::try_from(key.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        match self.run.get(at) {
            Some(place) => Some(*place),
            None if self.others.is_empty() => None,
            None => self.others.get(&key).copied(),
        }
    }

    /// Every key with its place, by key.
    fn sorted(&self) -> Vec<(u64, Place)> {
        let run = (self.first..).zip(self.run.iter().copied());
        let others = self.others.iter().map(|(key, place)| (*key, *place));
        let mut all: Vec<_> = run.chain(others).collect();
        all.sort_unstable();
        all
    }
}

impl Pools {
    /// Takes a checkpoint event from behind its size and type id, up to where its delta stands.
    pub(super) fn add(&mut self, types: &Types, bytes: Vec<u8>, at: usize) -> Result<(), Broken> {
        let segment = u32::try_from(self.segments.len()).map_err(|_| SHORT)?;
        self.places.resize_with(types.list.len(), Places::default);
        let mut cursor = Cursor::starting_at(&bytes, at);
        let result = self.index(types, segment, &mut cursor);
        self.segments.push(bytes);
        result
    }

    fn index(
        &mut self,
        types: &Types,
        segment: u32,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Broken> {
        cursor.byte()?;
        for _ in 0..cursor.count()? {
            let of = types
                .index(cursor.integer()?)
                .ok_or(Broken("a constant pool is of a type that is not declared"))?;
            let places = self.places.get_mut(of).ok_or(SHORT)?;
            for _ in 0..cursor.count()? {
                let key = cursor.integer()?;
                let place = u32::try_from(cursor.at()).map_err(|_| SHORT)?;
                skip_constant(types, of, cursor)?;
                self.count += usize::from(places.add(key, (segment, place)));
                if self.count > MAX_CONSTANTS {
                    return Err(Broken("it has more constants than any recording needs"));
                }
            }
        }
        Ok(())
    }

    /// The constants of a type, by key.
    pub(super) fn of<'a>(
        &'a self,
        types: &'a Types,
        name: &str,
    ) -> impl Iterator<Item = (u64, Value<'a>)> {
        let of = types.list.iter().position(|of| of.name == name);
        let places = of.and_then(|of| Some((of, self.places.get(of)?.sorted())));
        let (of, places) = places.unwrap_or_default();
        let value = move |(key, _)| (key, Resolver::new(types, self).constant(of, key, 0));
        places.into_iter().map(value)
    }

    /// Every constant in a fixed order: its type's id, its key, and its bytes as stored.
    pub(super) fn raw<'a>(
        &'a self,
        types: &'a Types,
    ) -> impl Iterator<Item = (u64, u64, &'a [u8])> {
        self.places
            .iter()
            .enumerate()
            .flat_map(move |(of, places)| {
                let bytes = move |(key, (segment, at)): (u64, Place)| {
                    let bytes = self.segments.get(segment as usize)?.get(at as usize..)?;
                    let mut cursor = Cursor::new(bytes);
                    skip_constant(types, of, &mut cursor).ok()?;
                    Some((types.list.get(of)?.id, key, &bytes[..cursor.at()]))
                };
                places.sorted().into_iter().filter_map(bytes)
            })
    }

    /// Where a constant stands.
    #[inline]
    pub(super) fn find(&self, of: usize, key: u64) -> Option<Cursor<'_>> {
        let (segment, at) = self.places.get(of)?.find(key)?;
        let bytes = self.segments.get(segment as usize)?;
        Some(Cursor::starting_at(bytes, at as usize))
    }
}

fn skip_constant(types: &Types, of: usize, cursor: &mut Cursor<'_>) -> Result<(), Broken> {
    if types.text == Some(of) {
        return cursor.skip_text();
    }
    let of = types.list.get(of).ok_or(SHORT)?;
    of.fields
        .iter()
        .try_for_each(|field| skip(types, field, cursor, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_definition_of_a_key_holds_in_whatever_order_they_come() {
        let mut places = Places::default();
        for (key, at, is_new) in [
            (10, 1, true),
            (11, 2, true),
            (13, 3, true),
            (10, 4, false),
            (3, 5, true),
            (12, 6, true),
            // Known from before the run came to it.
            (13, 7, false),
            (14, 8, true),
            (3, 9, false),
            (u64::MAX, 10, true),
        ] {
            assert_eq!(places.add(key, (0, at)), is_new, "{key}");
        }
        let expected = [
            (3, 5),
            (10, 1),
            (11, 2),
            (12, 6),
            (13, 3),
            (14, 8),
            (u64::MAX, 10),
        ];
        let expected = expected.map(|(key, at)| (key, (0, at)));
        assert_eq!(places.sorted(), expected);
        for (key, place) in expected {
            assert_eq!(places.find(key), Some(place), "{key}");
        }
        assert_eq!((places.find(9), places.find(15)), (None, None));
    }
}
