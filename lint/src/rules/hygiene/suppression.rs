//! Applies suppressions to findings, and reports those that are no longer needed or give no reason.
//!
//! Comments and attributes are read where files are parsed; here they are only data. One suppression covers a
//! range of lines of one file, and a finding belongs to the line its primary place starts on. There is no
//! fall-through: a suppressed call site is not tried against the next rule.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::Config;
use crate::diagnostic::{Finding, Level, Span};
use crate::rules;
use crate::rules::hygiene::{suppression_without_reason, unused_suppression};

/// One `vt-lint: allow(..)` comment or `lint_allow` attribute.
#[derive(Clone, Debug)]
pub struct Suppression {
    /// The comment or attribute itself: where findings about it are reported.
    pub span: Span,
    /// The lines it covers, both included: one line for a comment, all of the item for an attribute,
    /// `1..=u32::MAX` for `allow-file`.
    pub lines: std::ops::RangeInclusive<u32>,
    /// The names as written, in order; they match with `-` = `_`.
    pub rules: Vec<String>,
    /// The text behind `--`, or the attribute's `reason`; `None` when missing or blank.
    pub reason: Option<String>,
    /// The crate whose file it stands in, as an index into [`Input::crates`](crate::Input::crates).
    pub crate_index: usize,
    /// The function around it, if any.
    pub function: Option<String>,
}

/// Drops the findings that a suppression covers and adds what is wrong with the suppressions.
///
/// The result is unsorted. A name whose rule is at `allow` in this run is never called unused: the run did not
/// look for it.
pub fn apply(
    findings: Vec<Finding>,
    suppressions: &[Suppression],
    config: &Config,
) -> Vec<Finding> {
    let mut used: Vec<Vec<bool>> = suppressions
        .iter()
        .map(|suppression| vec![false; suppression.rules.len()])
        .collect();
    let mut by_file: HashMap<&Arc<str>, Vec<usize>> = HashMap::new();
    for (index, suppression) in suppressions.iter().enumerate() {
        by_file
            .entry(&suppression.span.file)
            .or_default()
            .push(index);
    }
    let mut kept = Vec::with_capacity(findings.len());
    for finding in findings {
        let mut covered = false;
        for &index in by_file.get(&finding.primary.file).into_iter().flatten() {
            let suppression = &suppressions[index];
            if !suppression.lines.contains(&finding.primary.start.line) {
                continue;
            }
            for (position, name) in suppression.rules.iter().enumerate() {
                if rules::same_name(name, finding.rule.name()) {
                    used[index][position] = true;
                    covered = true;
                }
            }
        }
        if !covered {
            kept.push(finding);
        }
    }
    for (suppression, used) in suppressions.iter().zip(used) {
        if suppression.reason.is_none() {
            kept.push(suppression_without_reason::finding(suppression));
        }
        for (name, used) in suppression.rules.iter().zip(used) {
            let known = rules::find(name);
            let looked_for = known.is_none_or(|rule| config.level(rule.id) != Level::Allow);
            if !used && looked_for {
                kept.push(unused_suppression::finding(
                    suppression,
                    name,
                    known.is_some(),
                ));
            }
        }
    }
    kept
}
