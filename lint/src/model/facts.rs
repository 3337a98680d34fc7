//! Everything that is known about the definitions: signatures, fields, methods, what derefs to what.
//!
//! [`Model`] is built once and only read afterwards, from all threads.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::convert::{Converter, Place};
use super::index::{DataId, Def, FunctionId, ImplId, Index, ModuleId, Owner, TraitId, ValueId};
use super::name::Name;
use super::resolve::{Names, Namespace};
use super::syntax::{Generics, Mark, Storage, Swap};
use super::ty::{Ty, TyBound};
use crate::knowledge::Knowledge;

/// Names with their types.
pub(crate) type Fields = Vec<(Name, Ty)>;

/// A function's types.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// `self`, references included; `None` for a free function.
    pub(crate) receiver: Option<Ty>,
    /// The other parameters.
    pub(crate) params: Vec<Ty>,
    /// The result; of an async function what it gives when awaited.
    pub(crate) output: Ty,
}

/// What a method table is keyed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A data type.
    Data(DataId),
    /// A primitive.
    Plain(Name),
    /// An unknown crate's type.
    External(Name),
    /// Slices and arrays.
    Slice,
    /// Tuples.
    Tuple,
    /// Anything: implementations for a type parameter.
    Any,
    /// `dyn Trait`.
    Dyn(TraitId),
}

/// An implementation's types.
#[derive(Clone, Debug)]
pub(crate) struct ImplTypes {
    /// The type it is for.
    pub(crate) self_type: Ty,
    /// The trait.
    pub(crate) of_trait: Option<Def>,
    /// Its associated types.
    pub(crate) assoc: Vec<(Name, Ty)>,
}

/// Locks that configuration names.
#[derive(Debug, Default)]
pub(crate) struct ConfiguredLocks {
    /// The names, as configuration spells them.
    pub(crate) names: Vec<String>,
    /// The types their methods give.
    pub(crate) guards: std::collections::HashSet<DataId>,
    /// The methods that wait for them.
    pub(crate) waits: std::collections::HashSet<FunctionId>,
}

/// All facts.
pub(crate) struct Model<'a> {
    /// Locks that configuration names.
    pub(crate) configured: ConfiguredLocks,
    /// Definitions.
    pub(crate) index: Index<'a>,
    /// Names.
    pub(crate) names: Names,
    /// Types `#[park_safe]` swaps.
    pub(crate) swaps: Vec<(Swap, Def, Def)>,
    /// By function.
    pub(crate) signatures: Vec<Signature>,
    /// By data type: fields.
    pub(crate) fields: Vec<Fields>,
    /// By data type: variants with their fields.
    pub(crate) variants: Vec<Vec<(Name, Fields)>>,
    /// By value.
    pub(crate) values: Vec<Ty>,
    /// By implementation.
    pub(crate) impls: Vec<ImplTypes>,
    /// Methods and associated functions.
    pub(super) methods: HashMap<(Key, Name), Vec<FunctionId>>,
    /// Associated constants.
    pub(super) constants: HashMap<(Key, Name), Ty>,
    /// `Deref` by type: the implementation.
    pub(super) derefs: HashMap<Key, ImplId>,
    /// Implementations of each trait.
    pub(super) by_trait: HashMap<TraitId, Vec<ImplId>>,
    /// Default bodies of traits of the workspace, by name.
    pub(super) provided: HashMap<Name, Vec<(TraitId, FunctionId)>>,
    /// Methods of described traits, by name.
    pub(super) described: HashMap<Name, FunctionId>,
    /// Methods that run a closure at once, on whatever type.
    pub(super) combinators: std::collections::HashSet<Name>,
    /// Crates of which every function is foreign, by crate: names in code.
    pub(super) foreign: Vec<std::collections::HashSet<Name>>,
    /// `Drop` by data type.
    pub(super) drops: HashMap<DataId, FunctionId>,
}

impl<'a> Model<'a> {
    /// Computes all facts.
    pub(crate) fn build(index: Index<'a>, names: Names, knowledge: &Knowledge) -> Self {
        let swaps = &knowledge.swaps;
        let swaps: Vec<(Swap, Def, Def)> = swaps
            .iter()
            .filter_map(|(least, from, to)| {
                Some((
                    *least,
                    known(&index, &names, from)?,
                    known(&index, &names, to)?,
                ))
            })
            .collect();
        let mut model = Self {
            configured: ConfiguredLocks::default(),
            signatures: Vec::new(),
            fields: Vec::new(),
            variants: Vec::new(),
            values: Vec::new(),
            impls: Vec::new(),
            methods: HashMap::new(),
            constants: HashMap::new(),
            derefs: HashMap::new(),
            by_trait: HashMap::new(),
            provided: HashMap::new(),
            described: HashMap::new(),
            combinators: std::collections::HashSet::new(),
            foreign: Vec::new(),
            drops: HashMap::new(),
            swaps,
            index,
            names,
        };
        model.impls = (0..model.index.impls.len())
            .into_par_iter()
            .map(|id| model.impl_types(ImplId(id as u32)))
            .collect();
        model.fields = (0..model.index.data.len())
            .into_par_iter()
            .map(|id| model.field_types(DataId(id as u32)))
            .collect();
        model.variants = (0..model.index.data.len())
            .into_par_iter()
            .map(|id| model.variant_types(DataId(id as u32)))
            .collect();
        model.values = (0..model.index.values.len())
            .into_par_iter()
            .map(|id| model.value_type(ValueId(id as u32)))
            .collect();
        model.signatures = (0..model.index.functions.len())
            .into_par_iter()
            .map(|id| model.signature(FunctionId(id as u32)))
            .collect();
        model.collect_methods();
        model.collect_traits();
        model.collect_foreign(knowledge);
        model.combinators = knowledge.combinators.iter().copied().collect();
        model
    }

    /// The converter over these facts.
    pub(crate) fn converter(&self) -> Converter<'_> {
        Converter {
            index: &self.index,
            names: &self.names,
            swaps: &self.swaps,
        }
    }

    fn impl_types(&self, id: ImplId) -> ImplTypes {
        let def = &self.index.impls[id.index()];
        let generics = [&def.syntax.generics];
        let place = Place {
            module: def.module,
            generics: &generics,
            self_type: None,
            assoc: &[],
            swap: def.syntax.swap,
        };
        let converter = self.converter();
        let self_type = converter.ty(place, &def.syntax.self_type);
        let of_trait = def.syntax.of_trait.as_ref().and_then(|path| {
            self.names
                .path(&self.index, def.module, path, Namespace::Types)
        });
        let inner = Place {
            self_type: Some(&self_type),
            ..place
        };
        let assoc = def
            .syntax
            .types
            .iter()
            .map(|(name, ty)| (*name, converter.ty(inner, ty)))
            .collect();
        ImplTypes {
            assoc,
            of_trait: of_trait.map(|found| found.def),
            self_type,
        }
    }

    fn field_types(&self, id: DataId) -> Vec<(Name, Ty)> {
        let def = &self.index.data[id.index()];
        self.types_of_fields(
            def.module,
            &def.syntax.generics,
            def.syntax.swap,
            &def.syntax.fields,
        )
    }

    fn variant_types(&self, id: DataId) -> Vec<(Name, Vec<(Name, Ty)>)> {
        let def = &self.index.data[id.index()];
        let fields = |fields: &[(Name, super::syntax::Type)]| {
            self.types_of_fields(def.module, &def.syntax.generics, def.syntax.swap, fields)
        };
        def.syntax
            .variants
            .iter()
            .map(|(name, of)| (*name, fields(of)))
            .collect()
    }

    fn types_of_fields(
        &self,
        module: ModuleId,
        generics: &Generics,
        swap: Swap,
        fields: &[(Name, super::syntax::Type)],
    ) -> Vec<(Name, Ty)> {
        let generics = [generics];
        let place = Place {
            module,
            generics: &generics,
            self_type: None,
            assoc: &[],
            swap,
        };
        fields
            .iter()
            .map(|(name, ty)| (*name, self.converter().ty(place, ty)))
            .collect()
    }

    fn value_type(&self, id: ValueId) -> Ty {
        let def = &self.index.values[id.index()];
        let place = Place {
            module: def.module,
            generics: &[],
            self_type: None,
            assoc: &[],
            swap: def.syntax.swap,
        };
        let ty = self.converter().ty(place, &def.syntax.ty);
        let wrapper = match def.syntax.storage {
            Storage::Constant => return ty,
            Storage::ThreadLocal => "std::thread::LocalKey",
            Storage::TaskLocal => "vt_runtime::task::LocalKey",
            Storage::Lazy => "std::sync::LazyLock",
        };
        let path: Vec<Name> = wrapper.split("::").map(Name::new).collect();
        match known(&self.index, &self.names, &path) {
            Some(Def::Data(id)) => self.converter().data(id, vec![ty]),
            _ => ty,
        }
    }

    /// Where a function's types are written.
    pub(crate) fn with_place<T>(&self, id: FunctionId, f: impl FnOnce(Place<'_>) -> T) -> T {
        let def = &self.index.functions[id.index()];
        let swap = def.syntax.swap;
        match def.owner {
            Owner::Module => {
                let generics = [&def.syntax.generics];
                f(Place {
                    module: def.module,
                    generics: &generics,
                    self_type: None,
                    assoc: &[],
                    swap,
                })
            }
            Owner::Impl(of) => {
                let types = &self.impls[of.index()];
                let generics = [
                    &self.index.impls[of.index()].syntax.generics,
                    &def.syntax.generics,
                ];
                f(Place {
                    module: def.module,
                    generics: &generics,
                    self_type: Some(&types.self_type),
                    assoc: &types.assoc,
                    swap,
                })
            }
            Owner::Trait(of) => {
                let generics = [
                    &self.index.traits[of.index()].syntax.generics,
                    &def.syntax.generics,
                ];
                let this = Ty::Dyn(Arc::new([TyBound::Trait(of, Arc::new([]), Arc::new([]))]));
                f(Place {
                    module: def.module,
                    generics: &generics,
                    self_type: Some(&this),
                    assoc: &[],
                    swap,
                })
            }
        }
    }

    fn signature(&self, id: FunctionId) -> Signature {
        let syntax = self.index.functions[id.index()].syntax;
        self.with_place(id, |place| {
            let converter = self.converter();
            let this = || place.self_type.cloned().unwrap_or(Ty::Unknown);
            let receiver = syntax.receiver.as_ref().map(|receiver| match &receiver.ty {
                Some(ty) => converter.ty(place, ty),
                None if receiver.by_reference => this().reference(),
                None => this(),
            });
            let params = syntax
                .params
                .iter()
                .map(|param| converter.ty(place, &param.ty))
                .collect();
            let output = syntax
                .output
                .as_ref()
                .map_or_else(Ty::unit, |output| converter.ty(place, output));
            Signature {
                receiver,
                params,
                output,
            }
        })
    }

    /// Whether the function only stands in an interface description.
    pub(crate) fn is_described(&self, id: FunctionId) -> bool {
        let module = self.index.functions[id.index()].module;
        self.index.crates[self.index.modules[module.index()].krate].is_interface
    }

    /// What attributes say about a function.
    pub(crate) fn marks(&self, id: FunctionId) -> &'a [Mark] {
        &self.index.functions[id.index()].syntax.marks
    }

    /// A definition by its full path.
    pub(crate) fn known(&self, path: &str) -> Option<Def> {
        let path: Vec<Name> = path.split("::").map(Name::new).collect();
        known(&self.index, &self.names, &path)
    }
}

/// A definition of an interface description by its full path.
fn known(index: &Index<'_>, names: &Names, path: &[Name]) -> Option<Def> {
    let krate = index.interfaces.get(path.first()?)?;
    let mut def = Def::Module(index.crates[*krate].root);
    for name in &path[1..] {
        let Def::Module(module) = def else {
            return None;
        };
        def = names
            .member(index, module, *name, Namespace::Types, 0)
            .or_else(|| names.member(index, module, *name, Namespace::Values, 0))?;
    }
    Some(def)
}

/// What a type's methods are filed under.
pub(crate) fn key(ty: &Ty) -> Option<Key> {
    Some(match ty.peeled() {
        Ty::Data(id, _) => Key::Data(*id),
        Ty::Plain(name) => Key::Plain(*name),
        Ty::External(path, _) => Key::External(*path),
        Ty::Slice(_) => Key::Slice,
        Ty::Tuple(_) => Key::Tuple,
        Ty::Param(_) => Key::Any,
        Ty::Dyn(bounds) => match bounds.first()? {
            TyBound::Trait(id, ..) => Key::Dyn(*id),
            _ => return None,
        },
        _ => return None,
    })
}

/// The argument of a mark, if it is there.
pub(crate) fn mark<'m>(marks: &'m [Mark], name: &str) -> Option<&'m str> {
    marks
        .iter()
        .find(|mark| mark.name.as_str() == name)
        .map(|mark| mark.argument.as_str())
}
