//! [`LazyLock`] in std's shape.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use parking_lot::Mutex;

use super::OnceLock;

/// [`std::sync::LazyLock`] for virtual threads: a value made at its first use. The initialiser may wait.
///
/// ```
/// use vt_runtime::sync::LazyLock;
///
/// static GREETING: LazyLock<String> = LazyLock::new(|| "hello".to_owned());
/// assert_eq!(GREETING.len(), 5);
/// ```
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    /// Taken by the thread that initialises; a leaf lock.
    init: Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `f` makes at its first use.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(f: F) -> Self {
        Self {
            cell: OnceLock::new(),
            init: Mutex::new(Some(f)),
        }
    }

    /// The value, made now if need be.
    ///
    /// # Pinning
    ///
    /// Unmounts while another thread makes it, unless the thread is pinned.
    ///
    /// # Panics
    ///
    /// If the initialiser panicked, or uses this same value.
    #[inline]
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        match this.cell.get() {
            Some(value) => value,
            None => this.make(),
        }
    }

    /// The value to change, made now if need be.
    ///
    /// # Pinning
    ///
    /// Never waits itself: nobody else can be making it.
    ///
    /// # Panics
    ///
    /// If the initialiser panicked.
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        Self::force(this);
        match this.cell.get_mut() {
            Some(value) => value,
            None => unreachable!("it was made"),
        }
    }

    #[cold]
    #[track_caller]
    fn make(&self) -> &T {
        self.cell.get_or_init(|| {
            let init = self.init.lock().take();
            match init {
                Some(init) => init(),
                None => panic!("a lazy value is poisoned: its initialiser panicked"),
            }
        })
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it was made.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    #[must_use]
    pub fn get(this: &Self) -> Option<&T> {
        this.cell.get()
    }

    /// The value to change, if it was made.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    #[must_use]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.cell.get_mut()
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    /// # Pinning
    ///
    /// As [`force`](Self::force).
    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    /// # Pinning
    ///
    /// As [`force_mut`](Self::force_mut).
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("LazyLock");
        match self.cell.get() {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}
