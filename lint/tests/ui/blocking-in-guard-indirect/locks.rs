//! parking_lot and lazily made locks, macros of the crate, formatted arguments.
// edition: 2021
#![allow(unused, dead_code)]
use parking_lot::{Mutex, RwLock, MutexGuard, RwLockWriteGuard, RwLockReadGuard, RwLockUpgradableReadGuard, Condvar, MappedMutexGuard};
use std::sync::Arc; use std::time::Duration; use std::{fs, thread}; use std::collections::HashMap;
type Db = Arc<Mutex<HashMap<String, String>>>;
type Shared<T> = Arc<RwLock<T>>;
struct S { m: Mutex<Vec<u32>>, r: RwLock<HashMap<u32, String>>, cv: Condvar, db: Db, sh: Shared<Vec<u32>>, shards: Vec<Mutex<Vec<u32>>>, by: HashMap<u32, Arc<Mutex<String>>>, arr: [RwLock<u32>; 4] }
fn nap() { thread::sleep(Duration::from_millis(1)) }
impl S {
    fn a1(&self) { let g = self.db.lock(); nap(); } //~ blocking-in-guard-indirect
    fn a2(&self) { let g = self.sh.write(); nap(); } //~ blocking-in-guard-indirect
    fn a3(&self) { let g = self.r.read(); let s = RwLockReadGuard::map(g, |m| &m[&1]); nap(); } //~ blocking-in-guard-indirect
    fn a4(&self) { let g = RwLockWriteGuard::downgrade(self.r.write()); nap(); } //~ blocking-in-guard-indirect
    fn a5(&self) { let u = self.r.upgradable_read(); if u.is_empty() { let mut w = RwLockUpgradableReadGuard::upgrade(u); w.insert(1, fs::read_to_string("x").unwrap()); } } //~ blocking-in-guard
    fn a6(&self) { let mut g = self.m.lock(); self.cv.wait(&mut g); drop(g); nap(); }
    fn a7(&self) { let mut g = self.m.lock(); self.cv.wait_while(&mut g, |v| v.is_empty()); nap(); } //~ blocking-in-guard-indirect
    fn a8(&self) { for s in &self.shards { let g = s.lock(); nap(); } } //~ blocking-in-guard-indirect
    fn a9(&self) { for s in self.shards.iter() { s.lock().push(1); nap(); } }
    fn a10(&self) { self.shards[0].lock().push({ nap(); 1 }); } //~ blocking-in-guard-indirect
    fn a11(&self) { let l = &self.by[&3]; let g = l.lock(); nap(); } //~ blocking-in-guard-indirect
    fn a12(&self) { if let Some(l) = self.by.get(&3) { let g = l.lock(); nap(); } } //~ blocking-in-guard-indirect
    fn a13(&self) { let l = self.by.get(&3).cloned().unwrap(); let g = l.lock(); nap(); } //~ blocking-in-guard-indirect
    fn a14(&self) { let l = Arc::clone(&self.by[&3]); let p = l.lock().clone(); fs::read(p); }
    fn a15(&self) { let g = self.arr[2].write(); nap(); } //~ blocking-in-guard-indirect
    fn a17(&self) { let a = self.m.lock(); let b = self.r.read(); } //~ nested-lock
    fn a18(&self) { let a = self.m.lock(); let b = self.r.try_read(); }
    fn a19(&self) { let n = self.m.lock().len(); let b = self.r.read(); }
    fn a20(&self) { let x = self.m.lock().len() + self.r.read().len(); } //~ nested-lock
    fn a21(&self) { self.m.lock().push(self.r.read().len() as u32); } //~ nested-lock
    fn a22(&self) { if self.m.lock().is_empty() && self.r.read().is_empty() { } }
    fn a23(&self) { if let Some(x) = self.m.try_lock() { nap(); } } //~ blocking-in-guard-indirect
    fn a24(&self) { let Some(g) = self.m.try_lock_for(Duration::from_secs(1)) else { return }; nap(); } //~ blocking-in-guard-indirect
    fn a25(&self) { let g = self.db.lock_arc(); nap(); } //~ blocking-in-guard-indirect
    fn a26(&self) { MutexGuard::unlocked(&mut self.m.lock(), || nap()); }
    fn a27(&self) { let mut g = self.m.lock(); MutexGuard::unlocked(&mut g, nap); MutexGuard::bump(&mut g); g.push(1); }
    fn a28(&self) { let mut g = self.m.lock(); g.push(1); MutexGuard::unlock_fair(g); nap(); }
    fn a29(&self) { let g = self.m.lock(); take(g); nap(); }
    fn a30<'a>(&'a self) -> MutexGuard<'a, Vec<u32>> { let g = self.m.lock(); nap(); g } //~ blocking-in-guard-indirect
    fn a31(&self) { let g = self.a30(); nap(); } //~ blocking-in-guard-indirect
    fn a32(&self) { let g = self.part(); nap(); } //~ blocking-in-guard-indirect
    fn part(&self) -> MappedMutexGuard<'_, u32> { MutexGuard::map(self.m.lock(), |v| &mut v[0]) }
    fn a33(&mut self) { self.m.get_mut().push(1); nap(); }
    fn a34(self) { let v = self.m.into_inner(); nap(); }
    fn a35(&self) { let n = MutexGuard::map(self.m.lock(), |v| &mut v[0]).clone(); nap(); }
}
fn take(g: MutexGuard<'_, Vec<u32>>) {}
struct Counter { inner: Arc<Inner> } struct Inner { m: Mutex<u64> }
impl Counter { fn go(&self) { let c = self.inner.clone(); thread::spawn(move || { let g = c.m.lock(); nap(); }); } } //~ blocking-in-guard-indirect
struct Lazy1; static REG: once_cell::sync::Lazy<Mutex<Vec<u32>>> = once_cell::sync::Lazy::new(|| Mutex::new(vec![]));
lazy_static::lazy_static! { static ref R2: RwLock<Vec<u32>> = RwLock::new(vec![]); }
fn z1() { let g = REG.lock(); nap(); } //~ blocking-in-guard-indirect
fn z2() { let g = R2.write(); nap(); } //~ blocking-in-guard-indirect
thread_local! { static TL: std::cell::RefCell<Vec<u32>> = Default::default(); }
fn z3() { TL.with(|t| { let b = t.borrow_mut(); nap(); }); }
fn z4() { let g = REG.lock(); TL.with(|t| nap()); } //~ blocking-in-guard-indirect
fn z5(m: &Mutex<u32>) { let g = m.lock(); println!("{}", nap2()); } //~ blocking-in-guard-indirect
fn nap2() -> u32 { nap(); 1 }
fn z6(m: &Mutex<u32>) { println!("{} {}", m.lock(), nap2()); } //~ blocking-in-guard-indirect
fn z7(m: &Mutex<u32>) { println!("{} {}", nap2(), m.lock()); }
fn z8(m: &Mutex<u32>) { assert_eq!(*m.lock(), nap2()); } //~ blocking-in-guard-indirect
fn z9(m: &Mutex<u32>) { let s = format!("{} {}", m.lock(), nap2()); } //~ blocking-in-guard-indirect
fn z10(m: &Mutex<u32>) { let s = format!("{}", m.lock()); nap(); }
fn z11(m: &Mutex<u32>) { log::info!("{}", m.lock()); nap(); }
fn z12(m: &Mutex<u32>) { tracing::info!(n = *m.lock(), "x"); nap(); }
fn z13(m: &Mutex<u32>) { let v = vec![*m.lock(), nap2()]; } //~ blocking-in-guard-indirect
fn z14(m: &Mutex<Option<u32>>) { if matches!(*m.lock(), Some(_)) { nap(); } }
fn z15(m: &Mutex<Vec<u32>>) { dbg!(m.lock().len()); nap(); }
macro_rules! locked { ($m:expr, $b:block) => {{ let _g = $m.lock(); $b }}; }
macro_rules! sleepy { () => { std::thread::sleep(std::time::Duration::from_millis(1)) }; }
macro_rules! get { ($m:expr) => { $m.lock() }; }
fn y1(m: &Mutex<u32>) { locked!(m, { nap(); }); } //~ blocking-in-guard-indirect
fn y2(m: &Mutex<u32>) { let g = m.lock(); sleepy!(); } //~ blocking-in-guard
fn y3(m: &Mutex<u32>) { let g = get!(m); nap(); } //~ blocking-in-guard-indirect
fn y4(m: &Mutex<u32>) { let n = *get!(m); nap(); }
macro_rules! items { ($n:ident) => { fn $n(m: &Mutex<u32>) { let g = m.lock(); nap(); } }; }
macro_rules! each { ($($e:expr),*) => { $( $e; )* }; }
fn y5(m: &Mutex<u32>) { let g = m.lock(); each!(1, nap()); } //~ blocking-in-guard-indirect
fn y6(m: &Mutex<u32>) { each!(*m.lock(), nap()); }
