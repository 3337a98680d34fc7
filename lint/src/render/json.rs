//! Cargo's `compiler-message` lines, which editors and CI services read.
//!
//! The primary span is the blocking call, the guard is a secondary span, and each call of a chain is a child with
//! its own span. What has no place in the compiler's format stands under `vt_lint`, which its readers ignore.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Seen, Texts, View, human, severity};
use crate::diagnostic::{Finding, Span};
use crate::input::{CrateInput, TargetKind};

pub(super) fn render(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (index, finding) in view.report.findings.iter().enumerate() {
        let seen = view.seen.get(index).copied().flatten();
        let owner = &view.crates[finding.crate_index];
        let line = json!({
            "reason": "compiler-message",
            "package_id": owner.package,
            "manifest_path": owner.manifest,
            "target": target(owner),
            "message": message(finding, view, seen),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn target(owner: &CrateInput) -> Value {
    let kind = owner.target_kind;
    let crate_type = match kind {
        TargetKind::Lib => "lib",
        TargetKind::ProcMacro => "proc-macro",
        _ => "bin",
    };
    json!({
        "kind": [kind.name()],
        "crate_types": [crate_type],
        "name": owner.name,
        "src_path": owner.root,
        "edition": owner.edition.name(),
        "doc": matches!(kind, TargetKind::Lib | TargetKind::ProcMacro | TargetKind::Bin),
        "doctest": matches!(kind, TargetKind::Lib | TargetKind::ProcMacro),
        "test": !matches!(kind, TargetKind::Build | TargetKind::Example),
    })
}

fn message(finding: &Finding, view: &View<'_>, seen: Option<Seen>) -> Value {
    let mut spans = vec![span(
        &finding.primary,
        true,
        Some(&finding.primary_label),
        view.texts,
    )];
    spans.extend(
        finding
            .guard
            .iter()
            .map(|guard| span(&guard.span, false, Some(&guard.text), view.texts)),
    );
    let child = |level: &str, text: &str, spans: Vec<Value>| {
        json!({ "$message_type": "diagnostic", "message": text, "code": null, "level": level, "spans": spans,
                "children": [], "rendered": null })
    };
    let mut children: Vec<Value> = Vec::new();
    for label in &finding.chain {
        children.push(child(
            "note",
            &label.text,
            vec![span(&label.span, true, None, view.texts)],
        ));
    }
    children.extend(
        finding
            .notes
            .iter()
            .map(|note| child("note", note, Vec::new())),
    );
    children.extend(
        finding
            .help
            .iter()
            .map(|help| child("help", help, Vec::new())),
    );
    if let Some(fix) = &finding.fix {
        let edits = fix.edits.iter().map(|edit| {
            let mut value = span(&edit.span, true, None, view.texts);
            value["suggested_replacement"] = json!(edit.replacement);
            value["suggestion_applicability"] = json!("MachineApplicable");
            value
        });
        children.push(child("help", &fix.message, edits.collect()));
    }
    json!({
        "$message_type": "diagnostic",
        "rendered": human::plain(finding, view) + "\n\n",
        "code": { "code": finding.rule.name(), "explanation": null },
        "level": severity(finding.level),
        "message": finding.message,
        "spans": spans,
        "children": children,
        "vt_lint": { "fingerprint": view.fingerprints.of(finding), "lock": finding.lock, "function": finding.function, "pinned": pinned(seen) },
    })
}

/// Durations in nanoseconds, as in the events.
fn pinned(seen: Option<Seen>) -> Value {
    seen.map_or(Value::Null, |seen| {
        json!({
            "count": seen.count,
            "duration_ns": nanos(seen.pinned),
            "longest_ns": nanos(seen.longest),
            "stranded_ns": nanos(seen.stranded),
        })
    })
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn span(place: &Span, is_primary: bool, label: Option<&str>, texts: &Texts<'_>) -> Value {
    let (start, end) = (place.start, place.end);
    let lines = texts.lines(place);
    let last = lines.len().saturating_sub(1);
    let text = lines.iter().enumerate().map(|(index, line)| {
        let length = line.chars().count() + 1;
        json!({
            "text": line,
            "highlight_start": if index == 0 { start.column as usize } else { 1 },
            "highlight_end": if index == last { end.column as usize } else { length },
        })
    });
    json!({
        "file_name": &*place.file,
        "byte_start": start.byte,
        "byte_end": end.byte,
        "line_start": start.line,
        "line_end": end.line,
        "column_start": start.column,
        "column_end": end.column,
        "is_primary": is_primary,
        "text": text.collect::<Vec<Value>>(),
        "label": label,
        "suggested_replacement": null,
        "suggestion_applicability": null,
        "expansion": null,
    })
}
