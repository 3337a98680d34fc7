//! Questions about types that the flow analysis asks: guards, iterators, files, methods.

use std::collections::HashMap;

use super::facts::{Key, Model, key, mark};
use super::index::{DataId, Def, FunctionId, Owner, TraitId};
use super::name::Name;
use super::syntax::Mark;
use super::ty::{Substitution, Ty, TyBound};
use crate::flow::body::{Callable, GuardKind};

/// How deep fields are searched for guards and for `Drop`.
const DEPTH: u32 = 4;

impl<'a> Model<'a> {
    fn data_marks(&self, id: DataId) -> &'a [Mark] {
        &self.index.data[id.index()].syntax.marks
    }

    /// Whether a data type only stands in an interface description.
    pub(crate) fn is_described_data(&self, id: DataId) -> bool {
        self.index.crates[self.index.modules[self.index.data[id.index()].module.index()].krate]
            .is_interface
    }

    /// The kind of guard a value of this type owns, in whatever wrapper.
    pub(crate) fn guard_kind(&self, ty: &Ty, depth: u32) -> Option<GuardKind> {
        if depth > DEPTH {
            return None;
        }
        match ty {
            Ty::Data(id, args) => {
                if let Some(argument) = mark(self.data_marks(*id), "guard") {
                    return Some(match argument {
                        "aware" => GuardKind::Aware,
                        "stream" => GuardKind::Stream,
                        _ => GuardKind::Monitor,
                    });
                }
                if self.is_type(*id, "Result")
                    && args.get(1).is_some_and(|error| self.is_poison(error))
                {
                    // The guard of a poisoned lock is nothing anybody holds on purpose.
                    return self.guard_kind(&args[0], depth + 1);
                }
                if self.is_described_data(*id) {
                    return args.iter().find_map(|arg| self.guard_kind(arg, depth + 1));
                }
                let fields = self.fields[id.index()].iter().map(|(_, ty)| ty);
                let of_variants = self.variants[id.index()]
                    .iter()
                    .flat_map(|(_, fields)| fields.iter().map(|(_, ty)| ty));
                let own = fields
                    .chain(of_variants)
                    .find_map(|ty| self.guard_kind(ty, depth + 1));
                own.or_else(|| args.iter().find_map(|arg| self.guard_kind(arg, depth + 1)))
            }
            Ty::Tuple(parts) => parts
                .iter()
                .find_map(|part| self.guard_kind(part, depth + 1)),
            Ty::Slice(inner) => self.guard_kind(inner, depth + 1),
            _ => None,
        }
    }

    /// A described type by path.
    pub(crate) fn described(&self, path: &str, args: Vec<Ty>) -> Ty {
        match self.known(path) {
            Some(Def::Data(id)) => self.converter().data(id, args),
            _ => Ty::Unknown,
        }
    }

    fn is_type(&self, id: DataId, name: &str) -> bool {
        self.index.data[id.index()].syntax.name == name && self.is_described_data(id)
    }

    /// `Option` and `Result`.
    pub(crate) fn is_wrapper(&self, id: DataId) -> bool {
        self.is_type(id, "Option") || self.is_type(id, "Result")
    }

    /// The error of a poisoned lock, which owns a guard nobody counts on.
    pub(crate) fn is_poison(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Data(id, _) if self.is_type(*id, "PoisonError") || self.is_type(*id, "TryLockError"))
    }

    /// Cells whose initialiser runs at first use.
    pub(crate) fn is_lazy_cell(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Data(id, _) if self.is_type(*id, "LazyLock") || self.is_type(*id, "LazyCell") || self.is_type(*id, "LocalKey"))
    }

    /// The one type that stands for all iterators.
    pub(crate) fn is_iterator(&self, ty: &Ty) -> bool {
        match ty.peeled() {
            Ty::Data(id, args) if self.is_wrapper(*id) => {
                args.first().is_some_and(|ty| self.is_iterator(ty))
            }
            Ty::Data(id, _) => self.is_type(*id, "Iter"),
            _ => false,
        }
    }

    /// Whether a value of this type may borrow from the value it comes from.
    pub(crate) fn borrows(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Ref(_) => true,
            Ty::Data(id, args) => {
                self.is_type(*id, "Iter") || args.iter().any(|arg| self.borrows(arg))
            }
            Ty::Tuple(parts) => parts.iter().any(|part| self.borrows(part)),
            Ty::Slice(inner) => self.borrows(inner),
            _ => false,
        }
    }

    /// What iterating gives, or with `index` what indexing gives.
    pub(crate) fn element(&self, ty: &Ty, index: bool) -> Option<Ty> {
        match ty {
            Ty::Ref(inner) => {
                let element = self.element(inner, index)?;
                let owned = matches!(&**inner, Ty::Data(id, _) if self.is_type(*id, "Iter"));
                Some(if index || owned {
                    element
                } else {
                    element.reference()
                })
            }
            Ty::Slice(inner) => Some((**inner).clone()),
            Ty::Data(id, args) => {
                let name = self.index.data[id.index()].syntax.name;
                if self.is_described_data(*id) {
                    match name.as_str() {
                        "Vec" | "VecDeque" | "Iter" | "HashSet" | "BTreeSet" | "Option"
                        | "BinaryHeap" | "LinkedList" | "Range" => {
                            return args.first().cloned();
                        }
                        "HashMap" | "BTreeMap" => {
                            return if index {
                                args.get(1).cloned()
                            } else {
                                Some(Ty::Tuple(args.clone()))
                            };
                        }
                        _ => {}
                    }
                    if !index
                        && let Some(into) =
                            self.methods(Key::Data(*id), Name::new("into_iter")).first()
                    {
                        let output = self.instance(*into, ty);
                        return match output {
                            Ty::Data(iter, args) if self.is_type(iter, "Iter") => {
                                args.first().cloned()
                            }
                            _ => None,
                        };
                    }
                }
                match self.iterator_item(ty) {
                    Some(item) => Some(item),
                    None => self.element(&self.deref(ty)?, index),
                }
            }
            Ty::Opaque(bounds) | Ty::Dyn(bounds) => item_of(bounds),
            _ => None,
        }
    }

    /// `Item` of a type that is an iterator or gives one.
    fn iterator_item(&self, ty: &Ty) -> Option<Ty> {
        for path in ["std::iter::Iterator", "std::iter::IntoIterator"] {
            let Some(Def::Trait(id)) = self.known(path) else {
                continue;
            };
            if let Some(implementation) = self.implementation(id, ty) {
                let types = &self.impls[implementation.index()];
                let mut learned = HashMap::new();
                types.self_type.unify(ty, &mut learned);
                let item = types.assoc.iter().find(|(name, _)| *name == "Item");
                return Some(
                    item.map_or(Ty::Unknown, |(_, item)| item.substituted(&learned, true)),
                );
            }
        }
        None
    }

    /// A function's output for a receiver type.
    fn instance(&self, id: FunctionId, ty: &Ty) -> Ty {
        let mut learned = Substitution::new();
        self.learn_self(id, ty, &mut learned);
        self.signatures[id.index()]
            .output
            .substituted(&learned, true)
    }

    /// What the parameters of a function's implementation stand for on a type.
    pub(crate) fn learn_self(&self, id: FunctionId, ty: &Ty, learned: &mut Substitution) {
        if let Owner::Impl(of) = self.index.functions[id.index()].owner {
            self.impls[of.index()].self_type.unify(ty, learned);
        }
    }

    /// The inherent or trait method for a type, the inherent one first.
    pub(crate) fn pick_method(&self, key: Key, ty: &Ty, name: Name) -> Option<FunctionId> {
        let candidates = self.methods(key, name);
        let takes_self = |id: &&FunctionId| self.signatures[id.index()].receiver.is_some();
        let fits = |id: &&FunctionId| match self.index.functions[id.index()].owner {
            Owner::Impl(of) => compatible(&self.impls[of.index()].self_type, ty),
            _ => true,
        };
        let inherent = |id: &&FunctionId| match self.index.functions[id.index()].owner {
            Owner::Impl(of) => self.impls[of.index()].of_trait.is_none(),
            _ => true,
        };
        let mut usable = candidates.iter().filter(takes_self).filter(fits).peekable();
        let first = usable.peek().copied();
        usable
            .find(inherent)
            .or(first)
            .copied()
            .or_else(|| self.default_method(ty, name))
    }

    /// A trait's default body for a type of the workspace that implements the trait.
    fn default_method(&self, ty: &Ty, name: Name) -> Option<FunctionId> {
        let Ty::Data(..) = ty else { return None };
        let id = self
            .provided(name)
            .iter()
            .find(|(of, _)| self.implementation(*of, ty).is_some())?;
        Some(id.1)
    }

    /// `Type::name`, with or without `self`.
    pub(crate) fn associated_function(&self, ty: &Ty, name: Name) -> Option<FunctionId> {
        match ty {
            Ty::Param(_) | Ty::Opaque(_) => None,
            _ => {
                let key = key(ty)?;
                let fits = |id: &&FunctionId| match self.index.functions[id.index()].owner {
                    Owner::Impl(of) => compatible(&self.impls[of.index()].self_type, ty),
                    _ => true,
                };
                let candidates = self.methods(key, name);
                candidates
                    .iter()
                    .find(fits)
                    .copied()
                    .or_else(|| match self.deref_target(ty) {
                        Some(inner) => self.associated_function(&inner, name),
                        None => self.default_method(ty, name),
                    })
            }
        }
    }

    fn deref_target(&self, ty: &Ty) -> Option<Ty> {
        match ty {
            Ty::Ref(inner) => Some((**inner).clone()),
            _ => None,
        }
    }

    /// A method of the iterator type, on a type of the workspace that is an iterator.
    pub(crate) fn iterator_method(&self, ty: &Ty, name: Name) -> Option<(FunctionId, Ty)> {
        let Ty::Data(id, _) = ty else { return None };
        if self.is_described_data(*id) && !self.is_type(*id, "Range") {
            return None;
        }
        let item = if self.is_type(*id, "Range") {
            self.element(ty, false)?
        } else {
            self.iterator_item_of(ty)?
        };
        self.on_iterator(item, name)
    }

    fn iterator_item_of(&self, ty: &Ty) -> Option<Ty> {
        let Some(Def::Trait(id)) = self.known("std::iter::Iterator") else {
            return None;
        };
        self.implementation(id, ty)?;
        self.iterator_item(ty)
    }

    fn on_iterator(&self, item: Ty, name: Name) -> Option<(FunctionId, Ty)> {
        let iter = self.described("std::iter::Iter", vec![item]);
        let id = self.methods(key(&iter)?, name).first().copied()?;
        Some((id, iter))
    }

    /// The same for something that is only known to be an iterator.
    pub(crate) fn iterator_bound(
        &self,
        bounds: &[TyBound],
        name: Name,
    ) -> Option<(FunctionId, Ty)> {
        self.on_iterator(item_of(bounds)?, name)
    }

    /// A trait's method, supertraits included.
    pub(crate) fn trait_function(&self, id: TraitId, name: Name) -> Option<FunctionId> {
        self.trait_function_at(id, name, 0)
    }

    fn trait_function_at(&self, id: TraitId, name: Name, depth: u32) -> Option<FunctionId> {
        let def = &self.index.traits[id.index()];
        if let Some(found) = def.functions.get(&name) {
            return Some(*found);
        }
        if depth > DEPTH {
            return None;
        }
        def.syntax.supertraits.iter().find_map(|bound| {
            let super::syntax::Bound::Trait(path) = bound else {
                return None;
            };
            match self
                .names
                .path(
                    &self.index,
                    def.module,
                    path,
                    super::resolve::Namespace::Types,
                )?
                .def
            {
                Def::Trait(id) => self.trait_function_at(id, name, depth + 1),
                _ => None,
            }
        })
    }

    /// Everything a call of a trait object's method may run; nothing when no implementation is in view.
    pub(crate) fn candidates(
        &self,
        of: TraitId,
        declared: FunctionId,
        name: Name,
    ) -> Vec<Callable> {
        let mut found: Vec<Callable> = self
            .implementations(of)
            .iter()
            .map(|implementation| {
                let own = self.index.impls[implementation.index()]
                    .functions
                    .iter()
                    .find(|id| self.index.functions[id.index()].syntax.name == name);
                Callable::Function(own.copied().unwrap_or(declared))
            })
            .collect();
        found.dedup();
        found
    }

    /// Whether a file or socket: `Some(true)` parks, `Some(false)` blocks.
    pub(crate) fn io(&self, ty: &Ty) -> Option<bool> {
        match ty.peeled() {
            Ty::Data(id, args) => match mark(self.data_marks(*id), "io")? {
                "parks" => Some(true),
                "through" => self.io(args.first()?),
                _ => Some(false),
            },
            // A trait of the workspace for what is read and written: all that implement it must be files or sockets.
            Ty::Dyn(bounds) => match bounds.first()? {
                TyBound::Trait(id, ..) => {
                    let mut kinds = self
                        .implementations(*id)
                        .iter()
                        .map(|of| self.io(&self.impls[of.index()].self_type));
                    let first = kinds.next()??;
                    kinds.all(|kind| kind == Some(first)).then_some(first)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The workspace's own `Read` or `Write` behind a call of their other methods.
    pub(crate) fn own_io(&self, ty: &Ty, name: Name) -> Option<FunctionId> {
        let Ty::Data(id, _) = ty else { return None };
        if self.is_described_data(*id) {
            return None;
        }
        let own = match name.as_str() {
            "write_all" | "write_fmt" | "write_vectored" | "write" => "write",
            "flush" => "flush",
            "seek" | "rewind" | "stream_position" => "seek",
            _ => "read",
        };
        self.methods(Key::Data(*id), Name::new(own))
            .first()
            .copied()
    }

    /// The `Drop` that runs when a value of this type is dropped.
    pub(crate) fn drop_glue(&self, ty: &Ty, depth: u32) -> Option<FunctionId> {
        if depth > DEPTH {
            return None;
        }
        match ty {
            Ty::Data(id, args) => {
                if let Some(drop) = self.drop_of(*id) {
                    return Some(drop);
                }
                if self.is_described_data(*id) {
                    let owns = ["Option", "Box", "Vec", "VecDeque", "Result"]
                        .iter()
                        .any(|name| self.is_type(*id, name));
                    return if owns {
                        args.iter().find_map(|arg| self.drop_glue(arg, depth + 1))
                    } else {
                        None
                    };
                }
                self.fields[id.index()]
                    .iter()
                    .find_map(|(_, ty)| self.drop_glue(ty, depth + 1))
            }
            Ty::Tuple(parts) => parts
                .iter()
                .find_map(|part| self.drop_glue(part, depth + 1)),
            _ => None,
        }
    }

    /// A function's path for people: `Registry::flush`, `std::thread::sleep`.
    pub(crate) fn function_name(&self, id: FunctionId) -> String {
        let Some(def) = self.index.functions.get(id.index()) else {
            return "lock".to_owned();
        };
        let name = def.syntax.name;
        let owner = match def.owner {
            Owner::Module if self.is_described(id) => {
                return format!(
                    "{}::{name}",
                    self.index.modules[self.index.proper(def.module).index()].path
                );
            }
            Owner::Module => return name.as_str().to_owned(),
            Owner::Impl(of) => self.type_name(&self.impls[of.index()].self_type),
            Owner::Trait(of) => self.index.traits[of.index()]
                .syntax
                .name
                .as_str()
                .to_owned(),
        };
        format!("{owner}::{name}")
    }

    /// The path of a function as configuration spells it: crate, modules, type, name.
    pub(crate) fn function_path(&self, id: FunctionId) -> String {
        let Some(def) = self.index.functions.get(id.index()) else {
            return String::new();
        };
        let module = &self.index.modules[self.index.proper(def.module).index()].path;
        match def.owner {
            Owner::Module => format!("{module}::{}", def.syntax.name),
            _ => format!("{module}::{}", self.function_name(id)),
        }
    }

    fn type_name(&self, ty: &Ty) -> String {
        match ty.peeled() {
            Ty::Data(id, _) => self.index.data[id.index()].syntax.name.as_str().to_owned(),
            Ty::Plain(name) | Ty::Param(name) => name.as_str().to_owned(),
            Ty::External(path, _) => path
                .as_str()
                .rsplit("::")
                .next()
                .unwrap_or_default()
                .to_owned(),
            Ty::Slice(_) => "[T]".to_owned(),
            _ => "_".to_owned(),
        }
    }
}

fn item_of(bounds: &[TyBound]) -> Option<Ty> {
    bounds.iter().find_map(|bound| {
        let (TyBound::Trait(_, _, bindings) | TyBound::External(_, bindings)) = bound else {
            return None;
        };
        bindings
            .iter()
            .find(|(name, _)| *name == "Item")
            .map(|(_, ty)| ty.clone())
    })
}

/// Whether an implementation for `pattern` can be one for `ty`.
pub(super) fn compatible(pattern: &Ty, ty: &Ty) -> bool {
    match (pattern.peeled(), ty.peeled()) {
        (Ty::Unknown | Ty::Param(_), _) | (_, Ty::Unknown | Ty::Param(_)) => true,
        (Ty::Data(a, a_args), Ty::Data(b, b_args)) => {
            a == b
                && a_args
                    .iter()
                    .zip(b_args.iter())
                    .all(|(a, b)| compatible(a, b))
        }
        (Ty::External(a, _), Ty::External(b, _)) => a == b,
        (Ty::Slice(a), Ty::Slice(b)) => compatible(a, b),
        (Ty::Tuple(a), Ty::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| compatible(a, b))
        }
        (Ty::Plain(a), Ty::Plain(b)) => a == b,
        _ => true,
    }
}
