//! SARIF 2.1.0: what code-scanning services read.
//!
//! A result's location is the blocking call, its related location the guard, and its code flow runs from the guard
//! through the chain to the call that blocks.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::{Texts, View, severity};
use crate::diagnostic::{Finding, Level, Span};
use crate::rules;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The name of the directory that paths are relative to, as the standard suggests.
const ROOT: &str = "%SRCROOT%";

pub(super) fn render(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let results = view
        .report
        .findings
        .iter()
        .map(|finding| result(finding, view));
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "vt-lint",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules::TABLE.iter().map(descriptor).collect::<Vec<Value>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { ROOT: { "uri": format!("{}/", uri(&view.root.to_string_lossy(), true).trim_end_matches('/')) } },
            "results": results.collect::<Vec<Value>>(),
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn descriptor(rule: &rules::Rule) -> Value {
    json!({
        "id": rule.id.name(),
        "shortDescription": { "text": rule.summary },
        "help": { "text": rule.manual(), "markdown": rule.manual() },
        "defaultConfiguration": {
            "enabled": rule.level != Level::Allow,
            "level": severity(rule.level),
        },
    })
}

fn result(finding: &Finding, view: &View<'_>) -> Value {
    let mut location = json!({ "physicalLocation": physical(&finding.primary, view.texts) });
    if let Some(function) = &finding.function {
        location["logicalLocations"] =
            json!([{ "fullyQualifiedName": function, "kind": "function" }]);
    }
    let index = rules::TABLE.iter().position(|rule| rule.id == finding.rule);
    let mut text = finding.message.clone();
    for line in finding.notes.iter().chain(&finding.help) {
        text.push('\n');
        text.push_str(line);
    }
    let mut value = json!({
        "ruleId": finding.rule.name(),
        "ruleIndex": index.map_or(-1, |index| i64::try_from(index).unwrap_or(-1)),
        "level": severity(finding.level),
        "message": { "text": text },
        "locations": [location],
        "partialFingerprints": { "vtLint/v1": view.fingerprints.of(finding) },
    });
    let step = |span: &Span, text: &str| json!({ "physicalLocation": physical(span, view.texts), "message": { "text": text } });
    if let Some(guard) = &finding.guard {
        value["relatedLocations"] = json!([step(&guard.span, &guard.text)]);
    }
    if finding.guard.is_some() || !finding.chain.is_empty() {
        let guard = finding
            .guard
            .iter()
            .map(|label| step(&label.span, &label.text));
        let call = std::iter::once(step(&finding.primary, &finding.primary_label));
        let chain = finding
            .chain
            .iter()
            .map(|label| step(&label.span, &label.text));
        let locations = guard
            .chain(call)
            .chain(chain)
            .map(|location| json!({ "location": location }));
        value["codeFlows"] =
            json!([{ "threadFlows": [{ "locations": locations.collect::<Vec<Value>>() }] }]);
    }
    if let Some(fix) = &finding.fix {
        let changes = fix.edits.iter().map(|edit| {
            json!({
                "artifactLocation": artifact(&edit.span),
                "replacements": [{
                    "deletedRegion": region(&edit.span),
                    "insertedContent": { "text": edit.replacement },
                }],
            })
        });
        let changes: Vec<Value> = changes.collect();
        value["fixes"] =
            json!([{ "description": { "text": fix.message }, "artifactChanges": changes }]);
    }
    value
}

fn physical(span: &Span, texts: &Texts<'_>) -> Value {
    let mut region = region(span);
    region["snippet"] = json!({ "text": texts.lines(span).join("\n") });
    json!({ "artifactLocation": artifact(span), "region": region })
}

fn artifact(span: &Span) -> Value {
    if Path::new(&*span.file).is_absolute() {
        json!({ "uri": uri(&span.file, true) })
    } else {
        json!({ "uri": uri(&span.file, false), "uriBaseId": ROOT })
    }
}

fn region(span: &Span) -> Value {
    json!({
        "startLine": span.start.line.max(1),
        "startColumn": span.start.column.max(1),
        "endLine": span.end.line.max(1),
        "endColumn": span.end.column.max(1),
    })
}

/// Percent-encodes a path; an absolute one becomes a `file:` address.
fn uri(path: &str, absolute: bool) -> String {
    let mut text = String::from(if absolute { "file://" } else { "" });
    let path = path.replace('\\', "/");
    if absolute && !path.starts_with('/') {
        text.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(byte.into())
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
