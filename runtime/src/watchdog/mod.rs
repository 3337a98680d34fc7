//! `vt-watchdog`: sees from outside what carriers cannot report themselves.
//!
//! It looks at carriers whose mounted thread has not changed: pins that last, undeclared calls that block in the
//! kernel, threads that compute or starve. It runs no foreign code, takes no lock that is held over foreign code, sends
//! no signal, and sleeps while nothing is mounted. What it finds goes to `vt-events`.
//!
//! **Period:** 5 ms while any carrier is awake, doubling up to 100 ms while none is; then, as soon as the memory of
//! idle stacks has gone back to the system, no look at all. A carrier that leaves its sleep stirs it from any period that
//! is too long to see a block that counts.

mod attribution;
mod deadlock;
mod everywhere;
mod procfs;
mod report;
mod sample;
mod stack;
mod syscalls;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use self::attribution::Window;
use self::deadlock::Suspicions;
use self::everywhere::Standstill;
use self::sample::{Stay, Watch};
use crate::carrier::{Carrier, Role, Status};
use crate::event::{self, CarrierState, Timestamp};
use crate::primitive::{Bell, Ordering};
use crate::runtime::Shared;

pub(crate) use self::attribution::{by_carrier, by_site};
pub(crate) use self::report::open as open_pins;
pub(crate) use self::stack::{from as stack_from, is_return};

const SHORTEST_PERIOD: Duration = Duration::from_millis(5);
const LONGEST_PERIOD: Duration = Duration::from_millis(100);
/// Periods up to this need no stirring: what blocks for as long as is reported is seen in time.
const LONGEST_UNSTIRRED: Duration = Duration::from_millis(10);
/// A mount seen for the first time is taken to be at most this old.
const LONGEST_FIRST: u64 = 2 * SHORTEST_PERIOD.as_nanos() as u64;
/// Undeclared blocking shorter than this is below what looking from outside can tell.
const LEAST_SAMPLED: u64 = 20_000_000;
/// A pin or stall is reported while it lasts from the tenfold threshold, and from this.
const LEAST_LIVE: u64 = 200_000_000;

/// Memory of stacks that nobody needed for so long goes back to the system.
const STACKS_KEPT: u64 = 1_000_000_000;

/// A carrier in a futex for this long may be waiting for one of its own threads.
const LEAST_SELF_LOCK: u64 = 400_000_000;

/// Where carriers find their watchdog.
#[derive(Default)]
pub(crate) struct Watchdog {
    bell: Bell,
    rounds: Mutex<Rounds>,
    signal: Condvar,
    looked: Condvar,
}

/// Its looks, counted.
#[derive(Default)]
struct Rounds {
    /// Look now, whatever the period.
    stirred: bool,
    begun: u64,
    /// The number of the last look that is over; the greatest there is once there will be no more.
    over: u64,
}

impl Watchdog {
    /// A carrier has left its sleep.
    pub(crate) fn stir(&self) {
        if self.bell.ring() {
            self.wake();
        }
    }

    /// The runtime is gone or shutting down.
    pub(crate) fn wake(&self) {
        self.rounds.lock().stirred = true;
        self.signal.notify_one();
    }

    /// Waits, at most `limit`, for a look that begins after this call: what has ended by now is reported then.
    fn look_now(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut rounds = self.rounds.lock();
        let wanted = rounds.begun + 1;
        rounds.stirred = true;
        self.signal.notify_one();
        while rounds.over < wanted && !self.looked.wait_until(&mut rounds, deadline).timed_out() {}
    }

    fn begin_look(&self) {
        self.rounds.lock().begun += 1;
    }

    fn end_look(&self, is_last: bool) {
        let mut rounds = self.rounds.lock();
        rounds.over = if is_last { u64::MAX } else { rounds.begun };
        self.looked.notify_all();
    }

    fn sleep(&self, period: Option<Duration>) {
        let mut rounds = self.rounds.lock();
        if !rounds.stirred {
            match period {
                Some(period) => {
                    self.signal.wait_for(&mut rounds, period);
                }
                None => self.signal.wait(&mut rounds),
            }
        }
        rounds.stirred = false;
        self.bell.get_up();
    }
}

/// [`Watchdog::look_now`]; what the calling virtual thread did before the call counts as ended, since a thread that
/// exits the process never leaves its carrier again.
pub(crate) fn look_now(shared: &Shared, limit: Duration) {
    let caller = crate::current::id();
    let carriers = shared.carriers();
    for carrier in
        carriers.filter(|carrier| caller != 0 && carrier.mounted.load(Ordering::Relaxed) == caller)
    {
        // The carrier's own thread is here, so nobody else counts its mounts.
        carrier.mounts.fetch_add(1, Ordering::Relaxed);
    }
    shared.watchdog.look_now(limit);
}

/// Starts the watchdog of a runtime; it ends with the runtime.
pub(crate) fn start(shared: &Arc<Shared>) -> std::io::Result<()> {
    crate::park::test_frame_pointers();
    // What the detector costs is measured against this.
    if cfg!(vt_detector_off) {
        return Ok(());
    }
    let runtime = Arc::downgrade(shared);
    std::thread::Builder::new()
        .name("vt-watchdog".to_owned())
        .spawn(move || run(&runtime))?;
    Ok(())
}

fn run(runtime: &Weak<Shared>) {
    let mut watches: Vec<Watch> = Vec::new();
    let mut suspicions = Suspicions::default();
    let mut standstill = Standstill::default();
    let mut windows: Vec<Window> = Vec::new();
    let mut period = SHORTEST_PERIOD;
    let mut stacks_due = 0;
    while let Some(shared) = runtime.upgrade() {
        // Asked first: what ends before the last look is still seen by it.
        let is_last = shared.may_end();
        shared.watchdog.begin_look();
        let now = event::now().0;
        let mut stays = false;
        let mut idle = true;
        for (index, carrier) in shared.carriers().enumerate() {
            if index == watches.len() {
                watches.push(Watch::new());
                windows.push(Window::new(now));
            }
            // Its one thread may block as it likes.
            if carrier.role == Role::Dedicated {
                continue;
            }
            windows[index].look(&shared, carrier, now);
            stays |= look_at(&shared, carrier, &mut watches[index], now);
            idle &= carrier.is_asleep();
        }
        deadlock::look(&shared, &mut suspicions, now);
        standstill.look(&shared, now);
        shared.watchdog.end_look(is_last);
        if is_last {
            return;
        }
        let gives_back = now >= stacks_due && shared.stacks.give_back_idle();
        if now >= stacks_due && !gives_back {
            stacks_due = now + STACKS_KEPT;
        }
        period = if stays || !idle || gives_back {
            SHORTEST_PERIOD
        } else {
            (period * 2).min(LONGEST_PERIOD)
        };
        // A carrier that wakes while this sleeps for longer than it takes a block to count says so.
        let is_long = period > LONGEST_UNSTIRRED;
        let may_be_stirred = is_long
            && shared.watchdog.bell.lie_down(|| {
                shared
                    .carriers()
                    .any(|carrier| carrier.role != Role::Dedicated && !carrier.is_asleep())
            });
        if is_long && !may_be_stirred {
            period = SHORTEST_PERIOD;
        }
        let rests = period == LONGEST_PERIOD && !shared.stacks.has_idle();
        let sleep = if rests { None } else { Some(period) };
        // The runtime may end while this sleeps: hold no handle meanwhile, but keep the place to be woken at.
        let place = Arc::clone(&shared.watchdog);
        drop(shared);
        place.sleep(sleep);
    }
}

/// Looks at one carrier; true if its mounted thread has stayed since the last look.
fn look_at(shared: &Arc<Shared>, carrier: &Carrier, watch: &mut Watch, now: u64) -> bool {
    let threshold = shared.hub.threshold_ns();
    let live_from = threshold.saturating_mul(10).max(LEAST_LIVE);
    let thread = watch.thread();
    let ended = watch
        .look(&shared.settings.procfs, carrier, now)
        .or_else(|| watch.stay.as_mut()?.ended.take());
    if let Some(block) = ended.filter(|block| block.nanos() >= LEAST_SAMPLED.max(threshold)) {
        report::sampled_end(shared, carrier, thread, &block);
    }
    let Some(mut stay) = watch.stay.take() else {
        return false;
    };
    if let Some(block) = stay.block.as_mut().filter(|block| block.name.is_none()) {
        block.name = shared.name_of(watch.thread());
    }
    look_at_stay(
        shared,
        carrier,
        watch,
        &mut stay,
        (threshold, live_from),
        now,
    );
    watch.stay = Some(stay);
    true
}

/// A thread that stays mounted: in a pinned wait, in a declared foreign call, or somewhere nobody declared.
fn look_at_stay(
    shared: &Arc<Shared>,
    carrier: &Carrier,
    watch: &Watch,
    stay: &mut Stay,
    (threshold, live_from): (u64, u64),
    now: u64,
) {
    let thread = watch.thread();
    match carrier.status() {
        Status::Pinned => {
            let open = carrier.open_pin();
            if let Some(open) = &open {
                let elapsed = now.saturating_sub(open.start.0);
                keep_stack(shared, carrier, watch, stay, (open.start, elapsed));
            }
            let open = open.filter(|open| now.saturating_sub(open.start.0) >= live_from);
            if let Some(open) = open.filter(|_| !stay.pin_reported) {
                stay.pin_reported = true;
                let stack = report::stack_of(shared, open.record.id, watch, watch.call());
                report::live_pin(shared, carrier, &open, &stack, now);
            }
        }
        Status::Native => {
            carrier.revoke_offers();
            let call = carrier.open_native();
            if let Some(call) = &call {
                let elapsed = now.saturating_sub(call.start.0);
                keep_stack(shared, carrier, watch, stay, (call.start, elapsed));
            }
            let call = call.filter(|call| now.saturating_sub(call.start.0) >= live_from);
            if let Some(call) = call.filter(|_| !stay.pin_reported) {
                stay.pin_reported = true;
                let stack = report::stack_of(shared, thread, watch, watch.call());
                report::live_native(shared, carrier, thread, &call, &stack, now);
            }
        }
        Status::Running | Status::Stalled => {
            carrier.revoke_offers();
            shared.rescue_unstarted();
            look_at_undeclared(shared, carrier, watch, stay, (threshold, live_from), now);
        }
        Status::Idle | Status::Gone => {}
    }
}

/// Takes the stack of a pinned wait or a declared call that will be reported at its end, where the carrier cannot.
fn keep_stack(
    shared: &Arc<Shared>,
    carrier: &Carrier,
    watch: &Watch,
    stay: &mut Stay,
    (start, elapsed): (Timestamp, u64),
) {
    let is_wanted = !crate::park::has_frame_pointers() && stay.kept != start;
    // It may well reach the threshold.
    if is_wanted && elapsed >= shared.hub.threshold_ns() / 2 {
        let stack = report::stack_of(shared, watch.thread(), watch, watch.call());
        if !stack.is_empty() {
            stay.kept = start;
            carrier.keep_seen(start, stack);
        }
    }
}

/// A thread that is in no region of which the runtime knows.
fn look_at_undeclared(
    shared: &Arc<Shared>,
    carrier: &Carrier,
    watch: &Watch,
    stay: &mut Stay,
    (threshold, live_from): (u64, u64),
    now: u64,
) {
    let thread = watch.thread();
    if let Some(block) = &mut stay.block
        && block.nanos() >= LEAST_SAMPLED.max(threshold)
    {
        carrier.mark_stalled();
        if block.stack.is_empty() {
            block.stack = report::stack_of(shared, thread, watch, block.call);
            block.awaited = block.call.and_then(|call| watch.awaited(&call));
        }
        if block.nanos() >= live_from && !block.reported {
            block.reported = true;
            report::live_block(shared, carrier, thread, block);
        }
        if block.nanos() >= live_from.max(LEAST_SELF_LOCK) && block.is_futex() && !block.suspected {
            block.suspected = true;
            let at = event::of_application(&block.stack)
                .map(|place| format!(" at {place}"))
                .unwrap_or_default();
            deadlock::suspect_self_lock(shared, carrier, thread, &at);
        }
    }
    let elapsed = now.saturating_sub(stay.since);
    // One period may have seen both; wait for one that can tell, but not for ever.
    let is_told = stay.state != CarrierState::Unknown || elapsed >= 2 * live_from;
    if elapsed >= live_from && is_told && !stay.stall_reported {
        stay.stall_reported = true;
        carrier.mark_stalled();
        report::stall(shared, carrier, thread, stay, elapsed);
    }
}

/// Ends the process with that text, past every lock and subscriber.
fn abort_with(text: &str) -> ! {
    let text = format!("vt-runtime: {text}\n");
    // If standard error is gone there is nobody to tell.
    let _ = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
    std::process::abort();
}
