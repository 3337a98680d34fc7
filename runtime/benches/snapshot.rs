//! Does a dump of very many threads stop a carrier? `cargo bench -p vt-runtime --bench snapshot -- [THREADS] [DUMPS]`
//!
//! Parks that many threads (1,000,000 by default) on one carrier. On the other one a thread beats: it yields, spawns and
//! joins, and reads the clock each time, while another OS thread asks for `threads()`, `thread_states()` and `metrics()` again and again.
//! For each of these one line: how long it took, and the longest time between two beats: in all; without the time that
//! the carrier was ready and waited for a core (the kernel's count of it), which no dump can help; and of that the time
//! it did not run either, which is how long a lock, in the kernel or here, kept it. A core that its hypervisor gives to
//! somebody else counts as running, so the first line says what there is without any dump, over as long a time, and
//! each line how many beats ran for over a millisecond. The last says which of the machine's cores others kept busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::Runtime;
use vt_runtime::thread::{self, Builder};

#[path = "machine/mod.rs"]
mod machine;

/// Beats longer than this are looked at closely.
const LONG: Duration = Duration::from_micros(100);
/// What a dump may not make of one.
const STOPPED: Duration = Duration::from_millis(1);

fn main() {
    // Cargo adds flags of its own.
    let mut numbers = std::env::args().filter_map(|word| word.parse::<usize>().ok());
    let threads = numbers.next().unwrap_or(1_000_000);
    let dumps = numbers.next().unwrap_or(5);
    let runtime = Runtime::builder().carriers(2).build();
    let runtime = runtime.expect("carriers start");
    let busy = machine::Busy::now();
    let parked: Vec<_> = (0..threads)
        .map(|_| Builder::new().carrier(1).spawn_in(&runtime, thread::park))
        .collect();
    println!("{} threads parked", parked.iter().flatten().count());
    let pulse = Arc::new(Pulse::default());
    let beating = {
        let pulse = Arc::clone(&pulse);
        Builder::new()
            .carrier(0)
            .spawn_in(&runtime, move || pulse.beat())
    };
    let beating = beating.expect("spawned");
    let show = |name: &str, dump: &dyn Fn() -> usize| {
        pulse.reset();
        let start = Instant::now();
        let count = (0..dumps).map(|_| dump()).max().unwrap_or(0);
        let took = start.elapsed() / u32::try_from(dumps).unwrap_or(1);
        println!(
            "{name}: {took:.1?} each, {count} entries; {}",
            pulse.shown()
        );
    };
    show("nothing", &|| {
        let end = Instant::now() + Duration::from_secs(2);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        0
    });
    show("threads()", &|| runtime.threads().len());
    show("thread_states()", &|| {
        runtime.thread_states().iter().map(|state| state.1).sum()
    });
    show("metrics()", &|| {
        (0..10_000)
            .map(|_| runtime.metrics().live)
            .max()
            .unwrap_or(0)
    });
    pulse.over.store(true, Ordering::Relaxed);
    beating.join().expect("no panic");
    println!("{}", busy.cores());
    // A million stacks need not be ended one by one.
    std::process::exit(0);
}

#[derive(Default)]
struct Pulse {
    over: AtomicBool,
    beats: AtomicU64,
    /// Nanoseconds: the longest beat, the longest without waiting for a core, and the longest that neither ran nor
    /// waited for one.
    longest: AtomicU64,
    longest_running: AtomicU64,
    longest_kept: AtomicU64,
    /// Beats of more than [`STOPPED`] without waiting for a core.
    stopped: AtomicU64,
}

impl Pulse {
    fn beat(&self) {
        let mut last = Instant::now();
        let mut waited = waited_for_a_core();
        let mut ran = has_run();
        while !self.over.load(Ordering::Relaxed) {
            thread::yield_now();
            let child = Builder::new().carrier(0).spawn(|| ());
            child.expect("spawned").join().expect("no panic");
            let took = last.elapsed();
            let now_ran = has_run();
            // Now and then too, so that many short waits do not excuse a long beat.
            if took > LONG || self.beats.load(Ordering::Relaxed).is_multiple_of(256) {
                let now_waited = waited_for_a_core();
                let running = took.saturating_sub(now_waited - waited);
                waited = now_waited;
                self.longest.fetch_max(nanos(took), Ordering::Relaxed);
                self.longest_running
                    .fetch_max(nanos(running), Ordering::Relaxed);
                let kept = running.saturating_sub(now_ran.saturating_sub(ran));
                self.longest_kept.fetch_max(nanos(kept), Ordering::Relaxed);
                if running > STOPPED {
                    self.stopped.fetch_add(1, Ordering::Relaxed);
                }
            }
            ran = now_ran;
            self.beats.fetch_add(1, Ordering::Relaxed);
            last = Instant::now();
        }
    }

    fn reset(&self) {
        let times = [&self.longest, &self.longest_running, &self.longest_kept];
        for figure in times.into_iter().chain([&self.beats, &self.stopped]) {
            figure.store(0, Ordering::Relaxed);
        }
    }

    fn shown(&self) -> String {
        let time = |figure: &AtomicU64| Duration::from_nanos(figure.load(Ordering::Relaxed));
        format!(
            "{} beats, the longest {:.1?}, {:.1?} without waiting for a core, {:.1?} kept; {} over {STOPPED:?}",
            self.beats.load(Ordering::Relaxed),
            time(&self.longest),
            time(&self.longest_running),
            time(&self.longest_kept),
            self.stopped.load(Ordering::Relaxed)
        )
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// How long the calling OS thread has run so far.
fn has_run() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("it only grows")
}

/// How long the calling OS thread was ready so far and had no core.
fn waited_for_a_core() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("procfs is mounted");
    let waited = text
        .split_whitespace()
        .nth(1)
        .and_then(|word| word.parse().ok());
    Duration::from_nanos(waited.expect("the kernel counts it"))
}
