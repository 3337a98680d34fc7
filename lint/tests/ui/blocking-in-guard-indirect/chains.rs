//! Chains: helpers, closures handed on, traits, sinks, channels, children, drops, guard structs.
// edition: 2021
#![allow(unused, dead_code)]
use std::sync::{Mutex, RwLock, MutexGuard, Condvar, Arc, LazyLock, OnceLock, mpsc};
use std::time::Duration;
use std::collections::HashMap;
use std::io::{self, Read, Write, BufWriter, BufReader, BufRead};
use std::net::TcpStream;
use std::fs::File;
use std::{fs, thread};
static G: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static CELL: OnceLock<String> = OnceLock::new();
fn l1() { l2() } fn l2() { l3() } fn l3() { thread::sleep(Duration::from_millis(1)) }
fn rec(n: u32) { if n > 0 { rec2(n - 1) } } fn rec2(n: u32) { if n == 3 { thread::sleep(Duration::from_millis(1)) } rec(n) }
fn pure(n: u32) -> u32 { if n > 0 { pure2(n - 1) } else { 0 } } fn pure2(n: u32) -> u32 { pure(n) }
fn b1() { let g = G.lock().unwrap(); l1(); } //~ blocking-in-guard-indirect
fn b2() { let g = G.lock().unwrap(); rec(3); } //~ blocking-in-guard-indirect
fn b3() { let g = G.lock().unwrap(); pure(3); }
fn b4() { let g = G.lock().unwrap(); CELL.get_or_init(|| fs::read_to_string("x").unwrap()); } //~ blocking-in-guard
fn b5() { let g = G.lock().unwrap(); let h = HashMap::<u32, String>::new().entry(3).or_insert_with(|| fs::read_to_string("x").unwrap()); } //~ blocking-in-guard
fn with<R>(f: impl FnOnce(&mut Vec<u32>) -> R) -> R { let mut g = G.lock().unwrap(); f(&mut g) }
fn with2<R, F: FnOnce(&mut Vec<u32>) -> R>(f: F) -> R { with(f) }
fn with3<R, F>(f: F) -> R where F: FnOnce(&mut Vec<u32>) -> R { with2(|v| f(v)) }
fn after<R>(f: impl FnOnce(usize) -> R) -> R { let n = G.lock().unwrap().len(); f(n) }
fn b6() { with(|v| l1()); } //~ blocking-in-guard-indirect
fn b7() { with2(|v| { fs::read("x"); }); } //~ blocking-in-guard-indirect
fn b8() { with3(|v| { fs::read("x"); }); } //~ blocking-in-guard-indirect
fn b9() { after(|v| { fs::read("x"); }); }
fn b10() { with(|v| v.push(1)); }
trait Sink { fn put(&mut self, b: &[u8]); fn name(&self) -> String { String::new() } }
struct FileSink(File); struct NetSink(TcpStream);
impl Sink for FileSink { fn put(&mut self, b: &[u8]) { self.0.write_all(b).unwrap(); } }
impl Sink for NetSink { fn put(&mut self, b: &[u8]) { self.0.write_all(b).unwrap(); } }
fn b11(s: &mut dyn Sink) { let g = G.lock().unwrap(); s.put(b"x"); } //~ blocking-in-guard-indirect
fn b12(s: &mut dyn Sink) { let g = G.lock().unwrap(); s.name(); }
fn b13(s: &mut impl Sink) { let g = G.lock().unwrap(); s.name(); }
struct Reg { sinks: Mutex<Vec<Box<dyn Sink>>> }
impl Reg {
    fn b14(&self) { for s in self.sinks.lock().unwrap().iter_mut() { s.put(b"x"); } } //~ blocking-in-guard-indirect
    fn b15(&self) { self.sinks.lock().unwrap().iter_mut().for_each(|s| s.put(b"x")); } //~ blocking-in-guard-indirect
    fn b16(&self) { if let Some(s) = self.sinks.lock().unwrap().get_mut(0) { s.put(b"x"); } } //~ blocking-in-guard-indirect
    fn b17(&self) { let mut g = self.sinks.lock().unwrap(); g[0].put(b"x"); } //~ blocking-in-guard-indirect
}
trait Half { fn go(&self); } struct H1; struct H2; impl Half for H1 { fn go(&self) { l1() } } impl Half for H2 { fn go(&self) {} }
fn b18(h: &dyn Half) { let g = G.lock().unwrap(); h.go(); }
fn b19(h: &H1) { let g = G.lock().unwrap(); h.go(); } //~ blocking-in-guard-indirect
fn b20(h: &H2) { let g = G.lock().unwrap(); h.go(); }
enum Either { A(H1), B(H2) }
fn b21(e: &Either) { let g = G.lock().unwrap(); match e { Either::A(h) => h.go(), Either::B(h) => h.go() } } //~ blocking-in-guard-indirect
struct W { w: Mutex<BufWriter<File>>, n: Mutex<TcpStream>, v: Mutex<Vec<u8>>, c: Mutex<io::Cursor<Vec<u8>>>, b: Mutex<Box<dyn Write + Send>> }
impl W {
    fn c1(&self) { self.w.lock().unwrap().flush().unwrap(); } //~ blocking-through-guard
    fn c2(&self) { writeln!(self.w.lock().unwrap(), "x").unwrap(); } //~ blocking-through-guard
    fn c3(&self) { let mut w = self.w.lock().unwrap(); writeln!(w, "x").unwrap(); } //~ blocking-through-guard
    fn c4(&self) { let mut w = self.w.lock().unwrap(); writeln!(&mut *w, "x").unwrap(); } //~ blocking-through-guard
    fn c5(&self) { self.v.lock().unwrap().write_all(b"x").unwrap(); self.c.lock().unwrap().flush().unwrap(); }
    fn c6(&self) { self.n.lock().unwrap().read_exact(&mut [0]).unwrap(); } //~ blocking-through-guard
    fn c7(&self) { let n = self.n.lock().unwrap(); let mut r = BufReader::new(&*n); let mut s = String::new(); r.read_line(&mut s).unwrap(); } //~ blocking-through-guard
    fn c8(&self) { let n = self.n.lock().unwrap(); for l in BufReader::new(n.try_clone().unwrap()).lines() { l.unwrap(); } } //~ blocking-in-guard
    fn c9(&self, f: &mut File) { let n = self.v.lock().unwrap(); io::copy(&mut &n[..], f).unwrap(); } //~ blocking-in-guard
    fn c10(&self, f: &mut File) { let n = self.v.lock().unwrap(); f.write_all(&n).unwrap(); } //~ blocking-in-guard
    fn c11(&self, f: &mut File) { let n = self.v.lock().unwrap().clone(); f.write_all(&n).unwrap(); }
    fn c12(&self, f: &mut File) { f.write_all(&self.v.lock().unwrap()).unwrap(); } //~ blocking-in-guard
    fn c13(&self) { fs::write("x", &*self.v.lock().unwrap()).unwrap(); } //~ blocking-in-guard
    fn c14(&self) { fs::write("x", self.v.lock().unwrap().clone()).unwrap(); } //~ blocking-in-guard
    fn c15(&self) { let p = std::path::Path::new("x"); let g = self.v.lock().unwrap(); if p.exists() { p.metadata().unwrap(); } } //~ blocking-in-guard
    fn c16(&self) { let g = self.v.lock().unwrap(); let p = std::path::Path::new("x").join("y"); ["a"].join(","); }
}
struct Job { tx: mpsc::SyncSender<u32>, utx: mpsc::Sender<u32>, rx: Mutex<mpsc::Receiver<u32>> }
impl Job {
    fn d1(&self) { let g = G.lock().unwrap(); self.tx.send(1).unwrap(); } //~ blocking-in-guard
    fn d2(&self) { let g = G.lock().unwrap(); self.utx.send(1).unwrap(); self.tx.try_send(1).ok(); }
    fn d3(&self) { let x = self.rx.lock().unwrap().recv().unwrap(); } //~ blocking-through-guard
    fn d4(&self) { while let Ok(x) = self.rx.lock().unwrap().recv() { l1(); } } //~ blocking-through-guard //~ blocking-in-guard-indirect
    fn d5(&self) { for x in self.rx.lock().unwrap().iter() { } } //~ blocking-through-guard
    fn d6(&self) { for x in self.rx.lock().unwrap().try_iter() { } }
    fn d7(&self) { while let Ok(x) = self.rx.lock().unwrap().try_recv() { l1(); } } //~ blocking-in-guard-indirect
    fn d8(&self) { let r = self.rx.lock().unwrap().recv_timeout(Duration::from_secs(1)); } //~ blocking-through-guard
}
struct Child2 { c: Mutex<Option<std::process::Child>> }
impl Child2 {
    fn e1(&self) { if let Some(mut c) = self.c.lock().unwrap().take() { c.kill().ok(); c.wait().unwrap(); } } //~ blocking-in-guard
    fn e2(&self) { let c = self.c.lock().unwrap().take(); if let Some(mut c) = c { c.wait().unwrap(); } }
    fn e3(&self) { let g = self.c.lock().unwrap(); let o = std::process::Command::new("ls").arg("x").output(); } //~ blocking-in-guard
    fn e4(&self) { let g = self.c.lock().unwrap(); let o = std::process::Command::new("ls").arg("x").spawn().unwrap().wait(); } //~ blocking-in-guard
    fn e5(&self) { let g = self.c.lock().unwrap(); let mut c = std::process::Command::new("ls"); c.arg("x"); c.status().unwrap(); } //~ blocking-in-guard
}
struct Worker(Option<thread::JoinHandle<()>>);
impl Drop for Worker { fn drop(&mut self) { if let Some(h) = self.0.take() { h.join().ok(); } } }
struct Pool { w: Mutex<Vec<Worker>>, one: Mutex<Option<Worker>> }
impl Pool {
    fn f2(&self) { *self.one.lock().unwrap() = None; } //~ blocking-in-guard-indirect
    fn f3(&self) { let old = self.one.lock().unwrap().replace(Worker(None)); drop(old); }
    fn f4(&self) { let g = G.lock().unwrap(); let w = Worker(None); drop(w); } //~ blocking-in-guard-indirect
    fn f5(&self) { drop(self.one.lock().unwrap().take()); } //~ blocking-in-guard-indirect
    fn f6(&self) { let w = self.w.lock().unwrap().drain(..).collect::<Vec<_>>(); drop(w); }
}
impl Drop for Pool { fn drop(&mut self) { let g = self.w.lock().unwrap(); l1(); } } //~ blocking-in-guard-indirect
mod ext { use std::sync::{Mutex, MutexGuard}; pub trait LockExt<T> { fn lock_ok(&self) -> MutexGuard<'_, T>; } impl<T> LockExt<T> for Mutex<T> { fn lock_ok(&self) -> MutexGuard<'_, T> { self.lock().unwrap_or_else(|e| e.into_inner()) } } }
use ext::LockExt;
fn g1() { let g = G.lock_ok(); l1(); } //~ blocking-in-guard-indirect
fn g2() { let n = G.lock_ok().len(); l1(); }
fn guard() -> Option<MutexGuard<'static, Vec<u32>>> { G.lock().ok() }
fn guard2() -> io::Result<MutexGuard<'static, Vec<u32>>> { G.lock().map_err(|_| io::Error::other("x")) }
fn guard3() -> impl std::ops::DerefMut<Target = Vec<u32>> { G.lock().unwrap() }
fn g3() { let g = guard(); l1(); } //~ blocking-in-guard-indirect
fn g4() -> io::Result<()> { let g = guard2()?; l1(); Ok(()) } //~ blocking-in-guard-indirect
fn g6() { guard3().push(1); l1(); }
struct Tx<'a> { g: MutexGuard<'a, Vec<u32>>, dirty: bool }
impl<'a> Tx<'a> { fn begin(m: &'a Mutex<Vec<u32>>) -> Self { Tx { g: m.lock().unwrap(), dirty: false } } fn commit(self) {} fn sync(&mut self) { l1() } fn commit_slow(self) { l1() } } //~ blocking-in-guard-indirect
fn h1() { let mut t = Tx::begin(&G); t.dirty = true; l1(); } //~ blocking-in-guard-indirect
fn h2() { let mut t = Tx::begin(&G); t.commit(); l1(); }
fn h3() { let mut t = Tx::begin(&G); t.sync(); } //~ blocking-in-guard-indirect
fn h4() { let t = Tx::begin(&G); let Tx { g, dirty } = t; drop(g); l1(); }
