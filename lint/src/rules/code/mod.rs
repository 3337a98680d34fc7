//! Rules about blocking where it matters without a guard: async code and initialisers.

pub mod blocking_in_async;
pub mod blocking_in_initializer;
