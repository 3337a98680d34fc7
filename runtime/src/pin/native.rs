//! Declared foreign calls: what the runtime must know about code it cannot see into.
//!
//! A virtual thread inside one is pinned (reason `native`): an up-call that waits blocks the carrier, since the
//! foreign frames below it may hold locks or thread-keyed state. A call that blocks in the foreign code
//! itself for the threshold is reported as well (operation `native_call`).

use std::panic::Location;

use super::pinned::PinGuard;
use crate::carrier::OpenNative;
use crate::current;
use crate::event::{
    self, CarrierState, Cost, Operation, PinReason, PinSource, RawNative, RawPinned, Subject,
    WaitOutcome,
};

/// Less blocking than that beside the waits of up-calls is not told from what the waits themselves cost, in nanoseconds.
const LEAST_BESIDE_WAITS: u64 = 1_000_000;

/// Runs `f`, which makes one foreign call; `label` names it in events.
///
/// ```
/// let length = vt_runtime::native::call("strlen", || c"four".count_bytes());
/// assert_eq!(length, 4);
/// ```
///
/// # Pinning
///
/// Pins the calling virtual thread for the time of `f`.
#[track_caller]
pub fn call<T>(label: &'static str, f: impl FnOnce() -> T) -> T {
    call_at(label, Location::caller(), f)
}

pub(crate) fn call_at<T>(
    label: &'static str,
    at: &'static Location<'static>,
    f: impl FnOnce() -> T,
) -> T {
    in_region(label, at, false, f)
}

/// [`call_at`] for a call known to block: spare carriers stand in for this one meanwhile.
pub(crate) fn call_blocking_at<T>(
    label: &'static str,
    at: &'static Location<'static>,
    f: impl FnOnce() -> T,
) -> T {
    in_region(label, at, true, f)
}

fn in_region<T>(
    label: &'static str,
    at: &'static Location<'static>,
    compensated: bool,
    f: impl FnOnce() -> T,
) -> T {
    let Some(_) = current::carrier() else {
        return f();
    };
    let region = Region::enter(label, at, compensated);
    let result = f();
    drop(region);
    result
}

/// Blocking from this length on is counted, in nanoseconds, whatever the threshold: to tell it from computing costs
/// about a microsecond.
const COUNTED: u64 = 100_000;

/// One declared call under way. Its drop reports it, also when `f` panics.
struct Region {
    label: &'static str,
    at: &'static Location<'static>,
    start: event::Timestamp,
    used: CpuTime,
    before: crate::carrier::Status,
    /// Spare carriers may stand in.
    compensated: bool,
    /// Pinned waits of up-calls, which are reported on their own.
    waited: u64,
    _pin: PinGuard,
}

impl Region {
    fn enter(
        label: &'static str,
        at: &'static Location<'static>,
        compensated: bool,
    ) -> Option<Self> {
        let carrier = current::carrier()?;
        let subject = Subject {
            kind: "native",
            name: Some(label),
            id: 0,
        };
        let pin = PinGuard::enter(PinReason::Native, at, subject);
        // Before the clock is read: time without a core between the two must not look like blocking.
        let used = CpuTime::read();
        let start = event::now();
        let before = carrier.enter_native(OpenNative { label, at, start });
        if compensated {
            carrier.shared().open_region(label);
        }
        let waited = carrier.pinned_nanos();
        Some(Self {
            label,
            at,
            start,
            used,
            before,
            compensated,
            waited,
            _pin: pin,
        })
    }

    fn report(&self, carrier: &crate::carrier::Local) {
        let end = event::now();
        let wall = end.0.saturating_sub(self.start.0);
        let hub = carrier.hub();
        let threshold = hub.threshold_ns();
        if wall < threshold.min(COUNTED) {
            return;
        }
        let waited = carrier.pinned_nanos() - self.waited;
        let state = CpuTime::read().classify(&self.used, wall.saturating_sub(waited));
        let Some(record) = current::virtual_record() else {
            return;
        };
        let name = record.name.as_deref();
        if wall >= threshold {
            hub.native_call(
                carrier.id(),
                &RawNative {
                    thread: record.id,
                    name,
                    native: self.label,
                    end,
                    wall_ns: wall,
                    state,
                },
            );
        }
        let blocked = wall.saturating_sub(waited);
        // The time in up-calls' waits has events of its own; what remains must itself reach the threshold.
        let least = if waited == 0 { 0 } else { LEAST_BESIDE_WAITS };
        if state != CarrierState::Blocked || blocked < threshold.min(COUNTED).max(least) {
            return;
        }
        carrier.face().pins.count(PinReason::Native, blocked);
        let outermost = crate::pin::effective();
        let pinned_at = outermost.and_then(|pin| pin.outermost.at).or(Some(self.at));
        let subject = Subject {
            kind: "native",
            name: Some(self.label),
            id: 0,
        };
        let cost = Cost {
            pinned_at,
            blocked_at: Some(self.at),
            reason: PinReason::Native,
            holder: Some(subject),
            nanos: blocked,
            stranded_ns: 0,
        };
        hub.spent(carrier.id(), &cost);
        if blocked < threshold {
            return;
        }
        let stack = crate::park::stack_at_end(carrier.face(), self.start, hub.stack_depth());
        hub.pinned(
            carrier.id(),
            &RawPinned {
                thread: record.id,
                name,
                reason: PinReason::Native,
                operation: Operation::NativeCall,
                start: self.start,
                end,
                pinned_at,
                blocked_at: Some(self.at),
                lock: None,
                waits_for: None,
                waits_owner: 0,
                native: Some(self.label),
                depth: outermost.map_or(1, |pin| pin.depth),
                stranded: u32::try_from(carrier.face().stranded_now()).unwrap_or(u32::MAX),
                stranded_ns: 0,
                outcome: WaitOutcome::Done,
                source: PinSource::Declared,
                span: None,
                stack: &stack,
            },
        );
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if let Some(carrier) = current::carrier() {
            carrier.leave_native(self.before);
            if self.compensated {
                carrier.shared().close_region(self.label);
            }
            self.report(&carrier);
        }
    }
}

/// Time the calling OS thread ran, and time it waited for a core, in nanoseconds.
struct CpuTime {
    ran: u64,
    queued: Option<u64>,
}

impl CpuTime {
    fn read() -> Self {
        let ran = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let nanos = |t: rustix::time::Timespec| {
            t.tv_sec.cast_unsigned() * 1_000_000_000 + t.tv_nsec.cast_unsigned()
        };
        Self {
            ran: nanos(ran),
            queued: queued_nanos(),
        }
    }

    /// What the thread did in `wall` nanoseconds since `before`.
    fn classify(&self, before: &Self, wall: u64) -> CarrierState {
        let ran = self.ran.saturating_sub(before.ran);
        let queued = match (self.queued, before.queued) {
            (Some(now), Some(then)) => now.saturating_sub(then),
            // Without the run queue's figure a starved thread cannot be told from a blocked one unless it ran.
            _ if ran * 2 >= wall => 0,
            _ => return CarrierState::Unknown,
        };
        let blocked = wall.saturating_sub(ran).saturating_sub(queued);
        // All of it in up-calls that waited: nothing is left to be blocked.
        if wall > 0 && blocked * 2 >= wall {
            CarrierState::Blocked
        } else if ran >= queued {
            CarrierState::Computing
        } else {
            CarrierState::CpuStarved
        }
    }
}

/// The second figure of the kernel's `schedstat`: time spent ready, without a core.
fn queued_nanos() -> Option<u64> {
    thread_local! {
        static FILE: Option<std::fs::File> = std::fs::File::open("/proc/thread-self/schedstat").ok();
    }
    FILE.with(|file| {
        let mut text = [0; 96];
        let read = rustix::io::pread(file.as_ref()?, &mut text, 0).ok()?;
        std::str::from_utf8(&text[..read])
            .ok()?
            .split_ascii_whitespace()
            .nth(1)?
            .parse()
            .ok()
    })
}
