//! From syn's tree to [`FileSyntax`]: the only modules that name syn's syntax types.
//!
//! Runs in one thread per file, because syn's spans are meaningful only there. Code that `cfg` removes, tests and
//! attributes' noise end here; macros are expanded or classified here. **Invariant:** recursion is bounded by
//! [`DEPTH`], and the caller provides a stack for it.

mod attribute;
mod chain;
mod expand;
mod expr;
mod function;
mod item;
mod macros;
mod memory;
mod pattern;
mod statement;
mod ty;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use proc_macro2::Span;

use super::cfg::Conditions;
use super::name::Name;
use super::syntax::{At, FileSyntax, Scope, Swap};
use expand::Rules;

pub(crate) use macros::MacroTable;
pub(crate) use memory::{Surroundings, lowered};

/// How deep expressions may nest.
const DEPTH: u32 = 1_500;

/// How many macro calls of one file are expanded; bounds hostile recursion.
const EXPANSIONS: u32 = 20_000;

/// A file that could not be lowered.
#[derive(Debug)]
pub(crate) struct LowerError {
    /// Where.
    pub(crate) at: At,
    /// Why, for the finding.
    pub(crate) message: String,
}

/// What lowering needs to know besides the text.
pub(crate) struct Context<'a> {
    /// Which code is there.
    pub(crate) conditions: &'a Conditions<'a>,
    /// Known macros.
    pub(crate) table: &'a MacroTable,
    /// `macro_rules!` of other files of the crate and of workspace crates it uses.
    pub(crate) foreign: &'a HashMap<Name, Arc<str>>,
}

/// Parses and lowers one file.
///
/// # Errors
/// When it is not Rust, or nests deeper than the analysis follows.
pub(crate) fn lower(
    text: &str,
    swap: Swap,
    context: &Context<'_>,
) -> Result<FileSyntax, LowerError> {
    if let Some(at) = nests_too_deep(text) {
        return Err(LowerError {
            at,
            message: "nests too deeply to be analysed".into(),
        });
    }
    let result = lower_parsed(text, swap, context);
    proc_macro2::extra::invalidate_current_thread_spans();
    result
}

fn lower_parsed(text: &str, swap: Swap, context: &Context<'_>) -> Result<FileSyntax, LowerError> {
    let file = syn::parse_file(text).map_err(|error| LowerError {
        at: at(error.span()),
        message: error.to_string(),
    })?;
    let mut lowerer = Lowerer {
        context,
        local: Vec::new(),
        parsed: HashMap::new(),
        file: FileSyntax {
            scopes: vec![Scope {
                swap,
                ..Scope::default()
            }],
            ..FileSyntax::default()
        },
        scope: 0,
        next: 0,
        depth: 0,
        too_deep: None,
        swap,
        inline: Vec::new(),
        expansions: 0,
        expanding: None,
    };
    lowerer.items(file.items);
    if let Some(at) = lowerer.too_deep {
        return Err(LowerError {
            at,
            message: "nests too deeply to be analysed".into(),
        });
    }
    let mut result = lowerer.file;
    result.expressions = lowerer.next;
    Ok(result)
}

/// Where brackets nest so deep that parsing itself would need an unreasonable stack.
///
/// Brackets in strings, characters and comments are passed over; where the text is no Rust, parsing says so later.
fn nests_too_deep(text: &str) -> Option<At> {
    let bytes = text.as_bytes();
    let mut depth = 0_u32;
    let mut offset = 0;
    while let Some(byte) = bytes.get(offset) {
        let rest = &bytes[offset..];
        let step = match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth > DEPTH {
                    let start = u32::try_from(offset).unwrap_or(u32::MAX);
                    return Some(At { start, end: start });
                }
                1
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                1
            }
            b'/' if rest.starts_with(b"//") => until(rest, b"\n"),
            b'/' if rest.starts_with(b"/*") => until(rest, b"*/"),
            b'r' if rest.starts_with(b"r#\"") => until(rest, b"\"#"),
            b'r' if rest.starts_with(b"r\"") => 2 + until(&rest[2..], b"\""),
            b'"' => string(rest),
            b'\'' if rest.get(2) == Some(&b'\'') => 3,
            b'\'' if rest.get(1) == Some(&b'\\') => 3,
            _ => 1,
        };
        offset += step;
    }
    None
}

/// The bytes up to behind the first `end`.
fn until(rest: &[u8], end: &[u8]) -> usize {
    let found = rest[1..].windows(end.len()).position(|part| part == end);
    found.map_or(rest.len(), |found| 1 + found + end.len())
}

/// The bytes of a string literal.
fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The state of one file's lowering.
struct Lowerer<'a> {
    context: &'a Context<'a>,
    /// `macro_rules!` seen so far, innermost last.
    local: Vec<(Name, Rc<Rules>)>,
    /// Foreign definitions parsed in this thread.
    parsed: HashMap<Name, Option<Rc<Rules>>>,
    file: FileSyntax,
    scope: u32,
    next: u32,
    depth: u32,
    too_deep: Option<At>,
    swap: Swap,
    inline: Vec<Name>,
    expansions: u32,
    /// The macro call whose expansion is being lowered.
    expanding: Option<At>,
}

impl Lowerer<'_> {
    fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Opens a scope, runs `f` in it, and gives its number.
    fn in_scope(&mut self, is_block: bool, f: impl FnOnce(&mut Self)) -> u32 {
        let index = u32::try_from(self.file.scopes.len()).unwrap_or(u32::MAX);
        self.file.scopes.push(Scope {
            parent: Some(self.scope),
            is_block,
            swap: self.swap,
            items: Vec::new(),
        });
        let outer = std::mem::replace(&mut self.scope, index);
        f(self);
        self.scope = outer;
        index
    }

    /// Runs `f` one level deeper, or gives up on the file.
    fn deeper<T>(&mut self, at: At, f: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= DEPTH {
            self.too_deep.get_or_insert(at);
            return None;
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        Some(result)
    }
}

/// The bytes of a span.
fn at(span: Span) -> At {
    let range = span.byte_range();
    At {
        start: u32::try_from(range.start).unwrap_or(u32::MAX),
        end: u32::try_from(range.end).unwrap_or(u32::MAX),
    }
}

/// The interned form of an identifier, `r#` removed.
fn name(ident: &proc_macro2::Ident) -> Name {
    let text = ident.to_string();
    Name::new(text.strip_prefix("r#").unwrap_or(&text))
}
