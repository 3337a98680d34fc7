//! What a recorder keeps and from which durations: profiles, and a file that changes one of them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// What is recorded. Start from a profile and change its fields.
///
/// | profile | pins from | parks, starts and ends | the program's events |
/// | --- | --- | --- | --- |
/// | [`default`](Self::default) | the runtime's threshold (20 ms) | no | from `INFO` |
/// | [`staging`](Self::staging) | 1 ms | up to 1,000 parks and 1,000 starts a second | from `INFO` |
/// | [`test`](Self::test) | 0, so all | all | all |
///
/// What the throttle leaves out is counted, and told in every recording and view. Pins, deadlocks, stalled and lost
/// carriers are never throttled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The profile's name, as told in the recording.
    pub name: String,
    /// Pinned waits from this duration are recorded; `None` leaves the runtime's own threshold.
    pub pin_threshold: Option<Duration>,
    /// Keep the parks of virtual threads.
    pub parks: bool,
    /// Keep the starts and ends of virtual threads.
    pub lifetimes: bool,
    /// Parks kept in a second at most, and starts of virtual threads (an end is kept where its start is); `None` keeps
    /// all.
    pub throttle: Option<u32>,
    /// The least level of the program's own spans and events that are kept; `None` keeps none.
    pub program: Option<tracing::Level>,
}

/// So many tell what a program waits for, and cost it a thousandth of a core.
const THROTTLE: u32 = 1_000;

impl Default for Settings {
    /// For production: what is long, at no cost worth measuring.
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            pin_threshold: None,
            parks: false,
            lifetimes: false,
            throttle: Some(THROTTLE),
            program: Some(tracing::Level::INFO),
        }
    }
}

impl Settings {
    /// For staging: shorter pins, and what virtual threads did between them.
    #[must_use]
    pub fn staging() -> Self {
        Self {
            name: "staging".to_owned(),
            pin_threshold: Some(Duration::from_millis(1)),
            parks: true,
            lifetimes: true,
            ..Self::default()
        }
    }

    /// For tests: everything.
    #[must_use]
    pub fn test() -> Self {
        Self {
            name: "test".to_owned(),
            pin_threshold: Some(Duration::ZERO),
            throttle: None,
            program: Some(tracing::Level::TRACE),
            ..Self::staging()
        }
    }

    /// Settings from a file: the name of a profile, and what differs from it.
    ///
    /// ```toml
    /// profile = "staging"
    /// pin_threshold = "5ms"
    /// parks = false
    /// lifetimes = true
    /// throttle = "200/s"      # or "off"
    /// program = "WARN"        # or "OFF"
    /// ```
    ///
    /// # Errors
    /// The file cannot be read, or says something that is no setting.
    pub fn file(path: impl AsRef<Path>) -> Result<Self, SettingsError> {
        let path = path.as_ref();
        let failed = |what: String| SettingsError {
            place: Some(path.to_owned()),
            what,
        };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        Self::parse(&text).map_err(|error| failed(error.what))
    }

    fn parse(text: &str) -> Result<Self, SettingsError> {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| wrong(error.message()))?;
        let mut settings = match table.get("profile") {
            None => Self::default(),
            Some(toml::Value::String(name)) => name.parse()?,
            Some(_) => return Err(wrong("`profile` is a name in quotes")),
        };
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("profile", _) => {}
                ("parks", toml::Value::Boolean(kept)) => settings.parks = *kept,
                ("lifetimes", toml::Value::Boolean(kept)) => settings.lifetimes = *kept,
                ("pin_threshold", toml::Value::String(text)) => {
                    settings.pin_threshold = Some(parse_span(text).map_err(wrong)?);
                }
                ("throttle", toml::Value::String(text)) => {
                    settings.throttle = parse_throttle(text).map_err(wrong)?;
                }
                ("program", toml::Value::String(level)) if level.eq_ignore_ascii_case("off") => {
                    settings.program = None;
                }
                ("program", toml::Value::String(level)) => {
                    let level = level
                        .parse()
                        .map_err(|_| wrong(format!("`{level}` is no level")))?;
                    settings.program = Some(level);
                }
                ("parks" | "lifetimes", _) => {
                    return Err(wrong(format!("`{key}` is true or false")));
                }
                ("pin_threshold" | "program" | "throttle", _) => {
                    return Err(wrong(format!("`{key}` is a text in quotes")));
                }
                _ => {
                    let known = "profile, pin_threshold, parks, lifetimes, throttle, program";
                    return Err(wrong(format!("`{key}` is no setting; there are {known}")));
                }
            }
        }
        Ok(settings)
    }
}

impl FromStr for Settings {
    type Err = SettingsError;

    /// The profile of that name.
    fn from_str(name: &str) -> Result<Self, SettingsError> {
        match name {
            "default" => Ok(Self::default()),
            "staging" => Ok(Self::staging()),
            "test" => Ok(Self::test()),
            _ => Err(wrong(format!(
                "`{name}` is no profile; there are default, staging and test"
            ))),
        }
    }
}

/// A span such as `20ms`, `1.5s`, `250us` or `0`.
///
/// # Errors
/// A text that is none, told in full.
pub fn parse_span(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let wrong = || format!("`{text}` is no span; write a number and ns, us, ms, s, m or h");
    let number: f64 = text[..end].parse().map_err(|_| wrong())?;
    let unit = match text[end..].trim() {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "" if number == 0.0 => 0.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * unit).map_err(|_| wrong())
}

/// A throttle as the JDK's settings write it: `200/s`, or `off` for none.
///
/// # Errors
/// A text that is none, told in full.
pub fn parse_throttle(text: &str) -> Result<Option<u32>, String> {
    if text.eq_ignore_ascii_case("off") {
        return Ok(None);
    }
    let number = text
        .strip_suffix("/s")
        .and_then(|number| number.trim().parse().ok());
    match number {
        Some(number) => Ok(Some(number)),
        None => Err(format!(
            "`{text}` is no throttle; write a whole number and /s, or off"
        )),
    }
}

/// The same as text.
pub(crate) fn throttle_text(throttle: Option<u32>) -> String {
    throttle.map_or_else(|| "off".to_owned(), |number| format!("{number}/s"))
}

fn wrong(what: impl Into<String>) -> SettingsError {
    SettingsError {
        place: None,
        what: what.into(),
    }
}

/// Settings that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsError {
    place: Option<PathBuf>,
    what: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{}: {}", place.display(), self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changes_what_it_names() {
        let text = "profile = \"staging\"\npin_threshold = \"5ms\"\nparks = false\nprogram = \"off\"\nthrottle = \"50/s\"";
        let expected = Settings {
            pin_threshold: Some(Duration::from_millis(5)),
            parks: false,
            program: None,
            throttle: Some(50),
            ..Settings::staging()
        };
        assert_eq!(Settings::parse(text), Ok(expected));
        assert_eq!(Settings::parse(""), Ok(Settings::default()));
    }

    #[test]
    fn what_is_no_setting_is_told() {
        for (text, cause) in [
            ("profile = \"prod\"", "`prod` is no profile"),
            ("threshold = \"5ms\"", "`threshold` is no setting"),
            ("parks = \"yes\"", "`parks` is true or false"),
            ("pin_threshold = 5", "`pin_threshold` is a text"),
            ("pin_threshold = \"5\"", "is no span"),
            ("throttle = \"fast\"", "`fast` is no throttle"),
            ("throttle = \"-1/s\"", "is no throttle"),
            ("throttle = 5", "`throttle` is a text"),
            ("program = \"loud\"", "`loud` is no level"),
            ("profile = [", "array"),
        ] {
            let error = Settings::parse(text).expect_err(text).to_string();
            assert!(error.contains(cause), "{text}: {error}");
        }
        let error = Settings::file("no/such.toml")
            .expect_err("no such file")
            .to_string();
        assert!(error.starts_with("no/such.toml: "), "{error}");
    }

    #[test]
    fn spans_are_read_with_their_unit() {
        assert_eq!(parse_span("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(parse_span("1.5 s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(parse_span("0"), Ok(Duration::ZERO));
        assert!(parse_span("20").is_err());
        assert!(parse_span("fast").is_err());
    }
}
