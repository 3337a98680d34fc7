//! From paths to definitions: modules, imports, globs, re-exports, the extern prelude and std's prelude.
//!
//! Imports are resolved once, before anything else; after that every lookup only reads. Visibility is not checked:
//! the code compiles. Cyclic imports resolve to nothing.

use std::collections::HashMap;

use super::index::{Def, Extern, Index, ModuleId};
use super::name::Name;
use super::syntax::Path;
use crate::input::Edition;

/// How many globs are followed behind each other.
pub(super) const GLOB_DEPTH: u32 = 6;

/// Which of a name's meanings is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Namespace {
    /// Modules, types, traits.
    Types,
    /// Functions, values, constructors.
    Values,
}

/// A path's meaning as far as it is a path: the segments left over are associated items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// What the leading segments stand for.
    pub(crate) def: Def,
    /// How many segments they are.
    pub(crate) used: usize,
}

/// All names with their imports resolved.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(super) imported: HashMap<(ModuleId, Name, Namespace), Option<Def>>,
    pub(super) globs: Vec<Option<Vec<Def>>>,
    pub(super) prelude: Option<ModuleId>,
}

impl Names {
    /// Where a path starts when its first segments are keywords or it is global: definition and segments used.
    pub(super) fn start(
        &self,
        index: &Index<'_>,
        module: ModuleId,
        path: &Path,
        is_import: bool,
    ) -> Option<(Def, usize)> {
        let first = path.segments.first()?.name;
        let krate = index.modules[module.index()].krate;
        let root = || Def::Module(index.crates[krate].root);
        if path.is_global {
            if index.crates[krate].edition == Edition::E2015
                && let Some(found) =
                    self.member(index, index.crates[krate].root, first, Namespace::Types, 0)
            {
                return Some((found, 1));
            }
            return Some((
                self.external(index, krate, first)
                    .unwrap_or(Def::External(first)),
                1,
            ));
        }
        match first.as_str() {
            "crate" => return Some((root(), 1)),
            "self" => return Some((Def::Module(index.proper(module)), 1)),
            "super" => {
                let mut at = index.proper(module);
                let mut used = 0;
                while path
                    .segments
                    .get(used)
                    .is_some_and(|segment| segment.name == "super")
                {
                    at = index.proper(index.modules[at.index()].parent?);
                    used += 1;
                }
                return Some((Def::Module(at), used));
            }
            _ => {}
        }
        if is_import && index.crates[krate].edition == Edition::E2015 {
            let found = self.member(index, index.crates[krate].root, first, Namespace::Types, 0);
            return found
                .map(|found| (found, 1))
                .or(Some((Def::Module(module), 0)));
        }
        Some((Def::Module(module), 0))
    }

    pub(super) fn use_path(
        &self,
        index: &Index<'_>,
        module: ModuleId,
        path: &Path,
        namespace: Namespace,
    ) -> Option<Resolved> {
        let (mut def, mut used) = self.start(index, module, path, true)?;
        let total = path.segments.len();
        if used == 0 {
            let name = path.segments[0].name;
            let space = if total == 1 {
                namespace
            } else {
                Namespace::Types
            };
            def = self.first(index, module, name, space, total)?;
            used = 1;
        }
        self.walk(index, def, used, path, namespace)
    }

    /// A path's first segment; an unknown one in front of others is an unknown crate.
    fn first(
        &self,
        index: &Index<'_>,
        module: ModuleId,
        name: Name,
        space: Namespace,
        total: usize,
    ) -> Option<Def> {
        let unknown = || {
            (total > 1 && name.as_str().starts_with(|c: char| c.is_ascii_lowercase()))
                .then_some(Def::External(name))
        };
        let found = self.lexical(index, module, name, space);
        if let (Some(Def::External(path)), true) = (found, total > 1)
            && path.as_str().contains("::")
        {
            // `use anyhow::anyhow` brings a macro; `anyhow::Result` still begins with the crate.
            let krate = index.modules[module.index()].krate;
            return self.external(index, krate, name).or(found);
        }
        found.or_else(unknown)
    }

    /// What a path in code stands for.
    pub(crate) fn path(
        &self,
        index: &Index<'_>,
        module: ModuleId,
        path: &Path,
        namespace: Namespace,
    ) -> Option<Resolved> {
        let (mut def, mut used) = self.start(index, module, path, false)?;
        let total = path.segments.len();
        if used == 0 {
            let space = if total == 1 {
                namespace
            } else {
                Namespace::Types
            };
            def = self.first(index, module, path.segments[0].name, space, total)?;
            used = 1;
        }
        self.walk(index, def, used, path, namespace)
    }

    fn walk(
        &self,
        index: &Index<'_>,
        mut def: Def,
        mut used: usize,
        path: &Path,
        namespace: Namespace,
    ) -> Option<Resolved> {
        let total = path.segments.len();
        while used < total {
            let name = path.segments[used].name;
            let space = if used + 1 == total {
                namespace
            } else {
                Namespace::Types
            };
            let next = match def {
                Def::Module(inner) => match self.member(index, inner, name, space, 0) {
                    Some(found) => Some(found),
                    None if index.crates[index.modules[inner.index()].krate].is_interface => {
                        Some(Def::External(Name::new(&format!(
                            "{}::{name}",
                            index.modules[inner.index()].path
                        ))))
                    }
                    None => return None,
                },
                Def::Data(data) => {
                    let variants = &index.data[data.index()].syntax.variants;
                    variants
                        .iter()
                        .position(|(variant, _)| *variant == name)
                        .map(|position| Def::Variant(data, position as u32))
                }
                Def::External(prefix) => {
                    Some(Def::External(Name::new(&format!("{prefix}::{name}"))))
                }
                _ => None,
            };
            match next {
                Some(next) => def = next,
                None => return Some(Resolved { def, used }),
            }
            used += 1;
        }
        Some(Resolved { def, used })
    }

    /// A name as code in `module` sees it.
    pub(crate) fn lexical(
        &self,
        index: &Index<'_>,
        module: ModuleId,
        name: Name,
        namespace: Namespace,
    ) -> Option<Def> {
        let mut at = Some(module);
        while let Some(module) = at {
            if let Some(found) = self.member(index, module, name, namespace, 0) {
                return Some(found);
            }
            let scope = &index.modules[module.index()];
            at = if scope.is_block { scope.parent } else { None };
        }
        let krate = index.modules[module.index()].krate;
        if namespace == Namespace::Types
            && let Some(found) = self.external(index, krate, name)
        {
            return Some(found);
        }
        if let Some(found) = self
            .prelude
            .and_then(|prelude| self.member(index, prelude, name, namespace, 0))
        {
            return Some(found);
        }
        (namespace == Namespace::Types && is_plain(name)).then_some(Def::Plain(name))
    }

    /// A name in a module.
    pub(crate) fn member(
        &self,
        index: &Index<'_>,
        module: ModuleId,
        name: Name,
        namespace: Namespace,
        depth: u32,
    ) -> Option<Def> {
        let scope = &index.modules[module.index()];
        let own = match namespace {
            Namespace::Types => &scope.types,
            Namespace::Values => &scope.values,
        };
        if let Some(found) = own.get(&name) {
            return Some(*found);
        }
        if let Some(Some(found)) = self.imported.get(&(module, name, namespace)) {
            return Some(*found);
        }
        if depth > GLOB_DEPTH {
            return None;
        }
        for glob in self.globs[module.index()].iter().flatten() {
            let found = match glob {
                Def::Module(inner) if *inner != module => {
                    self.member(index, *inner, name, namespace, depth + 1)
                }
                Def::Data(data) => {
                    let variants = &index.data[data.index()].syntax.variants;
                    variants
                        .iter()
                        .position(|(variant, _)| *variant == name)
                        .map(|position| Def::Variant(*data, position as u32))
                }
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        self.foreign_glob(index, module, name, namespace)
    }

    /// A function through `use libc::*`; std's prelude is nearer than what nobody describes.
    fn foreign_glob(
        &self,
        index: &Index<'_>,
        module: ModuleId,
        name: Name,
        namespace: Namespace,
    ) -> Option<Def> {
        if namespace != Namespace::Values || Some(module) == self.prelude {
            return None;
        }
        let mut foreign =
            self.globs[module.index()]
                .iter()
                .flatten()
                .filter_map(|glob| match glob {
                    Def::External(path) => {
                        let krate = path.as_str().split("::").next().unwrap_or_default();
                        (krate == "libc" || krate.ends_with("_sys")).then_some(*path)
                    }
                    _ => None,
                });
        let path = foreign.next()?;
        let prelude = self.prelude?;
        if self
            .member(index, prelude, name, namespace, GLOB_DEPTH)
            .is_some()
        {
            return None;
        }
        Some(Def::External(Name::new(&format!("{path}::{name}"))))
    }

    fn external(&self, index: &Index<'_>, krate: usize, name: Name) -> Option<Def> {
        let krate = &index.crates[krate];
        match krate.externs.get(&name) {
            Some(Extern::Known(known)) => Some(Def::Module(index.crates[*known].root)),
            Some(Extern::Other(_)) => Some(Def::External(name)),
            None => None,
        }
    }
}

/// Whether it is a primitive type.
pub(crate) fn is_plain(name: Name) -> bool {
    [
        "str", "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32",
        "i64", "i128", "isize", "f32", "f64",
    ]
    .contains(&name.as_str())
}
