//! Both kinds of channels are made, so a sender in a field may be either; one made here is known.
// edition: 2021
use flume::{bounded, unbounded, Receiver, Sender};
use std::sync::Mutex;

pub fn both() -> (Sender<u32>, Receiver<u32>) {
    let (_full, _) = bounded::<u32>(1);
    unbounded()
}

pub fn unknown(lock: &Mutex<Sender<u32>>) {
    let _ = lock.lock().unwrap().send(1);
}

pub fn known(lock: &Mutex<u32>) {
    let (waits, receiver) = bounded(1);
    let (takes_all, _) = unbounded();
    let _guard = lock.lock().unwrap();
    let _ = takes_all.send(1);
    let _ = waits.send(1); //~ blocking-in-guard
    let _ = receiver.recv(); //~ blocking-in-guard
}
