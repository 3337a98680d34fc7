//! Loads the files of all crates, following `mod name;`.
//!
//! Works in waves, each parsed in parallel: a crate's root, the files it declares, the files those declare. Files
//! that use a macro of another file are lowered a second time, once all definitions are known.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::cfg::Conditions;
use super::lower::{self, Context, MacroTable, Surroundings};
use super::name::Name;
use super::syntax::{At, FileSyntax, INCLUDED, Item, ModuleFile};
use crate::input::{Input, SourceError};
use crate::source::Text;

/// A file of a crate.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// The crate, as an index into the input.
    pub(crate) krate: usize,
    /// The text.
    pub(crate) text: Text,
    /// What it declares.
    pub(crate) syntax: FileSyntax,
    /// Files declared in it: which of its declarations, and the file.
    pub(crate) children: Vec<(usize, usize)>,
    /// Why it was left out, if it was.
    pub(crate) skipped: Option<&'static str>,
    /// Why it could not be read or parsed, and where.
    pub(crate) broken: Option<(At, String)>,
    /// It is not the workspace's, so what is wrong is that this file of it, here, asks for it.
    pub(crate) asked_for: Option<(usize, At)>,
    /// Modules it declares that have no file.
    pub(crate) missing: Vec<(At, Name)>,
}

/// A file to load.
struct Request {
    krate: usize,
    path: PathBuf,
    /// Where `mod name;` of this file looks.
    directory: PathBuf,
    /// The file that declares it, which of its declarations does, and where.
    parent: Option<(usize, usize, At)>,
    swap: super::syntax::Swap,
}

/// Loads everything; roots come first, in the order of the crates.
pub(crate) fn load(input: &Input<'_>, table: &MacroTable) -> Vec<SourceFile> {
    let conditions: Vec<Conditions<'_>> = input
        .crates
        .iter()
        .map(|krate| Conditions::new(&input.cfg, krate))
        .collect();
    let surroundings: Vec<Surroundings> = input
        .crates
        .iter()
        .map(|krate| Surroundings::of(&input.cfg, krate))
        .collect();
    let nothing = HashMap::new();
    let mut files: Vec<SourceFile> = Vec::new();
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut seen: HashSet<(usize, PathBuf)> = HashSet::new();
    let mut wave: Vec<Request> = input
        .crates
        .iter()
        .enumerate()
        .map(|(krate, of)| root(krate, &of.root))
        .collect();
    while !wave.is_empty() {
        wave.retain(|request| seen.insert((request.krate, request.path.clone())));
        let loaded: Vec<SourceFile> = wave
            .par_iter()
            .map(|request| {
                read(
                    input,
                    request,
                    surroundings[request.krate],
                    &Context {
                        conditions: &conditions[request.krate],
                        table,
                        foreign: &nothing,
                    },
                )
            })
            .collect();
        let mut next = Vec::new();
        for (request, mut file) in wave.into_iter().zip(loaded) {
            let index = files.len();
            if let Some((parent, ordinal, _)) = request.parent {
                files[parent].children.push((ordinal, index));
            }
            let mut missing = Vec::new();
            for (ordinal, (_, declaration)) in declared(&file.syntax).into_iter().enumerate() {
                let found = locate(input, &request, declaration);
                if found.is_none() && declaration.is_certain {
                    missing.push((declaration.at, declaration.name));
                }
                if let Some(found) = found {
                    let directory =
                        directory_of(&found, declaration.path.is_some(), declaration.name);
                    let parent = Some((index, ordinal, declaration.at));
                    next.push(Request {
                        krate: request.krate,
                        path: found,
                        directory,
                        parent,
                        swap: declaration.swap,
                    });
                }
            }
            file.missing = missing;
            paths.push(request.path);
            files.push(file);
        }
        wave = next;
    }
    expand_foreign(input, table, &conditions, &surroundings, &mut files);
    files
}

fn root(krate: usize, path: &Path) -> Request {
    let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
    Request {
        krate,
        path: path.to_path_buf(),
        directory,
        parent: None,
        swap: super::syntax::Swap::Nothing,
    }
}

fn read(
    input: &Input<'_>,
    request: &Request,
    surroundings: Surroundings,
    context: &Context<'_>,
) -> SourceFile {
    let display: Arc<str> = input.sources.display(&request.path).into();
    let broken = |text: Arc<str>, at: At, cause: String| SourceFile {
        krate: request.krate,
        text: Text::new(Arc::clone(&display), text),
        syntax: FileSyntax::default(),
        children: Vec::new(),
        skipped: None,
        broken: Some((at, cause)),
        asked_for: None,
        missing: Vec::new(),
    };
    let text = match input.sources.read(&request.path) {
        Ok(text) => text,
        Err(error @ SourceError::OutsideWorkspace) => {
            let asked_for = request.parent.map(|(file, _, at)| (file, at));
            return SourceFile {
                asked_for,
                ..broken("".into(), At::default(), error.to_string())
            };
        }
        Err(error) => return broken("".into(), At::default(), error.to_string()),
    };
    let indexed = Text::new(Arc::clone(&display), Arc::clone(&text));
    if indexed.is_generated() {
        return SourceFile {
            krate: request.krate,
            text: indexed,
            syntax: FileSyntax::default(),
            children: Vec::new(),
            skipped: Some("marked as generated"),
            broken: None,
            asked_for: None,
            missing: Vec::new(),
        };
    }
    match lower::lowered(input.sources, surroundings, &text, request.swap, context) {
        Ok(syntax) => SourceFile {
            krate: request.krate,
            text: indexed,
            syntax,
            children: Vec::new(),
            skipped: None,
            broken: None,
            asked_for: None,
            missing: Vec::new(),
        },
        Err(error) => broken(text, error.at, format!("does not parse: {}", error.message)),
    }
}

/// The `mod name;` declarations with their local scopes, in order.
pub(crate) fn declared(syntax: &FileSyntax) -> Vec<(u32, &ModuleFile)> {
    let mut found = Vec::new();
    for (scope, items) in syntax.scopes.iter().enumerate() {
        for item in &items.items {
            if let Item::File(declaration) = item {
                found.push((scope as u32, declaration));
            }
        }
    }
    found
}

/// The file of `mod name;`.
fn locate(input: &Input<'_>, request: &Request, declaration: &ModuleFile) -> Option<PathBuf> {
    let inline = |mut base: PathBuf| {
        base.extend(declaration.inline.iter().map(|name| name.as_str()));
        base
    };
    if let Some(path) = &declaration.path {
        let beside = request.path.parent().unwrap_or(Path::new("")).to_path_buf();
        let base = if declaration.inline.is_empty() {
            beside
        } else {
            inline(request.directory.clone())
        };
        let found = normal(&base.join(path));
        let is_included = declaration.name.as_str().starts_with(INCLUDED);
        return Some(found).filter(|path| !is_included || input.sources.exists(path));
    }
    let base = inline(request.directory.clone());
    let name = declaration.name.as_str();
    [
        base.join(format!("{name}.rs")),
        base.join(name).join("mod.rs"),
    ]
    .into_iter()
    .find(|path| input.sources.exists(path))
}

/// Where the declarations of a file at `path` look.
fn directory_of(path: &Path, is_explicit: bool, name: Name) -> PathBuf {
    let parent = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let is_mod = path.file_name().is_some_and(|file| file == "mod.rs");
    if is_mod || is_explicit {
        parent
    } else {
        parent.join(name.as_str())
    }
}

/// The path without `.` and, as far as names allow, `..`.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if result.file_name().is_some() => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// Lowers again the files that use macros of other files.
fn expand_foreign(
    input: &Input<'_>,
    table: &MacroTable,
    conditions: &[Conditions<'_>],
    surroundings: &[Surroundings],
    files: &mut [SourceFile],
) {
    let mut own: Vec<HashMap<Name, Arc<str>>> = vec![HashMap::new(); input.crates.len()];
    for file in files.iter() {
        for (name, text) in &file.syntax.macros {
            own[file.krate].insert(*name, text.as_str().into());
        }
    }
    let visible: Vec<HashMap<Name, Arc<str>>> = input
        .crates
        .iter()
        .enumerate()
        .map(|(index, krate)| {
            let mut all = HashMap::new();
            for local in krate
                .dependencies
                .iter()
                .filter_map(|dependency| dependency.local)
            {
                all.extend(
                    own[local]
                        .iter()
                        .map(|(name, text)| (*name, Arc::clone(text))),
                );
            }
            all.extend(
                own[index]
                    .iter()
                    .map(|(name, text)| (*name, Arc::clone(text))),
            );
            all
        })
        .collect();
    let known: Vec<Surroundings> = surroundings
        .iter()
        .zip(&visible)
        .map(|(of, foreign)| of.with(foreign))
        .collect();
    files.par_iter_mut().for_each(|file| {
        let foreign = &visible[file.krate];
        if !file
            .syntax
            .unknown_macros
            .iter()
            .any(|name| foreign.contains_key(name))
        {
            return;
        }
        let swap = file
            .syntax
            .scopes
            .first()
            .map(|scope| scope.swap)
            .unwrap_or_default();
        let context = Context {
            conditions: &conditions[file.krate],
            table,
            foreign,
        };
        // Modules that a macro declares are not followed, so the children stay as they are.
        let surroundings = known[file.krate];
        if let Ok(syntax) =
            lower::lowered(input.sources, surroundings, &file.text.text, swap, &context)
            && declared(&syntax).len() == declared(&file.syntax).len()
        {
            file.syntax = syntax;
        }
    });
}
