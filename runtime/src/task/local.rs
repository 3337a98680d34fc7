//! `local!`: a value for each virtual thread.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use super::storage;

/// Declares values that each virtual thread has for itself, in the form of [`std::thread_local!`].
///
/// A `thread_local!` belongs to the carrier: all its virtual threads share it. These are made by the first use of
/// each thread and dropped at its end; making and dropping them may wait. On a plain OS thread they work as
/// `thread_local!` does.
///
/// ```
/// use std::cell::Cell;
/// use vt_runtime::{task, thread};
///
/// task::local! {
///     static REQUESTS: Cell<u32> = Cell::new(0);
/// }
///
/// REQUESTS.set(5);
/// assert_eq!(thread::spawn(|| REQUESTS.get()).join().unwrap(), 0);
/// assert_eq!(REQUESTS.get(), 5);
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __local {
    () => {};
    ($(#[$meta:meta])* $vis:vis static $name:ident : $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::task::local! { $(#[$meta])* $vis static $name: $type = $init; $($($rest)*)? }
    };
    ($(#[$meta:meta])* $vis:vis static $name:ident : $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$meta])*
        $vis static $name: $crate::task::LocalKey<$type> = {
            fn init() -> $type { $init }
            $crate::task::LocalKey::__new(init)
        };
        $($crate::task::local! { $($rest)* })?
    };
}

/// The name of a value that each virtual thread has for itself; made by `local!`.
pub struct LocalKey<T: 'static> {
    init: fn() -> T,
}

/// The calling OS thread is ending and its locals are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the locals of this thread are gone: it is ending")
    }
}

impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    #[must_use]
    pub const fn __new(init: fn() -> T) -> Self {
        Self { init }
    }

    /// Calls `f` with the thread's value, which is made now if this is its first use. `f` may wait.
    ///
    /// # Pinning
    ///
    /// Never waits by itself.
    ///
    /// # Panics
    ///
    /// On an OS thread that is ending.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.value() {
            Some(value) => f(&value),
            None => panic!("{AccessError}"),
        }
    }

    /// [`with`](Self::with) that tells when the value is gone.
    ///
    /// # Pinning
    ///
    /// Never waits by itself.
    ///
    /// # Errors
    ///
    /// On an OS thread that is ending.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        self.value().map(|value| f(&value)).ok_or(AccessError)
    }

    fn value(&'static self) -> Option<Rc<T>> {
        let key = std::ptr::from_ref(self).addr();
        let find = |storage: &storage::Storage| {
            let found = storage.locals.iter().find(|(of, _)| *of == key);
            found.map(|(_, value)| Rc::clone(value))
        };
        let value = match storage::peek(find) {
            Some(value) => value,
            None => {
                let made: Rc<dyn std::any::Any> = Rc::new((self.init)());
                // The initialiser may have used this same value: then the first one stays.
                storage::of_this_thread(|storage| match find(storage) {
                    Some(value) => value,
                    None => {
                        storage.locals.push((key, Rc::clone(&made)));
                        made
                    }
                })?
            }
        };
        value.downcast().ok()
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the thread's value.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// The thread's value.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// The thread's value, leaving the default.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// The thread's value, leaving another one.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with the thread's value, borrowed.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with the thread's value, mutably borrowed.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the thread's value.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.replace(value));
    }

    /// The thread's value, leaving the default.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// The thread's value, leaving another one.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
