//! What the public primitives are made of: raw locks on the wait queue, and the cells they protect.
//!
//! `attempt` is the only file of `sync` that calls [`crate::park::wait`]; `protected` and `monitor` are the only
//! ones with `unsafe`.

pub(crate) mod attempt;
pub(crate) mod condition;
pub(crate) mod exclusive;
pub(crate) mod level;
pub(crate) mod monitor;
pub(crate) mod poison;
pub(crate) mod protected;
pub(crate) mod reentrant;
pub(crate) mod shared;
