//! What rust-analyzer makes of the JSON lines when the lint is its check command: the same parser, and the same
//! questions about each message.

use std::path::{Path, PathBuf};

use cargo_metadata::Message;
use cargo_metadata::diagnostic::{Applicability, Diagnostic, DiagnosticLevel, DiagnosticSpan};

use crate::project::Project;

const SOURCE: &str = "\
use std::sync::Mutex;
use std::time::Duration;

pub fn größe(jobs: &Mutex<Vec<u64>>) {
    /* größe */ if let Some(job) = jobs.lock().unwrap().pop() {
        std::thread::sleep(Duration::from_millis(job));
    }
    let held = jobs.lock().unwrap();
    store(&held);
}

fn store(jobs: &[u64]) {
    std::fs::write(\"jobs\", format!(\"{jobs:?}\")).unwrap();
}
";

/// A diagnostic as an editor shows it.
#[derive(Debug)]
struct Shown {
    file: PathBuf,
    /// The marked text.
    marked: String,
    code: String,
    level: DiagnosticLevel,
    related: Vec<String>,
    repairs: usize,
}

/// What stands at a span: rust-analyzer uses lines and columns, the latter in characters.
fn marked(root: &Path, span: &DiagnosticSpan) -> String {
    let text = std::fs::read_to_string(root.join(&span.file_name)).expect("the file it names");
    assert_eq!(span.line_start, span.line_end, "these are on one line");
    let line = text.lines().nth(span.line_start - 1).expect("the line");
    let marked: String = line
        .chars()
        .skip(span.column_start - 1)
        .take(span.column_end - span.column_start)
        .collect();
    let bytes = &text[span.byte_start as usize..span.byte_end as usize];
    assert_eq!(marked, bytes, "columns and bytes say the same");
    assert_eq!(span.text[0].text, line);
    marked
}

fn shown(root: &Path, diagnostic: &Diagnostic) -> Shown {
    // Without a primary span there is nowhere to show it, and it would be dropped.
    let primary = diagnostic.spans.iter().find(|span| span.is_primary);
    let primary = primary.expect("a primary span");
    let mut related: Vec<String> = diagnostic
        .spans
        .iter()
        .filter(|span| !span.is_primary)
        .map(|span| marked(root, span))
        .collect();
    let mut repairs = 0;
    for child in &diagnostic.children {
        // A child whose spans all have a replacement becomes a quick fix, others become related information.
        for span in &child.spans {
            match &span.suggested_replacement {
                Some(_) => {
                    assert_eq!(
                        span.suggestion_applicability,
                        Some(Applicability::MachineApplicable)
                    );
                    repairs += 1;
                }
                None => related.push(marked(root, span)),
            }
        }
    }
    Shown {
        file: root.join(&primary.file_name),
        marked: marked(root, primary),
        code: diagnostic.code.as_ref().expect("a code").code.clone(),
        level: diagnostic.level,
        related,
        repairs,
    }
}

#[test]
fn rust_analyzer_shows_every_finding() {
    let project = Project::library(SOURCE);
    let outcome = project.lint(&["--workspace", "--message-format=json"]);
    let messages: Vec<Message> = Message::parse_stream(outcome.out.as_bytes())
        .map(|message| message.expect("a readable stream"))
        .collect();
    let root = project.path("");
    let all: Vec<Shown> = messages
        .iter()
        .map(|message| match message {
            // A line that is no message of the compiler would be shown as text, or not at all.
            Message::CompilerMessage(message) => {
                assert_eq!(message.target.name, "shop");
                assert!(message.target.src_path.ends_with("src/lib.rs"));
                assert!(message.package_id.repr.contains("shop"));
                let rendered = message.message.rendered.as_deref();
                assert!(rendered.is_some_and(|text| text.contains("src/lib.rs:")));
                shown(&root, &message.message)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(all.len(), 2, "{all:#?}");
    assert!(all.iter().all(|one| one.file == root.join("src/lib.rs")));
    assert!(all.iter().all(|one| one.level == DiagnosticLevel::Error));
    assert_eq!(all[0].code, "blocking-in-guard");
    assert_eq!(all[0].marked, "std::thread::sleep");
    assert_eq!(all[0].related, ["lock"]);
    assert_eq!(
        all[0].repairs, 1,
        "a block, since a comment stands before it"
    );
    assert_eq!(all[1].code, "blocking-in-guard-indirect");
    assert_eq!(all[1].marked, "store");
    assert_eq!(all[1].related, ["lock", "std::fs::write"]);
}
