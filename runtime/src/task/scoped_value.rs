//! [`ScopedValue`]: a value handed down to everything that a call does.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::storage;

/// Declares values that can be bound for the duration of a call.
///
/// ```
/// use vt_runtime::task::{self, TaskScope};
///
/// task::scoped_value! {
///     static USER: String;
/// }
///
/// assert!(USER.get().is_none());
/// USER.with("ada".to_owned(), || {
///     let names = TaskScope::collect(|s| {
///         s.spawn(|| Ok::<_, ()>(USER.get()));
///     });
///     assert_eq!(names[0], Ok(Some("ada".to_owned())));
/// });
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __scoped_value {
    ($($(#[$meta:meta])* $vis:vis static $name:ident : $type:ty);* $(;)?) => {
        $($(#[$meta])* $vis static $name: $crate::task::ScopedValue<$type> = $crate::task::ScopedValue::__new();)*
    };
}

/// A value that is bound for the duration of a call, and seen by what that calls and by subtasks forked in it.
/// Made by `scoped_value!`.
///
/// Unlike a local it cannot be changed by those who see it, needs no cleaning up, and belongs to a call, not to a
/// thread.
pub struct ScopedValue<T: Send + Sync + 'static> {
    /// Gives each key an address of its own.
    _key: u8,
    _of: PhantomData<fn() -> T>,
}

/// One binding, and those around it.
pub(super) struct Binding {
    key: usize,
    value: Arc<dyn Any + Send + Sync>,
    outer: Option<Arc<Binding>>,
}

impl<T: Send + Sync + 'static> ScopedValue<T> {
    #[doc(hidden)]
    #[must_use]
    pub const fn __new() -> Self {
        Self {
            _key: 0,
            _of: PhantomData,
        }
    }

    /// Runs `f` with the value bound to `value`. An inner binding hides an outer one.
    ///
    /// # Pinning
    ///
    /// Never waits by itself.
    pub fn with<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        let outer = bindings();
        let inner = Binding {
            key: self.key(),
            value: Arc::new(value),
            outer: outer.clone(),
        };
        let _bound = Bound::to(Some(Arc::new(inner)), outer);
        f()
    }

    /// The value it is bound to here.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn get(&'static self) -> Option<T>
    where
        T: Clone,
    {
        self.read(T::clone)
    }

    /// Calls `f` with the value it is bound to here.
    ///
    /// # Pinning
    ///
    /// Never waits by itself.
    pub fn read<R>(&'static self, f: impl FnOnce(&T) -> R) -> Option<R> {
        let mut next = bindings();
        while let Some(binding) = next {
            if binding.key == self.key() {
                return binding.value.downcast_ref().map(f);
            }
            next = binding.outer.clone();
        }
        None
    }

    /// Is it bound here?
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn is_bound(&'static self) -> bool {
        self.read(|_| ()).is_some()
    }

    fn key(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for ScopedValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedValue").finish_non_exhaustive()
    }
}

/// The bindings of the calling thread.
pub(super) fn bindings() -> Option<Arc<Binding>> {
    storage::peek(|storage| storage.bindings.clone())
}

/// Bindings that end when this is dropped.
pub(super) struct Bound {
    outer: Option<Arc<Binding>>,
}

impl Bound {
    pub(super) fn to(bindings: Option<Arc<Binding>>, outer: Option<Arc<Binding>>) -> Self {
        set(bindings);
        Self { outer }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        set(self.outer.take());
    }
}

fn set(bindings: Option<Arc<Binding>>) {
    let before =
        storage::of_this_thread(|storage| std::mem::replace(&mut storage.bindings, bindings));
    // The value's destructor is the user's code.
    drop(before);
}
