//! What the flow analysis knows about a value.

use crate::model::index::{DataId, FunctionId, ValueId};
use crate::model::name::Name;
use crate::model::syntax::{At, Expr};
use crate::model::ty::Ty;

use super::body::{Callable, Guards};

/// A value or place.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    /// Its type.
    pub(super) ty: Ty,
    /// Guards it owns while it is in flight.
    pub(super) held: Guards,
    /// Guards inside it that only a poisoned lock gives: not alive for rules until they are taken out.
    pub(super) poison: Guards,
    /// Guards whose protected value it is, or borrows from.
    pub(super) via: Guards,
    /// The variable or temporary it is, or is part of.
    pub(super) slot: Option<u32>,
    /// It is the whole variable.
    pub(super) whole: bool,
    /// The place is a field of the variable, without anything between.
    pub(super) part: bool,
    /// The field it is.
    pub(super) field: Option<(DataId, Name)>,
    /// The lazily initialised value it is.
    pub(super) cell: Option<ValueId>,
    /// What calling it calls.
    pub(super) callable: Option<Callable>,
    /// Closures of iterator adaptors that run when it is consumed, with the variables they see.
    pub(super) lazy: Vec<(&'a Expr, usize)>,
    /// Each step of iterating it blocks (or parks), as the call at this place says.
    pub(super) steps: Option<(FunctionId, At)>,
    /// It comes from a call that looks like taking a lock of an unknown type.
    pub(super) looks_locked: Option<At>,
}

impl Value<'_> {
    /// A value of a type.
    pub(super) fn of(ty: Ty) -> Self {
        Self {
            ty,
            held: 0,
            poison: 0,
            via: 0,
            slot: None,
            whole: false,
            part: false,
            field: None,
            cell: None,
            callable: None,
            lazy: Vec::new(),
            steps: None,
            looks_locked: None,
        }
    }

    /// A value nothing is known about.
    pub(super) fn unknown() -> Self {
        Self::of(Ty::Unknown)
    }
}
