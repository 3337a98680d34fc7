//! How often a busy carrier looks outside: at its inbox, its timers, its descriptors, and what nobody has started.
//!
//! **Bound:** after [`MOST`] mounts at the latest; and when mounts are long, so that those would take more than a
//! millisecond, after fewer: down to one. The clock is read once for each look, so what follows is the length of the
//! mounts before: a look comes late once when short mounts are followed by long ones.

/// Mounts between two looks, while mounts are short.
pub(super) const MOST: u32 = 61;
/// Nanoseconds that two looks should lie apart at most.
const LONGEST: u64 = 1_000_000;

/// See the module's documentation.
pub(super) struct Pace {
    every: u32,
    left: u32,
    /// When the last look was, if the carrier has been busy since.
    last: Option<u64>,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self {
            every: MOST,
            left: MOST,
            last: None,
        }
    }

    /// Before a mount: is it time to look?
    #[inline]
    pub(super) fn is_due(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }

    /// A look that was due took place. Gives back how many mounts there were since the one before, and how long each
    /// took on average, if the carrier has been busy all the time.
    pub(super) fn looked(&mut self, now: u64) -> (u32, Option<u64>) {
        let mounts = self.every;
        let took = self.last.map(|last| now.saturating_sub(last));
        if let Some(took) = took {
            if took > LONGEST {
                let fit = u64::from(self.every) * LONGEST / took;
                self.every = u32::try_from(fit).unwrap_or(MOST).clamp(1, MOST);
            } else if took < LONGEST / 4 {
                self.every = (self.every * 2).min(MOST);
            }
        }
        self.last = Some(now);
        self.left = self.every;
        (mounts, took.map(|took| took / u64::from(mounts)))
    }

    /// A look took place, at everything, because there was nothing to mount.
    pub(super) fn idled(&mut self) {
        self.last = None;
        self.left = self.every;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Lets mounts of that length pass; how many and how much time lay between the last two looks.
    fn settle(pace: &mut Pace, now: &mut u64, mount: u64) -> (u32, u64) {
        let mut between = (0, 0);
        for _look in 0..20 {
            let (mut mounts, began) = (1, *now);
            while !pace.is_due() {
                mounts += 1;
                *now += mount;
            }
            *now += mount;
            let _ = pace.looked(*now);
            between = (mounts, *now - began);
        }
        between
    }

    #[test]
    fn looks_follow_the_length_of_mounts() {
        let (mut pace, mut now) = (Pace::new(), 0);
        assert_eq!(settle(&mut pace, &mut now, 50).0, MOST);
        let (mounts, apart) = settle(&mut pace, &mut now, 100_000);
        assert!(
            apart <= LONGEST && mounts >= 2,
            "{mounts} mounts, {apart} ns"
        );
        assert_eq!(settle(&mut pace, &mut now, 5_000_000).0, 1);
        assert_eq!(settle(&mut pace, &mut now, 50).0, MOST);
    }

    #[test]
    fn a_sleep_is_no_long_mount() {
        let mut pace = Pace::new();
        pace.looked(0);
        pace.idled();
        pace.looked(1_000_000_000);
        assert_eq!(pace.every, MOST);
    }
}
