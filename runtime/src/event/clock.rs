//! The events' clock: monotonic nanoseconds, and how they relate to the wall clock.
//!
//! Timestamps never run backwards and ignore steps of the wall clock. An [`Anchor`] is one reading of
//! both clocks at the same moment; take one when a recording starts and another when it ends, since
//! the wall clock may be stepped or slewed in between.

use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};

use super::Timestamp;

/// How many pairs [`Anchor::take`] reads to find one that nothing interrupted.
const ATTEMPTS: usize = 4;

/// The present moment on the events' clock.
#[must_use]
pub fn now() -> Timestamp {
    let time = clock_gettime(ClockId::Monotonic);
    // The monotonic clock starts near boot and is never negative.
    Timestamp(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// The present moment as of the system's last tick, a few milliseconds ago: for a quarter of [`now`]'s price.
pub(crate) fn recently() -> Timestamp {
    let time = clock_gettime(ClockId::MonotonicCoarse);
    Timestamp(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// One moment, read on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The moment on the events' clock.
    pub at: Timestamp,
    /// The same moment on the wall clock.
    pub wall: SystemTime,
    /// How far the two readings may lie apart.
    pub uncertainty: Duration,
}

impl Anchor {
    /// Reads both clocks a few times and keeps the closest pair.
    #[must_use]
    pub fn take() -> Self {
        let read = || {
            let before = now();
            let wall = SystemTime::now();
            let after = now();
            let gap = after.since(before);
            Self {
                at: Timestamp(before.0 + after.since(before).as_nanos() as u64 / 2),
                wall,
                uncertainty: gap,
            }
        };
        let first = read();
        (1..ATTEMPTS).map(|_| read()).fold(first, |best, next| {
            if next.uncertainty < best.uncertainty {
                next
            } else {
                best
            }
        })
    }

    /// The wall-clock time of a moment on the events' clock, as this anchor relates them.
    #[must_use]
    pub fn wall_time(&self, at: Timestamp) -> SystemTime {
        let shifted = if at >= self.at {
            self.wall.checked_add(at.since(self.at))
        } else {
            self.wall.checked_sub(self.at.since(at))
        };
        shifted.unwrap_or(self.wall)
    }

    /// The moment on the events' clock of a wall-clock time, as this anchor relates them. A time
    /// before the clock's start is its start.
    #[must_use]
    pub fn timestamp(&self, wall: SystemTime) -> Timestamp {
        match wall.duration_since(self.wall) {
            Ok(later) => self.at.plus(later),
            Err(earlier) => Timestamp(self.at.0.saturating_sub(nanos(earlier.duration()))),
        }
    }
}

impl Timestamp {
    /// The time from `earlier` to this moment, zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The moment `later` after this one.
    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        Self(self.0.saturating_add(nanos(later)))
    }
}

/// A duration in whole nanoseconds; the longest one (584 years) for any that does not fit.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_does_not_run_backwards() {
        let mut last = now();
        for _ in 0..10_000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn an_anchor_converts_both_ways() {
        let anchor = Anchor::take();
        for shift in [0, 1, 999_999_999, 86_400_000_000_000] {
            let later = anchor.at.plus(Duration::from_nanos(shift));
            assert_eq!(anchor.timestamp(anchor.wall_time(later)), later);
            assert_eq!(
                anchor.wall_time(later),
                anchor.wall + Duration::from_nanos(shift)
            );
        }
        let earlier = Timestamp(anchor.at.0 / 2);
        assert_eq!(anchor.timestamp(anchor.wall_time(earlier)), earlier);
        assert_eq!(anchor.timestamp(SystemTime::UNIX_EPOCH), Timestamp(0));
    }

    #[test]
    fn an_anchor_agrees_with_both_clocks() {
        let before = (now(), SystemTime::now());
        let anchor = Anchor::take();
        let after = (now(), SystemTime::now());
        assert!(before.0 <= anchor.at && anchor.at <= after.0);
        assert!(before.1 <= anchor.wall && anchor.wall <= after.1);
    }

    #[test]
    fn differences_saturate() {
        assert_eq!(Timestamp(1).since(Timestamp(2)), Duration::ZERO);
        assert_eq!(Timestamp(1).plus(Duration::MAX), Timestamp(u64::MAX));
    }
}
