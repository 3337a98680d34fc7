//! parking_lot guards, guard structs, tokio arms: forms beyond std locks.
// edition: 2021
use parking_lot::{Condvar as PCondvar, Mutex as PMutex, MutexGuard as PGuard, ReentrantMutex, RwLock as PRw, RwLockUpgradableReadGuard, MappedMutexGuard};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use std::cell::RefCell;
mod sys { pub use libc::*; }
extern crate libc as c;
use libsqlite3_sys as ffi;
pub struct P { m: PMutex<(u32, String)>, rw: PRw<Vec<u32>>, re: ReentrantMutex<RefCell<u32>>, cv: PCondvar, arc: Arc<PMutex<u32>> }
impl P {
    pub fn mapped(&self) -> usize {
        let g = PGuard::map(self.m.lock(), |p| &mut p.1);
        std::fs::read(&*g).map(|b| b.len()).unwrap_or(0) //~ blocking-in-guard
    }
    pub fn unlocked(&self) {
        let mut g = self.m.lock();
        PGuard::unlocked(&mut g, || std::thread::sleep(Duration::from_millis(1)));
        g.0 += 1;
    }
    pub fn upgrade(&self) {
        let r = self.rw.upgradable_read();
        let mut w = RwLockUpgradableReadGuard::upgrade(r);
        std::thread::sleep(Duration::from_millis(1)); //~ blocking-in-guard
        w.push(1);
    }
    pub fn fair(&self) {
        let g = self.m.lock();
        PGuard::unlock_fair(g);
        std::thread::sleep(Duration::from_millis(1));
    }
    pub fn re(&self) {
        let a = self.re.lock();
        let b = self.re.lock();
        *b.borrow_mut() += 1;
        drop(b);
        std::thread::sleep(Duration::from_millis(1)); //~ blocking-in-guard
        drop(a);
    }
    pub fn arc_guard(&self) {
        let g = self.arc.lock_arc();
        std::thread::sleep(Duration::from_millis(*g as u64)); //~ blocking-in-guard
    }
    fn part(&self) -> MappedMutexGuard<'_, String> { PGuard::map(self.m.lock(), |p| &mut p.1) }
    pub fn helper(&self) { let s = self.part(); let _ = std::fs::remove_file(&*s); } //~ blocking-in-guard
    pub fn cv(&self) {
        let mut g = self.m.lock();
        while g.0 == 0 { self.cv.wait(&mut g); }
        let mut r = self.rw.write(); //~ nested-lock
        self.cv.wait_for(&mut g, Duration::from_secs(1)); //~ blocking-in-guard
        r.push(g.0);
    }
    pub fn ffi(&self, db: *mut ffi::sqlite3) -> i32 {
        let _g = self.m.lock();
        unsafe { ffi::sqlite3_close(db) } //~ ffi-in-guard
    }
    pub fn ffi2(&self) -> i32 {
        let _g = self.m.lock();
        unsafe { sys::getpid() + c::getpid() } //~ ffi-in-guard
    }
    pub fn ffi3(&self) -> i32 { let n = self.m.lock().0; unsafe { sys::close(n as i32) } }
}
pub struct Locked<'a> { guard: MutexGuard<'a, Vec<u8>>, name: &'a str }
impl<'a> std::ops::Deref for Locked<'a> { type Target = Vec<u8>; fn deref(&self) -> &Vec<u8> { &self.guard } }
pub struct Q { v: Mutex<Vec<u8>>, name: String }
impl Q {
    pub fn locked(&self) -> Locked<'_> { Locked { guard: self.v.lock().unwrap(), name: &self.name } }
    pub fn use_it(&self) -> usize {
        let l = self.locked();
        std::fs::read(l.name).map(|b| b.len()).unwrap_or(0) + l.len() //~ blocking-in-guard
    }
    pub fn temp(&self) -> usize { let n = self.locked().len(); std::fs::read("x").map(|b| b.len()).unwrap_or(0) + n }
    fn finish(g: MutexGuard<'_, Vec<u8>>) { std::thread::sleep(Duration::from_millis(g.len() as u64)); } //~ blocking-in-guard
    fn finish2(mut g: MutexGuard<'_, Vec<u8>>) { g.clear(); drop(g); std::thread::sleep(Duration::from_millis(1)); }
    pub fn go(&self) { Self::finish(self.v.lock().unwrap()); Self::finish2(self.v.lock().unwrap()); }
    fn borrow(g: &mut MutexGuard<'_, Vec<u8>>) { g.clear(); std::thread::sleep(Duration::from_millis(1)); }
    pub fn go2(&self) { let mut g = self.v.lock().unwrap(); Self::borrow(&mut g); } //~ blocking-in-guard-indirect
}
async fn tick() {}
pub async fn sel(m: &Mutex<u32>, n: &tokio::sync::Notify) {
    let g = m.lock().unwrap();
    tokio::select! { //~ await-in-guard
        _ = n.notified() => {}
        _ = tick() => {}
    }
    drop(g);
    tokio::join!(tick(), tick());
    fn inner() { std::thread::sleep(Duration::from_millis(1)); }
    let _ = tokio::task::spawn_blocking(inner).await;
    inner(); //~ blocking-in-async
    let f = async { std::fs::read("x") }; //~ blocking-in-async
    let _ = f.await;
    { let _x = m.lock().unwrap(); }
    tick().await;
    if *m.lock().unwrap() > 3 { tick().await; }
    match *m.lock().unwrap() { 0 => tick().await, _ => {} } //~ await-in-guard
    let v = *m.lock().unwrap();
    match v { 0 => tick().await, _ => {} }
}
pub fn block(rt: &tokio::runtime::Runtime, m: &Mutex<u32>) {
    let _g = m.lock().unwrap();
    rt.block_on(async { tick().await }); //~ blocking-in-guard
}
