//! Always-on recording of the events of `vt-runtime`.
