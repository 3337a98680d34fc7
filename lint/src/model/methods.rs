//! The tables of methods, traits and foreign crates, and how to look in them.

use std::collections::HashMap;

use super::convert::Place;
use super::facts::{Key, Model, key, mark};
use super::index::{DataId, Def, Extern, FunctionId, ImplId, TraitId};
use super::name::Name;
use super::query::compatible;
use super::ty::Ty;
use crate::knowledge::Knowledge;

impl Model<'_> {
    pub(super) fn collect_methods(&mut self) {
        for id in 0..self.index.impls.len() {
            let id = ImplId(id as u32);
            let types = &self.impls[id.index()];
            let Some(key) = key(&types.self_type) else {
                continue;
            };
            let def = &self.index.impls[id.index()];
            for function in &def.functions {
                let name = self.index.functions[function.index()].syntax.name;
                self.methods.entry((key, name)).or_default().push(*function);
            }
            for (name, ty) in &def.syntax.constants {
                let generics = [&def.syntax.generics];
                let place = Place {
                    module: def.module,
                    generics: &generics,
                    self_type: Some(&types.self_type),
                    assoc: &types.assoc,
                    swap: def.syntax.swap,
                };
                let ty = self.converter().ty(place, ty);
                self.constants.insert((key, *name), ty);
            }
            if let Some(Def::Trait(of)) = types.of_trait {
                self.by_trait.entry(of).or_default().push(id);
                let name = self.index.traits[of.index()].syntax.name;
                if name == "Deref" {
                    self.derefs.entry(key).or_insert(id);
                } else if let (true, Key::Data(data), Some(function)) =
                    (name == "Drop", key, def.functions.first())
                {
                    self.drops.insert(data, *function);
                }
            }
        }
    }

    pub(super) fn collect_traits(&mut self) {
        for id in 0..self.index.traits.len() {
            let def = &self.index.traits[id];
            let is_interface =
                self.index.crates[self.index.modules[def.module.index()].krate].is_interface;
            for (name, function) in &def.functions {
                if is_interface {
                    // Only methods that say something; names such as `flush` stand in several traits.
                    let marks = &self.index.functions[function.index()].syntax.marks;
                    if mark(marks, "io_call").or(mark(marks, "blocks")).is_some() {
                        self.described.insert(*name, *function);
                    }
                } else if self.index.functions[function.index()].syntax.body.is_some() {
                    self.provided
                        .entry(*name)
                        .or_default()
                        .push((TraitId(id as u32), *function));
                }
            }
        }
        for list in self.provided.values_mut() {
            list.sort_unstable_by_key(|(_, function)| *function);
        }
    }

    pub(super) fn collect_foreign(&mut self, knowledge: &Knowledge) {
        let is_foreign = |package: Name| {
            let package = package.as_str();
            package.ends_with("-sys")
                || package.ends_with("_sys")
                || knowledge
                    .foreign_crates
                    .iter()
                    .any(|known| known == package)
        };
        for krate in &self.index.crates {
            let named = krate.externs.iter().filter(|(name, what)| match what {
                Extern::Other(package) => is_foreign(*package) || is_foreign(**name),
                Extern::Known(_) => false,
            });
            self.foreign.push(named.map(|(name, _)| *name).collect());
        }
    }

    /// Whether every function of the crate a name stands for is foreign.
    pub(crate) fn is_foreign_crate(&self, krate: usize, name: Name) -> bool {
        let undeclared = !self.index.crates[krate].externs.contains_key(&name);
        self.foreign[krate].contains(&name)
            || (undeclared && (name == "libc" || name.as_str().ends_with("_sys")))
    }

    /// Whether methods of that name run a closure at once.
    pub(crate) fn runs_now(&self, name: Name) -> bool {
        self.combinators.contains(&name)
    }

    /// A method of a described trait, for receivers whose type has none of that name.
    pub(crate) fn described_method(&self, name: Name) -> Option<FunctionId> {
        self.described.get(&name).copied()
    }

    /// Default bodies of that name.
    pub(crate) fn provided(&self, name: Name) -> &[(TraitId, FunctionId)] {
        self.provided.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Inherent and trait methods of a type by name.
    pub(crate) fn methods(&self, key: Key, name: Name) -> &[FunctionId] {
        self.methods.get(&(key, name)).map_or(&[], Vec::as_slice)
    }

    /// An associated constant's type.
    pub(crate) fn constant(&self, key: Key, name: Name) -> Option<&Ty> {
        self.constants.get(&(key, name))
    }

    /// What a type derefs to.
    pub(crate) fn deref(&self, ty: &Ty) -> Option<Ty> {
        let implementation = self.derefs.get(&key(ty)?)?;
        let types = &self.impls[implementation.index()];
        // Another instance of the same generic type may be what this one derefs to.
        if !compatible(&types.self_type, ty) {
            return None;
        }
        let mut learned = HashMap::new();
        types.self_type.unify(ty, &mut learned);
        let (_, target) = types.assoc.iter().find(|(name, _)| *name == "Target")?;
        Some(target.substituted(&learned, true))
    }

    /// Implementations of a trait.
    pub(crate) fn implementations(&self, of: TraitId) -> &[ImplId] {
        self.by_trait.get(&of).map_or(&[], Vec::as_slice)
    }

    /// `Drop::drop` of a type.
    pub(crate) fn drop_of(&self, data: DataId) -> Option<FunctionId> {
        self.drops.get(&data).copied()
    }

    /// The implementation of `of` for a type.
    pub(crate) fn implementation(&self, of: TraitId, ty: &Ty) -> Option<ImplId> {
        let wanted = key(ty)?;
        self.implementations(of)
            .iter()
            .copied()
            .find(|id| key(&self.impls[id.index()].self_type) == Some(wanted))
    }
}
