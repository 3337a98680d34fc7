//! The macros at work: what their expansions do at run time.

mod entry;
mod native;
mod park_safe;
