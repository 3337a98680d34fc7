//! Blocking in initialisers.
// edition: 2024

use std::fs;
use std::sync::LazyLock;

static CONFIG: LazyLock<String> = LazyLock::new(|| {
    fs::read_to_string("x").unwrap_or_default() //~ blocking-in-initializer
});
static TABLE: LazyLock<Vec<u32>> = LazyLock::new(|| (0..9).collect());

pub fn sizes() -> usize {
    CONFIG.len() + TABLE.len()
}
