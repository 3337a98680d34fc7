//! `vt-flight view`: one question, one table. Each view takes every event, some twice, and then makes its
//! rows; what was lost or damaged is said under every table, for an empty one must mean "none".

mod carriers;
mod contention;
mod deadlocks;
mod groups;
mod holders;
mod lifetimes;
mod losses;
mod native_calls;
mod parks;
mod pinned_now;
mod pinned_sites;
mod pinned_threads;
mod recording;
mod tally;

use std::io::Write;

use serde_json::json;
use vt_flight_recorder::Event;

use crate::args::{self, ViewName};
use crate::input::{self, Failure, Seen};
use crate::table::Table;
use crate::text;

pub(crate) use self::groups::Groups;
pub(crate) use self::pinned_now::PinnedNow;
pub(crate) use self::pinned_sites::PinnedSites;

/// A question in the answering.
pub(crate) trait View {
    /// Takes an event.
    fn event(&mut self, event: &Event<'_>);

    /// Must it take every event a second time, now that it knows what matters?
    fn looks_again(&self) -> bool {
        false
    }

    /// Takes an event the second time.
    fn again(&mut self, _event: &Event<'_>) {}

    /// The answer.
    fn table(self: Box<Self>) -> Table;

    /// What an answer without rows means.
    fn none(&self) -> &'static str;
}

fn view(name: ViewName) -> Box<dyn View> {
    match name {
        ViewName::PinnedThreads => Box::<pinned_threads::PinnedThreads>::default(),
        ViewName::PinnedSites => Box::<PinnedSites>::default(),
        ViewName::PinnedNow => Box::<PinnedNow>::default(),
        ViewName::Holders => Box::<holders::Holders>::default(),
        ViewName::NativeCalls => Box::<native_calls::NativeCalls>::default(),
        ViewName::Carriers => Box::<carriers::Carriers>::default(),
        ViewName::Contention => Box::<contention::Contention>::default(),
        ViewName::Parks => Box::<parks::Parks>::default(),
        ViewName::Lifetimes => Box::<lifetimes::Lifetimes>::default(),
        ViewName::Deadlocks => Box::<deadlocks::Deadlocks>::default(),
        ViewName::Losses => Box::<losses::Losses>::default(),
        ViewName::Recording => Box::<recording::Recording>::default(),
    }
}

pub(crate) fn run(arguments: &args::View, out: &mut impl Write) -> Result<(), Failure> {
    let mut view = view(arguments.view);
    let seen = input::events(&arguments.files.files, |event| {
        view.event(event);
        Ok(())
    })?;
    if view.looks_again() {
        input::again(&arguments.files.files, |event| view.again(event))?;
    }
    let none = view.none();
    let mut table = view.table();
    let cut = table.keep(arguments.top);
    if arguments.json {
        let answer = json!({
            "rows": table.json(),
            "cut": cut,
            "lost": seen.lost,
            "throttled": seen.throttled,
            "damaged": seen.damages,
        });
        writeln!(out, "{answer}")?;
        return Ok(());
    }
    if table.len() == 0 {
        writeln!(out, "{none}")?;
    } else {
        table.write(out)?;
    }
    if cut > 0 {
        writeln!(out, "... and {cut} more (--top {})", arguments.top + cut)?;
    }
    write_seen(seen, out)?;
    Ok(())
}

/// Says what the answer cannot know.
pub(crate) fn write_seen(seen: Seen, out: &mut impl Write) -> Result<(), Failure> {
    let warning = text::warning("incomplete");
    if seen.lost > 0 {
        writeln!(
            out,
            "\n{warning}: {} records were lost (vt-flight view losses)",
            seen.lost
        )?;
    }
    if seen.throttled > 0 {
        writeln!(
            out,
            "\nthe throttle left out {} parks, starts and ends (vt-flight view losses)",
            seen.throttled
        )?;
    }
    if seen.damages > 0 {
        writeln!(
            out,
            "\n{warning}: the file is damaged in {} places",
            seen.damages
        )?;
    }
    Ok(())
}
