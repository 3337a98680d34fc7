//! Idle things that wait to be used again, or to be let go when nobody needs them for a while.

use std::collections::VecDeque;

/// Idle things, the longest idle at the front, and how many of those nobody needed of late.
pub(super) struct Aging<T> {
    things: VecDeque<T>,
    /// So many at the front were idle all the time since the last round of `take_unneeded`.
    unneeded: usize,
}

impl<T> Default for Aging<T> {
    fn default() -> Self {
        Self {
            things: VecDeque::new(),
            unneeded: 0,
        }
    }
}

impl<T> Aging<T> {
    pub(super) fn len(&self) -> usize {
        self.things.len()
    }

    pub(super) fn extend(&mut self, things: impl IntoIterator<Item = T>) {
        self.things.extend(things);
    }

    /// Up to `count` of those that became idle last.
    pub(super) fn take_newest(&mut self, count: usize) -> impl Iterator<Item = T> + '_ {
        let rest = self.things.len().saturating_sub(count);
        self.unneeded = self.unneeded.min(rest);
        self.things.drain(rest..)
    }

    /// The one that became idle last among those that fit.
    pub(super) fn take_newest_that(&mut self, fits: impl FnMut(&T) -> bool) -> Option<T> {
        let at = self.things.iter().rposition(fits)?;
        if at < self.unneeded {
            self.unneeded -= 1;
        }
        self.things.remove(at)
    }

    /// The one that is idle longest.
    pub(super) fn take_oldest(&mut self) -> Option<T> {
        self.unneeded = self.unneeded.saturating_sub(1);
        self.things.pop_front()
    }

    /// Up to `limit` of those nobody needed since the last round, and whether this round has more. A round
    /// that is through makes all that is left the candidates of the next.
    pub(super) fn take_unneeded(&mut self, limit: usize) -> (Vec<T>, bool) {
        let count = self.unneeded.min(limit);
        self.unneeded -= count;
        let taken = self.things.drain(..count).collect();
        let more = self.unneeded > 0;
        if !more {
            self.unneeded = self.things.len();
        }
        (taken, more)
    }
}

#[cfg(test)]
mod tests {
    use super::Aging;

    #[test]
    fn what_is_needed_once_a_round_stays() {
        let mut idle = Aging::default();
        idle.extend(0..10);
        assert_eq!(
            idle.take_unneeded(100),
            (vec![], false),
            "the first round only looks"
        );
        let newest: Vec<_> = idle.take_newest(4).collect();
        assert_eq!(newest, [6, 7, 8, 9]);
        idle.extend(newest);
        assert_eq!(idle.take_unneeded(4), (vec![0, 1, 2, 3], true));
        assert_eq!(idle.take_unneeded(4), (vec![4, 5], false));
        assert_eq!(idle.take_unneeded(1), (vec![6], true), "a round later");
        assert_eq!(idle.take_newest_that(|&thing| thing < 9), Some(8));
        assert_eq!(idle.take_oldest(), Some(7));
        assert_eq!(
            idle.take_unneeded(4),
            (vec![9], false),
            "it was not touched in this round"
        );
        assert_eq!(idle.len(), 0);
    }
}
