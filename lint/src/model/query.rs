//! Questions about types that the flow analysis asks: guards, iterators, files, methods.

use super::facts::{Key, Model, key, mark};
use super::index::{DataId, Def, FunctionId, Owner, TraitId};
use super::name::Name;
use super::syntax::Mark;
use super::ty::{Substitution, Ty};
use crate::config::is_named;
use crate::flow::body::{Callable, GuardKind};

/// How deep fields are searched for guards and for `Drop`.
const DEPTH: u32 = 4;

impl<'a> Model<'a> {
    pub(super) fn data_marks(&self, id: DataId) -> &'a [Mark] {
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
                if self.configured.guards.contains(id) {
                    return Some(GuardKind::Monitor);
                }
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

    /// In how many parts a value of this type may own guards; wrappers are one part.
    pub(crate) fn guards_in(&self, ty: &Ty) -> usize {
        let count = |types: &mut dyn Iterator<Item = &Ty>| {
            types.filter(|ty| self.guard_kind(ty, 1).is_some()).count()
        };
        match ty {
            Ty::Tuple(parts) => count(&mut parts.iter()),
            Ty::Data(id, _)
                if !self.is_described_data(*id) && !self.fields[id.index()].is_empty() =>
            {
                count(&mut self.fields[id.index()].iter().map(|(_, ty)| ty))
            }
            _ => usize::from(self.guard_kind(ty, 0).is_some()),
        }
    }

    /// Whether a type of a crate nobody describes is a lock that configuration names.
    pub(crate) fn is_configured_lock(&self, ty: &Ty) -> bool {
        if self.configured.names.is_empty() {
            return false;
        }
        let mut at = ty.clone();
        for _ in 0..DEPTH {
            at = match &at {
                Ty::External(path, _) => {
                    let named = |entry: &String| is_named(path.as_str(), entry);
                    return self.configured.names.iter().any(named);
                }
                Ty::Ref(inner) => (**inner).clone(),
                other => match self.deref(other) {
                    Some(inner) => inner,
                    None => return false,
                },
            };
        }
        false
    }

    /// A described type by path.
    pub(crate) fn described(&self, path: &str, args: Vec<Ty>) -> Ty {
        match self.known(path) {
            Some(Def::Data(id)) => self.converter().data(id, args),
            _ => Ty::Unknown,
        }
    }

    pub(super) fn is_type(&self, id: DataId, name: &str) -> bool {
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

    /// A function's output for a receiver type.
    pub(super) fn instance(&self, id: FunctionId, ty: &Ty) -> Ty {
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
