//! Exact pins: for each scenario the events that must come are known, field by field.

use std::collections::HashMap;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use vt_runtime::event::{Event, Operation, PinReason, PinSource, Pinned, WaitOutcome};
use vt_runtime::thread::Builder;
use vt_runtime::{Runtime, Stacks};
use vt_tests::{builder, line_of};

use super::cast::{self, Act, Release};
use super::enclose;
use super::random::Random;

/// A threshold that half of the longer scenarios do not reach.
const THRESHOLD: Duration = Duration::from_millis(40);

/// A program that is known beforehand.
#[derive(Debug)]
struct Scenario {
    name: String,
    pins: Vec<PinReason>,
    act: Act,
    time: Duration,
}

/// What a scenario did when it ran.
struct Run {
    pinned_at: u32,
    blocked_at: u32,
    /// At least as long as its wait.
    took: Duration,
}

/// What one event must say.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    reason: PinReason,
    operation: Operation,
    outcome: WaitOutcome,
    depth: u32,
    pinned_at: u32,
    blocked_at: u32,
}

/// How often events were right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    scenarios: usize,
    expected: usize,
    emitted: usize,
    right: usize,
    /// Their measured time lies so near to the threshold that both answers are right.
    open: usize,
    wrong: Vec<String>,
}

impl Figures {
    pub(crate) fn print(&self, title: &str) {
        println!(
            "{title}: {} scenarios, {} pins expected, {} emitted, recall {:.4}, precision {:.4} ({} too near the threshold)",
            self.scenarios,
            self.expected,
            self.emitted,
            self.right as f64 / self.expected.max(1) as f64,
            self.right as f64 / self.emitted.max(1) as f64,
            self.open,
        );
    }

    pub(crate) fn assert_exact(&self) {
        assert!(self.wrong.is_empty(), "{:#?}", self.wrong);
        assert_eq!((self.right, self.right), (self.expected, self.emitted));
        assert!(
            self.expected > self.scenarios / 3,
            "the corpus has become empty: {self:?}"
        );
        assert!(self.open <= self.scenarios / 10, "{self:?}");
    }
}

fn generate(random: &mut Random, name: String, has_threshold: bool) -> Scenario {
    let reasons = [PinReason::Monitor, PinReason::Native, PinReason::Critical];
    let pins = match random.below(8) {
        0 => Vec::new(),
        1 => vec![PinReason::Unwinding],
        _ => (0..=random.below(4))
            .map(|_| random.pick(&reasons))
            .collect(),
    };
    let millis = if has_threshold {
        random.pick(&[4, 60])
    } else {
        1 + random.below(8) as u64
    };
    Scenario {
        name,
        pins,
        act: random.pick(&Act::ALL),
        time: Duration::from_millis(millis),
    }
}

/// Runs `count` scenarios on runtimes of one to three carriers, half of them without a threshold.
pub(crate) fn run(stacks: Stacks, seed: u64, count: usize) -> Figures {
    let mut random = Random::new(seed);
    let mut figures = Figures::default();
    let groups = [(1, false), (2, false), (3, false), (2, true)];
    for (index, (carriers, has_threshold)) in groups.into_iter().enumerate() {
        let size = count / groups.len() + usize::from(index < count % groups.len());
        let scenarios = (0..size)
            .map(|number| generate(&mut random, format!("s{index}.{number}"), has_threshold))
            .collect();
        play(stacks, carriers, has_threshold, scenarios, &mut figures);
    }
    figures
}

fn play(
    stacks: Stacks,
    carriers: usize,
    has_threshold: bool,
    scenarios: Vec<Scenario>,
    figures: &mut Figures,
) {
    let threshold = if has_threshold {
        THRESHOLD
    } else {
        Duration::ZERO
    };
    let (builder, capture) = builder(stacks, carriers);
    let runtime = builder
        .max_carriers(carriers)
        .pin_threshold(threshold)
        .event_capacity(4096)
        .build()
        .expect("carriers start");
    // What is joined and waited for lives elsewhere.
    let others = Runtime::builder()
        .carriers(1)
        .build()
        .expect("a carrier starts");
    let runs = perform(&runtime, &others, &scenarios);
    let mut emitted: HashMap<String, Vec<Pinned>> = HashMap::new();
    for event in capture.events(&runtime) {
        match event {
            // What the watchdog sees beside is judged by the other half of the corpus.
            Event::VirtualThreadPinned(pin) if pin.source != PinSource::Sampled => {
                emitted
                    .entry(pin.thread.name.to_string())
                    .or_default()
                    .push(pin);
            }
            Event::PinnedDeadlock(deadlock) => {
                figures
                    .wrong
                    .push(format!("there is no deadlock: {deadlock:?}"));
            }
            _ => {}
        }
    }
    for (scenario, run) in scenarios.iter().zip(&runs) {
        let pins = emitted.remove(&scenario.name).unwrap_or_default();
        judge(scenario, run, threshold, &pins, figures);
    }
    for (name, pins) in emitted {
        figures.emitted += pins.len();
        figures
            .wrong
            .push(format!("nobody is called {name}: {pins:?}"));
    }
}

/// Starts the scenarios one after the other on all carriers, and lets each go on once it waits.
fn perform(runtime: &Runtime, others: &Runtime, scenarios: &[Scenario]) -> Vec<Run> {
    let (done, ended) = mpsc::channel();
    let mut releases: HashMap<String, (Duration, Release)> = HashMap::new();
    for (number, scenario) in scenarios.iter().enumerate() {
        let (part, release) = cast::stage(scenario.act, scenario.time, others);
        releases.insert(scenario.name.clone(), (scenario.time, release));
        let (pins, done) = (scenario.pins.clone(), done.clone());
        let builder = Builder::new().name(scenario.name.clone());
        let spawned = builder.spawn_in(runtime, move || {
            let begun = Instant::now();
            let (pinned_at, blocked_at) = enclose::enclose(&pins, part);
            let took = begun.elapsed();
            let run = Run {
                pinned_at,
                blocked_at,
                took,
            };
            done.send((number, run)).expect("the stage hand waits");
        });
        drop(spawned.expect("spawned"));
    }
    let mut waiting: HashMap<String, Instant> = HashMap::new();
    let mut runs: Vec<Option<Run>> = scenarios.iter().map(|_| None).collect();
    while runs.iter().any(Option::is_none) {
        while let Ok((number, run)) = ended.try_recv() {
            runs[number] = Some(run);
        }
        for info in runtime.threads() {
            let is_waiting = info.waits_for.is_some() || info.pinned_for.is_some();
            if is_waiting && releases.contains_key(&*info.name) {
                let since = *waiting
                    .entry(info.name.to_string())
                    .or_insert_with(Instant::now);
                if since.elapsed() >= releases[&*info.name].0 {
                    let (_, release) = releases.remove(&*info.name).expect("it is there");
                    release();
                }
            }
        }
        std::thread::park_timeout(Duration::from_micros(300));
    }
    runs.into_iter()
        .map(|run| run.expect("all ended"))
        .collect()
}

fn judge(
    scenario: &Scenario,
    run: &Run,
    threshold: Duration,
    pins: &[Pinned],
    figures: &mut Figures,
) {
    figures.scenarios += 1;
    figures.emitted += pins.len();
    // A contended enter keeps its carrier by itself: the monitor counts as held. And pins that are held count, not the
    // unwinding.
    let enters = scenario.act == Act::MonitorEnter;
    let held = scenario
        .pins
        .iter()
        .filter(|pin| !enters || **pin != PinReason::Unwinding);
    let held: Vec<PinReason> = held
        .copied()
        .chain(enters.then_some(PinReason::Monitor))
        .collect();
    let is_outermost = held.len() == 1 && enters;
    let reported = scenario.act.reported().filter(|_| !held.is_empty());
    let expected = reported.map(|(operation, outcome)| Said {
        reason: held[0],
        operation,
        outcome,
        depth: u32::try_from(held.len()).expect("few"),
        pinned_at: if is_outermost {
            run.blocked_at
        } else {
            run.pinned_at
        },
        blocked_at: run.blocked_at,
    });
    let said: Vec<Said> = pins
        .iter()
        .map(|pin| Said {
            reason: pin.reason,
            operation: pin.operation,
            outcome: pin.outcome,
            depth: pin.depth,
            pinned_at: line_of(pin.pinned_at.as_ref()),
            blocked_at: line_of(pin.blocked_at.as_ref()),
        })
        .collect();
    let expected = match expected {
        Some(_) if run.took < threshold => Vec::new(),
        Some(said_once) if scenario.time >= threshold => vec![said_once],
        Some(_) => {
            figures.open += 1;
            figures.emitted -= pins.len();
            return;
        }
        None => Vec::new(),
    };
    figures.expected += expected.len();
    if said == expected {
        figures.right += expected.len();
    } else {
        figures.wrong.push(format!(
            "{scenario:?}: expected {expected:?}, said {said:?}"
        ));
    }
}
