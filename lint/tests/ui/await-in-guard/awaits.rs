//! Guards over `.await`.
// edition: 2024

use std::sync::Mutex;

async fn fetch() -> u32 {
    7
}

pub async fn held(hits: &Mutex<u32>) {
    let mut hits = hits.lock().unwrap();
    *hits += fetch().await; //~ await-in-guard
}

pub async fn ended(hits: &Mutex<u32>) {
    let fetched = fetch().await;
    *hits.lock().unwrap() += fetched;
}
