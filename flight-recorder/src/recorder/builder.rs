//! Settings of a recorder before it starts.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use vt_runtime::{BuildError, Runtime};

use super::settings::Settings;
use super::trigger::Trigger;
use super::{FlightRecorder, start};
use crate::layer::RecorderLayer;

/// How a recorder is to be; made by [`FlightRecorder::builder`].
#[derive(Debug)]
#[must_use]
pub struct Builder {
    pub(super) runtime: Option<Runtime>,
    pub(super) max_size: usize,
    pub(super) max_age: Duration,
    pub(super) settings: Settings,
    pub(super) dump_on_exit: Option<PathBuf>,
    pub(super) triggers: Vec<Trigger>,
    pub(super) dump_folder: PathBuf,
    pub(super) attach: bool,
    pub(super) symbolize: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            runtime: None,
            max_size: 16 << 20,
            max_age: Duration::from_secs(3_600),
            settings: Settings::default(),
            dump_on_exit: None,
            triggers: Vec::new(),
            dump_folder: std::env::temp_dir(),
            attach: false,
            symbolize: true,
        }
    }
}

impl Builder {
    /// The runtime to record; the default runtime unless one is given. The recorder keeps it alive.
    pub fn runtime(mut self, runtime: &Runtime) -> Self {
        self.runtime = Some(runtime.clone());
        self
    }

    /// Bytes of records kept in memory at most, 16 MiB by default: about 150,000 pins. A dump is no longer than this
    /// either: what does not fit is left out, the oldest parks, starts and ends first, and counted as lost.
    pub fn max_size(mut self, bytes: usize) -> Self {
        self.max_size = bytes;
        self
    }

    /// How long records are kept, an hour by default.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// What is recorded: [`Settings::default`], [`Settings::staging`], [`Settings::test`] or
    /// [`Settings::file`].
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Writes a dump to this file when the process exits, by the return of `main` or by
    /// `std::process::exit`.
    pub fn dump_on_exit(mut self, path: impl Into<PathBuf>) -> Self {
        self.dump_on_exit = Some(path.into());
        self
    }

    /// Writes a dump into the [dump folder](Self::dump_folder) when this happens. May be given more
    /// than once.
    pub fn dump_on(mut self, trigger: Trigger) -> Self {
        self.triggers.push(trigger);
        self
    }

    /// Where dumps of triggers go, as `PROGRAM-PID-SECONDS-REASON.jfr`; the system's folder for
    /// temporary files by default.
    pub fn dump_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.dump_folder = folder.into();
        self
    }

    /// Names the frames of stacks when a dump is written, which is the default and takes some ten
    /// milliseconds the first time. Without it dumps hold addresses, and `vt-flight symbolize` names them
    /// later from the program's file, or from one with its debug information.
    pub fn symbolize(mut self, symbolize: bool) -> Self {
        self.symbolize = symbolize;
        self
    }

    /// Lets `vt-flight` of the same user reach this recorder while it runs: status, dumps, the list of
    /// virtual threads, another threshold. Off by default; `VT_FLIGHT_ATTACH=0` in the environment
    /// keeps it off.
    pub fn attach(mut self, attach: bool) -> Self {
        self.attach = attach;
        self
    }

    /// Starts recording. The layer is for a `tracing` subscriber and adds the program's own spans and
    /// events; the recorder works without it.
    ///
    /// # Errors
    /// The default runtime, the recorder's thread or its socket cannot be started, or the folder of a
    /// dump does not exist.
    pub fn install(self) -> Result<(RecorderLayer, FlightRecorder), InstallError> {
        start(self)
    }
}

/// Why a recorder was not started.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallError {
    /// The default runtime could not be started.
    Runtime(BuildError),
    /// The folder a dump is to be written to does not exist.
    NoFolder(PathBuf),
    /// The recorder's thread could not be started.
    Thread(io::Error),
    /// The socket for `vt-flight` could not be opened.
    Attach(PathBuf, io::Error),
    /// A signal that a dump was to be written on cannot be had.
    Signal(i32, io::Error),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runtime(error) => write!(f, "the default runtime could not be started: {error}"),
            Self::NoFolder(folder) => {
                let folder = folder.display();
                write!(
                    f,
                    "the folder {folder} for dumps does not exist; create it first"
                )
            }
            Self::Thread(error) => write!(f, "the recorder's thread could not be started: {error}"),
            Self::Signal(signal, error) => {
                write!(f, "no dump can be written on signal {signal}: {error}")
            }
            Self::Attach(path, error) => {
                write!(
                    f,
                    "the socket {} could not be opened: {error}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for InstallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Runtime(error) => Some(error),
            Self::NoFolder(_) => None,
            Self::Thread(error) | Self::Attach(_, error) | Self::Signal(_, error) => Some(error),
        }
    }
}
