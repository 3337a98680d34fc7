//! `cargo vt-lint`: blocking calls under a lock guard.
