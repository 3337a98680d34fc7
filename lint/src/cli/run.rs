//! One call of the program: load, check, filter, print.

use std::fmt::Display;
use std::io::{self, BufWriter, Read as _, Write};
use std::path::Path;
use std::sync::Arc;

use super::args::{self, Args};
use super::cache::{Answer, cached_check};
use super::print::{counted, is_for_people, print, summarise};
use super::progress::Progress;
use super::{CLEAN, DENIED, baseline, dirty, fix, is_reader_gone, manual, since, trace};
use crate::check::{FileStatus, FileSummary, Report};
use crate::config::Config;
use crate::diagnostic::Level;
use crate::render::{Fingerprints, Texts, View};
use crate::rules;
use crate::workspace::{LoadError, Loaded, Request, load};

/// Stack of an analysing thread: parsers recurse as deep as the code nests. Untouched pages cost nothing.
const STACK_BYTES: usize = 256 << 20;

/// More repairs than any run makes: a repair that brings itself back must come to an end.
const MAX_REPAIRS: usize = 100_000;

/// Why a run ended without an answer.
pub(super) enum Stop {
    /// The reader of our output has gone (`| head`).
    ReaderGone,
    /// With this message.
    Failed(String),
}

impl Stop {
    /// A failure in the words of `cause`.
    pub(super) fn failed(cause: impl Display) -> Self {
        Self::Failed(cause.to_string())
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        if is_reader_gone(&error) {
            Self::ReaderGone
        } else {
            Self::Failed(format!("cannot write: {error}"))
        }
    }
}

/// Does what `args` ask for and gives the exit code.
///
/// # Errors
/// When there is no answer to give.
pub(super) fn run(args: &Args) -> Result<u8, Stop> {
    let mut out = BufWriter::new(anstream::AutoStream::new(io::stdout(), args.color.choice()));
    if let Some(name) = &args.explain {
        manual::explain(name, &mut out)?;
        out.flush()?;
        return Ok(CLEAN);
    }
    let loaded = load(&request(args)?);
    if args.list_rules {
        // The list is of use outside a package too; inside one it shows what applies there.
        let mut config = match loaded {
            Ok(loaded) => loaded.config,
            Err(LoadError::NoManifest(_)) => Config::default(),
            Err(error) => return Err(Stop::failed(error)),
        };
        set_levels(&mut config, args)?;
        manual::list(&config, &mut out)?;
        out.flush()?;
        return Ok(CLEAN);
    }
    let mut loaded = loaded.map_err(Stop::failed)?;
    set_levels(&mut loaded.config, args)?;
    let mut err = args::stderr(args.color);
    if args.quiet < 2 {
        for notice in &loaded.notices {
            writeln!(err, "note: {notice}")?;
        }
    }
    if args.verbose {
        writeln!(err, "note: configuration: {}", loaded.config_origin)?;
        for one in loaded.crates.iter().filter(|one| one.reported) {
            writeln!(
                err,
                "note: checking {} ({}, edition {})",
                one.name,
                one.target_kind.name(),
                one.edition.name()
            )?;
        }
        for one in loaded.crates.iter().filter(|one| !one.reported) {
            writeln!(err, "note: looking through {}", one.name)?;
        }
    }
    let mut repaired = 0;
    let (mut report, fingerprints, texts) = loop {
        let answer = analyse(&loaded, args)?;
        if args.verbose && answer.is_cached {
            writeln!(err, "note: nothing changed since the last run")?;
        }
        let mut report = answer.report;
        let texts = Texts::new(&loaded.disk, loaded.root.clone());
        let fingerprints = Fingerprints::new(&report.findings, &texts);
        if let Some(path) = &args.write_baseline {
            return write_baseline(path, &report, &fingerprints, args, &mut err);
        }
        filter(&mut report, &fingerprints, &loaded, &texts, args, &mut err)?;
        if !args.repair.fix {
            break (report, fingerprints, texts);
        }
        let repairs = fix::collect(&report.findings);
        if args.repair.dry_run {
            repairs.print(&texts, &mut out)?;
            repaired = repairs.count;
            break (report, fingerprints, texts);
        }
        if repairs.count == 0 || repaired >= MAX_REPAIRS {
            break (report, fingerprints, texts);
        }
        if repaired == 0 {
            dirty::refuse(
                &loaded.root,
                &analysed(&report),
                &texts,
                args.repair.allowed(),
            )?;
        }
        repairs.apply(&loaded.root, &texts)?;
        repaired += repairs.count;
        // A repair moves lines and may make room for one that overlapped it: look again.
    };
    if args.repair.fix {
        let could = if args.repair.dry_run {
            "could repair"
        } else {
            "repaired"
        };
        writeln!(err, "{could} {}", counted(repaired, "finding"))?;
    }
    let trace = match &args.trace[..] {
        [] => None,
        paths => Some(trace::join(paths, &mut report, &loaded.root).map_err(Stop::failed)?),
    };
    for damage in trace.iter().flat_map(|trace| &trace.damages) {
        writeln!(err, "note: {damage}")?;
    }
    if !args.repair.dry_run {
        let view = View {
            report: &report,
            crates: &loaded.crates,
            texts: &texts,
            root: &loaded.root,
            fingerprints: &fingerprints,
            seen: trace.as_ref().map_or(&[], |trace| &trace.seen),
        };
        print(&view, args, &mut out)?;
        if let Some(trace) = &trace
            && is_for_people(args)
        {
            trace.summarise(&mut out)?;
        }
    }
    out.flush()?;
    summarise(&report, args, &mut err)?;
    let is_broken = |file: &FileSummary| matches!(file.status, FileStatus::Broken(_));
    if report.statistics.files == 0 && report.files.iter().any(is_broken) {
        return Err(Stop::Failed(
            "nothing could be analysed: no file could be read and parsed".to_owned(),
        ));
    }
    Ok(if report.is_denied() && !args.exit_zero {
        DENIED
    } else {
        CLEAN
    })
}

/// Takes out what the baseline knows and what unchanged lines bring in.
fn filter(
    report: &mut Report,
    fingerprints: &Fingerprints,
    loaded: &Loaded,
    texts: &Texts<'_>,
    args: &Args,
    err: &mut dyn Write,
) -> Result<(), Stop> {
    if let Some(path) = &args.baseline {
        let gone = baseline::subtract(path, report, fingerprints).map_err(Stop::failed)?;
        if gone > 0 && args.quiet == 0 {
            writeln!(
                err,
                "note: {} of the baseline no longer there; write it anew to keep it short",
                counted(gone, "finding")
            )?;
        }
    }
    if let Some(revision) = &args.since {
        since::keep_changed(revision, &loaded.root, texts, &mut report.findings)
            .map_err(Stop::failed)?;
    }
    Ok(())
}

fn write_baseline(
    path: &Path,
    report: &Report,
    fingerprints: &Fingerprints,
    args: &Args,
    err: &mut dyn Write,
) -> Result<u8, Stop> {
    baseline::write(path, &report.findings, fingerprints).map_err(Stop::failed)?;
    if args.quiet == 0 {
        writeln!(
            err,
            "wrote {} to {}",
            counted(report.findings.len(), "finding"),
            path.display()
        )?;
    }
    Ok(CLEAN)
}

/// Every file of the run that could be analysed.
fn analysed(report: &Report) -> Vec<Arc<str>> {
    let files = report.files.iter();
    let files = files.filter(|file| file.status == FileStatus::Analysed);
    files.map(|file| file.path.as_str().into()).collect()
}

fn request(args: &Args) -> Result<Request, Stop> {
    let dash = Path::new("-");
    if args.repair.fix && !args.repair.dry_run && args.files.iter().any(|path| path == dash) {
        return Err(Stop::Failed(
            "--fix cannot change standard input; --fix --dry-run prints the changes".to_owned(),
        ));
    }
    let stdin = if args.files.iter().any(|path| path == dash) {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| Stop::Failed(format!("cannot read standard input: {error}")))?;
        Some((args.stdin_filename.clone(), text))
    } else {
        None
    };
    let features = args
        .features
        .features
        .iter()
        .flat_map(|list| list.split_whitespace());
    Ok(Request {
        files: args
            .files
            .iter()
            .filter(|path| *path != dash)
            .cloned()
            .collect(),
        stdin,
        edition: args.edition,
        manifest_path: args.packages.manifest_path.clone(),
        packages: args.packages.package.clone(),
        workspace: args.packages.workspace,
        exclude: args.packages.exclude.clone(),
        features: features.map(str::to_owned).collect(),
        all_features: args.features.all_features,
        no_default_features: args.features.no_default_features,
        target: args.target.clone(),
        deps: args.deps,
        tests: args.tests,
        config: args.config.clone(),
    })
}

/// Applies `--deny`, `--warn` and `--allow` in their order.
fn set_levels(config: &mut Config, args: &Args) -> Result<(), Stop> {
    for (level, name) in &args.levels.0 {
        match name.as_str() {
            "all" => rules::TABLE
                .iter()
                .for_each(|rule| config.set_level(rule.id, *level)),
            "warnings" if *level == Level::Deny => config.deny_warnings(),
            _ => {
                let rule = rules::find(name).ok_or_else(|| {
                    Stop::Failed(format!(
                        "there is no rule `{name}`; `cargo vt-lint --list-rules` lists the names"
                    ))
                })?;
                config.set_level(rule.id, *level);
            }
        }
    }
    Ok(())
}

fn analyse(loaded: &Loaded, args: &Args) -> Result<Answer, Stop> {
    let mut pool = rayon::ThreadPoolBuilder::new()
        .stack_size(STACK_BYTES)
        .thread_name(|index| format!("vt-lint-{index}"));
    if let Some(jobs) = args.jobs {
        pool = pool.num_threads(jobs.into());
    }
    let pool = pool
        .build()
        .map_err(|error| Stop::Failed(format!("cannot start threads: {error}")))?;
    let _progress = Progress::start(&loaded.disk, args.quiet == 0);
    Ok(pool.install(|| cached_check(loaded, !args.no_cache)))
}
