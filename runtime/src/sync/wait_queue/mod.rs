//! The wait queue under every primitive: who waits, in which order, and who was told to try again.
//!
//! A wake-up from here is a hint, never ownership: the state (free or held, permits, messages) lives in the
//! primitive, and a woken thread tries to take it like anybody else. That makes an extra hint harmless and
//! leaves one thing to prove: that none is missing.
//!
//! ```text
//!   join ──> Waiting ──choose──> Called ──rejoin──> Waiting          (it tried and lost)
//!                │                  │ pass_on, missed offer
//!                └──choose─────> Skipped                             (stranded: called, but not relied on)
//!                     any state ──leave──> gone                      (it has what it wanted, or gave up)
//! ```
//!
//! **Invariant (wake rule):** whenever there is something to take and somebody who could run waits for it,
//! either somebody `Called` can still run or is about to be revoked. A stranded waiter (unmounted, its carrier
//! pinned or blocked) is called as well, so that it goes on when it can, but counts for nothing, and the
//! next in line is called in its place. A waiter that becomes stranded after it was called is revoked by the
//! runtime through [`PassOn`]; one that leaves without taking passes its call on.
//!
//! **Invariant (leaf):** the queue's lock is held for a few instructions, never over a wake-up, a wait or
//! code of the user.
//!
//! The queue is allocated at the first wait, so that constructors are `const` and the uncontended path never
//! comes here.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::park::{self, PassOn, Waiter};
use crate::primitive::constant::{Mutex, MutexGuard};

/// What a waiter asks for that leaves no room for anybody else.
pub(crate) const EVERYTHING: u64 = u64::MAX;

/// No thread's id.
const NOBODY: u64 = 0;

/// See the module's documentation.
pub(crate) struct WaitQueue {
    shared: OnceLock<Arc<Shared>>,
}

/// A place in the queue: smaller means earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// A thread's place in the queue, which it leaves at the latest when this is dropped: a wait may end by
/// unwinding.
pub(crate) struct Place<'q> {
    queue: &'q WaitQueue,
    ticket: Ticket,
    /// Others may be served now that were behind it, so leaving for nothing calls the next one.
    level: bool,
}

struct Left {
    was_called: bool,
    was_first: bool,
    want: u64,
}

/// The queue, locked.
pub(crate) struct Line<'a> {
    shared: &'a Arc<Shared>,
    line: MutexGuard<'a, Entries>,
}

/// Waiters that were chosen and have not been told yet. Dropping it would lose wake-ups.
#[must_use = "the chosen waiters sleep until they are called"]
pub(crate) struct Chosen<'a> {
    shared: &'a Arc<Shared>,
    first: Option<Call>,
    rest: Vec<Call>,
}

struct Shared {
    line: Mutex<Entries>,
    /// The home carrier of the first in line, 0 if there is none. Written under the line's lock; without it, a hint.
    first_home: AtomicUsize,
}

#[derive(Default)]
struct Entries {
    /// In the order of their tickets.
    entries: VecDeque<Entry>,
    next_ticket: Ticket,
    /// How many are `Called`.
    called: usize,
    /// Places before this one have waited for too long.
    urgent_before: Ticket,
}

struct Entry {
    ticket: Ticket,
    waiter: Waiter,
    /// How much of the thing it wants.
    want: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Called,
    Skipped,
}

struct Call {
    ticket: Ticket,
    waiter: Waiter,
}

impl WaitQueue {
    pub(crate) const fn new() -> Self {
        Self {
            shared: OnceLock::new(),
        }
    }

    /// Locks the queue, which is made if this is its first use.
    pub(crate) fn lock(&self) -> Line<'_> {
        let shared = self.shared.get_or_init(Shared::new);
        Line {
            shared,
            line: shared.line.lock(),
        }
    }

    /// Leaves it to the calling thread's carrier to call the first in line before it mounts another thread, if that one
    /// lives there too. False if not: then the caller calls.
    pub(crate) fn owe_call(&self) -> bool {
        self.shared
            .get()
            .is_some_and(|shared| park::owe_call(shared.first_home.load(Ordering::Relaxed), shared))
    }

    /// The calling thread has taken back what it owed a call for.
    pub(crate) fn waive_call(&self) {
        if let Some(shared) = self.shared.get() {
            park::waive_call(shared);
        }
    }

    /// Locks the queue if anybody ever waited in it. For callers that are ordered after those who matter.
    pub(crate) fn lock_if_used(&self) -> Option<Line<'_>> {
        let shared = self.shared.get()?;
        Some(Line {
            shared,
            line: shared.line.lock(),
        })
    }
}

impl<'q> Place<'q> {
    /// Goes to the end of `line` for a state that anybody may take who finds it there (a free lock).
    pub(crate) fn join(
        queue: &'q WaitQueue,
        line: &mut Line<'_>,
        waiter: Waiter,
        want: u64,
    ) -> Self {
        Self {
            queue,
            ticket: line.join(waiter, want),
            level: true,
        }
    }

    /// Goes to the end of `line` for something that is told to those who wait at that moment (a notification).
    pub(crate) fn join_for_notice(
        queue: &'q WaitQueue,
        line: &mut Line<'_>,
        waiter: Waiter,
    ) -> Self {
        Self {
            queue,
            ticket: line.join(waiter, 1),
            level: false,
        }
    }

    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Waits again in the same place, with a new wait.
    pub(crate) fn rejoin(&self, line: &mut Line<'_>, waiter: Waiter) {
        line.rejoin(self.ticket, waiter);
    }

    /// Leaves with what it came for.
    pub(crate) fn settle(self, line: &mut Line<'_>) {
        line.leave(self.ticket);
        std::mem::forget(self);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut line = self.queue.lock();
        let Some(left) = line.leave(self.ticket) else {
            return;
        };
        if left.was_called {
            line.choose_more(left.want).call();
        } else if left.was_first && self.level {
            line.choose_more(1).call();
        }
    }
}

impl<'a> Line<'a> {
    fn join(&mut self, waiter: Waiter, want: u64) -> Ticket {
        let ticket = self.line.next_ticket;
        self.line.next_ticket.0 += 1;
        if self.is_empty() {
            self.shared
                .first_home
                .store(waiter.home(), Ordering::Relaxed);
        }
        self.line.entries.push_back(Entry {
            ticket,
            waiter,
            want,
            state: State::Waiting,
        });
        ticket
    }

    fn rejoin(&mut self, ticket: Ticket, waiter: Waiter) {
        self.line.set_state(ticket, State::Waiting);
        if let Some(index) = self.line.index(ticket) {
            self.line.entries[index].waiter = waiter;
        }
    }

    fn leave(&mut self, ticket: Ticket) -> Option<Left> {
        let index = self.line.index(ticket)?;
        let entry = self.line.entries.remove(index)?;
        let was_called = entry.state == State::Called;
        self.line.called -= usize::from(was_called);
        if index == 0 {
            let home = self.line.entries.front().map_or(0, |it| it.waiter.home());
            self.shared.first_home.store(home, Ordering::Relaxed);
        }
        Some(Left {
            was_called,
            was_first: index == 0,
            want: entry.want,
        })
    }

    /// The place that the next one to join will have.
    pub(crate) fn next_ticket(&self) -> Ticket {
        self.line.next_ticket
    }

    /// Marks all places before that one as having waited for too long; until they have left, newcomers should stand
    /// behind them.
    pub(crate) fn set_urgent_before(&mut self, ticket: Ticket) {
        self.line.urgent_before = self.line.urgent_before.max(ticket);
    }

    /// Marks the first place that can run, and those before it.
    pub(crate) fn set_first_urgent(&mut self) {
        let able = |entry: &&Entry| !entry.waiter.is_stranded();
        let first = self.line.entries.iter().find(able);
        if let Some(Ticket(first)) = first.map(|entry| entry.ticket) {
            self.set_urgent_before(Ticket(first + 1));
        }
    }

    /// Does somebody wait who has waited for too long?
    pub(crate) fn has_urgent(&self) -> bool {
        let first = self.line.entries.front();
        first.is_some_and(|first| first.ticket < self.line.urgent_before)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.line.entries.is_empty()
    }

    /// How many wait, called or not.
    pub(crate) fn len(&self) -> usize {
        self.line.entries.len()
    }

    /// Is somebody on the way who could run when it was called and was not revoked since?
    pub(crate) fn is_promised(&self) -> bool {
        self.line.called > 0
    }

    /// Can nobody run who stands before that place (`None`: before the end of the line)?
    pub(crate) fn is_first_able(&self, ticket: Option<Ticket>) -> bool {
        let before = |entry: &&Entry| ticket.is_none_or(|ticket| entry.ticket < ticket);
        let unable = |entry: &Entry| entry.state == State::Skipped || entry.waiter.is_stranded();
        self.line.entries.iter().take_while(before).all(unable)
    }

    /// Chooses from the front who can be served from `budget`, counting those who are on their way already.
    pub(crate) fn choose(&mut self, budget: u64) -> Chosen<'a> {
        self.choose_others(NOBODY, budget)
    }

    /// [`choose`](Self::choose), but never that thread.
    pub(crate) fn choose_others(&mut self, thread: u64, budget: u64) -> Chosen<'a> {
        let (first, rest) = self.line.choose(budget, true, thread);
        Chosen {
            shared: self.shared,
            first,
            rest,
        }
    }

    /// Chooses that one, unless it was chosen or has left, and another as well if that one cannot run. Gives the lock up.
    pub(crate) fn choose_that(mut self, ticket: Ticket) -> Chosen<'a> {
        let (first, rest) = self.line.choose_that(ticket);
        Chosen {
            shared: self.shared,
            first,
            rest,
        }
    }

    /// Was that one called while it could not run, or got stranded after its call?
    pub(crate) fn is_skipped(&self, ticket: Ticket) -> bool {
        self.line
            .index(ticket)
            .is_some_and(|index| self.line.entries[index].state == State::Skipped)
    }

    /// Chooses that many who were not chosen before, whoever else is on the way, and gives the lock up.
    pub(crate) fn choose_more(mut self, count: u64) -> Chosen<'a> {
        let (first, rest) = self.line.choose(count, false, NOBODY);
        Chosen {
            shared: self.shared,
            first,
            rest,
        }
    }
}

impl Entries {
    fn index(&self, ticket: Ticket) -> Option<usize> {
        // Mostly the first one; entries are sorted by ticket.
        if self
            .entries
            .front()
            .is_some_and(|entry| entry.ticket == ticket)
        {
            return Some(0);
        }
        self.entries
            .binary_search_by_key(&ticket, |entry| entry.ticket)
            .ok()
    }

    fn set_state(&mut self, ticket: Ticket, state: State) {
        let Some(index) = self.index(ticket) else {
            return;
        };
        let before = std::mem::replace(&mut self.entries[index].state, state);
        self.called -= usize::from(before == State::Called);
        self.called += usize::from(state == State::Called);
    }

    fn choose_that(&mut self, ticket: Ticket) -> (Option<Call>, Vec<Call>) {
        let Some(index) = self.index(ticket) else {
            return (None, Vec::new());
        };
        let entry = &self.entries[index];
        let (before, waiter) = (entry.state, entry.waiter.clone());
        let able = before != State::Skipped && !waiter.is_stranded();
        if before == State::Waiting {
            let state = if able { State::Called } else { State::Skipped };
            self.set_state(ticket, state);
        }
        let call = (before == State::Waiting).then_some(Call { ticket, waiter });
        if able {
            return (call, Vec::new());
        }
        let (another, mut rest) = self.choose(1, false, NOBODY);
        rest.extend(another);
        match call {
            Some(call) => (Some(call), rest),
            None => (rest.pop(), rest),
        }
    }

    fn choose(
        &mut self,
        mut budget: u64,
        count_called: bool,
        except: u64,
    ) -> (Option<Call>, Vec<Call>) {
        let (mut first, mut rest) = (None, Vec::new());
        for entry in &mut self.entries {
            if budget == 0 {
                break;
            }
            if entry.state == State::Skipped || (entry.state == State::Called && !count_called) {
                continue;
            }
            if except != NOBODY && entry.waiter.thread() == except {
                continue;
            }
            let stranded = entry.waiter.is_stranded();
            // Later comers never overtake one who can run and waits for more than there is. When a call
            // moves on, how much there is is not known here, so whoever is next tries.
            if count_called && entry.want > budget {
                if stranded {
                    continue;
                }
                break;
            }
            if entry.state == State::Waiting {
                let call = Call {
                    ticket: entry.ticket,
                    waiter: entry.waiter.clone(),
                };
                if first.is_none() {
                    first = Some(call);
                } else {
                    rest.push(call);
                }
                entry.state = if stranded {
                    State::Skipped
                } else {
                    State::Called
                };
                self.called += usize::from(!stranded);
            }
            if !stranded {
                budget = budget.saturating_sub(entry.want);
            }
        }
        (first, rest)
    }

    /// Takes back the calls with those tickets and calls others for as much.
    fn replace(&mut self, gone: impl Iterator<Item = Ticket>) -> (Option<Call>, Vec<Call>) {
        let mut budget: u64 = 0;
        for ticket in gone {
            // One that left has passed its call on itself; one that was skipped was not relied on.
            let Some(index) = self.index(ticket) else {
                continue;
            };
            if self.entries[index].state == State::Called {
                budget = budget.saturating_add(self.entries[index].want);
                self.set_state(ticket, State::Skipped);
            }
        }
        self.choose(budget, false, NOBODY)
    }
}

impl Chosen<'_> {
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Calls them, after the line was unlocked. Those whose wait has ended meanwhile are replaced by the next.
    pub(crate) fn call(self) {
        if self.first.is_some() {
            Shared::call(self.shared, self.first, self.rest);
        }
    }
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            line: Mutex::default(),
            first_home: AtomicUsize::new(0),
        })
    }

    fn call(this: &Arc<Self>, mut first: Option<Call>, mut rest: Vec<Call>) {
        while first.is_some() {
            let calls = first.take().into_iter().chain(rest.drain(..));
            let missed: Vec<Ticket> = calls
                .filter_map(|Call { ticket, waiter }| {
                    let queue: Arc<dyn PassOn> = Arc::<Self>::clone(this);
                    (!waiter.offer(queue)).then_some(ticket)
                })
                .collect();
            if missed.is_empty() {
                return;
            }
            (first, rest) = this.line.lock().replace(missed.into_iter());
        }
    }
}

impl PassOn for Shared {
    fn pass_on(self: Arc<Self>, waiter: u64) {
        let (first, rest) = {
            let mut line = self.line.lock();
            let is_it =
                |entry: &&Entry| entry.waiter.thread() == waiter && entry.state == State::Called;
            let Some(ticket) = line.entries.iter().find(is_it).map(|entry| entry.ticket) else {
                return;
            };
            line.replace(std::iter::once(ticket))
        };
        Self::call(&self, first, rest);
    }

    fn call_next(self: Arc<Self>) {
        let (first, rest) = self.line.lock().choose(1, true, NOBODY);
        Self::call(&self, first, rest);
    }
}
