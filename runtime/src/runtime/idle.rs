//! Which carriers sleep, and which one a spawn wakes.
//!
//! ```text
//!   spawn:    put the work where carriers look ; fence ; somebody searches? -> done
//!                                                        nobody sleeps?    -> done
//!                                                        take one sleeper out, ring its bell
//!   carrier:  searching += 1 ; look around ; searching -= 1 ; fence ; work? -> take it
//!             join the sleepers ; asleep = true ; fence ; work? -> leave, take it : sleep
//! ```
//!
//! **No wake-up is lost.** A spawn that rings nobody saw a searcher, or no sleeper.
//! - It saw a searcher: it read the count before that carrier took itself out. Between the two stores and the two
//!   loads stand sequentially consistent fences, so the carrier's look after its search sees the work.
//! - It saw no sleeper: each carrier either joins later, and by the same argument its look before it sleeps sees the
//!   work; or it was taken out by another spawn, which rings its bell: it wakes, or does not lie down, and goes
//!   through a whole round before it joins again.
//! - The sleeper it took out had joined and not lain down: then its bell does not ring, and its last look comes after
//!   the fence. It takes the work, or another carrier has it.
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
        self.0.searching.fetch_sub(1, Ordering::SeqCst);
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
        self.searching.fetch_add(1, Ordering::SeqCst);
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
        let mut sleepers = self.sleepers.lock();
        let least = (0..sleepers.len()).min_by_key(|&place| load(sleepers[place]));
        let sleeper = least.map(|place| sleepers.swap_remove(place));
        self.count.store(sleepers.len(), Ordering::Relaxed);
        sleeper
    }
}

#[cfg(all(test, loom))]
mod loom {
    //! Carriers that search, join and sleep, with spawns in between; work that nobody starts shows as a deadlock.

    use ::loom::sync::Arc;
    use ::loom::thread;

    use super::*;
    use crate::primitive::Bell;

    struct Model {
        idle: IdleSet,
        bells: Vec<Bell>,
        /// Put down and not started; and what is still to be started before the carriers may end.
        work: AtomicUsize,
        left: AtomicUsize,
    }

    impl Model {
        fn new(carriers: usize, spawns: usize) -> Arc<Self> {
            Arc::new(Self {
                idle: IdleSet::new(),
                bells: (0..carriers).map(|_| Bell::new()).collect(),
                work: AtomicUsize::new(0),
                left: AtomicUsize::new(spawns),
            })
        }

        fn has_news(&self) -> bool {
            self.work.load(Ordering::Acquire) > 0 || self.left.load(Ordering::Acquire) == 0
        }

        fn spawn(&self, carriers: &[thread::Thread]) {
            self.work.fetch_add(1, Ordering::Release);
            if let Some(id) = self.idle.pick(|id| id) {
                self.ring(id, carriers);
            }
        }

        fn ring(&self, id: usize, carriers: &[thread::Thread]) {
            if self.bells[id].ring() {
                carriers[id].unpark();
            }
        }

        /// True once it has started the last of all.
        fn run(&self, id: usize) -> bool {
            loop {
                let work = self.work.load(Ordering::Acquire);
                if work > 0 {
                    let taken = self.work.compare_exchange(
                        work,
                        work - 1,
                        Ordering::AcqRel,
                        Ordering::Relaxed,
                    );
                    if taken.is_ok() && self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                        return true;
                    }
                    continue;
                }
                if self.left.load(Ordering::Acquire) == 0 {
                    return false;
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
        model.preemption_bound = Some(3);
        model.check(|| {
            let model = Model::new(1, 2);
            let carrier = {
                let model = Arc::clone(&model);
                thread::spawn(move || assert!(model.run(0)))
            };
            let threads = vec![carrier.thread().clone()];
            let other = {
                let (model, threads) = (Arc::clone(&model), threads.clone());
                thread::spawn(move || model.spawn(&threads))
            };
            model.spawn(&threads);
            other.join().expect("it ends");
            carrier.join().expect("it ends");
        });
    }

    #[test]
    fn two_carriers_start_what_one_spawns() {
        let mut model = ::loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let model = Model::new(2, 2);
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
            model.spawn(&threads);
            model.spawn(&threads);
            // As the end of the last thread wakes all carriers of a runtime that stops: here they are told by who
            // spawned, when all has been started.
            while model.left.load(Ordering::Acquire) > 0 {
                thread::yield_now();
            }
            (0..2).for_each(|id| model.ring(id, &threads));
            for carrier in carriers {
                carrier.join().expect("it ends");
            }
        });
    }
}
