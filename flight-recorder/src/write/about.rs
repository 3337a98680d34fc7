//! Rows that do not come from the runtime: the recording itself, its settings and losses, the machine,
//! the program's own spans and events.

use std::io::Write;

use vt_runtime::event::Pinned;

use super::ChunkWriter;
use super::row::Cell::{Key, Long, Text};
use crate::store::ProgramRecord;
use crate::symbol::Module;

/// What a recording says about itself and where it was made.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// The events' clock at the dump, in nanoseconds.
    pub(crate) at: u64,
    pub(crate) program: String,
    pub(crate) os: String,
    pub(crate) cpu: String,
    pub(crate) hardware_threads: u64,
    /// Wall clock at the recording's start, in milliseconds since the Unix epoch.
    pub(crate) started_ms: u64,
    pub(crate) lasted_ms: u64,
    pub(crate) name: String,
    pub(crate) destination: String,
    pub(crate) max_age_ms: u64,
    pub(crate) max_size: u64,
    /// Why it was dumped.
    pub(crate) reason: String,
    /// Event, setting, value.
    pub(crate) settings: Vec<(&'static str, String, String)>,
}

/// All pins of one place since the runtime started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SiteRow {
    pub(crate) blocked_at: String,
    pub(crate) pinned_at: String,
    pub(crate) pins: HolderRow,
}

/// All pins by one lock, region or foreign call since the runtime started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HolderRow {
    pub(crate) reason: &'static str,
    pub(crate) lock: String,
    pub(crate) count: u64,
    pub(crate) total: u64,
    pub(crate) median: u64,
    pub(crate) p99: u64,
    pub(crate) longest: u64,
    pub(crate) stranded: u64,
}

impl<W: Write> ChunkWriter<W> {
    /// Takes what there is to say about the recording.
    pub(crate) fn about(&mut self, about: &About) {
        let at = about.at;
        let some = |text| Text(Some(text));
        let information = [
            Long(at),
            some("vt-runtime (virtual threads for Rust)"),
            some(env!("CARGO_PKG_VERSION")),
            Text(None),
            Text(None),
            some(&about.program),
            Long(about.started_ms),
            Long(u64::from(std::process::id())),
        ];
        self.row("jdk.JVMInformation", &information);
        self.row("jdk.OSInformation", &[Long(at), some(&about.os)]);
        let threads = Long(about.hardware_threads);
        let cpu = [
            Long(at),
            some(&about.cpu),
            some(&about.cpu),
            Long(1),
            threads,
            threads,
        ];
        self.row("jdk.CPUInformation", &cpu);
        let recording = [
            Long(at),
            Long(1),
            some(&about.name),
            some(&about.destination),
            Long(about.max_age_ms),
            Long(about.max_size),
            Long(about.started_ms),
            Long(about.lasted_ms),
        ];
        self.row("jdk.ActiveRecording", &recording);
        for (event, name, value) in &about.settings {
            let id = self.writer.schema.id(event);
            self.row(
                "jdk.ActiveSetting",
                &[Long(at), Long(id), some(name), some(value)],
            );
        }
        self.row(
            "jdk.Shutdown",
            &[Long(at), Key(0), Key(0), some(&about.reason)],
        );
    }

    /// Takes a pin that has not ended.
    pub(crate) fn open_pin(&mut self, at: u64, pinned: &Pinned) {
        super::event::put_live(self, at, pinned);
    }

    /// Takes the sum of a place's pins.
    pub(crate) fn site(&mut self, at: u64, site: &SiteRow) {
        let place = [
            Long(at),
            Text(Some(&site.blocked_at)),
            Text(Some(&*site.pinned_at).filter(|place| !place.is_empty())),
        ];
        self.row("vt.PinSite", &[&place[..], &pins(&site.pins)].concat());
    }

    /// Takes the sum of a holder's pins.
    pub(crate) fn holder(&mut self, at: u64, holder: &HolderRow) {
        self.row("vt.PinHolder", &[&[Long(at)][..], &pins(holder)].concat());
    }

    /// Takes a file whose code the process runs, so that addresses can be named later.
    pub(crate) fn module(&mut self, at: u64, module: &Module) {
        let path = module.path.to_string_lossy();
        let (base, end) = (module.bias, module.addresses.end);
        let cells = [
            Long(at),
            Text(Some(&path)),
            Text(Some(&module.build_id)),
            Long(base),
            Long(end),
        ];
        self.row("vt.Module", &cells);
    }

    /// Takes a record of the program's own tracing.
    pub(crate) fn program(&mut self, record: &ProgramRecord) {
        self.traced(record, "closed");
    }

    /// Takes a span that has not ended.
    pub(crate) fn open_span(&mut self, record: &ProgramRecord) {
        self.traced(record, "open");
    }

    fn traced(&mut self, record: &ProgramRecord, state: &str) {
        let thread = match record.thread {
            0 => 0,
            id => self.thread(id, &record.thread_name),
        };
        let (at, span) = (Long(record.at.0), Long(record.span));
        let (text, target, fields) = (
            Text(Some(&record.text)),
            Text(Some(&record.target)),
            Text(Some(&record.fields)),
        );
        match record.duration {
            Some(duration) => {
                let length = Long(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
                let parent = Long(record.parent);
                let state = Text(Some(state));
                let cells = [
                    at,
                    length,
                    Key(thread),
                    span,
                    parent,
                    text,
                    target,
                    fields,
                    state,
                ];
                self.row("vt.Span", &cells);
            }
            None => {
                let level = Text(Some(record.level));
                self.row(
                    "vt.Event",
                    &[at, Key(thread), span, level, target, text, fields],
                );
            }
        }
    }
}

fn pins(of: &HolderRow) -> [super::row::Cell<'_>; 8] {
    [
        Text(Some(of.reason)),
        Text(Some(&*of.lock).filter(|lock| !lock.is_empty())),
        Long(of.count),
        Long(of.total),
        Long(of.median),
        Long(of.p99),
        Long(of.longest),
        Long(of.stranded),
    ]
}
