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
const GLOB_DEPTH: u32 = 6;

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
    imported: HashMap<(ModuleId, Name, Namespace), Option<Def>>,
    globs: Vec<Option<Vec<Def>>>,
    prelude: Option<ModuleId>,
}

impl Names {
    /// Resolves all imports.
    pub(crate) fn build(index: &Index<'_>) -> Self {
        let mut names = Self {
            globs: vec![None; index.modules.len()],
            ..Self::default()
        };
        names.prelude = index.interfaces.get(&Name::new("std")).and_then(|std| {
            match index.modules[index.crates[*std].root.index()]
                .types
                .get(&Name::new("prelude"))
            {
                Some(Def::Module(module)) => Some(*module),
                _ => None,
            }
        });
        for module in 0..index.modules.len() {
            let module = ModuleId(module as u32);
            names.resolve_globs(index, module, 0);
        }
        for module in 0..index.modules.len() {
            let module = ModuleId(module as u32);
            let imported: Vec<Name> = index.modules[module.index()]
                .imports
                .keys()
                .copied()
                .collect();
            for name in imported {
                names.import(index, module, name, Namespace::Types);
                names.import(index, module, name, Namespace::Values);
            }
        }
        names
    }

    fn resolve_globs(&mut self, index: &Index<'_>, module: ModuleId, depth: u32) {
        if self.globs[module.index()].is_some() || depth > GLOB_DEPTH {
            return;
        }
        // Until all are known, the module has none: that ends cycles.
        self.globs[module.index()] = Some(Vec::new());
        let mut found = Vec::new();
        for glob in &index.modules[module.index()].globs {
            if let Some(resolved) = self.walk_building(index, module, &glob.path)
                && resolved.used == glob.path.segments.len()
            {
                found.push(resolved.def);
            }
        }
        self.globs[module.index()] = Some(found);
    }

    fn walk_building(
        &mut self,
        index: &Index<'_>,
        module: ModuleId,
        path: &Path,
    ) -> Option<Resolved> {
        for segment in &path.segments {
            self.prepare(index, module, segment.name);
        }
        self.use_path(index, module, path, Namespace::Types)
    }

    /// Resolves the import of `name` in the modules a path from `module` may start in.
    fn prepare(&mut self, index: &Index<'_>, module: ModuleId, name: Name) {
        let mut at = Some(module);
        while let Some(module) = at {
            if index.modules[module.index()].imports.contains_key(&name) {
                self.import(index, module, name, Namespace::Types);
            }
            at = if index.modules[module.index()].is_block {
                index.modules[module.index()].parent
            } else {
                None
            };
        }
    }

    fn import(
        &mut self,
        index: &Index<'_>,
        module: ModuleId,
        name: Name,
        namespace: Namespace,
    ) -> Option<Def> {
        if let Some(known) = self.imported.get(&(module, name, namespace)) {
            return *known;
        }
        self.imported.insert((module, name, namespace), None);
        let mut result = None;
        for import in index.modules[module.index()]
            .imports
            .get(&name)
            .into_iter()
            .flatten()
        {
            let found = self.import_path(index, module, &import.path, namespace);
            // A described or local meaning is worth more than an unknown crate's.
            if result.is_none() || matches!(result, Some(Def::External(_))) {
                result = found.or(result);
            }
        }
        self.imported.insert((module, name, namespace), result);
        result
    }

    /// Resolves an import's path, resolving the imports it leads through first.
    fn import_path(
        &mut self,
        index: &Index<'_>,
        module: ModuleId,
        path: &Path,
        namespace: Namespace,
    ) -> Option<Def> {
        for _ in 0..=path.segments.len() {
            let pending = self.pending(index, module, path, namespace);
            match pending {
                Some((at, name, space)) => {
                    self.import(index, at, name, space);
                }
                None => break,
            }
        }
        self.use_path(index, module, path, namespace)
            .filter(|resolved| resolved.used == path.segments.len())
            .map(|resolved| resolved.def)
    }

    /// The first import on the way of `path` that has not been resolved.
    fn pending(
        &self,
        index: &Index<'_>,
        module: ModuleId,
        path: &Path,
        namespace: Namespace,
    ) -> Option<(ModuleId, Name, Namespace)> {
        let last = path.segments.len().checked_sub(1)?;
        let start = self.start(index, module, path, true)?;
        let (mut def, mut at) = start;
        // The first segment may itself be an import of this module.
        if at == 0 {
            let name = path.segments[0].name;
            let space = if last == 0 {
                namespace
            } else {
                Namespace::Types
            };
            let unresolved = |at: ModuleId| {
                index.modules[at.index()].imports.contains_key(&name)
                    && !self.imported.contains_key(&(at, name, space))
            };
            let mut scope = Some(module);
            while let Some(at) = scope {
                if unresolved(at) {
                    return Some((at, name, space));
                }
                scope = if index.modules[at.index()].is_block {
                    index.modules[at.index()].parent
                } else {
                    None
                };
            }
            def = self.lexical(index, module, name, Namespace::Types)?;
            at = 1;
        }
        while at <= last {
            let Def::Module(inner) = def else { return None };
            let name = path.segments[at].name;
            let space = if at == last {
                namespace
            } else {
                Namespace::Types
            };
            if index.modules[inner.index()].imports.contains_key(&name)
                && !self.imported.contains_key(&(inner, name, space))
            {
                return Some((inner, name, space));
            }
            def = self.member(index, inner, name, Namespace::Types, 0)?;
            at += 1;
        }
        None
    }

    /// Where a path starts when its first segments are keywords or it is global: definition and segments used.
    fn start(
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

    fn use_path(
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
        self.lexical(index, module, name, space).or_else(unknown)
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
        None
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
