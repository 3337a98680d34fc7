//! The one door for waiting: sleep, locks, channels, join, I/O and scopes all come through [`wait`].
//!
//! ```text
//! let waiter = prepare();          a wait of this thread begins
//! let epoch = waiter.epoch();      what the thread itself needs of it
//! queue.push(waiter);              wakers can find it
//! if condition() { return }        (nothing to undo: late wakers miss)
//! wait(epoch, &Wait { .. })        not pinned: unmount. pinned: block the carrier, measure, report
//! ```
//!
//! **Invariant (one door):** nothing else in the crate stops a virtual thread. Here, once for each wait, it is
//! decided whether the thread may unmount; if not, `pinned` times the wait and reports it exactly once.
//!
//! **Invariant (leaf):** no lock of the runtime is held over [`wait`], and nothing in this module calls user
//! code between the decision and the unmount, except the thread's own `tracing` spans, on its own stack.

mod announced;
mod life;
mod pinned;
mod record;
mod recycle;
mod spans;
mod stack;
mod word;

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use life::wake_task;
pub(crate) use pinned::Spell;
pub(crate) use record::{Kind, Record, Waiting, of_os_thread};
pub(crate) use recycle::let_go;
pub use stack::walk;
pub(crate) use stack::{at_end as stack_at_end, has_frame_pointers, test_frame_pointers};
pub(crate) use word::{Allow, End, Place};

use crate::carrier::Local;
use crate::continuation::Way;
use crate::current;
use crate::event::{self, Operation, Subject, WaitOutcome};
use crate::pin;

/// A queue that offers wake-ones and can give an unaccepted one to another waiter.
///
/// **Invariant (wake rule):** an offered wake-one is a revocable token until its waiter accepts it by being
/// mounted. When that waiter's carrier pins or blocks first, `pass_on` must wake another waiter as well.
pub(crate) trait PassOn: Send + Sync {
    /// The thread `waiter` was offered a wake and may not run soon.
    fn pass_on(self: Arc<Self>, waiter: u64);

    /// Something was given back some time ago, and it was left to a carrier to call the next waiter.
    fn call_next(self: Arc<Self>);
}

/// One wait of one thread.
#[derive(Clone)]
pub(crate) struct Waiter {
    record: Arc<Record>,
    epoch: u64,
}

/// A wait that the calling thread has begun, for its own use.
pub(crate) struct Epoch {
    number: u64,
    /// Of an OS thread. A virtual thread's is with its carrier, and counting the handles of it up and down would cost
    /// as much as the switch.
    os: Option<Arc<Record>>,
}

impl From<Waiter> for Epoch {
    fn from(waiter: Waiter) -> Self {
        let Waiter { record, epoch } = waiter;
        Self {
            number: epoch,
            os: record.as_virtual().is_none().then_some(record),
        }
    }
}

impl Waiter {
    /// The wait as its own thread knows it, so that this handle can be given away.
    pub(crate) fn epoch(&self) -> Epoch {
        let is_os = self.record.as_virtual().is_none();
        Epoch {
            number: self.epoch,
            os: is_os.then(|| Arc::clone(&self.record)),
        }
    }

    /// Ends the wait. True for the one call that did; false if it had ended.
    pub(crate) fn wake(&self) -> bool {
        self.record.end(self.epoch, End::Done)
    }

    /// [`wake`](Self::wake) by the carrier that the thread lives on, which need not be looked for then.
    #[inline]
    pub(crate) fn wake_at_home(&self, home: &Local) {
        self.record.end_at_home(self.epoch, End::Done, home);
    }

    /// Ends the wait because its deadline has passed; by the carrier that the thread lives on.
    pub(crate) fn time_out_at_home(&self, home: &Local) {
        self.record.end_at_home(self.epoch, End::Timeout, home);
    }

    /// [`wake`](Self::wake) if the thread lives on the calling thread's carrier; false if it does not. All it takes is a
    /// place in the run queue, and the thread cannot go on before the caller leaves: fit for being called under a lock.
    #[inline]
    pub(crate) fn wake_neighbour(&self) -> bool {
        let Some(part) = self.record.as_virtual() else {
            return false;
        };
        let home = self.record.home();
        let wake = |local: &Local| {
            let lives_here = home == Some(local.id());
            if lives_here {
                self.wake_at_home(local);
            }
            lives_here
        };
        current::with_carrier_in(&part.runtime, wake).unwrap_or(false)
    }

    /// [`wake`](Self::wake) for a wake-one: a token that `queue` gets back if the thread cannot accept it soon.
    pub(crate) fn offer(self, queue: Arc<dyn PassOn>) -> bool {
        let woke = self.wake();
        if woke && let (Some(part), Some(home)) = (self.record.as_virtual(), self.record.home()) {
            let carrier = Arc::clone(part.runtime.carrier(home));
            carrier.add_offer(Offer {
                waiter: self,
                queue,
            });
        }
        woke
    }

    /// Has the wait ended without the thread having gone on?
    pub(crate) fn is_unaccepted(&self) -> bool {
        self.record.word.is_unaccepted(self.epoch)
    }

    /// Is the thread unmounted while its carrier is pinned or blocked?
    pub(crate) fn is_stranded(&self) -> bool {
        self.record.is_stranded()
    }

    /// What tells the thread's home carrier from all others, 0 if it has none.
    pub(crate) fn home(&self) -> usize {
        let part = self.record.as_virtual().zip(self.record.home());
        part.map_or(0, |(part, home)| part.runtime.carrier(home).key())
    }

    /// Is the wait still under way?
    pub(crate) fn is_current(&self) -> bool {
        self.record.word.is_open(self.epoch)
    }

    /// The id of the waiting thread.
    pub(crate) fn thread(&self) -> u64 {
        self.record.id
    }
}

/// A wake-one that its waiter may not have accepted yet.
pub(crate) struct Offer {
    waiter: Waiter,
    queue: Arc<dyn PassOn>,
}

impl Offer {
    /// Has the thread not gone on yet?
    pub(crate) fn is_open(&self) -> bool {
        self.waiter.is_unaccepted()
    }

    /// Gives the wake-one to another waiter as well, unless the thread has gone on.
    pub(crate) fn revoke(self) {
        if self.is_open() {
            self.queue.pass_on(self.waiter.thread());
        }
    }
}

/// Leaves the call of the next waiter of `queue` to the calling thread's carrier: [`PassOn::call_next`] is called when the
/// thread has left, pins, enters a foreign call, or computes for long. False where that could keep the waiter, whose
/// home carrier is `home`, from running.
pub(crate) fn owe_call<Q: PassOn + 'static>(home: usize, queue: &Arc<Q>) -> bool {
    home != 0 && current::carrier().is_some_and(|carrier| carrier.owe_call(home, queue))
}

/// The calling thread has taken back what it owed a call for.
pub(crate) fn waive_call<Q>(queue: &Arc<Q>) {
    if let Some(carrier) = current::carrier() {
        carrier.waive_call(queue);
    }
}

/// What a thread waits for, and under which conditions the wait may end early.
pub(crate) struct Wait {
    pub(crate) operation: Operation,
    pub(crate) at: &'static Location<'static>,
    pub(crate) deadline: Option<Instant>,
    /// An interrupt ends the wait and clears the flag.
    pub(crate) interruptible: bool,
    pub(crate) subject: Option<Subject>,
    /// The thread that has what is waited for, 0 if unknown.
    pub(crate) owner: u64,
}

impl Wait {
    /// A wait without deadline that nothing but a wake ends.
    pub(crate) fn new(operation: Operation, at: &'static Location<'static>) -> Self {
        Self {
            operation,
            at,
            deadline: None,
            interruptible: false,
            subject: None,
            owner: 0,
        }
    }
}

/// The id of the calling thread; those of OS threads lie in a range of their own.
#[inline]
pub(crate) fn me() -> u64 {
    let id = current::id();
    if id != 0 { id } else { record::os_thread_id() }
}

/// The virtual thread that runs here outside any declared region, 0 if there is none, or if a signal handler on a stack
/// of its own runs instead. For traps, so it may be asked in a signal handler.
pub fn undeclared_thread() -> u64 {
    let here = 0u8;
    let is_on_stack = crate::continuation::stack_bounds()
        .is_some_and(|bounds| bounds.contains(&(&raw const here).addr()));
    if is_on_stack && !pin::is_held_by_native() {
        current::id()
    } else {
        0
    }
}

/// Begins a wait of the calling thread.
pub(crate) fn prepare() -> Waiter {
    begin(may_be_cancelled())
}

/// [`prepare`] for [`wait_lending`].
pub(crate) fn prepare_lending() -> Waiter {
    begin(Allow::NOTHING)
}

/// [`prepare`] for a wait that nobody is told of: it ends by its deadline, or from inside the door.
pub(crate) fn prepare_alone() -> Epoch {
    begin_alone(may_be_cancelled())
}

/// [`prepare`], where a waiter of an earlier wait may be at hand: one of the same thread is used again.
#[inline]
pub(crate) fn prepare_in(slot: &mut Option<Waiter>) -> Epoch {
    let allow = may_be_cancelled();
    let again = current::with_virtual(|record| {
        let is_own = |waiter: &&mut Waiter| Arc::ptr_eq(&waiter.record, record);
        let waiter = slot.as_mut().filter(is_own)?;
        waiter.epoch = record.word.prepare(allow);
        Some(waiter.epoch)
    });
    if let Some(number) = again.flatten() {
        return Epoch { number, os: None };
    }
    slot.insert(begin(allow)).epoch()
}

fn begin(allow: Allow) -> Waiter {
    let record = current::record();
    let epoch = record.word.prepare(allow);
    Waiter { record, epoch }
}

fn begin_alone(allow: Allow) -> Epoch {
    match current::with_virtual(|record| record.word.prepare(allow)) {
        Some(number) => Epoch { number, os: None },
        None => begin(allow).into(),
    }
}

/// Shutdown ends no wait of a thread that has foreign frames on its stack, or that unwinds already.
fn may_be_cancelled() -> Allow {
    if pin::is_held_by_native() || std::thread::panicking() {
        Allow::NOTHING
    } else {
        Allow::CANCEL
    }
}

/// Waits for the park permit and takes it. An interrupt ends the wait and stays set.
pub(crate) fn park(deadline: Option<Instant>, at: &'static Location<'static>) {
    let epoch = begin_alone(may_be_cancelled().and(Allow::PARK));
    let wait = Wait {
        deadline,
        ..Wait::new(Operation::Park, at)
    };
    let outcome = self::wait(epoch, &wait);
    current::with_record(|record| match outcome {
        WaitOutcome::Interrupted => record.restore_interrupt(),
        WaitOutcome::Done | WaitOutcome::Timeout => {
            record.take_permit();
        }
    });
}

/// Waits until somebody ends the wait.
pub(crate) fn wait(epoch: impl Into<Epoch>, wait: &Wait) -> WaitOutcome {
    whole(epoch.into(), wait, false, current::carrier().as_deref())
}

/// [`wait`] of a virtual thread that knows its carrier.
pub(crate) fn wait_on(carrier: &Local, epoch: impl Into<Epoch>, wait: &Wait) -> WaitOutcome {
    whole(epoch.into(), wait, false, Some(carrier))
}

/// [`wait`] for a wait that lends memory to others, begun by [`prepare_lending`]: shutdown never cancels it.
pub(crate) fn wait_lending(epoch: impl Into<Epoch>, wait: &Wait) -> WaitOutcome {
    whole(epoch.into(), wait, true, current::carrier().as_deref())
}

#[inline(always)]
fn whole(epoch: Epoch, wait: &Wait, lends: bool, carrier: Option<&Local>) -> WaitOutcome {
    let mut spell = Spell::default();
    let end = stop(epoch, wait, &mut spell, lends, carrier);
    spell.report(wait);
    match end {
        End::Done => WaitOutcome::Done,
        End::Timeout => WaitOutcome::Timeout,
        End::Interrupted => WaitOutcome::Interrupted,
        End::Cancelled => raise_cancel(),
        End::Deadlock => raise_deadlock(),
    }
}

/// Waits once within an operation that may take several waits. The caller reports `spell` at the operation's end
/// and, after `Cancelled`, calls [`raise_cancel`].
#[inline(always)]
pub(crate) fn wait_in(epoch: impl Into<Epoch>, wait: &Wait, spell: &mut Spell, lends: bool) -> End {
    stop(
        epoch.into(),
        wait,
        spell,
        lends,
        current::carrier().as_deref(),
    )
}

/// `carrier` is the calling thread's, if it is a virtual one.
#[inline(always)]
fn stop(
    Epoch { number, os }: Epoch,
    wait: &Wait,
    spell: &mut Spell,
    lends: bool,
    carrier: Option<&Local>,
) -> End {
    match (os, carrier) {
        (Some(record), _) => {
            if record.word.ended().is_none() {
                stop_os(&record, number, wait, lends);
            }
            over(&record)
        }
        (None, Some(carrier)) => {
            stop_virtual(carrier, number, wait, spell, lends);
            current::with_record(over)
        }
        (None, None) => unreachable!("a virtual thread has a carrier"),
    }
}

/// The wait has ended: how.
fn over(record: &Arc<Record>) -> End {
    let end = record.word.ended().unwrap_or(End::Done);
    record.word.close();
    if end == End::Interrupted {
        record.clear_interrupt();
    }
    end
}

/// The policy is to end a deadlock at its pinned waiter, whose call has no other way to say so.
pub(crate) fn raise_deadlock() -> ! {
    panic!("deadlock: {}", current::record().take_deadlock())
}

/// Lets all other ready threads of the carrier run first. The caller is not pinned.
#[inline]
pub(crate) fn give_way(carrier: &Local) {
    let left = spans::leave();
    carrier.yield_now();
    spans::enter_again(left);
}

/// The way of the calling virtual thread to the back of its carrier's run queue; `None` if it is pinned, or
/// [`give_way`] must be called for the sake of its spans.
pub(crate) fn way_to_the_back() -> Option<Way> {
    let carrier = current::carrier()?;
    if pin::is_pinned() || spans::may_be_entered() {
        return None;
    }
    carrier.prepare_to_yield()
}

/// The unwinding that shutdown raises in a virtual thread.
pub(crate) struct Cancelled;

/// Says what is waited for, and since when: to a few milliseconds, which a dump can do without and a switch cannot.
#[inline(always)]
fn announce(record: &Record, epoch: u64, wait: &Wait, lends: bool, frame: (usize, usize)) {
    record.announce(&Waiting {
        operation: wait.operation,
        at: wait.at,
        subject: wait.subject,
        owner: wait.owner,
        timed: wait.deadline.is_some(),
        lends,
        epoch,
        since: event::recently().0,
        frame,
    });
}

/// Who may end the wait of `record` besides those who were given its epoch.
fn allowed(record: &Record, wait: &Wait) -> Allow {
    let also = match wait.interruptible {
        true => Allow::INTERRUPT,
        false => Allow::NOTHING,
    };
    record.word.allows().and(also)
}

#[inline(never)]
fn stop_os(record: &Arc<Record>, epoch: u64, wait: &Wait, lends: bool) {
    announce(record, epoch, wait, lends, (0, 0));
    let Kind::Os(parker) = &record.kind else {
        unreachable!("a virtual thread's wait has no record of its own")
    };
    let allow = allowed(record, wait);
    if record.word.settle(epoch, Place::Held, allow).is_err() {
        return;
    }
    record.end_if_asked(epoch, allow);
    parker.block(wait.deadline, || record.word.ended().is_some());
    if record.word.ended().is_none() {
        record.end(epoch, End::Timeout);
    }
}

/// Inlined, as are those above it: after a switch of stacks each return is predicted wrongly.
#[inline(always)]
fn stop_virtual(carrier: &Local, epoch: u64, wait: &Wait, spell: &mut Spell, lends: bool) {
    let frame = stack::here();
    let waits = current::with_record(|record| {
        // Woken before it stopped: nothing blocks, so nothing can be pinned.
        if record.word.ended().is_some() {
            return None;
        }
        announce(record, epoch, wait, lends, frame);
        let allow = allowed(record, wait);
        record.end_if_asked(epoch, allow);
        record.word.ended().is_none().then_some(allow)
    });
    let Some(allow) = waits else { return };
    let timer = wait
        .deadline
        .map(|deadline| set_timer(carrier, epoch, deadline));
    // What pins is asked where it is needed: it would take room on the stack of each thread that waits.
    if pin::is_pinned() {
        pinned::hold(carrier, &current::record(), (epoch, allow), spell);
    } else {
        // No closure, which would be a function of its own: see above.
        let left = spans::leave();
        carrier.park(epoch, allow, wait.operation);
        spans::enter_again(left);
    }
    if let Some(timer) = timer {
        carrier.cancel_timer(timer);
    }
}

#[inline(never)]
fn set_timer(carrier: &Local, epoch: u64, deadline: Instant) -> crate::carrier::Timer {
    let record = current::record();
    let left = nanos(deadline.saturating_duration_since(Instant::now()));
    let due = event::now().0.saturating_add(left);
    carrier.set_timer(due, left, Waiter { record, epoch })
}

/// Nanoseconds of a duration, saturating (584 years are for ever).
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Raises the unwinding of shutdown. A thread that swallowed it and waits again is abandoned where it is:
/// raising it for ever would spin the carrier, and freeing a live stack would skip destructors. So is every thread of
/// a program built with `panic = "abort"`, in which an unwinding would end the process.
pub(crate) fn raise_cancel() -> ! {
    if !cfg!(panic = "abort") && current::record().raise_cancel_once() {
        std::panic::resume_unwind(Box::new(Cancelled))
    }
    if let Some(carrier) = current::carrier() {
        carrier.abandon();
    }
    unreachable!("only a mounted virtual thread is cancelled, and an abandoned one never resumes")
}

#[cfg(all(test, loom))]
#[path = "loom.rs"]
mod loom_model;
#[cfg(all(test, not(loom)))]
mod tests;
