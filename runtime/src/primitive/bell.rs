//! Who must wake a sleeper: a flag that is up only while it sleeps.
//!
//! Carriers, `vt-events` and `vt-watchdog` sleep by it, each on its own descriptor or lock.
//!
//! ```text
//!   caller:  put the news where the sleeper looks ; fence ; asleep? -> clear it, wake
//!   sleeper: asleep = true ; fence ; anything new? -> clear it, look again : sleep
//! ```
//!
//! **Invariant (no lost wake-up):** both sides have a sequentially consistent fence between their store
//! and their load, so either the caller sees `asleep` or the sleeper sees the news.

use crate::primitive::{AtomicBool, Ordering, fence};

/// The flag.
pub(crate) struct Bell {
    asleep: AtomicBool,
}

impl Default for Bell {
    fn default() -> Self {
        Self::new()
    }
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self {
            asleep: AtomicBool::new(false),
        }
    }

    /// Caller, after it has put its news down: must it wake the sleeper? A fence and a load while that is awake.
    #[inline]
    #[must_use]
    pub(crate) fn ring(&self) -> bool {
        fence(Ordering::SeqCst);
        let woken = |bell: &Self| {
            bell.asleep
                .compare_exchange(true, false, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        };
        self.is_asleep() && woken(self)
    }

    /// Sleeper: lies down unless there is news after all. If true, it may sleep until it is woken, and then
    /// [gets up](Self::get_up).
    #[must_use]
    pub(crate) fn lie_down(&self, has_news: impl FnOnce() -> bool) -> bool {
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let news = has_news();
        if news {
            self.get_up();
        }
        !news
    }

    /// Sleeper: it is awake, whoever woke it.
    pub(crate) fn get_up(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Does it sleep until it is woken?
    pub(crate) fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, loom))]
mod loom {
    //! Every interleaving of a sleeper with those who ring; a lost wake-up shows as a deadlock.

    use ::loom::sync::Arc;
    use ::loom::sync::atomic::AtomicU64;
    use ::loom::thread;

    use super::*;

    #[test]
    fn no_record_is_slept_through() {
        let mut model = ::loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let shared = Arc::new((Bell::new(), [AtomicU64::new(0), AtomicU64::new(0)]));
            let service = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (bell, records) = &*shared;
                    let count = || {
                        records
                            .iter()
                            .map(|lane| lane.load(Ordering::Acquire))
                            .sum::<u64>()
                    };
                    let mut seen = 0;
                    while seen < 2 {
                        seen = count();
                        if seen < 2 && bell.lie_down(|| count() != seen) {
                            thread::park();
                            bell.get_up();
                        }
                    }
                })
            };
            let carrier = {
                let (shared, service) = (Arc::clone(&shared), service.thread().clone());
                thread::spawn(move || record(&shared.0, &shared.1[0], &service))
            };
            record(&shared.0, &shared.1[1], service.thread());
            carrier.join().expect("the carrier ends");
            service.join().expect("the service ends");
        });
    }

    fn record(bell: &Bell, lane: &AtomicU64, service: &thread::Thread) {
        lane.store(1, Ordering::Release);
        if bell.ring() {
            service.unpark();
        }
    }
}
