//! Rules about what happens while a guard is alive.

pub mod await_in_guard;
pub mod blocking_in_guard;
pub mod blocking_in_guard_indirect;
pub mod blocking_through_guard;
pub mod ffi_in_guard;
pub mod guard_across_park;
pub mod nested_lock;
