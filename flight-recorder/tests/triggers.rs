//! Dumps that nobody asks for: on a long pin, a deadlock, lost carriers, a panic, a signal.

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::path::{Path, PathBuf};
use std::time::Duration;

use scene::{LIMIT, events, pin, pins, runtime, within};
use vt_flight_recorder::{FlightRecorder, Settings, Trigger};
use vt_runtime::sync::Monitor;
use vt_runtime::{DeadlockPolicy, Runtime};

fn recorder(runtime: &Runtime, trigger: Trigger, folder: &Path) -> FlightRecorder {
    let builder = FlightRecorder::builder()
        .runtime(runtime)
        .settings(Settings::test());
    let builder = builder.dump_on(trigger).dump_folder(folder);
    builder.install().expect("it starts").1
}

/// Waits for the dump of a trigger; its name tells of which.
fn dump(folder: &Path, trigger: &str) -> Vec<u8> {
    let end = format!("-{trigger}.jfr");
    loop {
        let entries = std::fs::read_dir(folder).expect("listable");
        let found: Option<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .find(|path| path.to_string_lossy().ends_with(&end));
        if let Some(path) = found {
            return std::fs::read(path).expect("it can be read");
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_long_pin_is_dumped_and_a_short_one_is_not() {
    within(LIMIT, || {
        let (short, long) = (runtime(), runtime());
        let folder = tempfile::tempdir().expect("a temporary folder");
        let hour = Trigger::PinLongerThan(Duration::from_secs(3_600));
        let quiet = recorder(&short, hour, folder.path());
        pin(&short);
        let told = recorder(
            &long,
            Trigger::PinLongerThan(Duration::from_millis(2)),
            folder.path(),
        );
        pin(&long);
        assert_eq!(pins(&dump(folder.path(), "pinned")).len(), 1);
        assert_eq!(quiet.stats().dumps, 0);
        while told.stats().dumps == 0 {
            std::thread::yield_now();
        }
    });
}

#[test]
fn a_deadlock_is_dumped() {
    within(LIMIT, || {
        let builder = Runtime::builder().carriers(2);
        let runtime = builder.deadlock_policy(DeadlockPolicy::Error).build();
        let runtime = runtime.expect("a runtime of two carriers");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let _recorder = recorder(&runtime, Trigger::Deadlock, folder.path());
        let monitors = [0, 1].map(|_| std::sync::Arc::new(Monitor::named("mutual", ())));
        let both = std::sync::Arc::new(std::sync::Barrier::new(2));
        let threads = [0, 1].map(|first| {
            let (monitors, both) = (monitors.clone(), both.clone());
            let builder = vt_runtime::thread::Builder::new().carrier(first);
            let body = move || {
                let _held = monitors[first].enter();
                both.wait();
                let _never = monitors[1 - first].enter();
            };
            builder.spawn_in(&runtime, body).expect("it starts")
        });
        let outcomes = threads.map(|thread| thread.join().is_err());
        assert!(outcomes.contains(&true), "one of them is told");
        assert_eq!(
            events(&dump(folder.path(), "deadlock"), "vt.PinnedDeadlock"),
            1
        );
    });
}

#[test]
fn carriers_that_are_lost_are_dumped() {
    within(LIMIT, || {
        let builder = Runtime::builder().carriers(1).max_carriers(1);
        let runtime = builder.build().expect("a runtime of one carrier");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let _recorder = recorder(&runtime, Trigger::CarriersLost, folder.path());
        let folder = folder.path().to_owned();
        // A blocked carrier, somebody who waits to start, and no spare one allowed.
        let blocked = runtime.spawn(move || {
            vt_runtime::blocking_in_place(|| {
                dump(&folder, "carriers-lost");
            });
        });
        let waiting = runtime.spawn(|| {});
        blocked.join().expect("it does not panic");
        waiting.join().expect("it does not panic");
    });
}

#[test]
fn a_panic_is_dumped() {
    within(LIMIT, || {
        let builder = Runtime::builder().carriers(2).pin_threshold(Duration::ZERO);
        let runtime = builder.build().expect("a runtime of two carriers");
        // Before the recorder is there, which takes it from the rings: another test's panic may come at any time.
        pin(&runtime);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let _recorder = recorder(&runtime, Trigger::Panic, folder.path());
        let panicking = runtime.spawn(|| panic!("on purpose, for the recorder to see"));
        panicking.join().expect_err("it panics");
        assert_eq!(pins(&dump(folder.path(), "panic")).len(), 1);
    });
}

#[test]
fn a_signal_that_was_asked_for_is_answered() {
    use rustix::process::{Signal, getpid, kill_process};
    within(LIMIT, || {
        let runtime = runtime();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let signal = Signal::USR2;
        let _recorder = recorder(&runtime, Trigger::Signal(signal.as_raw()), folder.path());
        pin(&runtime);
        kill_process(getpid(), signal).expect("it is our own process");
        assert_eq!(pins(&dump(folder.path(), "signal")).len(), 1);
        let refused = FlightRecorder::builder()
            .runtime(&runtime)
            .dump_on(Trigger::Signal(Signal::KILL.as_raw()));
        let told = refused
            .install()
            .expect_err("nobody handles it")
            .to_string();
        assert!(told.contains("signal 9"), "{told}");
    });
}
