//! Names for findings that survive edits elsewhere in the file.
//!
//! A fingerprint covers the rule, the file, the function and the reported line's text, not its number. Of several
//! findings alike in all of these, the n-th has the n-th fingerprint, so a further copy of a line is a new finding.

use std::collections::HashMap;

use super::Texts;
use crate::diagnostic::{Finding, RuleId, Span};

/// The fingerprints of a report. Made once, from all findings, since a copy's number depends on the others.
#[derive(Debug, Default)]
pub struct Fingerprints(HashMap<(RuleId, Span, String), String>);

impl Fingerprints {
    /// Names each of `findings`, which are sorted.
    pub fn new(findings: &[Finding], texts: &Texts<'_>) -> Self {
        let mut alike: HashMap<u64, u64> = HashMap::new();
        let each = findings.iter().map(|finding| {
            let mut hash = Hash::new();
            hash.add(finding.rule.name());
            hash.add(&finding.primary.file);
            hash.add(finding.function.as_deref().unwrap_or_default());
            for line in texts.lines(&finding.primary).iter().take(1) {
                for word in line.split_whitespace() {
                    hash.add(word);
                }
            }
            let count = alike.entry(hash.0).or_default();
            *count += 1;
            hash.add(&count.to_string());
            (key(finding), format!("{:016x}", hash.0))
        });
        Self(each.collect())
    }

    /// The fingerprint, 16 hexadecimal digits; empty for a finding that was not among those named.
    pub fn of(&self, finding: &Finding) -> &str {
        self.0.get(&key(finding)).map_or("", String::as_str)
    }
}

fn key(finding: &Finding) -> (RuleId, Span, String) {
    (
        finding.rule,
        finding.primary.clone(),
        finding.message.clone(),
    )
}

/// FNV-1a, 64 bits: the value is stored in files, so it must never depend on this program's version or machine.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, part: &str) {
        // The separator keeps `ab, c` and `a, bc` apart.
        for byte in part.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
