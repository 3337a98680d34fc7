//! Attribute macros of `vt-runtime`.
