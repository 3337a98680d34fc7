//! Moves names of a `use` item from one crate to another.

use syn::UseTree;

/// A `use` item split in two: what stays, and what moves.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// The tree without what moves; `None` when nothing stays.
    pub(super) stays: Option<String>,
    /// The names that move, in their order.
    pub(super) moves: Vec<String>,
}

/// Splits a tree at the names directly in `from` (`["std", "sync"]`); `None` if it renames or globs what should move.
pub(super) fn split(tree: &UseTree, from: &[&str], names: &[&str]) -> Option<Split> {
    let mut split = Split::default();
    split.stays = walk(tree, from, names, &mut split.moves)?;
    Some(split)
}

/// The tree as text without what moves; the outer `None` gives up.
fn walk(
    tree: &UseTree,
    from: &[&str],
    names: &[&str],
    moves: &mut Vec<String>,
) -> Option<Option<String>> {
    let name = |ident: &proc_macro2::Ident| ident.to_string();
    match tree {
        UseTree::Path(path) => {
            let ident = name(&path.ident);
            let below = match from {
                [first, rest @ ..] if *first == ident => rest,
                _ => OUTSIDE,
            };
            let inner = walk(&path.tree, below, names, moves)?;
            Some(inner.map(|inner| format!("{ident}::{inner}")))
        }
        UseTree::Name(leaf) if from.is_empty() && names.contains(&&*name(&leaf.ident)) => {
            moves.push(name(&leaf.ident));
            Some(None)
        }
        UseTree::Name(leaf) => Some(Some(name(&leaf.ident))),
        UseTree::Rename(leaf) if from.is_empty() && names.contains(&&*name(&leaf.ident)) => None,
        UseTree::Rename(leaf) => Some(Some(format!(
            "{} as {}",
            name(&leaf.ident),
            name(&leaf.rename)
        ))),
        UseTree::Glob(_) if from.is_empty() => None,
        UseTree::Glob(_) => Some(Some("*".to_owned())),
        UseTree::Group(group) => {
            let parts: Option<Vec<Option<String>>> = group
                .items
                .iter()
                .map(|item| walk(item, from, names, moves))
                .collect();
            let parts: Vec<String> = parts?.into_iter().flatten().collect();
            Some(match &parts[..] {
                [] => None,
                [one] if one != "self" && !one.starts_with("self as ") => Some(one.clone()),
                _ => Some(format!("{{{}}}", parts.join(", "))),
            })
        }
    }
}

/// Below a path that nothing moves from.
const OUTSIDE: &[&str] = &["\0"];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(Option<String>, Vec<String>)> {
        let item: syn::ItemUse = syn::parse_str(text).expect("a use item");
        let split = split(&item.tree, &["std", "sync"], &["Mutex", "Condvar"])?;
        Some((split.stays, split.moves))
    }

    #[test]
    fn names_move_and_the_rest_stays() {
        let moved = |stays: Option<&str>, moves: &[&str]| {
            let moves = moves.iter().map(|name| (*name).to_owned()).collect();
            Some((stays.map(str::to_owned), moves))
        };
        assert_eq!(of("use std::sync::Mutex;"), moved(None, &["Mutex"]));
        assert_eq!(
            of("use std::sync::{Arc, Condvar, Mutex};"),
            moved(Some("std::sync::Arc"), &["Condvar", "Mutex"])
        );
        assert_eq!(
            of("use std::{fs, sync::{atomic::*, Arc as A, Mutex, self}};"),
            moved(
                Some("std::{fs, sync::{atomic::*, Arc as A, self}}"),
                &["Mutex"]
            )
        );
        assert_eq!(
            of("use std::{fs, sync::Mutex};"),
            moved(Some("std::fs"), &["Mutex"])
        );
        assert_eq!(of("use own::Mutex;"), moved(Some("own::Mutex"), &[]));
        assert_eq!(of("use std::Mutex;"), moved(Some("std::Mutex"), &[]));
        assert_eq!(
            of("use a::std::sync::Mutex;"),
            moved(Some("a::std::sync::Mutex"), &[])
        );
        assert_eq!(of("use std::sync::Mutex as M;"), None);
        assert_eq!(of("use std::sync::*;"), None);
    }
}
