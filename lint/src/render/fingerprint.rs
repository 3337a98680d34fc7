//! Names for findings that survive edits elsewhere in the file.
//!
//! A fingerprint covers the rule, the file, the function and the reported line's text, not its number. Of several
//! findings alike in all of these, the n-th has the n-th fingerprint, so a further copy of a line is a new finding.

use std::collections::HashMap;

use super::Texts;
use crate::diagnostic::Finding;

/// The fingerprint of each finding, in order: 16 hexadecimal digits.
pub fn fingerprints(findings: &[Finding], texts: &Texts<'_>) -> Vec<String> {
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
        format!("{:016x}", hash.0)
    });
    each.collect()
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
