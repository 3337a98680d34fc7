//! Where guards end: lets, temporaries, branches, loops, moves.
// edition: 2024
#![allow(unused, dead_code)]
use std::sync::{Mutex, RwLock, MutexGuard, Condvar, Arc, RwLockReadGuard, LazyLock, OnceLock};
use std::time::Duration;
use std::collections::HashMap;
use std::{fs, thread};
fn nap() { thread::sleep(Duration::from_millis(1)) }
struct S { m: Mutex<Vec<u32>>, s: Mutex<Option<String>>, map: RwLock<HashMap<String, String>>, cv: Condvar, flag: Mutex<bool>, o: Mutex<Option<thread::JoinHandle<()>>> }
impl S {
    fn a1(&self) { let n = self.m.lock().unwrap().iter().map(|x| x + 1).sum::<u32>(); thread::sleep(Duration::from_millis(n as u64)); }
    fn a2(&self) { for x in self.m.lock().unwrap().clone() { thread::sleep(Duration::from_millis(x as u64)); } } //~ blocking-in-guard
    fn a3(&self) { let v = self.m.lock().unwrap().clone(); for x in v { thread::sleep(Duration::from_millis(x as u64)); } }
    fn a4(&self) { while let Some(x) = self.m.lock().unwrap().pop() { thread::sleep(Duration::from_millis(x as u64)); } } //~ blocking-in-guard
    fn a5(&self) { loop { let Some(x) = self.m.lock().unwrap().pop() else { break }; thread::sleep(Duration::from_millis(x as u64)); } }
    fn a6(&self) { if let Some(x) = self.m.lock().unwrap().pop() && x > 3 { thread::sleep(Duration::from_millis(1)); } } //~ blocking-in-guard
    fn a7(&self) { if let Some(x) = self.m.lock().unwrap().pop() { } else { thread::sleep(Duration::from_millis(1)); } }
    fn a8(&self) { match self.m.lock().unwrap().len() { 0 => thread::sleep(Duration::from_millis(1)), _ => {} } } //~ blocking-in-guard
    fn a9(&self) { match { self.m.lock().unwrap().len() } { 0 => thread::sleep(Duration::from_millis(1)), _ => {} } }
    fn a10(&self) { let n = { let g = self.m.lock().unwrap(); g.len() }; thread::sleep(Duration::from_millis(n as u64)); }
    fn a11(&self, fast: bool) { let g = self.m.lock().unwrap(); if fast { drop(g); } else { drop(g); } thread::sleep(Duration::from_millis(1)); }
    fn a12(&self, fast: bool) { let g = self.m.lock().unwrap(); if fast { drop(g); return; } thread::sleep(Duration::from_millis(1)); } //~ blocking-in-guard
    fn a13(&self, fast: bool) { let g = self.m.lock().unwrap(); if !fast { return; } drop(g); thread::sleep(Duration::from_millis(1)); }
    fn a14(&self, n: u32) { let mut g = self.m.lock().unwrap(); for i in 0..n { if i == 3 { drop(g); thread::sleep(Duration::from_millis(1)); g = self.m.lock().unwrap(); } g.push(i); } }
    fn a15(&self) { let g = self.m.lock().unwrap(); let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| thread::sleep(Duration::from_millis(1)))); } //~ blocking-in-guard
    fn a16(&self) { let mut held = Some(self.m.lock().unwrap()); if let Some(g) = held.take() { g.len(); } thread::sleep(Duration::from_millis(1)); }
    fn a17(&self) { let mut held = Some(self.m.lock().unwrap()); if let Some(g) = held.as_ref() { g.len(); } thread::sleep(Duration::from_millis(1)); } //~ blocking-in-guard
    fn a18(&self) { let mut held = None; if self.cond() { held = Some(self.m.lock().unwrap()); } thread::sleep(Duration::from_millis(1)); drop(held); } //~ blocking-in-guard
    fn cond(&self) -> bool { true }
    fn a19(&self) { let v = std::mem::take(&mut *self.m.lock().unwrap()); thread::sleep(Duration::from_millis(v.len() as u64)); }
    fn a20(&self) { let v = std::mem::replace(&mut *self.m.lock().unwrap(), Vec::new()); for x in v { nap(); } }
    fn a21(&self) { for x in std::mem::take(&mut *self.m.lock().unwrap()) { nap(); } } //~ blocking-in-guard-indirect
    fn a22(&self) { let h = self.o.lock().unwrap().take(); if let Some(h) = h { h.join().unwrap(); } }
    fn a23(&self) { if let Some(h) = self.o.lock().unwrap().take() { h.join().unwrap(); } } //~ blocking-in-guard
    fn a24(&self) { self.o.lock().unwrap().take().map(|h| h.join()); } //~ blocking-in-guard
    fn a25(&self) { let _ = self.o.lock().unwrap().take().unwrap().join(); } //~ blocking-in-guard
    fn a26(&self) { let mut g = self.flag.lock().unwrap(); while !*g { g = self.cv.wait(g).unwrap(); } drop(g); thread::sleep(Duration::from_millis(1)); }
    fn a27(&self) { let g = self.cv.wait_while(self.flag.lock().unwrap(), |f| !*f).unwrap(); thread::sleep(Duration::from_millis(1)); } //~ blocking-in-guard
    fn a28(&self) { let (g, t) = self.cv.wait_timeout(self.flag.lock().unwrap(), Duration::from_secs(1)).unwrap(); drop(g); thread::sleep(Duration::from_millis(1)); }
    fn a29(&self) { let m = self.m.lock().unwrap(); let g = self.flag.lock().unwrap(); let _ = self.cv.wait(g); } //~ nested-lock //~ blocking-in-guard
    fn a30(&self) -> usize { let r = self.map.read().unwrap(); let v = r.get("a").cloned(); drop(r); fs::read(v.unwrap()).unwrap().len() }
    fn a31(&self) -> usize { let v = self.map.read().unwrap().get("a").cloned(); match v { Some(p) => fs::read(p).unwrap().len(), None => 0 } }
    fn a32(&self) -> usize { match self.map.read().unwrap().get("a").cloned() { Some(p) => fs::read(p).unwrap().len(), None => 0 } } //~ blocking-in-guard
    fn a33(&self) -> Option<usize> { let p = self.map.read().ok()?.get("a").cloned()?; Some(fs::read(p).ok()?.len()) }
    fn a34(&self) -> Option<usize> { let g = self.map.read().ok()?; let p = g.get("a")?; Some(fs::read(p).ok()?.len()) } //~ blocking-in-guard
    fn a35(&self) { let g = self.m.lock().unwrap(); let c = move || { g.len() }; thread::sleep(Duration::from_millis(1)); c(); } //~ blocking-in-guard
    fn a37(&self) { self.m.lock().unwrap().push({ nap(); 1 }); } //~ blocking-in-guard-indirect
    fn a38(&self) { let x = { nap(); 1 }; self.m.lock().unwrap().push(x); }
    fn a39(&self) { *self.flag.lock().unwrap() = { nap(); true }; }
    fn a40(&self) { self.m.lock().unwrap()[0] = { nap(); 1 }; }
    fn a41(&self) { let _g = self.m.lock(); nap(); } //~ blocking-in-guard-indirect
    fn a42(&self) { let g = if self.cond() { self.m.lock().unwrap() } else { return }; nap(); } //~ blocking-in-guard-indirect
    fn a43(&self) { let g = match self.m.lock() { Ok(g) => g, Err(p) => p.into_inner() }; nap(); } //~ blocking-in-guard-indirect
    fn a44(&self) { let g = match self.m.try_lock() { Ok(g) => g, Err(_) => return }; nap(); } //~ blocking-in-guard-indirect
    fn a45(&self) { let g = loop { if let Ok(g) = self.m.try_lock() { break g; } nap(); }; g.len(); }
    fn a46(&self) { let g = loop { if let Ok(g) = self.m.try_lock() { break g; } }; nap(); } //~ blocking-in-guard-indirect
    fn a47(&self) { let g = 'a: { if self.cond() { break 'a Some(self.m.lock().unwrap()); } None }; nap(); } //~ blocking-in-guard-indirect
    fn a48(&self) { let v: Vec<MutexGuard<Vec<u32>>> = vec![self.m.lock().unwrap()]; nap(); } //~ blocking-in-guard-indirect
    fn a49(&self) { let b = Box::new(self.m.lock().unwrap()); nap(); drop(b); } //~ blocking-in-guard-indirect
    fn a50(&self) { let b = Box::new(self.m.lock().unwrap()); drop(b); nap(); }
    fn a51(&self) { let (a, b) = (self.m.lock().unwrap(), 3); drop(a); nap(); }
    fn a52(&self) { let t = (self.m.lock().unwrap(), 3); let (a, b) = t; drop(a); nap(); }
    fn a53(&self) { let t = (self.m.lock().unwrap(), 3); drop(t.0); nap(); }
    fn a54(&self) { let t = (self.m.lock().unwrap(), 3); let n = t.1; nap(); } //~ blocking-in-guard-indirect
    fn a55(&self) { let g = self.m.lock().unwrap(); { let g = 5; nap(); } } //~ blocking-in-guard-indirect
    fn a56(&self) { let x = Some(self.m.lock().unwrap()).map(|g| g.len()); nap(); }
    fn a57(&self) { let x = self.s.lock().unwrap().as_ref().map(|p| fs::read(p)); } //~ blocking-in-guard
    fn a58(&self) { let x = self.s.lock().unwrap().clone().map(|p| fs::read(p)); } //~ blocking-in-guard
    fn a59(&self) { let x = self.s.lock().unwrap().clone(); x.map(|p| fs::read(p)); }
    fn a60(&self) { if self.m.lock().unwrap().is_empty() && { nap(); true } { nap(); } }
    fn a61(&self) { let ok = self.m.lock().unwrap().is_empty() && { nap(); true }; }
    fn a62(&self) { let ok = self.m.lock().unwrap().is_empty() & { nap(); true }; } //~ blocking-in-guard-indirect
    fn a63(&self) { let x = self.m.lock().unwrap().len() + { nap(); 1 }; } //~ blocking-in-guard-indirect
    fn a64(&self) { let x = [self.m.lock().unwrap().len(), { nap(); 1 }]; } //~ blocking-in-guard-indirect
    fn a65(&self) { return { nap(); self.m.lock().unwrap().clear() }; }
    fn a66(&self) -> usize { nap(); self.m.lock().unwrap().len() }
    fn a67(&self) { let n = self.m.lock().map(|g| g.len()).unwrap_or(0); nap(); }
    fn a68(&self) { let n = self.m.lock().unwrap().first().copied().unwrap_or_else(|| { nap(); 0 }); } //~ blocking-in-guard-indirect
    fn a69(&self) { while self.m.lock().unwrap().is_empty() { nap(); } }
    fn a70(&self) { match self.m.lock().unwrap().pop() { Some(x) if x > 2 => nap(), _ => {} } } //~ blocking-in-guard-indirect
    fn a71(&self) { match 3 { _ if self.m.lock().unwrap().is_empty() => nap(), _ => {} } }
    fn a72(&self) { let r: Result<(), ()> = (|| { let g = self.m.lock().unwrap(); nap(); Ok(()) })(); } //~ blocking-in-guard-indirect
    fn a73(&self) { let f = || nap(); let g = self.m.lock().unwrap(); f(); } //~ blocking-in-guard-indirect
    fn a74(&self) { let f: Box<dyn Fn()> = Box::new(|| nap()); let g = self.m.lock().unwrap(); drop(g); f(); }
    fn a75(&self) { let g = self.m.lock().unwrap(); thread::spawn(|| nap()); let t: thread::JoinHandle<()> = thread::Builder::new().spawn(|| nap()).unwrap(); }
    fn a76(&self) { let g = self.m.lock().unwrap(); thread::scope(|s| { s.spawn(|| nap()); }); } //~ blocking-in-guard
    fn a77(&self) { let guard = self.m.lock().unwrap(); let _ = guard; nap(); } //~ blocking-in-guard-indirect
    fn a78(&self) { let guard = self.m.lock().unwrap(); _ = guard; nap(); } //~ blocking-in-guard-indirect
    fn a79(&self) { _ = self.m.lock().unwrap(); nap(); }
    fn a80(&self) { let ref g = self.m.lock().unwrap(); nap(); } //~ blocking-in-guard-indirect
    fn a81(&self) { let Ok(ref g) = self.m.lock() else { return }; nap(); } //~ blocking-in-guard-indirect
    fn a82(&self) { let Ok(_) = self.m.lock() else { return }; nap(); }
    fn a83(&self) { if let Ok(_) = self.m.lock() { nap(); } } //~ blocking-in-guard-indirect
    fn a84(&self) { if let Ok(mut g) = self.m.lock() { g.push(1); drop(g); nap(); } }
    fn a85(&self) { if let Ok(mut g) = self.m.lock() { g.push(1); } nap(); }
    fn a86(&self) { let mut g = self.m.lock().unwrap(); g = { drop(g); nap(); self.m.lock().unwrap() }; }
    fn a87(&self) { let l = self.map.read().unwrap().len(); let n = l; fs::read("x"); }
    fn a88(&self) { let m = &self.m; let g = m.lock().unwrap(); nap(); } //~ blocking-in-guard-indirect
    fn a89(self: &Arc<Self>) { let this = Arc::clone(self); let g = this.m.lock().unwrap(); nap(); } //~ blocking-in-guard-indirect
    fn a90(self: Arc<Self>) { let g = self.m.lock().unwrap(); nap(); } //~ blocking-in-guard-indirect
}
