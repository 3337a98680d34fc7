//! Binds the value a `match`, `if let`, `while let` or `for` looks at, so that the guard beside it ends first.
//!
//! Only for values that own what they hold; the flow analysis says which. At the beginning of a statement the binding
//! is a `let` of its own, elsewhere a block in place of the value.

use crate::diagnostic::{Edit, Fix};
use crate::flow::body::Detachable;
use crate::model::syntax::At;
use crate::rules::site::{Site, any_lock};
use crate::source::Text;

/// Names for the value, in order of preference.
const NAMES: [&str; 6] = ["value", "found", "current", "taken", "subject", "unguarded"];

/// The repair, when every guard that is alive at the site is only kept alive by such a value.
pub(super) fn fix(site: &Site<'_, '_>) -> Option<Fix> {
    let body = site.body();
    let live = site.own(any_lock);
    if live == 0 {
        return None;
    }
    let inside = |outer: At, at: At| outer.start <= at.start && at.end <= outer.end;
    let at = site.event.at;
    let found = body.detachable.iter().find(|found| {
        live & !found.guards == 0 && inside(found.whole, at) && !inside(found.value, at)
    })?;
    let text = &site.files[body.file].text;
    let value = text.slice(found.value);
    let is_written_here = body.guards.iter().enumerate().all(|(number, guard)| {
        let alive = live & 1_u128.checked_shl(number as u32).unwrap_or(0) != 0;
        !alive || inside(found.value, guard.at)
    });
    // What a macro made has places that do not hold its text.
    if !is_written_here || value.is_empty() || syn::parse_str::<syn::Expr>(value).is_err() {
        return None;
    }
    let around = text.slice(body.at);
    let name = NAMES.iter().find(|name| !has_word(around, name))?;
    let edits = match statement_start(text, found) {
        Some((start, indent)) => vec![
            edit(
                text,
                empty(start),
                format!("let {name} = {value};\n{indent}"),
            ),
            edit(text, found.value, (*name).to_owned()),
        ],
        None => vec![edit(
            text,
            found.value,
            format!("{{ let {name} = {value}; {name} }}"),
        )],
    };
    Some(Fix {
        message: "bind the value first, so that the guard ends before the block".to_owned(),
        edits,
    })
}

/// Where a statement that begins with the whole begins, with its indentation, if it does.
fn statement_start<'t>(text: &'t Text, found: &Detachable) -> Option<(u32, &'t str)> {
    let before = text.slice(At {
        start: 0,
        end: found.whole.start,
    });
    let keyword = text.slice(found.whole);
    let begins = ["match", "if", "for"]
        .iter()
        .any(|word| keyword.starts_with(word));
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let indent = &before[line..];
    if !found.is_first || !begins || !indent.trim().is_empty() {
        return None;
    }
    let code = before[..line]
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with("//"))?;
    // A line comment behind code hides what the code ends with.
    let ends = !code.contains("//") && code.ends_with(['{', '}', ';']);
    ends.then_some((found.whole.start, indent))
}

fn empty(at: u32) -> At {
    At { start: at, end: at }
}

fn edit(text: &Text, at: At, replacement: String) -> Edit {
    Edit {
        span: text.span(at),
        replacement,
    }
}

/// Whether `word` stands in `text` as a word of its own.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}
