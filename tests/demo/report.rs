//! The claims, checked; and the report, on one screen and as a page.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::lint::Found;
use crate::load::CLIENTS;
use crate::payments::LATENCY;
use crate::phase::{CARRIERS, Failure, Phase};

/// What the run has shown. A value exists only if all of it held.
pub(crate) struct Claims {
    /// `path:line` of the finding's blocking call, and of its guard.
    pub(crate) finding_at: String,
    pub(crate) guard_at: String,
    pub(crate) rule: String,
    /// Share of the pinned time that the finding explains.
    pub(crate) explained: f64,
    /// Throughput after the repair over that before.
    pub(crate) gain: f64,
}

impl Claims {
    /// Compares the three phases.
    pub(crate) fn check(pinned: &Phase, found: &Found, repaired: &Phase) -> Result<Self, Failure> {
        if pinned.pins() == 0 {
            return Err(Failure::new("the service as written did not pin"));
        }
        let of = |file: &'static str| {
            found
                .findings
                .iter()
                .filter(move |finding| finding.at.contains(file))
        };
        let Some((finding, guard_at)) =
            of("/before.rs:").find_map(|finding| Some((finding, finding.guard_at.clone()?)))
        else {
            return Err(Failure::new(format!(
                "the lint found no guard in before.rs:\n{}",
                found.human
            )));
        };
        if let Some(wrong) = of("/after.rs:").next() {
            return Err(Failure::new(format!(
                "the lint still complains after the repair: {}",
                wrong.message
            )));
        }
        let explained: Duration = pinned
            .sites
            .iter()
            .filter(|site| site.pinned_at == guard_at)
            .map(|site| site.total)
            .sum();
        let explained = explained.as_secs_f64() / pinned.total().as_secs_f64();
        if explained < 0.9 {
            let sites: Vec<_> = pinned.sites.iter().map(|site| &site.pinned_at).collect();
            return Err(Failure::new(format!(
                "the finding at {guard_at} explains {:.0} % of the pinned time; pins were taken at {sites:?}",
                explained * 100.0
            )));
        }
        if repaired.pins() != 0 {
            let site = &repaired.sites[0];
            return Err(Failure::new(format!(
                "the repaired service still pinned, at {}",
                site.pinned_at
            )));
        }
        let gain = repaired.measured.per_second / pinned.measured.per_second;
        if gain < 2.0 {
            return Err(Failure::new(format!(
                "the repair gained a factor of {gain:.1} only"
            )));
        }
        Ok(Self {
            finding_at: finding.at.clone(),
            guard_at,
            rule: finding.rule.clone(),
            explained,
            gain,
        })
    }
}

/// What clients could get at most: each waits for one payment at a time.
fn ideal() -> f64 {
    CLIENTS as f64 / LATENCY.as_secs_f64()
}

/// What two carriers can serve that wait with their threads.
fn plateau() -> f64 {
    CARRIERS as f64 / LATENCY.as_secs_f64()
}

/// One screen.
pub(crate) fn print(pinned: &Phase, found: &Found, repaired: &Phase, claims: &Claims, html: &Path) {
    let site = &pinned.sites[0];
    println!(
        "A checkout service on {CARRIERS} carriers, {CLIENTS} clients, payments take {LATENCY:?}.\n"
    );
    println!(
        "FIND     as written    {:8.0} orders/s   ({CARRIERS} carriers / {LATENCY:?} = {:.0})",
        pinned.measured.per_second,
        plateau()
    );
    println!(
        "         {} pins kept a carrier for {:.1} s; others, ready to run, waited {:.1} s in sum",
        pinned.pins(),
        pinned.total().as_secs_f64(),
        pinned.stranded().as_secs_f64()
    );
    println!(
        "EXPLAIN  monitor taken at {}, waited at {}",
        site.pinned_at, site.blocked_at
    );
    println!(
        "         {}: {}, guard of {}: explains {:.0} % of the pinned time",
        claims.finding_at,
        claims.rule,
        claims.guard_at,
        claims.explained * 100.0
    );
    println!(
        "FIX      #[vt_runtime::park_safe(monitor = \"reentrant\")] on the struct and its impl"
    );
    println!(
        "PROVE    repaired      {:8.0} orders/s   ({CLIENTS} clients / {LATENCY:?} = {:.0})",
        repaired.measured.per_second,
        ideal()
    );
    println!(
        "         0 pins, 0 findings, {:.1} times the throughput\n",
        claims.gain
    );
    println!(
        "Recordings  {}  {}",
        pinned.recording.display(),
        repaired.recording.display()
    );
    println!(
        "Findings    {}    Report  {}",
        found.sarif.display(),
        html.display()
    );
    println!("\nLook closer:");
    println!(
        "  cargo run --release --bin vt-flight -- view pinned-sites {}",
        pinned.recording.display()
    );
    println!(
        "  jfr print --events jdk.VirtualThreadPinned {}",
        pinned.recording.display()
    );
}

/// The same as a page, with the findings as the lint prints them.
pub(crate) fn write_html(
    path: &Path,
    pinned: &Phase,
    found: &Found,
    repaired: &Phase,
    claims: &Claims,
) -> Result<(), Failure> {
    let mut rows = String::new();
    for site in &pinned.sites {
        // Writing into a string cannot fail.
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.2} s</td><td>{:.2} s</td></tr>",
            escape(&site.pinned_at),
            escape(&site.blocked_at),
            site.count,
            site.total.as_secs_f64(),
            site.stranded.as_secs_f64()
        );
    }
    let widest = repaired.measured.per_second.max(pinned.measured.per_second);
    let bar = |phase: &Phase| {
        let share = 100.0 * phase.measured.per_second / widest;
        format!(
            "<div class=bar style=\"width:{share:.1}%\">{:.0} orders/s</div>",
            phase.measured.per_second
        )
    };
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>vt-demo</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}}
table{{border-collapse:collapse;width:100%}}td,th{{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #ddd}}
pre{{background:#f6f6f6;padding:1rem;overflow:auto}}.bar{{background:#2a6fdb;color:#fff;padding:.2rem .5rem;margin:.3rem 0;white-space:nowrap}}</style>
<h1>One lock, held over one call</h1>
<p>A checkout service on {CARRIERS} carriers, {CLIENTS} clients, payments take {LATENCY:?}.</p>
<h2>As written</h2>{}<h2>Repaired with <code>#[park_safe]</code>: {:.1} times as much</h2>{}
<h2>Who pinned, where, and what it cost</h2>
<table><tr><th>pinned at<th>waited at<th>pins<th>carrier time<th>others waited</tr>{rows}</table>
<h2>What the lint says</h2><pre>{}</pre>",
        bar(pinned),
        claims.gain,
        bar(repaired),
        escape(&found.human)
    );
    std::fs::write(path, page).map_err(Failure::while_("the report"))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
