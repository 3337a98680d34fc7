//! Verbs for a running process: who can be reached, how it is, a dump, another threshold.

pub(crate) mod threads;

use std::io::Write;
use std::path::Path;

use serde_json::Value;
use vt_flight_recorder::attach::{AttachError, Process, processes};

use crate::args::{Dump, Pid, Ps, Set};
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
    if let Some(threshold) = &arguments.threshold {
        process.set_pin_threshold(threshold)?;
        writeln!(out, "pins are recorded from {threshold}")?;
    }
    if let Some(throttle) = &arguments.throttle {
        process.set_throttle(throttle)?;
        writeln!(out, "throttle of parks and of starts: {throttle}")?;
    }
    Ok(())
}
