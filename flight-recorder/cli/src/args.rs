//! The command line: verbs, their flags and their help.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Reads recordings of virtual threads: who pinned, where, and what it cost.
#[derive(Debug, Parser)]
#[command(
    name = "vt-flight",
    version,
    after_help = "Exit codes: 0 fine, 1 a gate failed, 2 it could not run.\n\
                  A damaged file gives what is whole; standard error says where it stopped."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Counts the events of each type
    Summary(Summary),
    /// Prints events, field by field
    Print(Print),
    /// Shows the types a recording declares
    Metadata(Metadata),
    /// Answers a question: who pins, who is pinned now, who holds what
    View(View),
    /// Fails when a recording holds more pins than allowed: a gate for CI
    Check(Check),
    /// Compares the pins of two recordings, place by place
    Diff(Diff),
    /// Converts a recording for another tool
    Export(Export),
    /// Names addresses that a recording could only number
    Symbolize(Symbolize),
    /// Looks whether a program's file has what recordings need
    Doctor(Doctor),
    /// Lists running processes whose recorder can be reached
    Ps(Ps),
    /// Tells how the recorder of a running process is
    Status(Pid),
    /// Fetches a recording from a running process
    Dump(Dump),
    /// Lists the virtual threads of a running process
    Threads(Threads),
    /// Changes the settings of a running process
    Set(Set),
}

#[derive(Debug, Args)]
pub(crate) struct Files {
    /// Recordings (.jfr), of this project or of a JVM
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Summary {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Print {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Only events of these types, separated by commas; * stands for any text
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) events: Vec<String>,
    /// Frames shown of each stack
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) stack_depth: usize,
    /// Shows the runtime's inner frames as well
    #[arg(long)]
    pub(crate) hidden_frames: bool,
    /// Prints one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Metadata {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Only these types, separated by commas; * stands for any text
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) events: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct View {
    /// The question
    #[arg(value_enum, value_name = "VIEW")]
    pub(crate) view: ViewName,
    #[command(flatten)]
    pub(crate) files: Files,
    /// Rows shown at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) top: usize,
    /// Prints JSON; spans are nanoseconds
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewName {
    /// Pins by the application's method, as the JDK's view of that name
    PinnedThreads,
    /// Pins by place, worst first: by the waiting of those they stranded
    PinnedSites,
    /// Virtual threads that were pinned when the recording ended
    PinnedNow,
    /// Locks and regions that pin, and who waited for them
    Holders,
    /// Foreign calls and system calls that blocked a carrier
    NativeCalls,
    /// Carriers: how long each was kept by pins
    Carriers,
    /// Locks that were waited for
    Contention,
    /// What virtual threads waited for, unmounted
    Parks,
    /// Virtual threads: started, ended, how long they lived
    Lifetimes,
    /// Cycles of threads, locks and carriers
    Deadlocks,
    /// Records that were lost
    Losses,
    /// The recording itself: when, how much, with which settings
    Recording,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Pins allowed in all
    #[arg(long, value_name = "N")]
    pub(crate) max_pinned: u64,
    /// Only pins at least this long count, such as 20ms
    #[arg(long, value_name = "SPAN", value_parser = vt_flight_recorder::parse_span)]
    pub(crate) longer_than: Option<Duration>,
    /// Places whose pins are allowed, each with an owner and an expiry date
    #[arg(long, value_name = "sites.toml")]
    pub(crate) allow: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The recording to compare with
    pub(crate) before: PathBuf,
    /// The recording in question
    pub(crate) after: PathBuf,
    /// Exits with 1 when a place is new or worse
    #[arg(long)]
    pub(crate) gate: bool,
    /// Changes below this share of the time before are noise
    #[arg(long, value_name = "PERCENT", default_value_t = 20)]
    pub(crate) noise: u32,
    /// Prints JSON; spans are nanoseconds
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) files: Files,
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Format,
    /// Writes to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What a stack weighs, in collapsed, flamegraph and pprof
    #[arg(long, value_enum, value_name = "WEIGHT", default_value_t = Weight::Duration)]
    pub(crate) weight: Weight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Stacks of pins, one a line with its weight: for flame graph tools
    Collapsed,
    /// A flame graph of pins, as one SVG file
    Flamegraph,
    /// Chrome's trace format: chrome://tracing, and ui.perfetto.dev reads it
    Chrome,
    /// The same as chrome: Perfetto reads that format
    Perfetto,
    /// Pins as a table
    Csv,
    /// Every event, one JSON object a line
    Json,
    /// A profile of pins for `go tool pprof` and Pyroscope
    Pprof,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Weight {
    /// How long carriers were kept
    Duration,
    /// How long others waited for them
    Stranded,
    /// How often it happened
    Count,
}

#[derive(Debug, Args)]
pub(crate) struct Symbolize {
    #[command(flatten)]
    pub(crate) files: Files,
    /// A file with symbols or debug information, of the same build; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Vec<PathBuf>,
    /// Writes the named recording to this file instead of in its place
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only shows what would be named
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The program's file
    pub(crate) binary: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Ps {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Pid {
    /// The process
    #[arg(long)]
    pub(crate) pid: u32,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Dump {
    /// The process
    #[arg(long)]
    pub(crate) pid: u32,
    /// Only what is not older, such as 60s
    #[arg(long, value_name = "SPAN")]
    pub(crate) last: Option<String>,
    /// Writes to this file instead of PID.jfr
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Threads {
    /// The process
    #[arg(long)]
    pub(crate) pid: u32,
    /// Rows shown at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) top: usize,
    /// Prints all as JSON, in the shape of the JDK's thread dump
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The process
    #[arg(long)]
    pub(crate) pid: u32,
    /// Pins are recorded from this duration, such as 5ms
    #[arg(long, value_name = "SPAN", required_unless_present = "throttle")]
    pub(crate) threshold: Option<String>,
    /// Parks and starts kept in a second at most, such as 200/s, or off
    #[arg(long, value_name = "RATE")]
    pub(crate) throttle: Option<String>,
}
