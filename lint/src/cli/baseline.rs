//! Files of known findings, so that only new ones count.
//!
//! One finding a line, sorted, so that changes are readable in a review. What identifies a finding is its
//! fingerprint; the rest is for people.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::check::Report;
use crate::diagnostic::Finding;
use crate::render::Fingerprints;

const VERSION: u32 = 1;

#[derive(Deserialize, Serialize)]
struct File {
    version: u32,
    findings: Vec<Entry>,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    fingerprint: String,
    rule: String,
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    message: String,
}

/// Why a baseline cannot be used.
#[derive(Debug)]
pub(super) enum BaselineError {
    Unreadable(PathBuf, std::io::Error),
    Unwritable(PathBuf, std::io::Error),
    NotABaseline(PathBuf, String),
    Newer(PathBuf, u32),
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, cause) => {
                write!(
                    f,
                    "cannot read the baseline `{}`: {cause}; make it with --write-baseline",
                    path.display()
                )
            }
            Self::Unwritable(path, cause) => {
                write!(f, "cannot write the baseline `{}`: {cause}", path.display())
            }
            Self::NotABaseline(path, cause) => {
                write!(f, "`{}` is no baseline file: {cause}", path.display())
            }
            Self::Newer(path, version) => write!(
                f,
                "the baseline `{}` has version {version}, this program knows up to {VERSION}; update it or write the file anew",
                path.display()
            ),
        }
    }
}

impl Error for BaselineError {}

/// Writes all findings to `path`.
pub(super) fn write(
    path: &Path,
    findings: &[Finding],
    fingerprints: &Fingerprints,
) -> Result<(), BaselineError> {
    let mut entries: Vec<Entry> = findings
        .iter()
        .map(|finding| Entry {
            fingerprint: fingerprints.of(finding).to_owned(),
            rule: finding.rule.name().to_owned(),
            file: finding.primary.file.to_string(),
            function: finding.function.clone(),
            message: finding.message.clone(),
        })
        .collect();
    entries.sort_by(|a, b| {
        (&a.file, &a.rule, &a.fingerprint).cmp(&(&b.file, &b.rule, &b.fingerprint))
    });
    let mut text = format!("{{\"version\": {VERSION}, \"findings\": [");
    for (index, entry) in entries.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        let line = serde_json::to_string(entry)
            .map_err(|error| BaselineError::NotABaseline(path.to_owned(), error.to_string()))?;
        text.push_str(&line);
    }
    text.push_str("\n]}\n");
    fs::write(path, text).map_err(|error| BaselineError::Unwritable(path.to_owned(), error))
}

/// Takes the findings listed in `path` out of `report` and says how many of the list were not found.
pub(super) fn subtract(
    path: &Path,
    report: &mut Report,
    fingerprints: &Fingerprints,
) -> Result<usize, BaselineError> {
    let text = fs::read_to_string(path)
        .map_err(|error| BaselineError::Unreadable(path.to_owned(), error))?;
    let file: File = serde_json::from_str(&text)
        .map_err(|error| BaselineError::NotABaseline(path.to_owned(), error.to_string()))?;
    if file.version > VERSION {
        return Err(BaselineError::Newer(path.to_owned(), file.version));
    }
    let mut known: HashMap<&str, bool> = file
        .findings
        .iter()
        .map(|entry| (&*entry.fingerprint, false))
        .collect();
    report
        .findings
        .retain(|finding| match known.get_mut(fingerprints.of(finding)) {
            Some(seen) => {
                *seen = true;
                false
            }
            None => true,
        });
    Ok(known.values().filter(|seen| !**seen).count())
}
