//! Deadlocks in which carriers take part: cycles over threads, what they wait for, and carriers.
//!
//! Edges: a thread that waits without a deadline for a lock or an end leads to whoever has it; a thread that is off
//! its carrier, whether it waits or is ready, leads to the pinned thread that keeps that carrier. A thread that runs
//! leads nowhere. The second kind of edge is what the affinity of virtual threads costs: one pinned carrier is
//! enough, and it is what no ordinary deadlock finder knows.
//!
//! **Nothing is invented:** what a thread has said about the owner of its lock was right when its wait began, and
//! the lock may have changed hands since. So a suspected cycle is looked at three times. Between two looks each of
//! its waiting threads is nudged: it tries again and, if it must wait, says anew who is in its way. Only a cycle
//! that comes out the same three times is reported, once.

use std::fmt::Write;
use std::sync::Arc;

use crate::carrier::Carrier;
use crate::event::{Deadlock, DeadlockKind, Event, Operation};
use crate::park::{Record, Waiting};
use crate::primitive::Ordering;
use crate::runtime::{DeadlockPolicy, Shared};

/// Looks that a cycle must survive.
const LOOKS: u32 = 3;
/// A pinned wait younger than this is no suspect yet, in nanoseconds.
const SUSPECT_FROM: u64 = 20_000_000;
/// Between two looks at a suspect, in nanoseconds: enough for a nudged thread to be mounted.
const PATIENCE: u64 = 20_000_000;
/// Threads in the longest cycle looked for.
const LONGEST: usize = 64;

/// What the watchdog remembers between two looks.
#[derive(Default)]
pub(super) struct Suspicions {
    suspects: Vec<Suspect>,
    looked: u64,
}

struct Suspect {
    cycle: Vec<u64>,
    seen: u32,
    now: bool,
}

/// One thread of a cycle, and what leads from it to the next one.
struct Link {
    record: Arc<Record>,
    edge: Edge,
}

enum Edge {
    /// It waits for something that the next one has.
    Waits(Waiting),
    /// The next one keeps its carrier.
    Stranded(usize),
}

/// Looks for cycles among the pinned carriers of a runtime.
pub(super) fn look(shared: &Shared, suspicions: &mut Suspicions, now: u64) {
    if now.saturating_sub(suspicions.looked) < PATIENCE {
        return;
    }
    suspicions.looked = now;
    for suspect in &mut suspicions.suspects {
        suspect.now = false;
    }
    for carrier in shared.carriers() {
        let suspect = carrier
            .open_pin()
            .filter(|pin| now.saturating_sub(pin.start.0) >= SUSPECT_FROM);
        let Some(links) = suspect.and_then(|pin| find_cycle(shared, pin.record)) else {
            continue;
        };
        if suspicions.confirm(&links) {
            report(shared, &links);
        } else {
            nudge(&links);
        }
    }
    suspicions.suspects.retain(|suspect| suspect.now);
}

impl Suspicions {
    /// Counts a look at that cycle; true at the one that makes it certain.
    fn confirm(&mut self, links: &[Link]) -> bool {
        let mut cycle: Vec<u64> = links.iter().map(|link| link.record.id).collect();
        cycle.sort_unstable();
        match self
            .suspects
            .iter_mut()
            .find(|suspect| suspect.cycle == cycle)
        {
            // Another of its carriers led here in the same look.
            Some(suspect) if suspect.now => false,
            Some(suspect) => {
                suspect.now = true;
                suspect.seen += 1;
                suspect.seen == LOOKS
            }
            None => {
                self.suspects.push(Suspect {
                    cycle,
                    seen: 1,
                    now: true,
                });
                false
            }
        }
    }
}

/// Follows the edges from a pinned thread until one comes up again.
fn find_cycle(shared: &Shared, start: Arc<Record>) -> Option<Vec<Link>> {
    let mut links: Vec<Link> = Vec::new();
    let mut record = start;
    while links.len() < LONGEST {
        if let Some(first) = links.iter().position(|link| link.record.id == record.id) {
            return Some(links.split_off(first));
        }
        let (edge, next) = follow(shared, &record)?;
        links.push(Link { record, edge });
        record = next;
    }
    None
}

fn follow(shared: &Shared, record: &Arc<Record>) -> Option<(Edge, Arc<Record>)> {
    let home = shared.carrier(record.home()?);
    let is_mounted = home.mounted.load(Ordering::Relaxed) == record.id;
    if !is_mounted && let Some(pin) = home.open_pin() {
        return Some((Edge::Stranded(home.id), pin.record));
    }
    let waiting = record
        .waiting()
        .filter(|waiting| !waiting.timed && has_owner(waiting.operation))?;
    let next = shared.find(waiting.owner)?;
    Some((Edge::Waits(waiting), next))
}

/// Does the announced owner of such a wait have to act before it can end?
fn has_owner(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Lock
            | Operation::MonitorEnter
            | Operation::Join
            // An owner is announced only while the lock is taken back.
            | Operation::MonitorWait
            | Operation::Condition
    )
}

/// Guards of the lock that is taken back after such a wait are alive above: it must be had.
fn can_end(operation: Operation) -> bool {
    !matches!(operation, Operation::MonitorWait | Operation::Condition)
}

fn nudge(links: &[Link]) {
    for link in links {
        if let Edge::Waits(waiting) = &link.edge {
            link.record.nudge(waiting.epoch);
        }
    }
}

fn report(shared: &Shared, links: &[Link]) {
    let cycle: Arc<str> = tell(shared, links).into();
    let wanted = links.iter().find_map(|link| match &link.edge {
        Edge::Waits(waiting) => Some(*waiting),
        Edge::Stranded(_) => None,
    });
    shared.hub.report(Event::PinnedDeadlock(Deadlock {
        kind: kind(links),
        lock: wanted
            .and_then(|waiting| waiting.subject)
            .map(|subject| shared.hub.subject_text(subject)),
        owner: wanted.map(|waiting| shared.hub.thread_text(waiting.owner)),
        carriers: carriers(links),
        cycle: Arc::clone(&cycle),
    }));
    match shared.settings.deadlock_policy {
        DeadlockPolicy::Report => {}
        DeadlockPolicy::Abort => super::abort_with(&format!("deadlock: {cycle}")),
        DeadlockPolicy::Error => end(links, &cycle),
    }
}

fn kind(links: &[Link]) -> DeadlockKind {
    if links.len() == 1 {
        DeadlockKind::SelfWait
    } else if links
        .iter()
        .any(|link| matches!(link.edge, Edge::Stranded(_)))
    {
        DeadlockKind::OwnerStranded
    } else {
        DeadlockKind::LockOrder
    }
}

fn carriers(links: &[Link]) -> Vec<u64> {
    let blocked = |link: &Link| match link.edge {
        Edge::Stranded(carrier) => Some(carrier as u64),
        Edge::Waits(_) => link
            .record
            .home()
            .filter(|_| is_pinned(&link.record))
            .map(|home| home as u64),
    };
    let mut carriers: Vec<u64> = links.iter().filter_map(blocked).collect();
    carriers.sort_unstable();
    carriers.dedup();
    carriers
}

fn is_pinned(record: &Record) -> bool {
    record.pinned.load(Ordering::Relaxed)
}

/// Ends the wait of the pinned thread whose carrier the others need, so that they can go on.
fn end(links: &[Link], story: &Arc<str>) {
    let stranded = links
        .iter()
        .position(|link| matches!(link.edge, Edge::Stranded(_)));
    let keeper = stranded.map_or(0, |index| (index + 1) % links.len());
    let pinned = links[keeper..]
        .iter()
        .chain(&links[..keeper])
        .find_map(|link| match &link.edge {
            Edge::Waits(waiting) if is_pinned(&link.record) && can_end(waiting.operation) => {
                Some((&link.record, waiting.epoch))
            }
            _ => None,
        });
    if let Some((record, epoch)) = pinned {
        record.end_deadlocked(epoch, story);
    }
}

/// The cycle in words, for somebody who is woken at 3 a.m.
fn tell(shared: &Shared, links: &[Link]) -> String {
    let mut story = String::new();
    for link in links {
        let thread = shared.hub.thread_text(link.record.id);
        let _ = match &link.edge {
            Edge::Waits(waiting) => {
                let what = waiting
                    .subject
                    .map(|subject| shared.hub.subject_text(subject))
                    .unwrap_or_default();
                let pin = pin_text(shared, &link.record);
                write!(
                    story,
                    "{thread}{pin} waits at {} for {} {what} of -> ",
                    waiting.at, waiting.operation
                )
            }
            Edge::Stranded(carrier) => {
                let doing = link.record.waiting().map_or_else(
                    || "ready".to_owned(),
                    |waiting| format!("off its carrier in {} at {}", waiting.operation, waiting.at),
                );
                write!(
                    story,
                    "{thread} ({doing}) needs carrier-{carrier}, which is kept by -> "
                )
            }
        };
    }
    let first = links
        .first()
        .map(|link| shared.hub.thread_text(link.record.id))
        .unwrap_or_default();
    story + &first
}

pub(super) fn pin_text(shared: &Shared, record: &Record) -> String {
    let open = record
        .home()
        .and_then(|home| shared.carrier(home).open_pin());
    let Some(open) = open.filter(|open| open.record.id == record.id) else {
        return String::new();
    };
    let pin = open.pin.outermost;
    let what = pin
        .subject
        .map(|subject| shared.hub.subject_text(subject))
        .unwrap_or_default();
    let at = pin
        .at
        .map(|at| format!(" taken at {at}"))
        .unwrap_or_default();
    format!(" (pinned by {} {what}{at})", pin.reason)
}

/// A carrier that is stuck in a futex of code the runtime does not know, while threads of its own wait: very likely
/// one of them holds that lock and can never run. A suspicion only: the holder may be an OS thread.
pub(super) fn suspect_self_lock(shared: &Shared, carrier: &Carrier, thread: u64, at: &str) {
    let neighbours: Vec<Arc<Record>> = shared
        .records()
        .into_iter()
        .filter(|record| record.home() == Some(carrier.id) && record.id != thread)
        .collect();
    if neighbours.is_empty() {
        return;
    }
    let mut story = format!(
        "carrier-{} is blocked in a futex by {}{at}, and its other threads cannot run: ",
        carrier.id,
        shared.hub.thread_text(thread),
    );
    for record in neighbours.iter().take(8) {
        let name = shared.hub.thread_text(record.id);
        let _ = match record.waiting() {
            Some(waiting) => write!(story, "{name} in {} at {}; ", waiting.operation, waiting.at),
            None => write!(story, "{name} ready; "),
        };
    }
    story += "if one of them holds a std or parking_lot lock over its wait, use a park-aware lock there (#[park_safe])";
    let cycle: Arc<str> = story.into();
    shared.hub.report(Event::PinnedDeadlock(Deadlock {
        kind: DeadlockKind::CarrierSelfLock,
        lock: None,
        owner: None,
        carriers: vec![carrier.id as u64],
        cycle: Arc::clone(&cycle),
    }));
    if shared.settings.deadlock_policy == DeadlockPolicy::Abort {
        super::abort_with(&format!("suspected deadlock: {cycle}"));
    }
}
