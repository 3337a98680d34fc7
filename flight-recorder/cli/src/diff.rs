//! `vt-flight diff`: pins of two recordings, place by place. Recordings differ in length, so what is
//! compared is time pinned per minute of recording.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use crate::args::Diff;
use crate::input::{self, Failure, Seen};
use crate::table::{Cell, Table};
use crate::view::{PinnedSites, View, write_seen};

/// What became of a place, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    New,
    Worse,
    Same,
    Better,
    Gone,
}

impl Change {
    const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::Better => "better",
            Self::Gone => "gone",
        }
    }
}

/// A recording's pins by place, and its length.
struct Side {
    sites: PinnedSites,
    length_ns: u64,
    seen: Seen,
}

impl Side {
    fn load(path: &PathBuf) -> Result<Self, Failure> {
        let files = std::slice::from_ref(path);
        let mut length_ns: u64 = 0;
        let mut sites = PinnedSites::default();
        input::chunks(files, |_, chunk, _| {
            length_ns = length_ns.saturating_add(chunk.header().duration_ns);
            Ok(())
        })?;
        let seen = input::events(files, |event| {
            sites.event(event);
            Ok(())
        })?;
        Ok(Self {
            sites,
            length_ns: length_ns.max(1),
            seen,
        })
    }

    fn per_minute(&self, total: i64) -> i64 {
        let rate = i128::from(total) * 60_000_000_000 / i128::from(self.length_ns);
        i64::try_from(rate).unwrap_or(i64::MAX)
    }
}

pub(crate) fn run(arguments: &Diff, out: &mut impl Write) -> Result<bool, Failure> {
    let (before, after) = (
        Side::load(&arguments.before)?,
        Side::load(&arguments.after)?,
    );
    let sites: BTreeSet<_> = before.sites.0.keys().chain(after.sites.0.keys()).collect();
    let mut rows: Vec<_> = sites
        .into_iter()
        .map(|site| {
            let of = |side: &Side| {
                let harm = side.sites.0.get(site);
                let total = harm.map_or(0, |harm| harm.kept.total);
                (
                    harm.map_or(0, |harm| harm.kept.count()),
                    side.per_minute(total),
                )
            };
            let (old, new) = (of(&before), of(&after));
            let noise = i128::from(old.1) * i128::from(arguments.noise) / 100;
            let grown = i128::from(new.1) - i128::from(old.1);
            let change = match (old.0, new.0) {
                (0, _) => Change::New,
                (_, 0) => Change::Gone,
                _ if grown > noise => Change::Worse,
                _ if -grown > noise => Change::Better,
                _ => Change::Same,
            };
            (change, std::cmp::Reverse(new.1.max(old.1)), site, old, new)
        })
        .collect();
    rows.sort();
    let mut table = Table::new(
        "Pins by place: time pinned per minute of recording",
        &[
            ("Change", "change"),
            ("Before", "before_ns_per_minute"),
            ("After", "after_ns_per_minute"),
            ("Pins Before", "pins_before"),
            ("Pins After", "pins_after"),
            ("Blocked At", "blocked_at"),
            ("Pinned At", "pinned_at"),
            ("Reason", "reason"),
        ],
    );
    let mut passed = true;
    for (change, _, site, old, new) in rows {
        passed &= change > Change::Worse;
        table.row(vec![
            Cell::text(change.as_str()),
            Cell::Span(old.1),
            Cell::Span(new.1),
            Cell::Count(old.0),
            Cell::Count(new.0),
            Cell::text(&site.blocked_at),
            Cell::text(&site.pinned_at),
            Cell::text(&site.reason),
        ]);
    }
    if arguments.json {
        writeln!(
            out,
            "{}",
            json!({ "rows": table.json(), "no_worse": passed })
        )?;
    } else if table.len() == 0 {
        writeln!(out, "Neither recording holds a pin.")?;
    } else {
        table.write(out)?;
    }
    if !arguments.json {
        write_seen(before.seen, out)?;
        write_seen(after.seen, out)?;
    }
    Ok(passed || !arguments.gate)
}
