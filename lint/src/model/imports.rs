//! Resolves all imports and globs, once, before anything else.

use super::index::{Def, Index, ModuleId};
use super::name::Name;
use super::resolve::{GLOB_DEPTH, Names, Namespace, Resolved};
use super::syntax::{INCLUDED, Path};

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

    pub(super) fn resolve_globs(&mut self, index: &Index<'_>, module: ModuleId, depth: u32) {
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
            } else if let [krate] = glob.path.segments.as_slice() {
                // A loose file names crates that no manifest declares.
                found.push(Def::External(krate.name));
            }
        }
        let of = &index.modules[module.index()];
        let last = of.path.rsplit("::").next().unwrap_or_default();
        if last.starts_with(INCLUDED) {
            // An included file is part of the module that includes it.
            found.extend(of.parent.map(Def::Module));
        }
        self.globs[module.index()] = Some(found);
    }

    pub(super) fn walk_building(
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
    pub(super) fn prepare(&mut self, index: &Index<'_>, module: ModuleId, name: Name) {
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

    pub(super) fn import(
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
        if result.is_none() && namespace == Namespace::Types {
            // `use some_sys as ffi` in a loose file, which no manifest explains.
            let alone = index.modules[module.index()].imports[&name]
                .iter()
                .find_map(|import| match import.path.segments.as_slice() {
                    [krate]
                        if krate
                            .name
                            .as_str()
                            .starts_with(|first: char| first.is_ascii_lowercase()) =>
                    {
                        Some(krate.name)
                    }
                    _ => None,
                });
            result = alone.map(Def::External);
        }
        self.imported.insert((module, name, namespace), result);
        result
    }

    /// Resolves an import's path, resolving the imports it leads through first.
    pub(super) fn import_path(
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
    pub(super) fn pending(
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
}
