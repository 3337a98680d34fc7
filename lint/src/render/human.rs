//! For people: the compiler's look, the guard and the call in one picture, the chain below it.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::sync::Arc;

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level as Shown, Patch, Renderer, Snippet,
};

use super::{Texts, View};
use crate::diagnostic::{Finding, Label, Level, Span};

/// How much the terminal can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Colours and bold.
    pub color: bool,
    /// Links from paths to files.
    pub links: bool,
    /// Width in columns; when 0, what no line that a person wrote reaches.
    pub width: usize,
}

/// Columns shown of a line where no terminal sets a limit: a generated file may be one line of a megabyte.
const WIDEST: usize = 400;

pub(super) fn render(view: &View<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut explained = HashSet::new();
    for finding in &view.report.findings {
        // What is the same for every finding of a rule is said once.
        let notes: Vec<&str> = finding
            .notes
            .iter()
            .map(String::as_str)
            .filter(|note| explained.insert(*note))
            .collect();
        writeln!(out, "{}\n", one(finding, view, &notes, style))?;
    }
    by_lock(&view.report.findings, out)
}

/// One finding with all its notes, without colours: what JSON calls `rendered`.
pub(super) fn plain(finding: &Finding, view: &View<'_>) -> String {
    let notes: Vec<&str> = finding.notes.iter().map(String::as_str).collect();
    one(finding, view, &notes, Style::default())
}

fn one(finding: &Finding, view: &View<'_>, notes: &[&str], style: Style) -> String {
    let renderer = if style.color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let renderer = renderer.term_width(if style.width == 0 {
        WIDEST
    } else {
        style.width
    });
    let level = if finding.level == Level::Deny {
        Shown::ERROR
    } else {
        Shown::WARNING
    };
    let primary = &finding.primary;
    let primary_text = view.texts.of(&primary.file);
    let main = level
        .primary_title(finding.message.as_str())
        .id(finding.rule.name())
        .elements([snippet(
            &primary_text,
            primary,
            view,
            style,
            finding
                .guard
                .iter()
                .filter(|guard| guard.span.file == primary.file),
            Some(&finding.primary_label),
        )]);
    let others: Vec<(Arc<str>, &Label)> = finding
        .guard
        .iter()
        .filter(|guard| guard.span.file != primary.file)
        .chain(&finding.chain)
        .map(|label| (view.texts.of(&label.span.file), label))
        .collect();
    let mut groups = vec![main];
    for (text, label) in &others {
        let place = snippet(text, &label.span, view, style, [].iter(), None);
        groups.push(
            Group::with_title(Shown::NOTE.secondary_title(label.text.as_str())).element(place),
        );
    }
    // Below a chain, why and what to do follow the chain instead of cutting it off from its call.
    if let Some(last) = groups.pop() {
        let notes = notes.iter().map(|note| Shown::NOTE.message(*note));
        let help = finding.help.iter().filter(|_| finding.fix.is_none());
        let help = help.map(|help| Shown::HELP.message(help.as_str()));
        groups.push(last.elements(notes.chain(help)));
    }
    let fixed_texts: Vec<(Arc<str>, &Span)>;
    if let Some(fix) = &finding.fix {
        fixed_texts = fix
            .edits
            .iter()
            .map(|edit| (view.texts.of(&edit.span.file), &edit.span))
            .collect();
        let mut group = Group::with_title(Shown::HELP.secondary_title(fix.message.as_str()));
        for ((text, span), edit) in fixed_texts.iter().zip(&fix.edits) {
            let patch = Patch::new(Texts::range(text, span), edit.replacement.as_str());
            group = group.element(Snippet::source(&**text).path(&*span.file).patch(patch));
        }
        for help in &finding.help {
            group = group.element(Shown::HELP.message(help.as_str()));
        }
        groups.push(group);
    }
    renderer.render(&groups)
}

/// The source around a place. Labels in the same file are drawn into the same picture.
fn snippet<'a>(
    text: &'a str,
    place: &'a Span,
    view: &View<'_>,
    style: Style,
    labels: impl Iterator<Item = &'a Label>,
    primary_label: Option<&'a str>,
) -> Snippet<'a, Annotation<'a>> {
    let primary = AnnotationKind::Primary
        .span(Texts::range(text, place))
        .label(primary_label);
    let context = labels.map(|label| {
        AnnotationKind::Context
            .span(Texts::range(text, &label.span))
            .label(label.text.as_str())
    });
    Snippet::source(text)
        .path(link(place, view, style))
        .annotation(primary)
        .annotations(context)
}

/// The path as the header shows it, as a link where terminals understand those.
fn link(place: &Span, view: &View<'_>, style: Style) -> String {
    if !style.links {
        return place.file.to_string();
    }
    let target = view.root.join(&*place.file);
    format!(
        "\x1b]8;;file://{}\x1b\\{}\x1b]8;;\x1b\\",
        target.display(),
        place.file
    )
}

/// Findings counted by lock, when one lock has several: where a repair pays most.
fn by_lock(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let mut locks: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        if let Some(lock) = &finding.lock {
            *locks.entry(lock).or_default() += 1;
        }
    }
    let mut locks: Vec<(&str, usize)> = locks.into_iter().filter(|(_, count)| *count > 1).collect();
    if locks.is_empty() {
        return Ok(());
    }
    locks.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    writeln!(out, "locks with several findings:")?;
    for (name, count) in locks {
        writeln!(out, "{count:>5}  {name}")?;
    }
    writeln!(out)
}
