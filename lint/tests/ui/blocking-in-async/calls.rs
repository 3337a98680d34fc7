//! Blocking in async code.
// edition: 2024

use std::fs;

fn load() -> String {
    fs::read_to_string("x").unwrap_or_default()
}

pub async fn blocks() -> usize {
    let direct = fs::read("x").map(|read| read.len()).unwrap_or(0); //~ blocking-in-async
    direct + load().len() //~ blocking-in-async
}

pub async fn hands_over() -> usize {
    let handed = tokio::task::spawn_blocking(load).await;
    let here = tokio::task::block_in_place(|| load().len());
    handed.map(|read| read.len()).unwrap_or(0) + here
}
