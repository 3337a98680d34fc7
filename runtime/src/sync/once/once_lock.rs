//! [`OnceLock`] in std's shape.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::Once;

/// [`std::sync::OnceLock`] for virtual threads: a cell that is written once.
///
/// ```
/// use vt_runtime::sync::OnceLock;
///
/// static LIMIT: OnceLock<u32> = OnceLock::new();
/// assert_eq!(LIMIT.get(), None);
/// assert_eq!(*LIMIT.get_or_init(|| 10), 10);
/// assert_eq!(LIMIT.set(20), Err(20));
/// ```
pub struct OnceLock<T> {
    /// Decides who writes, and is waited on.
    once: Once,
    /// Written by the one whom `once` lets, so nobody ever waits in here.
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// An empty cell.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            once: Once::new(),
            value: std::sync::OnceLock::new(),
        }
    }

    /// The value, if it was written.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value; having the cell to oneself needs no waiting.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Writes the value if there is none.
    ///
    /// # Pinning
    ///
    /// Unmounts while another thread runs its initialiser, unless the thread is pinned.
    ///
    /// # Errors
    ///
    /// `value`, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().unwrap_or_else(|| unreachable!("it runs once")));
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// The value, made by `f` if there is none. If `f` panics, the cell stays empty and the next one tries.
    ///
    /// # Pinning
    ///
    /// Unmounts while another thread runs its initialiser, unless the thread is pinned. `f` may wait, too.
    ///
    /// # Panics
    ///
    /// If `f` initialises this same cell.
    #[inline]
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        match self.get() {
            Some(value) => value,
            None => self.init(f),
        }
    }

    #[cold]
    #[track_caller]
    fn init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.once.call_once_force(|_| {
            // Only one closure runs at a time, and none after one that ended well.
            let _ = self.value.set(f());
        });
        self.get()
            .unwrap_or_else(|| unreachable!("it was written, here or by another thread"))
    }

    /// Waits until the value was written.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    ///
    /// # Panics
    ///
    /// If an initialiser panicked.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait();
        self.get().unwrap_or_else(|| unreachable!("it was written"))
    }

    /// The value, without a cell.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// The value, leaving the cell empty.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(Self::new, Self::from)
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        let cell = Self::new();
        let _ = cell.set(value);
        cell
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}
