//! The one door for waiting: sleep, locks, channels, join, I/O and scopes all come through [`wait`].
//!
//! ```text
//! let waiter = prepare();          a wait of this thread begins
//! queue.push(waiter.clone());      wakers can find it
//! if condition() { return }        (dropping the waiter is enough: late wakers miss)
//! wait(waiter, &Wait { .. })       not pinned: unmount. pinned: block the carrier, measure, report
//! ```
//!
//! **Invariant (one door):** nothing else in the crate stops a virtual thread. Here, once for each wait, it is
//! decided whether the thread may unmount; if not, `pinned` times the wait and reports it exactly once.
//!
//! **Invariant (leaf):** no lock of the runtime is held over [`wait`], and nothing in this module calls user
//! code between the decision and the unmount, except the thread's own `tracing` spans, on its own stack.

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
pub(crate) use word::{End, Place};

use crate::carrier::Local;
use crate::current;
use crate::event::{self, Operation, Subject, WaitOutcome};
use crate::pin;
use word::Allow;

/// A queue that offers wake-ones and can give an unaccepted one to another waiter.
///
/// **Invariant (wake rule):** an offered wake-one is a revocable token until its waiter accepts it by being
/// mounted. When that waiter's carrier pins or blocks first, `pass_on` must wake another waiter as well.
pub(crate) trait PassOn: Send + Sync {
    /// The thread `waiter` was offered a wake and may not run soon.
    fn pass_on(self: Arc<Self>, waiter: u64);
}

/// One wait of one thread.
#[derive(Clone)]
pub(crate) struct Waiter {
    record: Arc<Record>,
    epoch: u64,
}

impl Waiter {
    /// Ends the wait. True for the one call that did; false if it had ended.
    pub(crate) fn wake(&self) -> bool {
        self.record.end(self.epoch, End::Done)
    }

    /// [`wake`](Self::wake) by the carrier that the thread lives on, which need not be looked for then.
    pub(crate) fn wake_at_home(&self, home: &Local) {
        self.record.end_at_home(self.epoch, End::Done, home);
    }

    /// Ends the wait because its deadline has passed; by the carrier that the thread lives on.
    pub(crate) fn time_out_at_home(&self, home: &Local) {
        self.record.end_at_home(self.epoch, End::Timeout, home);
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

fn begin(allow: Allow) -> Waiter {
    let record = current::record();
    let epoch = record.word.prepare(allow);
    Waiter { record, epoch }
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
    let waiter = begin(may_be_cancelled().and(Allow::PARK));
    let record = Arc::clone(&waiter.record);
    let wait = Wait {
        deadline,
        ..Wait::new(Operation::Park, at)
    };
    match self::wait(waiter, &wait) {
        WaitOutcome::Interrupted => record.restore_interrupt(),
        WaitOutcome::Done | WaitOutcome::Timeout => {
            record.take_permit();
        }
    }
}

/// Waits until somebody ends the wait.
pub(crate) fn wait(waiter: Waiter, wait: &Wait) -> WaitOutcome {
    whole(waiter, wait, false, current::carrier().as_deref())
}

/// [`wait`] of a virtual thread that knows its carrier.
pub(crate) fn wait_on(carrier: &Local, waiter: Waiter, wait: &Wait) -> WaitOutcome {
    whole(waiter, wait, false, Some(carrier))
}

/// [`wait`] for a wait that lends memory to others, begun by [`prepare_lending`]: shutdown never cancels it.
pub(crate) fn wait_lending(waiter: Waiter, wait: &Wait) -> WaitOutcome {
    whole(waiter, wait, true, current::carrier().as_deref())
}

fn whole(waiter: Waiter, wait: &Wait, lends: bool, carrier: Option<&Local>) -> WaitOutcome {
    let mut spell = Spell::default();
    let end = stop(waiter, wait, &mut spell, lends, carrier);
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
pub(crate) fn wait_in(waiter: Waiter, wait: &Wait, spell: &mut Spell, lends: bool) -> End {
    stop(waiter, wait, spell, lends, current::carrier().as_deref())
}

/// `carrier` is the calling thread's, if it is a virtual one.
#[inline]
fn stop(
    waiter: Waiter,
    wait: &Wait,
    spell: &mut Spell,
    lends: bool,
    carrier: Option<&Local>,
) -> End {
    let Waiter { record, epoch } = waiter;
    let end = match (record.word.ended(), carrier) {
        // Woken before it stopped: nothing blocks, so nothing can be pinned.
        (Some(end), _) => end,
        (None, Some(carrier)) => stop_virtual(carrier, &record, epoch, wait, spell, lends),
        (None, None) => stop_os(&record, epoch, wait, lends),
    };
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
    spans::out_of(|| carrier.yield_now());
}

/// The unwinding that shutdown raises in a virtual thread.
pub(crate) struct Cancelled;

/// Says what is waited for, and since when: to a few milliseconds, which a dump can do without and a switch cannot.
fn announce(record: &Record, epoch: u64, wait: &Wait, lends: bool, frame: (usize, usize)) {
    record.announce(Waiting {
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

/// Ends the wait at once if a permit, an interrupt or a cancel is there already.
fn end_early(record: &Arc<Record>, epoch: u64, wait: &Wait) {
    let is_park = wait.operation == Operation::Park;
    if wait.interruptible {
        record.word.allow_interrupts();
    }
    if is_park && record.take_permit() {
        record.end(epoch, End::Done);
    } else if (wait.interruptible || is_park) && record.is_interrupted() {
        record.end(epoch, End::Interrupted);
    } else if record.is_cancelled() && record.word.is_cancellable() {
        record.end(epoch, End::Cancelled);
    }
}

fn stop_os(record: &Arc<Record>, epoch: u64, wait: &Wait, lends: bool) -> End {
    announce(record, epoch, wait, lends, (0, 0));
    end_early(record, epoch, wait);
    let Kind::Os(parker) = &record.kind else {
        unreachable!("a virtual thread has a carrier")
    };
    if let Err(end) = record.word.settle(epoch, Place::Held) {
        return end;
    }
    parker.block(wait.deadline, || record.word.ended().is_some());
    if record.word.ended().is_none() {
        record.end(epoch, End::Timeout);
    }
    record.word.ended().unwrap_or(End::Timeout)
}

fn stop_virtual(
    carrier: &Local,
    record: &Arc<Record>,
    epoch: u64,
    wait: &Wait,
    spell: &mut Spell,
    lends: bool,
) -> End {
    announce(record, epoch, wait, lends, stack::here());
    end_early(record, epoch, wait);
    if let Some(end) = record.word.ended() {
        return end;
    }
    let timer = wait.deadline.map(|deadline| {
        carrier.set_timer(
            after(deadline),
            Waiter {
                record: Arc::clone(record),
                epoch,
            },
        )
    });
    match pin::effective() {
        None => spans::out_of(|| carrier.park(record, epoch, wait.operation)),
        Some(pin) => pinned::hold(carrier, record, epoch, &pin, spell),
    }
    if let Some(timer) = timer {
        carrier.cancel_timer(timer);
    }
    record.word.ended().unwrap_or(End::Done)
}

/// A deadline on the runtime's clock, in nanoseconds.
fn after(deadline: Instant) -> u64 {
    let left = deadline.saturating_duration_since(Instant::now());
    event::now().0.saturating_add(nanos(left))
}

/// Nanoseconds of a duration, saturating (584 years are for ever).
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Raises the unwinding of shutdown. A thread that swallowed it and waits again is abandoned where it is:
/// raising it for ever would spin the carrier, and freeing a live stack would skip destructors.
pub(crate) fn raise_cancel() -> ! {
    if current::record().raise_cancel_once() {
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
