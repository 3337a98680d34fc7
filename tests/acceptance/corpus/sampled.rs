//! Undeclared blocking and computing: what the watchdog makes of them.

use std::io::Read;
use std::ops::Range;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use vt_runtime::Stacks;
use vt_runtime::event::{CarrierState, Event, PinSource};
use vt_runtime::thread::Builder;
use vt_tests::{builder, foreign};

use super::random::Random;

/// What a thread does without telling anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Receive,
    Lock,
    ReadPipe,
    ForeignSleep,
    Compute,
}

const ALL: [Act; 5] = [
    Act::Receive,
    Act::Lock,
    Act::ReadPipe,
    Act::ForeignSleep,
    Act::Compute,
];

/// How often the watchdog was right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    blocked: usize,
    computing: usize,
    /// Blocked ones that were reported, once.
    found: usize,
    /// Computing ones that were reported as blocked.
    invented: usize,
    wrong: Vec<String>,
}

impl Figures {
    /// The part of the blocked ones that was reported.
    pub(crate) fn recall(&self) -> f64 {
        self.found as f64 / self.blocked.max(1) as f64
    }

    /// The part of all that was told right.
    pub(crate) fn right(&self) -> f64 {
        let right = self.found + self.computing - self.invented;
        right as f64 / (self.blocked + self.computing).max(1) as f64
    }

    pub(crate) fn print(&self, title: &str) {
        println!(
            "{title}: {} blocked, {} computing, recall {:.4}, blocked or computing told right {:.4} {:?}",
            self.blocked,
            self.computing,
            self.recall(),
            self.right(),
            self.wrong,
        );
    }
}

/// Runs `count` scenarios of so many milliseconds each, one after the other on each of two carriers.
pub(crate) fn run(stacks: Stacks, seed: u64, count: usize, millis: Range<usize>) -> Figures {
    let mut random = Random::new(seed);
    let (builder, capture) = builder(stacks, 2);
    let runtime = builder.max_carriers(2).build().expect("carriers start");
    let mut figures = Figures::default();
    let scenarios: Vec<(String, Act)> = (0..count)
        .map(|number| {
            let act = random.pick(&ALL);
            let time = millis.start + random.below(millis.end - millis.start);
            (number, act, time)
        })
        .collect::<Vec<_>>()
        .chunks(2)
        .flat_map(|pair| {
            let running: Vec<_> = pair
                .iter()
                .enumerate()
                .map(|(carrier, &(number, act, time))| {
                    let name = format!("u{number}");
                    let thread = Builder::new().name(name.clone()).carrier(carrier);
                    let thread = thread.spawn_in(&runtime, move || perform(act, time));
                    (thread.expect("spawned"), (name, act))
                })
                .collect();
            let ended = running.into_iter().map(|(thread, scenario)| {
                thread.join().expect("no panic");
                scenario
            });
            ended.collect::<Vec<_>>()
        })
        .collect();
    let events = capture.events(&runtime);
    for (name, act) in scenarios {
        let sampled = events.iter().filter(|event| match event {
            Event::VirtualThreadPinned(pin) => {
                pin.source == PinSource::Sampled && *pin.thread.name == *name
            }
            Event::CarrierStalled(stall) => {
                stall.state == CarrierState::Blocked && *stall.thread.name == *name
            }
            _ => false,
        });
        let count = sampled.count();
        if act == Act::Compute {
            figures.computing += 1;
            figures.invented += usize::from(count > 0);
        } else {
            figures.blocked += 1;
            figures.found += usize::from(count == 1);
        }
        if (count == 1) == (act == Act::Compute) {
            figures.wrong.push(format!("{name} {act:?}: {count}"));
        }
    }
    figures
}

fn perform(act: Act, millis: usize) {
    let time = Duration::from_millis(millis as u64);
    let foreign_millis = i32::try_from(millis).expect("short");
    match act {
        Act::Receive => {
            let (_open, closed) = mpsc::channel::<()>();
            assert!(closed.recv_timeout(time).is_err());
        }
        Act::Lock => {
            let (lock, (held, is_held)) = (Arc::new(Mutex::new(())), mpsc::channel());
            let other = Arc::clone(&lock);
            later(move || {
                let _guard = other.lock();
                held.send(()).expect("somebody waits");
                std::thread::park_timeout(time);
            });
            // A short wait of its own, which is no part of the scenario: the holder is there at once.
            while is_held.try_recv().is_err() {
                std::hint::spin_loop();
            }
            drop(lock.lock());
        }
        Act::ReadPipe => {
            let (mut reader, writer) = std::io::pipe().expect("a pipe");
            later(move || {
                std::thread::park_timeout(time);
                drop(writer);
            });
            reader.read_to_end(&mut Vec::new()).expect("it ends");
        }
        Act::ForeignSleep => foreign::block_undeclared(foreign_millis),
        Act::Compute => foreign::spin_undeclared(foreign_millis),
    }
}

fn later(act: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().spawn(act).expect("a thread");
}
