//! What makes a recorder dump by itself, and how often it may.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::event::Event;

/// A reason to dump without being asked. At most one dump in ten seconds, and eight in all (not counting
/// those for signals), are written for triggers, into the recorder's dump folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trigger {
    /// A pin took this long, or has lasted this long.
    PinLongerThan(Duration),
    /// A cycle of threads, locks and carriers was found.
    Deadlock,
    /// A carrier is stuck, or a spare one was refused.
    CarriersLost,
    /// A spawn was refused.
    SubmitFailed,
    /// A thread panicked.
    Panic,
    /// The process got this signal, such as `SIGUSR2` (12 on Linux). The handler only sets a flag, which the
    /// recorder's thread sees within a tenth of a second; handlers that were there before are called too. System
    /// calls that the signal meets may end with `EINTR`, as with any handler.
    Signal(i32),
}

impl Trigger {
    /// Its name in a dump's name and reason.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::PinLongerThan(_) => "pinned",
            Self::Deadlock => "deadlock",
            Self::CarriersLost => "carriers-lost",
            Self::SubmitFailed => "submit-failed",
            Self::Panic => "panic",
            Self::Signal(_) => SIGNAL,
        }
    }

    fn fits(self, event: &Event) -> bool {
        match (self, event) {
            (
                Self::PinLongerThan(least),
                Event::VirtualThreadPinned(pinned) | Event::VirtualThreadPinnedLive(pinned),
            ) => pinned.duration >= least,
            (Self::Deadlock, Event::PinnedDeadlock(_)) => true,
            (Self::CarriersLost, Event::CarrierStalled(_) | Event::CompensationExhausted(_)) => {
                true
            }
            (Self::SubmitFailed, Event::VirtualThreadSubmitFailed { .. }) => true,
            _ => false,
        }
    }
}

/// Somebody wants that dump: it does not count to the limit.
const SIGNAL: &str = "signal";
/// Between dumps by trigger.
const PAUSE: Duration = Duration::from_secs(10);
/// Dumps by trigger in a process's life.
const MOST: u32 = 8;

/// The triggers of a recorder and when they last fired.
#[derive(Debug, Default)]
pub(super) struct Triggers {
    triggers: Vec<Trigger>,
    fired: u32,
    last: Option<Instant>,
    waiting: Option<&'static str>,
    /// Set by a signal.
    signalled: Arc<AtomicBool>,
}

impl Triggers {
    pub(super) fn new(triggers: Vec<Trigger>) -> Self {
        Self {
            triggers,
            ..Self::default()
        }
    }

    pub(super) fn has(&self, trigger: Trigger) -> bool {
        self.triggers.contains(&trigger)
    }

    /// Asks for the signals to be told.
    pub(super) fn listen(&self) -> Result<(), (i32, io::Error)> {
        for trigger in &self.triggers {
            let Trigger::Signal(signal) = *trigger else {
                continue;
            };
            // Of some the library says so by a panic.
            if signal_hook::consts::FORBIDDEN.contains(&signal) {
                let told = "it cannot be handled, or means that the process is broken";
                return Err((signal, io::Error::new(io::ErrorKind::InvalidInput, told)));
            }
            let flag = Arc::clone(&self.signalled);
            signal_hook::flag::register(signal, flag).map_err(|error| (signal, error))?;
        }
        Ok(())
    }

    /// Notes an event that may fire one.
    pub(super) fn see(&mut self, event: &Event) {
        if self.waiting.is_none() {
            let fits = self.triggers.iter().find(|trigger| trigger.fits(event));
            self.waiting = fits.map(|trigger| trigger.name());
        }
    }

    pub(super) fn fire(&mut self, trigger: Trigger) {
        self.waiting.get_or_insert(trigger.name());
    }

    /// The name of the trigger to dump for now, if there is one and the limits allow.
    pub(super) fn due(&mut self, now: Instant) -> Option<&'static str> {
        if self.signalled.swap(false, Ordering::Relaxed) {
            self.waiting = Some(SIGNAL);
        }
        let name = self.waiting.take()?;
        let soon = self
            .last
            .is_some_and(|last| now.duration_since(last) < PAUSE);
        if soon && name == SIGNAL {
            // Its sender waits for it.
            self.waiting = Some(name);
        }
        if soon || (self.fired >= MOST && name != SIGNAL) {
            return None;
        }
        self.last = Some(now);
        self.fired += u32::from(name != SIGNAL);
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_fires_once_in_ten_seconds_and_eight_times_in_all() {
        let mut triggers = Triggers::new(vec![Trigger::SubmitFailed]);
        let event = Event::VirtualThreadSubmitFailed {
            cause: "cap".into(),
            live: 1,
            cap: 1,
        };
        let begin = Instant::now();
        let mut fired = 0;
        for second in 0..1_000 {
            triggers.see(&event);
            fired += u32::from(triggers.due(begin + Duration::from_secs(second)).is_some());
            assert!(u64::from(fired) <= second / 10 + 1);
        }
        assert_eq!(fired, MOST);
        assert_eq!(triggers.due(begin), None);
    }

    #[test]
    fn only_what_was_asked_for_fires() {
        let mut triggers = Triggers::new(vec![Trigger::Deadlock]);
        triggers.see(&Event::VirtualThreadSubmitFailed {
            cause: "cap".into(),
            live: 1,
            cap: 1,
        });
        assert_eq!(triggers.due(Instant::now()), None);
    }

    #[test]
    fn a_signal_waits_for_its_turn_and_has_no_limit() {
        let mut triggers = Triggers::new(vec![Trigger::Signal(12)]);
        let begin = Instant::now();
        for turn in 0..2 * u64::from(MOST) {
            let now = begin + Duration::from_secs(turn * 30);
            triggers.signalled.store(true, Ordering::Relaxed);
            assert_eq!(triggers.due(now), Some("signal"));
            triggers.signalled.store(true, Ordering::Relaxed);
            assert_eq!(triggers.due(now + Duration::from_secs(1)), None);
            assert_eq!(triggers.due(now + Duration::from_secs(11)), Some("signal"));
        }
    }

    #[test]
    fn signals_that_cannot_be_had_are_refused() {
        for signal in signal_hook::consts::FORBIDDEN {
            let triggers = Triggers::new(vec![Trigger::Signal(*signal)]);
            assert_eq!(
                triggers.listen().map_err(|(refused, _)| refused),
                Err(*signal)
            );
        }
    }
}
