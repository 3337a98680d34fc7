//! The recorder: a thread of its own drains the runtime's rings into a bounded store; a dump writes
//! what the store holds. Carriers know nothing of it.

mod builder;
mod dump;
mod engine;
mod environment;
mod intake;
mod live;
mod metrics;
mod scrape;
mod settings;
mod sites;
mod threads;
mod trigger;

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use vt_runtime::Runtime;
use vt_runtime::event::{Place, Recorded, Timestamp, clock};

pub use self::builder::{Builder, InstallError};
use self::dump::Contents;
pub use self::dump::DumpError;
use self::engine::Engine;
pub use self::engine::Stats;
pub(crate) use self::intake::Intake;
pub use self::settings::{Settings, SettingsError, parse_span, parse_throttle};
pub use self::trigger::Trigger;
use crate::layer::RecorderLayer;
use crate::store::Record;
use crate::symbol::{Function, InProcess, Symbolizer};

/// A recorder that runs. A value is a handle: clones mean the same recorder, which stops when the last
/// handle is gone (one that dumps on exit lives as long as the process).
///
/// ```no_run
/// use vt_flight_recorder::FlightRecorder;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (_layer, recorder) = FlightRecorder::builder().dump_on_exit("app.jfr").install()?;
/// // The program runs; now is a good moment for a dump:
/// recorder.dump("now.jfr")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FlightRecorder {
    shared: Arc<Shared>,
}

/// What handles, the recorder's thread and the exit share.
pub(crate) struct Shared {
    engine: Mutex<Engine>,
    intake: Arc<Intake>,
    /// None where stacks are to be named later.
    symbols: Option<Arc<Mutex<InProcess>>>,
    runtime: Runtime,
    dump_folder: PathBuf,
    /// The process that is recorded. A forked child has a copy of this, but none of the threads.
    process: u32,
    /// The socket at which `vt-flight` asks, once it is open.
    socket: OnceLock<PathBuf>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Whoever looks for recorders should not find one that is gone.
        if let Some(socket) = self.socket.get()
            && std::process::id() == self.process
        {
            let _ = std::fs::remove_file(socket);
        }
    }
}

/// The recorder looks at the rings at least this often.
const PERIOD: Duration = Duration::from_millis(100);
/// How long an exit waits for a dump that is being made.
const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// Starts a recorder.
fn start(builder: Builder) -> Result<(RecorderLayer, FlightRecorder), InstallError> {
    let runtime = match builder.runtime {
        Some(runtime) => runtime,
        None => Runtime::try_global()
            .map_err(InstallError::Runtime)?
            .clone(),
    };
    // A dump that cannot be written should be known now, not when it is needed.
    let on_exit = builder.dump_on_exit.as_deref().map(folder_of);
    let triggered = (!builder.triggers.is_empty()).then_some(builder.dump_folder.as_path());
    for folder in [on_exit, triggered].into_iter().flatten() {
        if !folder.is_dir() {
            return Err(InstallError::NoFolder(folder.to_owned()));
        }
    }
    let intake = Arc::new(Intake::default());
    let bounds = (builder.max_size, builder.max_age);
    let reader = runtime.event_reader();
    let engine = Engine::new(reader, builder.settings.clone(), bounds, builder.triggers);
    engine
        .listen()
        .map_err(|(signal, error)| InstallError::Signal(signal, error))?;
    let on_panic = engine.has(Trigger::Panic);
    let recorder = FlightRecorder {
        shared: Arc::new(Shared {
            engine: Mutex::new(engine),
            intake: Arc::clone(&intake),
            symbols: builder.symbolize.then(Arc::default),
            runtime,
            dump_folder: builder.dump_folder,
            process: std::process::id(),
            socket: OnceLock::new(),
        }),
    };
    recorder.set(builder.settings);
    let weak = Arc::downgrade(&recorder.shared);
    let thread = std::thread::Builder::new()
        .name("vt-flight".to_owned())
        .spawn({
            let weak = weak.clone();
            move || follow(&weak)
        })
        .map_err(InstallError::Thread)?;
    let thread = thread.thread().clone();
    recorder
        .shared
        .engine
        .lock()
        .reader()
        .unpark_when_half_full(thread);
    if on_panic {
        dump_on_panic(weak);
    }
    if let Some(path) = builder.dump_on_exit {
        let recorder = recorder.clone();
        vt_runtime::event::at_exit(move || recorder.exit(&path));
    }
    if builder.attach {
        crate::attach::listen(&recorder)?;
    }
    Ok((RecorderLayer::new(intake), recorder))
}

/// The recorder's thread.
fn follow(weak: &Weak<Shared>) {
    while let Some(shared) = weak.upgrade() {
        let due = {
            let mut engine = shared.engine.lock();
            engine.drain(&shared.intake);
            engine.due()
        };
        let recorder = FlightRecorder { shared };
        if let Some(name) = due {
            recorder.dump_for(name);
        }
        drop(recorder);
        std::thread::park_timeout(PERIOD);
    }
}

/// Chains a panic hook that asks for a dump.
fn dump_on_panic(weak: Weak<Shared>) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        let Some(shared) = weak.upgrade() else {
            return;
        };
        // A panic inside the recorder itself must not wait for the recorder.
        let Some(mut engine) = shared.engine.try_lock() else {
            return;
        };
        engine.fire(Trigger::Panic);
        // Where panics abort, the thread that would see it has no time left.
        let due = if cfg!(panic = "abort") {
            engine.due()
        } else {
            None
        };
        drop(engine);
        if let Some(name) = due {
            FlightRecorder { shared }.dump_for(name);
        }
    }));
}

impl FlightRecorder {
    /// Settings for a recorder.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Writes what is held to a file, symbolised: whole, or not at all, readable by its owner only. A
    /// file that is there is replaced.
    ///
    /// # Pinning
    /// Reads debug information and writes to a disk: blocks the calling thread for some ten
    /// milliseconds at least. From a virtual thread call it in `vt_runtime::blocking`.
    ///
    /// # Errors
    /// The folder does not exist, the disk is full, or whatever else the system says.
    pub fn dump(&self, path: impl AsRef<Path>) -> Result<(), DumpError> {
        self.not_forked()
            .map_err(|error| DumpError::new(path.as_ref(), error))?;
        self.dump_because(path.as_ref(), "asked by the program")
    }

    /// Writes a recording, not older than `last`, to `out`; gives `out` back.
    ///
    /// # Errors
    /// What writing to `out` says.
    pub fn dump_to<W: Write>(&self, mut out: W, last: Option<Duration>) -> io::Result<W> {
        self.not_forked()?;
        let mut contents = self.contents(last, "", "asked by the program");
        out.write_all(&self.encode(&mut contents)?)?;
        out.flush()?;
        Ok(out)
    }

    fn encode(&self, contents: &mut Contents) -> io::Result<Vec<u8>> {
        contents.encode(|| SharedSymbols(self.shared.symbols.clone()))
    }

    /// A forked child's copy of the recorder may be locked for ever by a thread that is not there.
    fn not_forked(&self) -> io::Result<()> {
        if std::process::id() == self.shared.process {
            return Ok(());
        }
        let told =
            "this process was forked from the recorded one; install a recorder of its own in it";
        Err(io::Error::new(io::ErrorKind::Unsupported, told))
    }

    /// The runtime's events that are held, by time.
    #[must_use]
    pub fn snapshot(&self) -> Vec<Recorded> {
        let mut engine = self.shared.engine.lock();
        engine.drain(&self.shared.intake);
        let records = engine.records(Timestamp(0));
        drop(engine);
        let runtimes = records.iter().filter_map(|record| match record {
            Record::Runtime(recorded) => Some(recorded.clone()),
            Record::Program(_) => None,
        });
        runtimes.collect()
    }

    /// What was recorded, lost and dumped so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut engine = self.shared.engine.lock();
        engine.drain(&self.shared.intake);
        engine.stats(&self.shared.intake)
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.shared.engine.lock().settings.clone()
    }

    /// Changes what is recorded from now on.
    pub fn set(&self, settings: Settings) {
        if let Some(threshold) = settings.pin_threshold {
            self.shared.runtime.set_pin_threshold(threshold);
        }
        self.shared.intake.set_level(settings.program);
        self.shared.engine.lock().set(settings);
    }

    pub(crate) fn dump_because(&self, path: &Path, reason: &str) -> Result<(), DumpError> {
        let contents = self.contents(None, &path.display().to_string(), reason);
        self.write(contents, path)
    }

    /// Everything a dump of now holds.
    fn contents(&self, last: Option<Duration>, destination: &str, reason: &str) -> Contents {
        let mut engine = self.shared.engine.lock();
        // vt-lint: allow(blocking-in-guard-indirect) -- reads two files of /proc that never wait
        self.gather(&mut engine, last, destination, reason)
    }

    fn gather(
        &self,
        engine: &mut Engine,
        last: Option<Duration>,
        destination: &str,
        reason: &str,
    ) -> Contents {
        let shared = &self.shared;
        let open = shared.runtime.open_pins();
        engine.drain(&shared.intake);
        let since = last.map_or(0, |last| {
            let last = u64::try_from(last.as_nanos()).unwrap_or(u64::MAX);
            clock::now().0.saturating_sub(last)
        });
        let (sites, holders) = engine.sites().rows(&shared.runtime.pin_sites());
        Contents {
            records: engine.records(Timestamp(since)),
            open,
            open_spans: shared.intake.open_spans(clock::now()),
            sites,
            holders,
            lost: engine.lost(&shared.intake),
            about: engine.about(shared.runtime.pin_threshold(), destination, reason),
            carriers: shared.runtime.carrier_threads(),
            anchor: clock::Anchor::take(),
        }
    }

    fn write(&self, mut contents: Contents, path: &Path) -> Result<(), DumpError> {
        let written = self
            .encode(&mut contents)
            .and_then(|bytes| dump::write_whole(path, &bytes));
        let written = written.map_err(|error| DumpError::new(path, error));
        let mut engine = self.shared.engine.lock();
        match &written {
            Ok(()) => engine.dumps += 1,
            Err(error) => engine.last_error = Some(error.to_string()),
        }
        written
    }

    /// Dumps for a trigger. Nobody waits for it, so a failure is kept for [`stats`](Self::stats).
    fn dump_for(&self, trigger: &str) {
        let seconds = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        let (program, pid) = (environment::program(), std::process::id());
        let name = format!("{program}-{pid}-{seconds}-{trigger}.jfr");
        let path = self.shared.dump_folder.join(name);
        let _ = self.dump_because(&path, &format!("trigger {trigger}"));
    }

    /// Dumps at the process's exit.
    fn exit(&self, path: &Path) {
        // A dump in the making on a thread that no longer runs must not hold the exit for ever.
        let Some(mut engine) = self.shared.engine.try_lock_for(EXIT_LIMIT) else {
            eprintln!("vt-flight-recorder: no dump on exit: another one did not end in time");
            return;
        };
        let destination = path.display().to_string();
        // vt-lint: allow(blocking-in-guard-indirect) -- reads two files of /proc that never wait
        let contents = self.gather(&mut engine, None, &destination, "exit");
        drop(engine);
        if let Err(error) = self.write(contents, path) {
            eprintln!("vt-flight-recorder: no dump on exit: {error}");
        }
    }
}

impl fmt::Debug for FlightRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlightRecorder").finish_non_exhaustive()
    }
}

/// Names that were looked up for one dump are there for the next.
struct SharedSymbols(Option<Arc<Mutex<InProcess>>>);

impl Symbolizer for SharedSymbols {
    fn functions(&mut self, address: u64) -> Vec<Function> {
        match &self.0 {
            // vt-lint: allow(blocking-in-guard-indirect) -- shared so that debug information is loaded once; only dumps wait
            Some(symbols) => symbols.lock().functions(address),
            None => Vec::new(),
        }
    }

    fn line(&mut self, stack: &[u64]) -> Option<Place> {
        self.0.as_ref()?;
        vt_runtime::event::application_line(stack)
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
