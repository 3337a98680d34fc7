//! The contents of a file module, which an attribute on `mod` cannot see.
