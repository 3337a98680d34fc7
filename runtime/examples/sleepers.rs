//! Many virtual threads asleep at once: `cargo run --release --example sleepers -- 100000 1`.

use std::io::Write as _;
use std::time::{Duration, Instant};

use vt_runtime::thread;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| {
        arguments
            .next()
            .map_or(default, |text| text.parse().expect("a whole number"))
    };
    let count: u64 = number(100_000);
    let pause = Duration::from_secs(number(1));
    let start = Instant::now();
    let handles: Vec<_> = (0..count)
        .map(|_| thread::spawn(move || thread::sleep(pause)))
        .collect();
    let created = start.elapsed();
    let refused = handles
        .into_iter()
        .filter_map(|handle| handle.join().err())
        .count();
    // Who closes the pipe has read enough, so what cannot be written is no failure.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(
        out,
        "{count} threads slept {pause:?}: created in {created:?}, done in {:?}, {refused} failed",
        start.elapsed()
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status
        .lines()
        .filter(|line| line.starts_with("VmHWM") || line.starts_with("VmPTE"))
    {
        let _ = writeln!(out, "{line}");
    }
}
