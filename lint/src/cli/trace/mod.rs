//! Joins a recording's pins to findings: which predicted pins cost how much, and which nobody predicted.
//!
//! The join is by file and line, which events, recordings and findings spell alike. A pin belongs to a finding when it
//! blocked at the reported call or at a call of its chain.

mod cursor;
mod recording;
mod schema;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) use recording::{Pin, TraceError};

use super::print::counted;
use crate::check::Report;
use crate::diagnostic::{Finding, Span};
use crate::render::Seen;

/// What recordings say about a report.
pub(super) struct Trace {
    /// For each finding of the report, in its new order: what was seen there.
    pub(super) seen: Vec<Option<Seen>>,
    /// Places where threads were pinned and no finding is, with what was seen there, most pinned time first.
    unpredicted: Vec<(String, Seen)>,
    pins: usize,
    /// What could not be read, for people.
    pub(super) damages: Vec<String>,
}

/// Reads the recordings and puts the findings with most pinned time first.
pub(super) fn join(
    paths: &[PathBuf],
    report: &mut Report,
    root: &Path,
) -> Result<Trace, TraceError> {
    let mut pins = Vec::new();
    let mut damages = Vec::new();
    for path in paths {
        let recording = recording::read(path)?;
        pins.extend(recording.pins);
        damages.extend(recording.damage);
    }
    let findings = std::mem::take(&mut report.findings);
    let mut costs = vec![Seen::default(); findings.len()];
    let mut unpredicted: BTreeMap<String, Seen> = BTreeMap::new();
    for pin in &pins {
        let place = Place::parse(&pin.blocked_at, root);
        let hit = place
            .as_ref()
            .and_then(|place| findings.iter().position(|finding| is_at(finding, place)));
        match hit {
            Some(index) => costs[index].add(pin),
            None => unpredicted
                .entry(unpredicted_name(pin))
                .or_default()
                .add(pin),
        }
    }
    let mut ranked: Vec<(Finding, Seen)> = findings.into_iter().zip(costs).collect();
    // A stable sort: findings without pins keep their order by path and line.
    ranked.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.pinned));
    let mut seen = Vec::with_capacity(ranked.len());
    for (mut finding, cost) in ranked {
        if cost.count > 0 {
            finding.notes.insert(0, format!("recorded: {cost}"));
        }
        report.findings.push(finding);
        seen.push((cost.count > 0).then_some(cost));
    }
    let mut unpredicted: Vec<(String, Seen)> = unpredicted.into_iter().collect();
    unpredicted.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.pinned));
    Ok(Trace {
        seen,
        unpredicted,
        pins: pins.len(),
        damages,
    })
}

impl Trace {
    /// Lists what the source did not predict.
    pub(super) fn summarise(&self, out: &mut dyn Write) -> io::Result<()> {
        let predicted = self
            .seen
            .iter()
            .flatten()
            .map(|seen| seen.count)
            .sum::<usize>();
        writeln!(
            out,
            "{} recorded, {predicted} at a finding",
            counted(self.pins, "pin")
        )?;
        if self.unpredicted.is_empty() {
            return Ok(());
        }
        writeln!(out, "pins that no finding predicts:")?;
        for (place, seen) in &self.unpredicted {
            writeln!(out, "  {place}: {seen}")?;
        }
        Ok(())
    }
}

impl Seen {
    fn add(&mut self, pin: &Pin) {
        self.count += 1;
        self.pinned += pin.duration;
        self.longest = self.longest.max(pin.duration);
        self.stranded += pin.stranded;
    }
}

/// What a pin without a finding is listed under.
fn unpredicted_name(pin: &Pin) -> String {
    let mut name = if pin.blocked_at.is_empty() {
        "unknown place".to_owned()
    } else {
        pin.blocked_at.clone()
    };
    let what = [
        ("", &pin.operation),
        ("under ", &pin.lock),
        ("pinned at ", &pin.pinned_at),
        ("in ", &pin.native),
    ];
    let what: Vec<String> = what
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(before, text)| format!("{before}{text}"))
        .collect();
    if !what.is_empty() {
        name.push_str(&format!(" ({})", what.join(", ")));
    }
    name
}

/// A line of a file, as recordings spell it.
struct Place {
    file: String,
    line: u32,
}

impl Place {
    /// Reads `path:line:column` or `path:line`. An absolute path below `root` becomes relative to it.
    fn parse(text: &str, root: &Path) -> Option<Self> {
        let (before, last) = text.rsplit_once(':')?;
        let (file, line) = match before.rsplit_once(':') {
            Some((file, line)) if line.parse::<u32>().is_ok() => (file, line),
            _ => (before, last),
        };
        let file = file.replace('\\', "/");
        let file = Path::new(&file)
            .strip_prefix(root)
            .map_or(file.clone(), |path| path.to_string_lossy().into_owned());
        Some(Self {
            file,
            line: line.parse().ok()?,
        })
    }

    /// Whether a span begins on this line. The program may have been built in another folder than it is checked
    /// from, so one path may be the end of the other.
    fn is(&self, span: &Span) -> bool {
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        span.start.line == self.line
            && (ends(&self.file, &span.file) || ends(&span.file, &self.file))
    }
}

fn is_at(finding: &Finding, place: &Place) -> bool {
    place.is(&finding.primary) || finding.chain.iter().any(|step| place.is(&step.span))
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let times = if self.count == 1 {
            "once".to_owned()
        } else {
            format!("{} times", self.count)
        };
        write!(
            f,
            "pinned {times}, {} in all, {} at most",
            shown(self.pinned),
            shown(self.longest)
        )?;
        if !self.stranded.is_zero() {
            write!(f, "; others waited {} meanwhile", shown(self.stranded))?;
        }
        Ok(())
    }
}

/// A duration to three digits: `1.23 s`, `45.6 ms`.
fn shown(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_match_relative_absolute_and_moved_paths() {
        let span = |file: &str, line| {
            let mut span = Span {
                file: file.into(),
                start: Default::default(),
                end: Default::default(),
            };
            span.start.line = line;
            span
        };
        let root = Path::new("/home/me/shop");
        let is = |text: &str, file: &str, line| {
            Place::parse(text, root).is_some_and(|place| place.is(&span(file, line)))
        };
        assert!(is("src/a.rs:7:9", "src/a.rs", 7));
        assert!(is("src/a.rs:7", "src/a.rs", 7));
        assert!(is("/home/me/shop/src/a.rs:7:9", "src/a.rs", 7));
        assert!(is("shop/src/a.rs:7:9", "src/a.rs", 7));
        assert!(is("src/a.rs:7:9", "shop/src/a.rs", 7));
        assert!(!is("src/a.rs:8:9", "src/a.rs", 7));
        assert!(!is("src/aa.rs:7:9", "a.rs", 7));
        assert!(!is("unknown", "src/a.rs", 7));
    }

    #[test]
    fn durations_keep_three_digits() {
        let cases = [
            (1_234_000_000, "1.23 s"),
            (45_600_000, "45.6 ms"),
            (123_456, "123 µs"),
            (0, "0.00 µs"),
        ];
        for (nanos, expected) in cases {
            assert_eq!(shown(Duration::from_nanos(nanos)), expected);
        }
    }
}
