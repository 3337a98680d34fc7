//! Verbs for a running process: who can be reached, how it is, a dump, its virtual threads, another
//! threshold.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use vt_flight_recorder::attach::{AttachError, Process, processes};

use crate::args::{Dump, Pid, Ps, Set, Threads};
use crate::input::Failure;
use crate::table::{Cell, Table};
use crate::text;

impl From<AttachError> for Failure {
    fn from(error: AttachError) -> Self {
        Self::Told(error.to_string())
    }
}

/// The facts of a recorder by name.
fn facts(process: &Process) -> Result<Vec<(String, String)>, Failure> {
    let status = process.status()?;
    let pair = |line: &str| {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        (name.to_owned(), value.to_owned())
    };
    Ok(status.lines().map(pair).collect())
}

pub(crate) fn ps(arguments: &Ps, out: &mut impl Write) -> Result<(), Failure> {
    let mut table = Table::new(
        "Processes with a recorder",
        &[
            ("Pid", "pid"),
            ("Program", "program"),
            ("Settings", "settings"),
            ("Pins From", "pin_threshold"),
            ("Virtual Threads", "virtual_threads"),
            ("Pinned Now", "pinned_now"),
            ("Records", "records"),
            ("Lost", "lost"),
        ],
    );
    for process in processes() {
        // One that ends meanwhile is no failure of this verb.
        let Ok(facts) = facts(&process) else {
            continue;
        };
        let fact = |name: &str| {
            let fact = facts.iter().find(|(n, _)| n == name);
            fact.map_or(String::new(), |(_, value)| value.clone())
        };
        let count = |name: &str| Cell::Count(fact(name).parse().unwrap_or(0));
        table.row(vec![
            Cell::Count(process.pid.into()),
            Cell::text(fact("program")),
            Cell::text(fact("settings")),
            Cell::text(fact("pin_threshold")),
            count("virtual_threads"),
            count("pinned_now"),
            count("records"),
            Cell::text(fact("lost")),
        ]);
    }
    if arguments.json {
        writeln!(out, "{}", table.json())?;
    } else if table.len() == 0 {
        writeln!(
            out,
            "No process of this user has a recorder that can be reached."
        )?;
    } else {
        table.write(out)?;
    }
    Ok(())
}

pub(crate) fn status(arguments: &Pid, out: &mut impl Write) -> Result<(), Failure> {
    let facts = facts(&Process::find(arguments.pid)?)?;
    if arguments.json {
        let object = facts
            .into_iter()
            .map(|(name, value)| (name, Value::String(value)));
        writeln!(out, "{}", Value::Object(object.collect()))?;
        return Ok(());
    }
    for (name, value) in facts {
        writeln!(out, "{:>16}  {value}", name.replace('_', " "))?;
    }
    Ok(())
}

pub(crate) fn dump(arguments: &Dump, out: &mut impl Write) -> Result<(), Failure> {
    let process = Process::find(arguments.pid)?;
    let bytes = process.dump(arguments.last.as_deref())?;
    let name = format!("{}.jfr", arguments.pid);
    let path = arguments.output.as_deref().unwrap_or(Path::new(&name));
    let failed = |error: std::io::Error| Failure::File(path.to_owned(), error.to_string());
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(&bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    writeln!(
        out,
        "{}: {}",
        path.display(),
        text::bytes(bytes.len() as u64)
    )?;
    Ok(())
}

pub(crate) fn set(arguments: &Set, out: &mut impl Write) -> Result<(), Failure> {
    let process = Process::find(arguments.pid)?;
    process.set_pin_threshold(&arguments.threshold)?;
    writeln!(out, "pins are recorded from {}", arguments.threshold)?;
    Ok(())
}

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
        }
    }

    /// The thread in the JDK's shape: numbers as texts, states in capitals; ours after its members.
    fn json(&self) -> Value {
        let state = match self.state.as_str() {
            "new" => "NEW",
            "terminated" => "TERMINATED",
            "runnable" => "RUNNABLE",
            _ => "WAITING",
        };
        let mut thread = json!({
            "tid": self.id, "name": self.name, "state": state, "virtual": true, "stack": [],
        });
        let mut put = |key: &str, value: Value| thread[key] = value;
        if !self.carrier.is_empty() {
            put("carrier", json!(self.carrier));
        }
        if !self.waits_for.is_empty() {
            let owner = (!self.owner.is_empty()).then_some(&self.owner);
            put(
                "parkBlocker",
                json!({ "object": self.waits_for, "owner": owner }),
            );
            put("waitingNs", json!(self.since));
        }
        if self.state == "pinned" {
            put("pinned", json!(true));
            put("pinnedForNs", json!(self.pinned));
        }
        for (key, value) in [("nativeCall", &self.native), ("parent", &self.parent)] {
            if !value.is_empty() {
                put(key, json!(value));
            }
        }
        thread
    }
}

pub(crate) fn threads(arguments: &Threads, out: &mut impl Write) -> Result<(), Failure> {
    let process = Process::find(arguments.pid)?;
    let list = process.threads()?;
    let mut threads: Vec<_> = list.lines().map(Thread::of).collect();
    if arguments.json {
        let count = threads.len().to_string();
        let dump = json!({ "threadDump": {
            "formatVersion": 2,
            "processId": arguments.pid.to_string(),
            "runtimeVersion": format!("vt-runtime {}", env!("CARGO_PKG_VERSION")),
            "threadContainers": [{
                "container": "<root>", "parent": null, "owner": null,
                "threads": threads.iter().map(Thread::json).collect::<Vec<_>>(),
                "threadCount": count,
            }],
        }});
        writeln!(out, "{dump:#}")?;
        return Ok(());
    }
    // Those that keep a carrier first, for they are the ones to look at.
    threads.sort_by_key(|thread| std::cmp::Reverse((thread.pinned, thread.since)));
    let mut table = Table::new(
        "Virtual threads",
        &[
            ("Virtual Thread", "thread"),
            ("State", "state"),
            ("Carrier", "carrier"),
            ("Pinned For", "pinned_ns"),
            ("Waiting For", "waiting_ns"),
            ("Waits For", "waits_for"),
            ("Owner", "owner"),
            ("Native Call", "native"),
        ],
    );
    for thread in threads {
        table.row(vec![
            Cell::text(format!("#{} {}", thread.id, thread.name)),
            Cell::text(thread.state),
            Cell::text(thread.carrier),
            Cell::Span(thread.pinned),
            Cell::Span(thread.since),
            Cell::text(thread.waits_for),
            Cell::text(thread.owner),
            Cell::text(thread.native),
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
