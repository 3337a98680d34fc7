//! Blocking in closures that initialise a cell or an entry.
// edition: 2024

use std::collections::HashMap;
use std::fs;
use std::sync::{Once, OnceLock};

static CONFIG: OnceLock<String> = OnceLock::new();
static LOADED: Once = Once::new();

pub fn config() -> &'static str {
    CONFIG.get_or_init(|| fs::read_to_string("x").unwrap_or_default()) //~ blocking-in-initializer
}

pub fn load() {
    LOADED.call_once(|| drop(fs::read("x"))); //~ blocking-in-initializer
}

pub fn cached(all: &mut HashMap<String, Vec<u8>>, path: &str) -> usize {
    let data = all.entry(path.to_owned()).or_insert_with(|| fs::read(path).unwrap_or_default()); //~ blocking-in-initializer
    data.len()
}

pub fn given(text: String) -> usize {
    let read = fs::read("y").unwrap_or_default();
    CONFIG.get_or_init(|| text).len() + read.len()
}
