//! What pins are summed by: a key made of their texts, which is looked up once for each kind of pin that a reader knows,
//! not once for each of millions of pins.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use vt_flight_recorder::PinKind;

/// Kinds that are remembered; a file that has more of them is read more slowly.
const MAX_KNOWN: usize = 10_000;

/// Sums by key.
#[derive(Debug)]
pub(crate) struct Groups<K, V> {
    places: BTreeMap<K, usize>,
    sums: Vec<V>,
    /// The places of kinds, by address: each is kept, so that its address stays its own.
    known: HashMap<usize, (Arc<PinKind>, usize)>,
}

impl<K, V> Default for Groups<K, V> {
    fn default() -> Self {
        Self {
            places: BTreeMap::new(),
            sums: Vec::new(),
            known: HashMap::new(),
        }
    }
}

impl<K: Ord, V: Default> Groups<K, V> {
    /// The sum that pins of a kind belong to; `key` says which.
    pub(crate) fn of(&mut self, kind: &Arc<PinKind>, key: impl FnOnce() -> K) -> &mut V {
        let address = Arc::as_ptr(kind).addr();
        if let Some((_, at)) = self.known.get(&address) {
            return &mut self.sums[*at];
        }
        let at = self.place(key());
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(address, (Arc::clone(kind), at));
        &mut self.sums[at]
    }

    /// The sum with this key.
    pub(crate) fn entry(&mut self, key: K) -> &mut V {
        let at = self.place(key);
        &mut self.sums[at]
    }

    fn place(&mut self, key: K) -> usize {
        *self.places.entry(key).or_insert_with(|| {
            self.sums.push(V::default());
            self.sums.len() - 1
        })
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.sums.get(*self.places.get(key)?)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.places.keys()
    }

    /// Every key with its sum, in the order of the keys.
    pub(crate) fn into_map(self) -> BTreeMap<K, V> {
        let mut sums: Vec<_> = self.sums.into_iter().map(Some).collect();
        let take = |(key, at): (K, usize)| Some((key, sums.get_mut(at)?.take()?));
        self.places.into_iter().filter_map(take).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_of_one_kind_and_of_kinds_with_one_key_are_summed_together() {
        let mut groups: Groups<&str, u32> = Groups::default();
        let kinds = [(); 3].map(|()| Arc::new(PinKind::default()));
        *groups.of(&kinds[0], || "a") += 1;
        *groups.of(&kinds[0], || "looked up already") += 1;
        *groups.of(&kinds[1], || "a") += 1;
        *groups.of(&kinds[2], || "b") += 1;
        *groups.entry("c") += 5;
        assert_eq!((groups.get(&"a"), groups.get(&"x")), (Some(&3), None));
        let all: Vec<_> = groups.into_map().into_iter().collect();
        assert_eq!(all, [("a", 3), ("b", 1), ("c", 5)]);
    }
}
