//! The part of `task` that is modelled.

pub(crate) mod scope;
