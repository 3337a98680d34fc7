//! Questions about what is iterated, read and written.

use std::collections::HashMap;

use super::facts::{Key, Model, key, mark};
use super::index::{Def, FunctionId};
use super::name::Name;
use super::ty::{Ty, TyBound};

impl Model<'_> {
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
    pub(super) fn iterator_item(&self, ty: &Ty) -> Option<Ty> {
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

    pub(super) fn iterator_item_of(&self, ty: &Ty) -> Option<Ty> {
        let Some(Def::Trait(id)) = self.known("std::iter::Iterator") else {
            return None;
        };
        self.implementation(id, ty)?;
        self.iterator_item(ty)
    }

    pub(super) fn on_iterator(&self, item: Ty, name: Name) -> Option<(FunctionId, Ty)> {
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
