//! What a runtime is built from: the builder's calls, else `VT_*` variables, else defaults.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::continuation::{DEFAULT_STACK_SIZE, Stacks};
use crate::event::{DEFAULT_CAPACITY, DEFAULT_PIN_THRESHOLD, DEFAULT_STACK_DEPTH};

/// More carriers than any machine has cores for; each has its tables from the start.
pub(super) const MOST_CARRIERS: usize = 4096;

/// More pins than anybody reads before they are delivered; each carrier's ring takes some dozen megabytes then.
pub(super) const MOST_EVENTS: usize = 1 << 16;

/// Spare carriers allowed beyond the regular ones, unless the user says otherwise.
const SPARES: usize = 64;
/// OS threads of the offload pool, unless the user says otherwise.
const OFFLOAD_THREADS: usize = 64;

/// What to do about a deadlock in which carriers take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeadlockPolicy {
    /// Emit `PinnedDeadlock` and go on waiting.
    #[default]
    Report,
    /// Print the cycle to standard error and abort the process.
    Abort,
    /// Let the pinned waiter's fallible call return the deadlock; an infallible one panics with its text.
    Error,
}

/// A variable or value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    name: &'static str,
    value: String,
    expected: &'static str,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is {:?}, expected {}",
            self.name, self.value, self.expected
        )
    }
}

impl std::error::Error for SettingError {}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) stacks: Stacks,
    pub(crate) carriers: usize,
    pub(crate) max_carriers: usize,
    pub(crate) offload_threads: usize,
    pub(crate) compensate_pinned: bool,
    pub(crate) max_threads: Option<usize>,
    pub(crate) stack_size: usize,
    pub(crate) pin_threshold: Duration,
    pub(crate) deadlock_policy: DeadlockPolicy,
    pub(crate) event_capacity: usize,
    pub(crate) stack_depth: usize,
    /// `/proc`, unless a test has another.
    pub(crate) procfs: PathBuf,
    pub(crate) thread_name: String,
}

impl Settings {
    /// Defaults, changed by the environment.
    pub(crate) fn from_environment() -> Result<Self, SettingError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let variable = |name| get(name).filter(|value| !value.is_empty());
        let number = |name, least| {
            variable(name)
                .map(|value| parse_count(name, &value, least))
                .transpose()
        };
        let most = number("VT_MAX_CARRIERS", 1)?;
        let carriers = match (number("VT_CARRIERS", 1)?, most) {
            (Some(carriers), Some(most)) if most < carriers => {
                return Err(SettingError {
                    name: "VT_MAX_CARRIERS",
                    value: most.to_string(),
                    expected: "at least as many as VT_CARRIERS",
                });
            }
            (Some(carriers), _) => carriers,
            (None, most) => cores.max(2).min(most.unwrap_or(MOST_CARRIERS)),
        };
        let max_carriers = most.unwrap_or((carriers + SPARES).min(MOST_CARRIERS));
        let stacks = match variable("VT_STACKS") {
            None => Stacks::default(),
            Some(value) => value.parse().map_err(|_| SettingError {
                name: "VT_STACKS",
                value,
                expected: "dense or generator",
            })?,
        };
        let stack_size = variable("VT_STACK_SIZE")
            .map(|value| parse_size(&value))
            .transpose()?;
        let pin_threshold = variable("VT_PIN_THRESHOLD")
            .map(|value| parse_duration(&value))
            .transpose()?;
        Ok(Self {
            stacks,
            carriers,
            max_carriers,
            offload_threads: OFFLOAD_THREADS,
            compensate_pinned: false,
            max_threads: None,
            stack_size: stack_size.unwrap_or(DEFAULT_STACK_SIZE),
            pin_threshold: pin_threshold.unwrap_or(DEFAULT_PIN_THRESHOLD),
            deadlock_policy: DeadlockPolicy::Report,
            event_capacity: DEFAULT_CAPACITY,
            stack_depth: DEFAULT_STACK_DEPTH,
            procfs: PathBuf::from("/proc"),
            thread_name: "vt-carrier".to_owned(),
        })
    }
}

fn parse_count(name: &'static str, value: &str, least: usize) -> Result<usize, SettingError> {
    value
        .parse()
        .ok()
        .filter(|count| (least..=MOST_CARRIERS).contains(count))
        .ok_or_else(|| SettingError {
            name,
            value: value.to_owned(),
            expected: "a whole number from 1 to 4096",
        })
}

/// Bytes, with an optional `k` or `m`.
fn parse_size(value: &str) -> Result<usize, SettingError> {
    let lower = value.to_ascii_lowercase();
    let (digits, unit) = match lower.strip_suffix('k') {
        Some(digits) => (digits, 1024),
        None => lower
            .strip_suffix('m')
            .map_or((lower.as_str(), 1), |digits| (digits, 1024 * 1024)),
    };
    digits
        .parse::<usize>()
        .ok()
        .and_then(|count| count.checked_mul(unit))
        .ok_or_else(|| SettingError {
            name: "VT_STACK_SIZE",
            value: value.to_owned(),
            expected: "bytes, such as 65536, 64k or 1m",
        })
}

/// A whole number with `ns`, `us`, `ms` or `s`; a bare `0` needs no unit.
fn parse_duration(value: &str) -> Result<Duration, SettingError> {
    let split = value
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(value.len());
    let (digits, unit) = value.split_at(split);
    let count: Option<u64> = digits.parse().ok();
    let duration = match (count, unit.trim()) {
        (Some(0), "") => Some(Duration::ZERO),
        (Some(count), "ns") => Some(Duration::from_nanos(count)),
        (Some(count), "us" | "µs") => Some(Duration::from_micros(count)),
        (Some(count), "ms") => Some(Duration::from_millis(count)),
        (Some(count), "s") => Some(Duration::from_secs(count)),
        _ => None,
    };
    duration.ok_or_else(|| SettingError {
        name: "VT_PIN_THRESHOLD",
        value: value.to_owned(),
        expected: "a duration such as 20ms, 500us or 0",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &'static str) -> Result<Settings, SettingError> {
        Settings::from_variables(move |asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn variables_override_defaults() {
        assert_eq!(with("VT_CARRIERS", "3").expect("valid").carriers, 3);
        assert_eq!(
            with("VT_STACK_SIZE", "64k").expect("valid").stack_size,
            65536
        );
        assert_eq!(
            with("VT_PIN_THRESHOLD", "5ms")
                .expect("valid")
                .pin_threshold,
            Duration::from_millis(5)
        );
        assert_eq!(
            with("VT_PIN_THRESHOLD", "0").expect("valid").pin_threshold,
            Duration::ZERO
        );
    }

    #[test]
    fn the_limit_on_carriers_limits_the_default_number_too() {
        let settings = with("VT_MAX_CARRIERS", "1").expect("valid");
        assert_eq!((settings.carriers, settings.max_carriers), (1, 1));
    }

    #[test]
    fn bad_values_are_named_with_their_cure() {
        let error = with("VT_CARRIERS", "0").expect_err("no carrier");
        assert_eq!(
            error.to_string(),
            "VT_CARRIERS is \"0\", expected a whole number from 1 to 4096"
        );
        let error = with("VT_MAX_CARRIERS", "99999999").expect_err("too many");
        assert_eq!(
            error.to_string(),
            "VT_MAX_CARRIERS is \"99999999\", expected a whole number from 1 to 4096"
        );
        let error = Settings::from_variables(|name| match name {
            "VT_CARRIERS" => Some("4".to_owned()),
            "VT_MAX_CARRIERS" => Some("3".to_owned()),
            _ => None,
        })
        .expect_err("fewer at most than at least");
        assert_eq!(
            error.to_string(),
            "VT_MAX_CARRIERS is \"3\", expected at least as many as VT_CARRIERS"
        );
        let error = with("VT_PIN_THRESHOLD", "20").expect_err("no unit");
        assert_eq!(
            error.to_string(),
            "VT_PIN_THRESHOLD is \"20\", expected a duration such as 20ms, 500us or 0"
        );
    }
}
