//! Who is mounted here: the runtime's thread-locals.
//!
//! Started virtual threads never change their carrier, so what is read here stays right for as long as the
//! reader runs. Every access but that of the number goes through functions that are not inlined, all the same, and references
//! are lent only to closures that do not unmount: a neighbour's mount may come between any two calls.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;

use crate::carrier::Local;
use crate::park::Record;
use crate::runtime::Shared;

thread_local! {
    /// Id of the mounted virtual thread, 0 on a plain OS thread and on a carrier between two mounts.
    static ID: Cell<u64> = const { Cell::new(0) };
    /// Empty whenever the OS thread ends, as the next; so neither needs a destructor, whose state each access would look at.
    static MOUNTED: RefCell<ManuallyDrop<Option<Arc<Record>>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
    static CARRIER: RefCell<ManuallyDrop<Option<Rc<Local>>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Id of the mounted virtual thread, 0 elsewhere. Inlined: each lock asks for it, and whoever asks is mounted with the same
/// answer whenever it runs.
#[inline]
pub(crate) fn id() -> u64 {
    ID.get()
}

/// Record of the calling thread, virtual or not.
#[inline]
pub(crate) fn record() -> Arc<Record> {
    virtual_record().unwrap_or_else(crate::park::of_os_thread)
}

/// Lends the record of the calling thread, virtual or not, to `f`, which must not wait.
#[inline(always)]
pub(crate) fn with_record<R>(f: impl Fn(&Arc<Record>) -> R) -> R {
    with_virtual(&f).unwrap_or_else(|| f(&crate::park::of_os_thread()))
}

/// Lends the record of the mounted virtual thread to `f`, which must not wait.
#[inline(always)]
pub(crate) fn with_virtual<R>(f: impl FnOnce(&Arc<Record>) -> R) -> Option<R> {
    if ID.get() == 0 {
        return None;
    }
    MOUNTED.with(|mounted| mounted.borrow().as_ref().map(f))
}

/// Record of the mounted virtual thread.
#[inline]
pub(crate) fn virtual_record() -> Option<Arc<Record>> {
    if ID.get() == 0 {
        return None;
    }
    MOUNTED.with(|mounted| (**mounted.borrow()).clone())
}

/// Is the calling thread a virtual one that shutdown unwinds?
pub(crate) fn is_being_cancelled() -> bool {
    virtual_record().is_some_and(|record| record.was_cancelled())
}

/// The carrier that the calling virtual thread is mounted on; `None` on a plain OS thread and in the
/// carrier's own code.
#[inline]
pub(crate) fn carrier() -> Option<Rc<Local>> {
    if ID.get() == 0 {
        return None;
    }
    carrier_of_os_thread()
}

/// The carrier whose OS thread this is, whether or not a virtual thread is mounted.
#[inline]
pub(crate) fn carrier_of_os_thread() -> Option<Rc<Local>> {
    CARRIER.with(|carrier| (**carrier.borrow()).clone())
}

/// Does nobody but the calling virtual thread need its carrier, and can another one take what is spawned?
#[inline]
pub(crate) fn is_alone() -> bool {
    let is_alone = |carrier: &RefCell<ManuallyDrop<Option<Rc<Local>>>>| {
        carrier
            .borrow()
            .as_ref()
            .is_some_and(|local| local.is_alone())
    };
    ID.get() != 0 && CARRIER.try_with(is_alone).unwrap_or(false)
}

/// The carrier whose OS thread this is, if it belongs to that runtime.
pub(crate) fn carrier_in(runtime: &Shared) -> Option<Rc<Local>> {
    carrier_of_os_thread().filter(|local| std::ptr::eq(&raw const **local.shared(), runtime))
}

/// Lends the carrier whose OS thread this is to `f`, which must not wait, if it belongs to that runtime.
#[inline]
pub(crate) fn with_carrier_in<R>(runtime: &Shared, f: impl FnOnce(&Local) -> R) -> Option<R> {
    CARRIER.with(|carrier| {
        let carrier = carrier.borrow();
        let local = carrier.as_deref()?;
        std::ptr::eq(&raw const **local.shared(), runtime).then(|| f(local))
    })
}

/// Runs `f` as if no virtual thread were mounted: what it waits for blocks the OS thread.
pub(crate) fn as_os_thread<T>(f: impl FnOnce() -> T) -> T {
    struct Restore(u64);
    impl Drop for Restore {
        fn drop(&mut self) {
            ID.set(self.0);
        }
    }
    let _restore = Restore(ID.replace(0));
    f()
}

/// Carrier: makes this OS thread one.
pub(crate) fn become_carrier(local: Option<Rc<Local>>) {
    let before = CARRIER.with(|carrier| std::mem::replace(&mut **carrier.borrow_mut(), local));
    drop(before);
}

/// Carrier: `record` runs here from now on.
pub(crate) fn mount(record: Arc<Record>) {
    ID.set(record.id);
    MOUNTED.with(|mounted| **mounted.borrow_mut() = Some(record));
}

/// Carrier: nobody runs here; gives the record back.
pub(crate) fn unmount() -> Option<Arc<Record>> {
    ID.set(0);
    MOUNTED.with(|mounted| mounted.borrow_mut().take())
}
