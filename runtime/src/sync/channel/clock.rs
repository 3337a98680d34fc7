//! Receivers that only the clock serves: `after`, `tick` and `never`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::buffer::Begun;
use super::meeting::Meeting;
use super::standing::Half;

/// When the next message is due, and how often more come.
pub(super) struct Clock {
    next: Mutex<Option<Instant>>,
    period: Option<Duration>,
}

impl Clock {
    /// One message at that moment; none without.
    pub(super) fn once(at: Option<Instant>) -> Self {
        Self {
            next: Mutex::new(at),
            period: None,
        }
    }

    /// One message each `period`.
    pub(super) fn each(period: Duration) -> Self {
        Self {
            next: Mutex::new(Instant::now().checked_add(period)),
            period: Some(period),
        }
    }

    /// When the next message is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        *self.next.lock()
    }

    /// Takes the message that is due. Those that were missed since are not made up for.
    pub(super) fn take(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut next = self.next.lock();
        let due = (*next).filter(|due| *due <= now)?;
        *next = self.period.and_then(|period| {
            let regular = due.checked_add(period)?;
            if regular > now {
                Some(regular)
            } else {
                now.checked_add(period)
            }
        });
        Some(due)
    }
}

impl Half for Clock {
    fn begin(&self, _: Option<&Arc<Meeting>>) -> Option<Begun> {
        self.take().map(Begun::Moment)
    }

    fn is_ready(&self, _: Option<&Arc<Meeting>>) -> bool {
        self.next_due().is_some_and(|due| due <= Instant::now())
    }

    fn withdraw(&self, begun: Begun) {
        if let Begun::Moment(due) = begun {
            let mut next = self.next.lock();
            *next = Some(next.map_or(due, |next| next.min(due)));
        }
    }

    fn due(&self) -> Option<Instant> {
        self.next_due()
    }
}
