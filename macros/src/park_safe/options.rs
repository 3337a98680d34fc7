//! The arguments of `#[park_safe]`, and the choice of names they make.
//!
//! Answers two questions for the rewriting: "is this path's name a lock to ask about?" and "is this field,
//! binding or item to be left alone?". Remembers which `skip` entries were met, so that a misspelt one is an
//! error instead of a lock that silently stays.

use std::cell::Cell;
use std::collections::HashMap;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Path, PathSegment, Token};

use super::names::{self, Lock};
use super::needles::Needles;
use crate::args::{self, Errors};
use crate::path::RuntimePath;

const KNOWN: &[&str] = &["monitor", "only", "skip", "public", "check", "crate"];

/// What the user asked for.
#[derive(Default)]
pub(super) struct Options {
    pub(super) runtime: RuntimePath,
    /// Where `monitor = "reentrant"` stands.
    pub(super) monitor: Option<Span>,
    /// A public signature may change.
    pub(super) public: bool,
    /// Change nothing, report what would change.
    pub(super) check: bool,
    only: Option<Vec<Only>>,
    skip: Vec<Skip>,
    renamed: HashMap<String, &'static Lock>,
}

/// One entry of `only(..)`: `Mutex`, `sync::Mutex`, or `Local = Mutex` for a lock imported under another name.
struct Only {
    path: Path,
    stands_for: Option<Ident>,
}

struct Skip {
    path: Path,
    met: Cell<bool>,
}

impl Options {
    /// Reads the arguments; what is wrong is noted and the rest holds.
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> Options {
        let mut options = Options::default();
        if options.set_usual(&tokens) {
            return options;
        }
        for meta in args::parse(tokens, errors) {
            match args::name(&meta).as_str() {
                "monitor" => options.monitor(&meta, errors),
                "only" => options.only(&meta, errors),
                "skip" => {
                    let paths = args::list::<Path>(&meta, "skip(a_field, Condvar)", errors)
                        .unwrap_or_default();
                    options.skip = paths
                        .into_iter()
                        .map(|path| Skip {
                            path,
                            met: Cell::new(false),
                        })
                        .collect();
                }
                "public" => options.public = args::flag(&meta, errors),
                "check" => options.check = args::flag(&meta, errors),
                "crate" => {
                    if let Some(path) = args::path(&meta, errors) {
                        options.runtime.set(path);
                    }
                }
                _ => args::unknown(&meta, "park_safe", KNOWN, errors),
            }
        }
        options
    }

    /// Reads the usual arguments, which are none and one word: a parser costs more than the rest of a small item.
    fn set_usual(&mut self, tokens: &TokenStream) -> bool {
        let mut trees = tokens.clone().into_iter();
        match (trees.next(), trees.next()) {
            (None, _) => true,
            (Some(TokenTree::Ident(word)), None) if word == "public" => {
                self.public = true;
                true
            }
            _ => false,
        }
    }

    fn monitor(&mut self, meta: &syn::Meta, errors: &mut Errors) {
        let Some(kind) = args::text(meta, "monitor = \"reentrant\"", errors) else {
            return;
        };
        if kind.value() == "reentrant" {
            self.monitor = Some(kind.span());
        } else {
            errors.at(
                kind.span(),
                "a `Monitor` can only become `\"reentrant\"`, which does not pin",
            );
        }
    }

    fn only(&mut self, meta: &syn::Meta, errors: &mut Errors) {
        let entries = args::list::<Only>(meta, "only(Mutex, Condvar)", errors).unwrap_or_default();
        let mut kept = Vec::new();
        for entry in entries {
            match entry.lock() {
                Some(lock) => {
                    if let Some(local) = entry.path.get_ident() {
                        self.renamed.insert(local.to_string(), lock);
                    }
                    kept.push(entry);
                }
                None => errors.over(
                    &entry.path,
                    format_args!(
                        "no lock that `park_safe` knows is called that: it knows {}; for one imported under another name \
                         write `only(Local = Mutex)`",
                        names::SUMMARY
                    ),
                ),
            }
        }
        // A list of which nothing is right chooses nothing; its error is enough.
        self.only = (!kept.is_empty()).then_some(kept);
    }

    /// The names the item itself gives to locks.
    pub(super) fn renamed(&mut self) -> &mut HashMap<String, &'static Lock> {
        &mut self.renamed
    }

    /// Everything that makes text worth reading: parts of the names of locks, and what the arguments speak of.
    pub(super) fn needles(&self) -> Needles {
        let skipped = self
            .skip
            .iter()
            .filter_map(|skip| skip.path.segments.last());
        let skipped = skipped.map(|last| last.ident.to_string());
        let stems = names::STEMS.iter().map(|stem| (*stem).to_owned());
        Needles::new(
            stems
                .chain(self.renamed.keys().cloned())
                .chain(skipped)
                .collect(),
        )
    }

    /// Whether this name may be a lock's or one that `skip` leaves alone.
    pub(super) fn concerned_by_name(&self, name: &str) -> bool {
        let mut skipped = self
            .skip
            .iter()
            .filter_map(|skip| skip.path.segments.last());
        names::known(name).is_some()
            || self.renamed.contains_key(name)
            || skipped.any(|last| last.ident == name)
    }

    /// The lock that the segment at `index` of this path may stand for.
    pub(super) fn lock_at(&self, path: &Path, index: usize) -> Option<&'static Lock> {
        let segment = &path.segments[index];
        let lock = self
            .lock_named(&segment.ident)
            .filter(|lock| lock.fits(segment))?;
        let chosen = match &self.only {
            Some(only) => only.iter().any(|entry| ends_with(path, index, &entry.path)),
            None => true,
        };
        let consented = !lock.monitor || self.monitor.is_some();
        (chosen && consented && !self.skips_path(path, index)).then_some(lock)
    }

    /// The lock this name may stand for, whether or not it was chosen.
    pub(super) fn lock_named(&self, name: &Ident) -> Option<&'static Lock> {
        let name = name.to_string();
        names::known(&name).or_else(|| self.renamed.get(&name).copied())
    }

    /// Whether `skip` names this field, binding or item.
    pub(super) fn skips(&self, name: &Ident) -> bool {
        self.meet(|path| path.is_ident(name))
    }

    fn skips_path(&self, path: &Path, index: usize) -> bool {
        self.meet(|skip| ends_with(path, index, skip))
    }

    fn meet(&self, same: impl Fn(&Path) -> bool) -> bool {
        self.skip
            .iter()
            .filter(|skip| same(&skip.path))
            .map(|skip| skip.met.set(true))
            .count()
            > 0
    }

    /// Reports the `skip` entries that nothing in the item is called.
    pub(super) fn report_unmet_skips(&self, errors: &mut Errors) {
        for skip in self.skip.iter().filter(|skip| !skip.met.get()) {
            errors.over(
                &skip.path,
                "nothing in this item is called that, so there is nothing to skip",
            );
        }
    }
}

/// Whether the path up to `index` ends in the segments of `end`.
fn ends_with(path: &Path, index: usize, end: &Path) -> bool {
    let mut own = path.segments.iter().take(index + 1).rev();
    end.segments.iter().rev().all(|wanted: &PathSegment| {
        own.next()
            .is_some_and(|segment| segment.ident == wanted.ident)
    })
}

impl Only {
    fn lock(&self) -> Option<&'static Lock> {
        let last = &self.path.segments.last()?.ident;
        names::known(&self.stands_for.as_ref().unwrap_or(last).to_string())
    }
}

impl Parse for Only {
    fn parse(input: ParseStream<'_>) -> syn::Result<Only> {
        let path = input.call(Path::parse_mod_style)?;
        let stands_for = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Only { path, stands_for })
    }
}
