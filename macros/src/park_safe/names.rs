//! Which names may stand for a lock, and how many parameters the type behind each has.
//!
//! A name only decides which types are *asked*: the expansion goes through the `Swap` trait, and the type
//! behind the name has the last word. **Invariant:** a type that is not a lock `Swap` knows never compiles
//! here, whatever it is called; so this table can be wrong only by being too short.

use std::collections::HashMap;
use std::iter::repeat_with;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit_mut::VisitMut;
use syn::{
    AngleBracketedGenericArguments, GenericArgument, Lifetime, PathArguments, PathSegment, Token,
    Type, TypeInfer, UseRename,
};

/// A lock, or a guard or result of one, as std, parking_lot and the runtime call it.
pub(super) struct Lock {
    pub(super) name: &'static str,
    pub(super) lifetimes: usize,
    pub(super) types: usize,
    /// Swapped only with the user's consent: it may guard something that belongs to its carrier.
    pub(super) monitor: bool,
}

const fn lock(name: &'static str, lifetimes: usize, types: usize) -> Lock {
    Lock {
        name,
        lifetimes,
        types,
        monitor: false,
    }
}

const fn monitor(name: &'static str, lifetimes: usize, types: usize) -> Lock {
    Lock {
        name,
        lifetimes,
        types,
        monitor: true,
    }
}

/// The whole sets: a lock without its guard or its condition variable would not type-check against the rest.
static LOCKS: &[Lock] = &[
    lock("Mutex", 0, 1),
    lock("MutexGuard", 1, 1),
    lock("MappedMutexGuard", 1, 1),
    lock("RwLock", 0, 1),
    lock("RwLockReadGuard", 1, 1),
    lock("RwLockWriteGuard", 1, 1),
    lock("RwLockUpgradableReadGuard", 1, 1),
    lock("MappedRwLockReadGuard", 1, 1),
    lock("MappedRwLockWriteGuard", 1, 1),
    lock("ReentrantMutex", 0, 1),
    lock("ReentrantMutexGuard", 1, 1),
    lock("MappedReentrantMutexGuard", 1, 1),
    lock("Condvar", 0, 0),
    lock("WaitTimeoutResult", 0, 0),
    lock("Barrier", 0, 0),
    lock("BarrierWaitResult", 0, 0),
    lock("Once", 0, 0),
    lock("OnceState", 0, 0),
    lock("OnceLock", 0, 1),
    lock("LazyLock", 0, 2),
    monitor("Monitor", 0, 1),
    monitor("MonitorGuard", 1, 1),
];

/// The lock of that name, if there is one.
///
/// Takes text, because comparing an identifier asks the compiler for its text each time.
pub(super) fn known(name: &str) -> Option<&'static Lock> {
    // Nearly every name of a file is asked for.
    name.starts_with(|first: char| first.is_ascii_uppercase())
        .then(|| LOCKS.iter().find(|lock| name == lock.name))?
}

/// A part of each name: text without any of them names no lock.
pub(super) const STEMS: &[&str] = &[
    "Mutex",
    "RwLock",
    "Condvar",
    "WaitTimeout",
    "Barrier",
    "Once",
    "LazyLock",
    "Monitor",
];

/// The names without guards and results, for messages.
pub(super) const SUMMARY: &str = "`Mutex`, `RwLock`, `ReentrantMutex`, `Condvar`, `Barrier`, `Once`, `OnceLock` and `LazyLock` with their guards";

impl Lock {
    /// Whether these arguments could be this type's: `std::iter::Once<T>` is not `std::sync::Once`.
    pub(super) fn fits(&self, segment: &PathSegment) -> bool {
        match &segment.arguments {
            PathArguments::None => true,
            PathArguments::AngleBracketed(_) => self.types > 0,
            PathArguments::Parenthesized(_) => false,
        }
    }

    /// Completes the arguments of a type in an expression, where they may be left out, with `_`.
    pub(super) fn infer_missing(&self, segment: &mut PathSegment, span: Span) {
        let given = match &segment.arguments {
            PathArguments::AngleBracketed(given) => given.args.iter().cloned().collect(),
            _ => Vec::new(),
        };
        let is_lifetime =
            |argument: &&GenericArgument| matches!(argument, GenericArgument::Lifetime(_));
        let lifetimes = given.iter().filter(is_lifetime).count();
        let types = given.len() - lifetimes;
        if self.lifetimes + self.types == given.len() {
            return;
        }
        let elided = || GenericArgument::Lifetime(Lifetime::new("'_", span));
        let inferred = || {
            let underscore_token = Token![_](span);
            GenericArgument::Type(Type::Infer(TypeInfer {
                attrs: Vec::new(),
                underscore_token,
            }))
        };
        let elided = repeat_with(elided).take(self.lifetimes.saturating_sub(lifetimes));
        let inferred = repeat_with(inferred).take(self.types.saturating_sub(types));
        segment.arguments = PathArguments::AngleBracketed(AngleBracketedGenericArguments {
            colon2_token: None,
            lt_token: Token![<](span),
            args: elided.chain(given).chain(inferred).collect(),
            gt_token: Token![>](span),
        });
    }
}

/// Collects the names that `use .. as ..` gives to locks: `in_modules` before an item is parsed, the visitor
/// anywhere inside of what was parsed.
pub(super) struct Renames<'a>(pub(super) &'a mut HashMap<String, &'static Lock>);

impl Renames<'_> {
    /// Reads the imports among these items and in the modules among them.
    pub(super) fn in_modules(&mut self, items: TokenStream) {
        let mut trees = items.into_iter();
        let mut module = false;
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Ident(word) if word == "use" => {
                    let goes_on = |tree: &TokenTree| !matches!(tree, TokenTree::Punct(end) if end.as_char() == ';');
                    let import = trees.by_ref().take_while(goes_on).collect();
                    self.in_import(import, &mut Import::default());
                }
                TokenTree::Ident(word) => module |= word == "mod",
                // What a `macro_rules!` passes on stands in a group that nobody sees.
                TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                    self.in_modules(group.stream());
                }
                TokenTree::Group(group)
                    if group.delimiter() == Delimiter::Brace && std::mem::take(&mut module) =>
                {
                    self.in_modules(group.stream());
                }
                _ => {}
            }
        }
    }

    fn in_import(&mut self, tokens: TokenStream, import: &mut Import) {
        for tree in tokens {
            match tree {
                TokenTree::Ident(word) if word == "as" => import.renamed = true,
                TokenTree::Ident(word) if import.renamed => {
                    import.renamed = false;
                    if let Some(lock) = known(&import.name) {
                        self.0.insert(word.to_string(), lock);
                    }
                }
                TokenTree::Ident(word) => import.name = word.to_string(),
                TokenTree::Group(group) => self.in_import(group.stream(), import),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

/// What was read of an import so far: the last name, and whether `as` stood behind it.
#[derive(Default)]
struct Import {
    name: String,
    renamed: bool,
}

impl VisitMut for Renames<'_> {
    fn visit_use_rename_mut(&mut self, rename: &mut UseRename) {
        if let Some(lock) = known(&rename.ident.to_string()) {
            self.0.insert(rename.rename.to_string(), lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LOCKS, STEMS};

    #[test]
    fn every_name_has_one_of_the_stems() {
        for lock in LOCKS {
            assert!(
                STEMS.iter().any(|stem| lock.name.contains(stem)),
                "{}",
                lock.name
            );
        }
    }
}
