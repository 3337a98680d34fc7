//! What the analysis knows about the code: files, modules, names, types, functions.

pub(crate) mod cfg;
pub(crate) mod convert;
pub(crate) mod facts;
pub(crate) mod imports;
pub(crate) mod index;
pub(crate) mod iterate;
pub(crate) mod lower;
pub(crate) mod methods;
pub(crate) mod name;
pub(crate) mod query;
pub(crate) mod resolve;
pub(crate) mod syntax;
pub(crate) mod tree;
pub(crate) mod ty;
