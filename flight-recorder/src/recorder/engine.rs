//! The part of a recorder behind its lock: drains the rings into the store, and tells what it holds.

use std::time::{Duration, Instant, UNIX_EPOCH};

use vt_runtime::event::{Event, EventClass, Reader, Recorded, Timestamp, clock};

use super::environment;
use super::intake::Intake;
use super::settings::{Settings, throttle_text};
use super::sites::Sites;
use super::trigger::{Trigger, Triggers};
use crate::store::{CLASS_NAMES, CLASSES, Record, Records, Store};
use crate::write::About;

/// Records of a class that were lost, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) class: &'static str,
    pub(super) count: u64,
    pub(super) place: &'static str,
}

/// The place of what was never recorded, because enough was.
const THROTTLE: &str = "throttle";

/// The classes that come in floods.
const COMMON: [EventClass; 2] = [EventClass::Parks, EventClass::Lifetimes];

/// What a recorder has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Records held.
    pub records: u64,
    /// Bytes they take.
    pub bytes: u64,
    /// Records taken since the start.
    pub recorded: u64,
    /// Records lost before the recorder came to them, by class.
    pub lost: Vec<(&'static str, u64)>,
    /// Parks, starts and ends that the throttle left out, by class.
    pub throttled: Vec<(&'static str, u64)>,
    /// Records given up for newer ones, by class.
    pub evicted: Vec<(&'static str, u64)>,
    /// Spare carriers started for blocked ones.
    pub compensations: u64,
    /// Spare carriers refused.
    pub compensations_refused: u64,
    /// Dumps written.
    pub dumps: u64,
    /// Why the last dump that failed did.
    pub last_error: Option<String>,
}

/// The engine.
pub(super) struct Engine {
    reader: Reader,
    store: Store,
    sites: Sites,
    triggers: Triggers,
    recorded: u64,
    compensations: [u64; 2],
    pub(super) settings: Settings,
    pub(super) started: clock::Anchor,
    pub(super) max_size: usize,
    pub(super) max_age: Duration,
    pub(super) dumps: u64,
    pub(super) last_error: Option<String>,
}

impl Engine {
    pub(super) fn new(
        reader: Reader,
        settings: Settings,
        (max_size, max_age): (usize, Duration),
        triggers: Vec<Trigger>,
    ) -> Self {
        Self {
            reader,
            store: Store::new(max_size, max_age),
            sites: Sites::default(),
            triggers: Triggers::new(triggers),
            recorded: 0,
            compensations: [0; 2],
            settings,
            started: clock::Anchor::take(),
            max_size,
            max_age,
            dumps: 0,
            last_error: None,
        }
    }

    /// The reader, to be told who drains it.
    pub(super) fn reader(&mut self) -> &mut Reader {
        &mut self.reader
    }

    /// Keeps by other settings from now on.
    pub(super) fn set(&mut self, settings: Settings) {
        let mut classes = vec![EventClass::Pins, EventClass::Contention];
        classes.extend(settings.parks.then_some(EventClass::Parks));
        classes.extend(settings.lifetimes.then_some(EventClass::Lifetimes));
        self.reader.want(&classes);
        self.reader.throttle(settings.throttle);
        self.settings = settings;
    }

    /// Takes what came since the last time.
    pub(super) fn drain(&mut self, intake: &Intake) {
        let Self {
            reader,
            store,
            sites,
            triggers,
            settings,
            recorded,
            compensations: [started, refused],
            ..
        } = self;
        reader.drain(|record| {
            if !keeps(settings, &record) {
                return;
            }
            triggers.see(&record.event);
            match &record.event {
                Event::VirtualThreadPinned(pinned) => sites.add(pinned),
                Event::CarrierCompensated(_) => *started += 1,
                Event::CompensationExhausted(_) => *refused += 1,
                _ => {}
            }
            *recorded += 1;
            store.push(&Record::Runtime(record));
        });
        intake.drain(|record| {
            *recorded += 1;
            store.push(&Record::Program(record));
        });
        store.expire(clock::now());
    }

    /// The trigger to dump for now.
    pub(super) fn due(&mut self) -> Option<&'static str> {
        self.triggers.due(Instant::now())
    }

    /// Asks for the signals that triggers name.
    pub(super) fn listen(&self) -> Result<(), (i32, std::io::Error)> {
        self.triggers.listen()
    }

    pub(super) fn has(&self, trigger: Trigger) -> bool {
        self.triggers.has(trigger)
    }

    pub(super) fn fire(&mut self, trigger: Trigger) {
        self.triggers.fire(trigger);
    }

    pub(super) fn records(&self, since: Timestamp) -> Records {
        self.store.records(clock::now(), since)
    }

    pub(super) fn sites(&self) -> &Sites {
        &self.sites
    }

    /// What was lost, by class and place; empty when nothing was.
    pub(super) fn lost(&self, intake: &Intake) -> Vec<Lost> {
        let rings = EventClass::ALL.iter().map(|class| Lost {
            class: class.as_str(),
            count: self.reader.lost_in(*class),
            place: "rings",
        });
        let program = Lost {
            class: "program",
            count: intake.lost(),
            place: "intake",
        };
        let throttled = COMMON.iter().map(|class| Lost {
            class: class.as_str(),
            count: self.reader.throttled_in(*class),
            place: THROTTLE,
        });
        rings
            .chain([program])
            .chain(throttled)
            .filter(|lost| lost.count > 0)
            .collect()
    }

    pub(super) fn stats(&self, intake: &Intake) -> Stats {
        let named = |counts: [u64; CLASSES]| {
            CLASS_NAMES
                .into_iter()
                .zip(counts)
                .filter(|(_, count)| *count > 0)
                .collect()
        };
        let lost = self.lost(intake);
        let told = |throttled: bool| {
            let lost = lost.iter();
            lost.filter(|lost| (lost.place == THROTTLE) == throttled)
                .map(|lost| (lost.class, lost.count))
                .collect()
        };
        Stats {
            records: self.store.len(),
            bytes: self.store.size() as u64,
            recorded: self.recorded,
            lost: told(false),
            throttled: told(true),
            evicted: named(self.store.evicted()),
            compensations: self.compensations[0],
            compensations_refused: self.compensations[1],
            dumps: self.dumps,
            last_error: self.last_error.clone(),
        }
    }

    /// What a dump says about itself.
    pub(super) fn about(&self, threshold: Duration, destination: &str, reason: &str) -> About {
        let now = clock::now();
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let kept = |kept: bool| if kept { "true" } else { "false" }.to_owned();
        let mut settings = vec![
            (
                "jdk.VirtualThreadPinned",
                "threshold".to_owned(),
                format!("{threshold:?}"),
            ),
            (
                "jdk.ThreadPark",
                "enabled".to_owned(),
                kept(self.settings.parks),
            ),
            (
                "jdk.VirtualThreadStart",
                "enabled".to_owned(),
                kept(self.settings.lifetimes),
            ),
            (
                "jdk.VirtualThreadEnd",
                "enabled".to_owned(),
                kept(self.settings.lifetimes),
            ),
        ];
        for name in [
            "jdk.ThreadPark",
            "jdk.VirtualThreadStart",
            "jdk.VirtualThreadEnd",
        ] {
            let throttle = throttle_text(self.settings.throttle);
            settings.push((name, "throttle".to_owned(), throttle));
        }
        let level = self.settings.program.map_or("OFF", |level| level.as_str());
        settings.push(("vt.Event", "level".to_owned(), level.to_owned()));
        if let Some(step) = stepped(&self.started, &clock::Anchor::take()) {
            let name = "wall clock set since the start".to_owned();
            settings.push(("jdk.ActiveRecording", name, step));
        }
        for (class, count) in CLASS_NAMES.into_iter().zip(self.store.evicted()) {
            if count > 0 {
                let name = format!("given up for newer: {class}");
                settings.push(("vt.EventsDropped", name, count.to_string()));
            }
        }
        let started = self
            .started
            .wall
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        About {
            at: now.0,
            started_ms: millis(started),
            lasted_ms: millis(now.since(self.started.at)),
            name: self.settings.name.clone(),
            destination: destination.to_owned(),
            max_age_ms: millis(self.max_age),
            max_size: self.max_size as u64,
            reason: reason.to_owned(),
            settings,
            ..environment::about()
        }
    }
}

/// How far the wall clock was set between two moments, if it was: clocks that are only disciplined differ less.
fn stepped(before: &clock::Anchor, after: &clock::Anchor) -> Option<String> {
    let expected = before.wall_time(after.at);
    let (sign, step) = match after.wall.duration_since(expected) {
        Ok(ahead) => ("+", ahead),
        Err(behind) => ("-", behind.duration()),
    };
    (step >= Duration::from_secs(1)).then(|| format!("{sign}{:.1} s", step.as_secs_f64()))
}

fn keeps(settings: &Settings, record: &Recorded) -> bool {
    match record.event {
        // Its second half tells all.
        Event::VirtualThreadPark { .. } => false,
        // For people who read a log: made of pins, which are all here.
        Event::CarrierMostlyPinned(_) => false,
        Event::VirtualThreadUnpark { .. } => settings.parks,
        Event::VirtualThreadStart { .. } | Event::VirtualThreadEnd { .. } => settings.lifetimes,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_the_wall_clock_is_told() {
        let before = clock::Anchor::take();
        let later = |wall| clock::Anchor {
            at: before.at.plus(Duration::from_secs(100)),
            wall,
            ..before
        };
        let on_time = before.wall + Duration::from_secs(100);
        assert_eq!(stepped(&before, &later(on_time)), None);
        let set = on_time + Duration::from_secs(3_600);
        assert_eq!(stepped(&before, &later(set)).as_deref(), Some("+3600.0 s"));
        let set = on_time - Duration::from_secs(90);
        assert_eq!(stepped(&before, &later(set)).as_deref(), Some("-90.0 s"));
    }
}
