//! `vt-flight threads`: the virtual threads of a running process, those that keep a carrier first; as JSON in the
//! shape of JDK 25's thread dump.

use std::io::Write;
use std::time::SystemTime;

use serde_json::{Value, json};
use vt_flight_recorder::attach::Process;

use crate::args::Threads;
use crate::input::Failure;
use crate::table::{Cell, Table};
use crate::text;

/// A virtual thread as the recorder lists it.
#[derive(Default)]
struct Thread {
    id: String,
    name: String,
    state: String,
    carrier: String,
    waits_for: String,
    owner: String,
    since: i64,
    pinned: i64,
    native: String,
    parent: String,
    waits_at: String,
    timed: bool,
    reason: String,
    lock: String,
    pinned_at: String,
    stranded: u64,
    stack: Vec<String>,
}

impl Thread {
    fn of(line: &str) -> Self {
        let mut fields = line.split('\t').map(str::to_owned);
        let mut next = || fields.next().unwrap_or_default();
        Self {
            id: next(),
            name: next(),
            state: next(),
            carrier: next(),
            waits_for: next(),
            owner: next(),
            since: next().parse().unwrap_or(0),
            pinned: next().parse().unwrap_or(0),
            native: next(),
            parent: next(),
            waits_at: next(),
            timed: next() == "true",
            reason: next(),
            lock: next(),
            pinned_at: next(),
            stranded: next().parse().unwrap_or(0),
            stack: Vec::new(),
        }
    }

    /// What pins it: the reason and what it names.
    fn pinned_by(&self) -> String {
        let name = if self.lock.is_empty() {
            &self.native
        } else {
            &self.lock
        };
        format!("{} {name}", self.reason).trim().to_owned()
    }

    /// The thread in the JDK's shape: numbers as texts, states in capitals; ours after its members.
    fn json(&self) -> Value {
        let enters = self.waits_for.strip_prefix("monitor_enter ");
        let state = match self.state.as_str() {
            "new" => "NEW",
            "terminated" => "TERMINATED",
            "runnable" => "RUNNABLE",
            _ if enters.is_some() => "BLOCKED",
            _ if self.timed => "TIMED_WAITING",
            _ => "WAITING",
        };
        let mut thread = json!({
            "tid": self.id, "virtual": true, "name": self.name, "state": state, "stack": self.stack,
        });
        let mut put = |key: &str, value: Value| thread[key] = value;
        if !self.carrier.is_empty() {
            put("carrier", json!(self.carrier));
        }
        match enters {
            Some(monitor) => put("blockedOn", json!(monitor)),
            None if self.waits_for.is_empty() => {}
            None => {
                let mut blocker = json!({ "object": self.waits_for });
                if !self.owner.is_empty() {
                    blocker["owner"] = json!(self.owner);
                }
                put("parkBlocker", blocker);
            }
        }
        if self.reason == "monitor" && !self.lock.is_empty() {
            put("monitorsOwned", json!([{ "locks": [self.lock] }]));
        }
        if !self.waits_for.is_empty() {
            put("waitingNs", json!(self.since));
        }
        if self.state == "pinned" {
            put("pinnedForNs", json!(self.pinned));
            put(
                "pinnedBy",
                json!({ "reason": self.reason, "holder": self.lock, "at": self.pinned_at, "stranded": self.stranded }),
            );
        }
        for (key, value) in [
            ("waitsAt", &self.waits_at),
            ("blockedOnOwner", &self.owner),
            ("nativeCall", &self.native),
            ("parent", &self.parent),
        ] {
            if !value.is_empty() {
                put(key, json!(value));
            }
        }
        thread
    }
}

/// The threads of a list, whose lines begin with a tab where they are frames of the thread above.
fn parse(list: &str) -> Vec<Thread> {
    let mut threads: Vec<Thread> = Vec::new();
    for line in list.lines() {
        match (line.strip_prefix('\t'), threads.last_mut()) {
            (Some(frame), Some(thread)) => thread.stack.push(frame.to_owned()),
            _ => threads.push(Thread::of(line)),
        }
    }
    threads
}

pub(crate) fn run(arguments: &Threads, out: &mut impl Write) -> Result<(), Failure> {
    let process = Process::find(arguments.pid)?;
    if arguments.json {
        let threads = parse(&process.thread_stacks()?);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = i64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(i64::MAX);
        let dump = json!({ "threadDump": {
            "processId": arguments.pid.to_string(),
            "time": text::moment(now).replace(' ', "T"),
            "runtimeVersion": format!("vt-runtime {}", env!("CARGO_PKG_VERSION")),
            "threadContainers": [{
                "container": "<root>", "parent": null, "owner": null,
                "threads": threads.iter().map(Thread::json).collect::<Vec<_>>(),
                "threadCount": threads.len().to_string(),
            }],
        }});
        writeln!(out, "{dump:#}")?;
        return Ok(());
    }
    let mut threads = parse(&process.threads()?);
    // Those that keep a carrier first, for they are the ones to look at.
    threads.sort_by_key(|thread| std::cmp::Reverse((thread.pinned, thread.since)));
    let mut table = Table::new(
        "Virtual threads",
        &[
            ("Virtual Thread", "thread"),
            ("State", "state"),
            ("Carrier", "carrier"),
            ("Pinned For", "pinned_ns"),
            ("Pinned By", "pinned_by"),
            ("Strands", "stranded"),
            ("Waiting For", "waiting_ns"),
            ("Waits For", "waits_for"),
            ("Owner", "owner"),
            ("Waits At", "waits_at"),
            ("Native Call", "native"),
        ],
    )
    .sparse(&["Native Call"]);
    for thread in threads {
        table.row(vec![
            Cell::text(format!("#{} {}", thread.id, thread.name)),
            Cell::text(&thread.state),
            Cell::text(&thread.carrier),
            Cell::Span(thread.pinned),
            Cell::text(thread.pinned_by()),
            Cell::Count(thread.stranded),
            Cell::Span(thread.since),
            Cell::text(&thread.waits_for),
            Cell::text(&thread.owner),
            Cell::text(&thread.waits_at),
            Cell::text(&thread.native),
        ]);
    }
    let gone = table.keep(arguments.top);
    if table.len() == 0 {
        writeln!(out, "No virtual thread lives.")?;
    } else {
        table.write(out)?;
    }
    if gone > 0 {
        writeln!(out, "... and {gone} more (--top {})", arguments.top + gone)?;
    }
    Ok(())
}
