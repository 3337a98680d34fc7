//! One descriptor whose "would block" becomes a wait through the door.
//!
//! ```text
//! attempt ── done ──────────────────────────────> return
//!    │ would block
//!    v
//! virtual thread: prepare, enlist with the own carrier's epoll, park::wait ── interrupted ──> error
//! OS thread: poll(2)                                  │ ready           │ deadline
//!    ^                                                │                 v
//!    └────────────────────────────────────────────────┘         one last attempt
//! ```
//!
//! Attempts never block by themselves: sockets are asked with `MSG_DONTWAIT`, so that the descriptor itself stays in
//! blocking mode for whoever else has it (a child, a clone, std); what has no such flag is in non-blocking mode.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::io::Interrupted;
use super::limits::Limits;
use crate::carrier::{Direction, Local, Registration};
use crate::current;
use crate::event::{Operation, WaitOutcome};
use crate::park::{self, Epoch, Wait};
use crate::pin;
use crate::thread;

/// Attempts that may succeed without a wait before the thread lets its neighbours run.
const BUDGET: u32 = 128;

/// What an attempt brought.
pub(super) struct Done<T> {
    pub(super) value: T,
    /// It took all there was, so that the next attempt need not be made before an edge comes.
    pub(super) drained: bool,
}

impl<T> Done<T> {
    /// What another attempt would bring is not known.
    pub(super) fn uncertain(self) -> Self {
        Self::perhaps_more(self.value)
    }

    /// There may be more.
    pub(super) fn perhaps_more(value: T) -> Self {
        Self {
            value,
            drained: false,
        }
    }
}

impl Done<usize> {
    /// So many bytes of `asked`: fewer say that the kernel's buffer is empty, or full. None at all is an end, which
    /// stays.
    pub(super) fn bytes(count: usize, asked: usize) -> Self {
        Self {
            value: count,
            drained: count != 0 && count < asked,
        }
    }
}

/// What is attempted, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    pub(super) operation: Operation,
    pub(super) direction: Direction,
    pub(super) deadline: Deadline,
    pub(super) at: &'static Location<'static>,
}

/// When to give up.
#[derive(Clone, Copy)]
pub(super) enum Deadline {
    /// By the time-out that the user set for the direction.
    ByLimits,
    /// Then, or never.
    At(Option<Instant>),
}

impl Attempt {
    pub(super) fn read(at: &'static Location<'static>) -> Self {
        Self {
            operation: Operation::IoRead,
            direction: Direction::Read,
            deadline: Deadline::ByLimits,
            at,
        }
    }

    pub(super) fn write(at: &'static Location<'static>) -> Self {
        Self {
            operation: Operation::IoWrite,
            direction: Direction::Write,
            ..Self::read(at)
        }
    }

    pub(super) fn accept(at: &'static Location<'static>) -> Self {
        Self {
            operation: Operation::Accept,
            ..Self::read(at)
        }
    }

    pub(super) fn connect(at: &'static Location<'static>, deadline: Option<Instant>) -> Self {
        Self {
            operation: Operation::Connect,
            deadline: Deadline::At(deadline),
            ..Self::write(at)
        }
    }
}

/// See the module's documentation.
pub(super) struct Polled<S: AsFd> {
    /// Empty only while it is being taken apart.
    inner: Option<S>,
    registration: Registration,
    /// Most sockets never have any, and are spared a look at further memory with each call.
    limits: OnceLock<Arc<Limits>>,
}

impl<S: AsFd> Polled<S> {
    pub(super) fn new(inner: S) -> Self {
        Self {
            inner: Some(inner),
            registration: Registration::default(),
            limits: OnceLock::new(),
        }
    }

    /// A clone's descriptor: registered on its own, with the limits of the first.
    pub(super) fn sharing(inner: S, limits: Arc<Limits>) -> Self {
        Self {
            inner: Some(inner),
            registration: Registration::default(),
            limits: limits.into(),
        }
    }

    pub(super) fn inner(&self) -> &S {
        let Some(inner) = &self.inner else {
            unreachable!("only `into_inner` and drop take it")
        };
        inner
    }

    pub(super) fn limits(&self) -> &Arc<Limits> {
        self.limits.get_or_init(Arc::default)
    }

    fn is_nonblocking(&self) -> bool {
        self.limits
            .get()
            .is_some_and(|limits| limits.is_nonblocking())
    }

    /// The descriptor, in no epoll any more.
    pub(super) fn into_inner(mut self) -> S {
        let Some(inner) = self.inner.take() else {
            unreachable!("only `into_inner` and drop take it")
        };
        self.registration.withdraw(&inner);
        inner
    }

    /// Attempts until it brings something, waiting in between.
    pub(super) fn run<T>(
        &self,
        what: Attempt,
        mut attempt: impl FnMut(&S) -> io::Result<Done<T>>,
    ) -> io::Result<T> {
        let carrier = current::carrier();
        let mut source = carrier
            .as_ref()
            .and_then(|carrier| self.registration.get(carrier.face()));
        let mut deadline = None;
        let mut last = false;
        loop {
            let drained = source
                .as_ref()
                .is_some_and(|source| source.is_drained(what.direction));
            if last || !drained || self.is_nonblocking() {
                match attempt(self.inner()) {
                    Ok(done) => {
                        if let (true, Some(source)) = (done.drained, &source) {
                            source.set_drained(what.direction);
                        }
                        if let Some(carrier) = &carrier {
                            spend(carrier);
                        }
                        return Ok(done.value);
                    }
                    Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                    Err(error) if self.is_nonblocking() || last => return Err(error),
                    Err(_) => {}
                }
            }
            let deadline = *deadline.get_or_insert_with(|| match what.deadline {
                Deadline::ByLimits => {
                    let limits = self.limits.get();
                    limits.and_then(|limits| limits.deadline(what.direction))
                }
                Deadline::At(deadline) => deadline,
            });
            let ready = match &carrier {
                Some(carrier) => {
                    let waiter = park::prepare();
                    let source = match &mut source {
                        Some(source) => {
                            source.set_drained(what.direction);
                            source
                        }
                        None => {
                            let fd = self.inner().as_fd();
                            source.insert(self.registration.add(carrier.face(), fd)?)
                        }
                    };
                    let epoch = waiter.epoch();
                    source.enlist(what.direction, waiter);
                    park(carrier, epoch, what, deadline)?
                }
                None => poll(self.inner().as_fd(), what, deadline)?,
            };
            // A time-out may race with readiness: what has come by then is taken, not left.
            last = ready == Ready::TooLate;
        }
    }
}

impl<S: AsFd> Drop for Polled<S> {
    fn drop(&mut self) {
        if let Some(inner) = &self.inner {
            self.registration.withdraw(inner);
        }
    }
}

/// How a wait for readiness ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ready {
    Perhaps,
    TooLate,
}

/// A virtual thread waits.
fn park(
    carrier: &Local,
    epoch: Epoch,
    what: Attempt,
    deadline: Option<Instant>,
) -> io::Result<Ready> {
    let wait = Wait {
        deadline,
        interruptible: true,
        ..Wait::new(what.operation, what.at)
    };
    match park::wait_on(carrier, epoch, &wait) {
        WaitOutcome::Done => Ok(Ready::Perhaps),
        WaitOutcome::Timeout => Ok(Ready::TooLate),
        WaitOutcome::Interrupted => Err(Interrupted::error(what.operation)),
    }
}

/// A plain OS thread waits.
fn poll(fd: BorrowedFd<'_>, what: Attempt, deadline: Option<Instant>) -> io::Result<Ready> {
    let flags = match what.direction {
        Direction::Read => PollFlags::IN | PollFlags::RDHUP,
        Direction::Write => PollFlags::OUT,
    };
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    // A duration too long for the kernel is for ever.
    let left: Option<Timespec> = left.and_then(|left: Duration| left.try_into().ok());
    let mut fds = [PollFd::from_borrowed_fd(fd, flags)];
    match rustix::event::poll(&mut fds, left.as_ref()) {
        Ok(0) => Ok(Ready::TooLate),
        Ok(_) => Ok(Ready::Perhaps),
        // As in std, a signal ends a read and a write, but neither of these two.
        Err(Errno::INTR) if matches!(what.operation, Operation::Accept | Operation::Connect) => {
            Ok(Ready::Perhaps)
        }
        Err(error) => Err(error.into()),
    }
}

/// Counts an attempt that needed no wait. A thread whose descriptors are always ready would otherwise keep its
/// carrier from everybody who lives there.
#[inline]
fn spend(carrier: &Local) {
    if carrier.spend() >= BUDGET && !pin::is_pinned() {
        thread::yield_now();
    }
}
