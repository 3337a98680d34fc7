//! Where the values of one thread are: its locals, its bindings of scoped values, the scope it runs in.
//!
//! A started virtual thread never leaves its carrier, so a thread-local map of the carrier, keyed by thread,
//! needs no lock and costs a thread that uses none of this nothing. Plain OS threads have their entry in their own
//! map.
//!
//! **Invariant (no user code inside):** the map is never borrowed while a value is made, used or dropped: any of
//! these may wait, and then a neighbour looks into the same map.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::scope::Cancellation;
use super::scoped_value::Binding;
use crate::park;

/// Rounds of dropping locals at a thread's end: destructors may make new ones.
const ROUNDS: usize = 5;

/// What one thread has.
#[derive(Default)]
pub(super) struct Storage {
    /// By the address of their key.
    pub(super) locals: Vec<(usize, Rc<dyn Any>)>,
    pub(super) bindings: Option<Arc<Binding>>,
    pub(super) cancellation: Option<Arc<Cancellation>>,
}

thread_local! {
    static THREADS: RefCell<HashMap<u64, Storage>> = RefCell::default();
}

/// Looks into the calling thread's storage; `None` while its OS thread is being torn down.
pub(super) fn of_this_thread<R>(look: impl FnOnce(&mut Storage) -> R) -> Option<R> {
    let me = park::me();
    let found = THREADS.try_with(|threads| look(threads.borrow_mut().entry(me).or_default()));
    found.ok()
}

/// What the calling thread has of this, without making it a storage of its own.
pub(super) fn peek<R>(look: impl FnOnce(&Storage) -> Option<R>) -> Option<R> {
    let me = park::me();
    let found = THREADS.try_with(|threads| threads.borrow().get(&me).and_then(look));
    found.ok().flatten()
}

/// At the end of a virtual thread, on its own stack: drops what it has.
pub(crate) fn end_of_thread() {
    // Few programs have any, and to look for one's own takes a hash.
    if THREADS.try_with(|threads| threads.borrow().is_empty()) != Ok(false) {
        return;
    }
    let me = park::me();
    for _ in 0..ROUNDS {
        let taken = THREADS.try_with(|threads| threads.borrow_mut().remove(&me));
        let Some(storage) = taken.ok().flatten() else {
            return;
        };
        // A destructor that panics must not keep the thread from ending, nor its other locals from being dropped.
        for (_, value) in storage.locals {
            let drop_it = std::panic::AssertUnwindSafe(move || drop(value));
            if let Err(payload) = std::panic::catch_unwind(drop_it) {
                std::mem::forget(payload);
            }
        }
    }
}
