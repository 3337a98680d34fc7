//! The last part in edition 2021: `let` in conditions.

fn chains() {}
