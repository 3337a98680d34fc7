//! `#[main]`: the program's main function as a virtual thread.

use std::process::{ExitCode, Termination};

use crate::{BuildError, Runtime};

/// How to run it.
#[derive(Debug, Default)]
pub struct Main {
    carriers: Option<usize>,
}

impl Main {
    /// On the default runtime.
    #[must_use]
    pub const fn new() -> Self {
        Self { carriers: None }
    }

    /// On a runtime of its own with that many carriers.
    #[must_use]
    pub const fn carriers(self, carriers: usize) -> Self {
        Self {
            carriers: Some(carriers),
        }
    }

    /// Runs `body`, delivers the events, and gives the exit code that its result means.
    ///
    /// The result is turned into a code, and an error into text, on the virtual thread: it need not be `Send`.
    #[track_caller]
    pub fn run<T: Termination>(self, body: impl FnOnce() -> T + Send) -> ExitCode {
        let runtime = match self.runtime() {
            Ok(runtime) => runtime,
            Err(error) => {
                eprintln!("error: the runtime could not be started: {error}");
                return ExitCode::FAILURE;
            }
        };
        let code = runtime.run(move || body().report());
        runtime.flush_events();
        code
    }

    fn runtime(&self) -> Result<Runtime, BuildError> {
        match self.carriers {
            Some(carriers) => Runtime::builder().carriers(carriers).build(),
            None => Runtime::try_global().cloned(),
        }
    }
}
