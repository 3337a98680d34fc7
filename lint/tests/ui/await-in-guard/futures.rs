//! Async code: what suspends, what blocks, what only makes a future.
// edition: 2021
#![allow(unused, dead_code)]
use std::sync::{Mutex, Arc, RwLock};
use std::time::Duration;
use std::{fs, thread};
use tokio::sync::Mutex as AMutex;
struct A { m: Mutex<u32>, a: AMutex<Vec<u8>>, r: RwLock<u32> }
async fn step() {}
async fn val() -> u32 { 3 }
impl A {
    async fn a1(&self) { let g = self.m.lock().unwrap(); step().await; } //~ await-in-guard
    async fn a2(&self) { { let mut g = self.m.lock().unwrap(); *g += 1; } step().await; }
    async fn a3(&self) { let g = self.a.lock().await; step().await; }
    async fn a4(&self) { let g = self.a.lock().await; fs::read("x"); } //~ blocking-in-async
    async fn a5(&self) { *self.m.lock().unwrap() = val().await; }
    async fn a6(&self) { *self.m.lock().unwrap() += val().await; }
    async fn a7(&self) { let x = (self.m.lock().unwrap(), val().await); } //~ await-in-guard
    async fn a8(&self) { if *self.m.lock().unwrap() > 1 { step().await; } }
    async fn a9(&self) { match *self.m.lock().unwrap() { 1 => step().await, _ => {} } } //~ await-in-guard
    async fn a10(&self) { let n = *self.m.lock().unwrap(); match n { 1 => step().await, _ => {} } }
    async fn a11(&self) { if let Ok(g) = self.m.lock() { step().await; } } //~ await-in-guard
    async fn a12(&self) { for _ in 0..*self.m.lock().unwrap() { step().await; } } //~ await-in-guard
    async fn a13(&self) { let f = { let g = self.m.lock().unwrap(); val() }; f.await; }
    async fn a14(&self) { let g = self.m.lock().unwrap(); let f = async { step().await }; drop(g); f.await; }
    async fn a15(&self) { let g = self.m.lock().unwrap(); let f = async move { let g = g; step().await }; f.await; } //~ await-in-guard
    async fn a16(&self) { let g = self.m.lock().unwrap(); tokio::time::sleep(Duration::from_secs(1)).await; } //~ await-in-guard
    async fn a17(&self) { thread::sleep(Duration::from_secs(1)); } //~ blocking-in-async
    async fn a18(&self) { tokio::task::spawn_blocking(|| thread::sleep(Duration::from_secs(1))).await.unwrap(); }
    async fn a19(&self) { tokio::task::block_in_place(|| thread::sleep(Duration::from_secs(1))); }
    async fn a20(&self) { tokio::spawn(async { thread::sleep(Duration::from_secs(1)); }); } //~ blocking-in-async
    async fn a21(&self) { thread::spawn(|| thread::sleep(Duration::from_secs(1))); }
    async fn a22(&self) { helper(); } //~ blocking-in-async
    async fn a23(&self) { let c = || helper(); c(); } //~ blocking-in-async
    async fn a24(&self) { tokio::fs::read("x").await.unwrap(); }
    async fn a25(&self) -> std::io::Result<Vec<u8>> { let d = tokio::fs::read("x").await?; Ok(d) }
    async fn a26(&self) { let g = self.m.lock().unwrap(); drop(g); step().await; }
    async fn a27(&self, c: bool) { let g = self.m.lock().unwrap(); if c { drop(g); step().await; } else { step().await; } } //~ await-in-guard
    async fn a28(&self) { let mut g = self.m.lock().unwrap(); loop { if *g > 3 { break; } drop(g); step().await; g = self.m.lock().unwrap(); } }
    async fn a29(&self) { let r = self.r.read().unwrap(); step().await; } //~ await-in-guard
    async fn a30(&self) { let g = self.a.lock().await; let h = self.m.lock().unwrap(); }
    async fn a31(&self) { let h = self.m.lock().unwrap(); let g = self.a.lock().await; } //~ await-in-guard
    fn a32(&self) { let h = self.m.lock().unwrap(); let g = self.a.blocking_lock(); } //~ blocking-in-guard
    async fn a33(&self) { tokio::select! { _ = step() => { let g = self.m.lock().unwrap(); step().await; } } } //~ await-in-guard
    async fn a34(&self) { tokio::select! { _ = step() => { fs::read("x"); } } } //~ blocking-in-async
    async fn a35(&self) { futures::future::join_all(vec![val()]).await; }
    fn a36(&self) -> impl std::future::Future<Output = ()> + '_ { let g = self.m.lock().unwrap(); async move { step().await } }
    async fn a37(&self) { let v = self.m.lock().unwrap().clone(); let f = async move { v }; f.await; }
    async fn a38(&self) { let f = async { fs::read("x") }; f.await; } //~ blocking-in-async
    async fn a39(&self) { let rt = tokio::runtime::Handle::current(); let g = self.m.lock().unwrap(); rt.block_on(step()); } //~ blocking-in-guard
    async fn a40(&self, mut rx: tokio::sync::mpsc::Receiver<u32>) { let g = self.m.lock().unwrap(); while let Some(x) = rx.recv().await { } } //~ await-in-guard
    async fn a41(&self, tx: std::sync::mpsc::SyncSender<u32>) { tx.send(1).unwrap(); } //~ blocking-in-async
    async fn a42(&self, tx: tokio::sync::mpsc::Sender<u32>) { let g = self.m.lock().unwrap(); tx.try_send(1).ok(); }
    async fn a43(&self) { let x = std::process::Command::new("ls").output(); } //~ blocking-in-async
    async fn a44(&self) { let x = tokio::process::Command::new("ls").output().await; }
}
fn helper() { thread::sleep(Duration::from_secs(1)); }
#[async_trait::async_trait]
trait T2 { async fn go(&self); }
#[async_trait::async_trait]
impl T2 for A { async fn go(&self) { let g = self.m.lock().unwrap(); step().await; } } //~ await-in-guard
#[tokio::main]
async fn main() { let m = Mutex::new(1); let g = m.lock().unwrap(); step().await; } //~ await-in-guard
#[tokio::test]
async fn t() { let m = Mutex::new(1); let g = m.lock().unwrap(); step().await; }
