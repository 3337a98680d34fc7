//! The other ways in which a lock can be part of an API.

use std::sync::{Mutex, OnceLock};

#[vt_runtime::park_safe]
pub enum Kind {
    One(Mutex<u8>),
}

#[vt_runtime::park_safe]
pub static CELL: Mutex<u8> = Mutex::new(1);

#[vt_runtime::park_safe]
pub const EMPTY: OnceLock<u8> = OnceLock::new();

#[vt_runtime::park_safe]
pub type Alias = Mutex<u8>;

#[vt_runtime::park_safe]
pub trait Store {
    fn cell(&self) -> &Mutex<u8>;
}

fn main() {}
