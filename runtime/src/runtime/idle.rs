//! Which carriers sleep, and which one a spawn wakes.
//!
//! ```text
//!   spawn:    put the work where carriers look ; fence ; somebody searches? -> done
//!                                                        nobody sleeps?    -> done
//!                                                        ring one sleeper's bell
//!   carrier:  searching += 1 ; look around ; searching -= 1 ; fence ; work? -> take it
//!             join the sleepers ; asleep = true ; fence ; work? -> leave, take it : sleep, then leave
//! ```
//!
//! **No wake-up is lost.** Between the store and the load of each side stands a sequentially consistent fence, so of two
//! that meet at least one sees the other's store.
//! - A spawn that saw a searcher read the count before that carrier took itself out: the carrier's look after its
//!   search sees the work.
//! - A spawn that saw no sleeper read the count before a carrier joined: that carrier's look before it sleeps sees the
//!   work.
//! - A spawn that picked a sleeper either finds it asleep and wakes it; or it has not lain down yet, and its look
//!   before it sleeps sees the work; or another spawn has woken it, and it looks again before it sleeps again.
//!
//! Only the carrier itself leaves the sleepers. A spawn that took out whom it rings could take out one that has not lain
//! down: it has taken that work already, lies down, and no later spawn knows of it (the first model below).
//!
//! A carrier may go on searching in its sleep, while there is work that it leaves to the one it was spawned on; that
//! sleep is short, and it looks again after it.
//!
//! One spawn wakes one carrier, and a carrier that finds more than it can start wakes the next. A carrier that leaves
//! work to an emptier one rings that one's bell after it has seen the work, so it stands in for the spawn.

use crate::primitive::{AtomicUsize, Mutex, Ordering, fence};

/// See the module's documentation.
pub(super) struct IdleSet {
    searching: AtomicUsize,
    sleepers: Mutex<Vec<usize>>,
    /// How many sleepers there are: spawns look here first.
    count: AtomicUsize,
}

/// A carrier that looks for work; while there is one, spawns need not wake another.
pub(crate) struct Search<'a>(&'a IdleSet);

impl Drop for Search<'_> {
    fn drop(&mut self) {
        change(&self.0.searching, |count| count - 1);
        fence(Ordering::SeqCst);
    }
}

impl IdleSet {
    pub(super) fn new() -> Self {
        Self {
            searching: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::new()),
            count: AtomicUsize::new(0),
        }
    }

    pub(super) fn search(&self) -> Search<'_> {
        change(&self.searching, |count| count + 1);
        Search(self)
    }

    /// The caller looks for work once more before it sleeps.
    pub(super) fn join(&self, id: usize) {
        let mut sleepers = self.sleepers.lock();
        sleepers.push(id);
        self.count.store(sleepers.len(), Ordering::SeqCst);
    }

    pub(super) fn leave(&self, id: usize) {
        let mut sleepers = self.sleepers.lock();
        sleepers.retain(|&sleeper| sleeper != id);
        self.count.store(sleepers.len(), Ordering::SeqCst);
    }

    /// After work was put down: the carrier to wake for it, if one must be: of the sleepers the one with least load.
    pub(super) fn pick(&self, load: impl Fn(usize) -> usize) -> Option<usize> {
        fence(Ordering::SeqCst);
        if self.searching.load(Ordering::Relaxed) != 0 || self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let sleepers = self.sleepers.lock();
        sleepers.iter().copied().min_by_key(|&id| load(id))
    }
}

/// By compare-exchange: see "What loom is not asked" in `docs/decisions.md`.
fn change(count: &AtomicUsize, to: impl Fn(usize) -> usize) {
    let relaxed = Ordering::Relaxed;
    let changed = count.fetch_update(Ordering::SeqCst, relaxed, |count| Some(to(count)));
    debug_assert!(changed.is_ok(), "it always gives a next count");
}

#[cfg(all(test, loom))]
mod loom {
    //! Carriers that search, join and sleep, with spawns in between; work that nobody starts shows as a deadlock.

    use ::loom::sync::Arc;
    use ::loom::thread;

    use super::*;
    use crate::primitive::{AtomicBool, Bell};

    struct Model {
        idle: IdleSet,
        bells: Vec<Bell>,
        /// Put down and not taken, for each spawn.
        work: [AtomicBool; 2],
        taken: [AtomicBool; 2],
    }

    impl Model {
        fn new(carriers: usize) -> Arc<Self> {
            let no = || [AtomicBool::new(false), AtomicBool::new(false)];
            Arc::new(Self {
                idle: IdleSet::new(),
                bells: (0..carriers).map(|_| Bell::new()).collect(),
                work: no(),
                taken: no(),
            })
        }

        fn is_over(&self) -> bool {
            self.taken.iter().all(|taken| taken.load(Ordering::Acquire))
        }

        fn has_news(&self) -> bool {
            self.work.iter().any(|work| work.load(Ordering::Acquire)) || self.is_over()
        }

        fn spawn(&self, number: usize, carriers: &[thread::Thread]) {
            self.work[number].store(true, Ordering::Release);
            if let Some(id) = self.idle.pick(|id| id) {
                self.ring(id, carriers);
            }
        }

        fn ring(&self, id: usize, carriers: &[thread::Thread]) {
            if self.bells[id].ring() {
                carriers[id].unpark();
            }
        }

        fn take_one(&self) -> bool {
            self.work.iter().zip(&self.taken).any(|(work, taken)| {
                let took = work
                    .compare_exchange(true, false, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok();
                if took {
                    taken.store(true, Ordering::Release);
                }
                took
            })
        }

        fn run(&self, id: usize) {
            while !self.is_over() {
                if self.take_one() {
                    continue;
                }
                drop(self.idle.search());
                if !self.has_news() {
                    self.idle.join(id);
                    if self.bells[id].lie_down(|| self.has_news()) {
                        thread::park();
                        self.bells[id].get_up();
                    }
                    self.idle.leave(id);
                }
            }
        }
    }

    #[test]
    fn one_carrier_starts_what_two_spawn() {
        let mut model = ::loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let model = Model::new(1);
            let carrier = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.run(0))
            };
            let threads = vec![carrier.thread().clone()];
            let other = {
                let (model, threads) = (Arc::clone(&model), threads.clone());
                thread::spawn(move || model.spawn(0, &threads))
            };
            model.spawn(1, &threads);
            other.join().expect("it ends");
            carrier.join().expect("it ends");
        });
    }

    #[test]
    fn one_of_two_carriers_starts_each_spawn() {
        let mut model = ::loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let model = Model::new(2);
            // The other carrier sleeps from the beginning; whoever finds more than it can start wakes it, so it
            // need not come: it is told of the end.
            let carriers: Vec<_> = (0..2)
                .map(|id| {
                    let model = Arc::clone(&model);
                    thread::spawn(move || model.run(id))
                })
                .collect();
            let threads: Vec<_> = carriers
                .iter()
                .map(|carrier| carrier.thread().clone())
                .collect();
            model.taken[1].store(true, Ordering::Release);
            model.spawn(0, &threads);
            // As the end of the last thread wakes all carriers of a runtime that stops.
            while !model.is_over() {
                thread::yield_now();
            }
            (0..2).for_each(|id| model.ring(id, &threads));
            for carrier in carriers {
                carrier.join().expect("it ends");
            }
        });
    }
}
