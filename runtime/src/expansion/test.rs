//! `#[test]`: a test as a virtual thread of its own runtime, and its word on pins.

use std::panic::resume_unwind;
use std::process::{ExitCode, Termination};
use std::time::Duration;

use super::report;
use crate::Runtime;
use crate::event::Pinned;
use crate::pin::watch;

/// A test's settings.
#[derive(Debug)]
pub struct Test {
    name: &'static str,
    carriers: Option<usize>,
    pins: Option<Allowed>,
    longer_than: Duration,
}

/// How many pinned waits the test should have.
#[derive(Clone, Copy, Debug)]
enum Allowed {
    None,
    AtLeastOne,
    UpTo(usize),
}

impl Test {
    /// A test that may do what it likes.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            carriers: None,
            pins: None,
            longer_than: Duration::ZERO,
        }
    }

    /// With that many carriers.
    #[must_use]
    pub const fn carriers(mut self, carriers: usize) -> Self {
        self.carriers = Some(carriers);
        self
    }

    /// No wait keeps its carrier.
    #[must_use]
    pub const fn should_not_pin(mut self) -> Self {
        self.pins = Some(Allowed::None);
        self
    }

    /// At least one wait keeps its carrier.
    #[must_use]
    pub const fn should_pin(mut self) -> Self {
        self.pins = Some(Allowed::AtLeastOne);
        self
    }

    /// At least one and at most `most` waits keep their carriers.
    #[must_use]
    pub const fn should_pin_at_most(mut self, most: usize) -> Self {
        self.pins = Some(Allowed::UpTo(most));
        self
    }

    /// Only waits of at least that long count.
    #[must_use]
    pub const fn longer_than_ns(mut self, nanos: u64) -> Self {
        self.longer_than = Duration::from_nanos(nanos);
        self
    }

    /// Runs `body` and panics with what it did not keep to; a panic of its own goes on.
    #[track_caller]
    pub fn run<T: Termination>(self, body: impl FnOnce() -> T + Send) -> ExitCode {
        let mut builder = Runtime::builder().pin_threshold(Duration::ZERO);
        if let Some(carriers) = self.carriers {
            builder = builder.carriers(carriers);
        }
        let runtime = match builder.build() {
            Ok(runtime) => runtime,
            Err(error) => panic!(
                "the runtime of `{}` could not be started: {error}",
                self.name
            ),
        };
        let body = move || body().report();
        let Some(allowed) = self.pins else {
            return runtime.run(body);
        };
        let (outcome, report) = watch::run(&runtime, body);
        let code = outcome.unwrap_or_else(|payload| resume_unwind(payload));
        if let Err(complaint) = self.judge(allowed, report.pins()) {
            panic!("{complaint}");
        }
        code
    }

    fn judge(&self, allowed: Allowed, seen: &[Pinned]) -> Result<(), String> {
        let counted = seen
            .iter()
            .filter(|pin| pin.duration >= self.longer_than)
            .collect::<Vec<_>>();
        let complaint = match (allowed, counted.len()) {
            (Allowed::None, 0) => return Ok(()),
            (Allowed::AtLeastOne, pins) if pins > 0 => return Ok(()),
            (Allowed::UpTo(most), pins) if pins > 0 && pins <= most => return Ok(()),
            (Allowed::None, _) => "should not pin".to_owned(),
            (Allowed::AtLeastOne | Allowed::UpTo(_), 0) => "should pin".to_owned(),
            (Allowed::UpTo(most), _) => format!("should pin at most {most} times"),
            (Allowed::AtLeastOne, _) => "should pin".to_owned(),
        };
        Err(report::failure(
            self.name,
            &complaint,
            self.longer_than,
            &counted,
        ))
    }
}
