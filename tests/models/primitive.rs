//! What the locks' sources are built on here: loom's atomics and locks, and a clock on which everything takes long.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
pub(crate) use loom::thread::yield_now;

/// The stand-in for what has `const` constructors: made at its first use, so a model must use each object once before
/// it starts threads.
pub(crate) mod constant {
    use std::ops::{Deref, DerefMut};
    use std::sync::OnceLock;
    use std::time::Duration;

    pub(crate) use loom::sync::atomic::Ordering;

    /// Looking more than once only adds states.
    pub(crate) const fn spins() -> u32 {
        0
    }

    /// An atomic of the model, made by the first thread that uses it.
    #[derive(Debug)]
    pub(crate) struct Lazy<A, V> {
        initial: V,
        make: fn(V) -> A,
        atomic: OnceLock<A>,
    }

    impl<A, V: Copy> Deref for Lazy<A, V> {
        type Target = A;

        fn deref(&self) -> &A {
            self.atomic.get_or_init(|| (self.make)(self.initial))
        }
    }

    /// The `const` constructors.
    macro_rules! atomics {
        ($($name:ident: $value:ty;)+) => {$(
            pub(crate) type $name = Lazy<loom::sync::atomic::$name, $value>;

            impl $name {
                pub(crate) const fn new(initial: $value) -> Self {
                    Self { initial, make: loom::sync::atomic::$name::new, atomic: OnceLock::new() }
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::new(<$value>::default())
                }
            }
        )+};
    }

    atomics! {
        AtomicBool: bool;
        AtomicU32: u32;
        AtomicU64: u64;
    }

    /// parking_lot's shape over loom's lock.
    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T> {
        lock: loom::sync::Mutex<T>,
    }

    pub(crate) struct MutexGuard<'a, T> {
        guard: loom::sync::MutexGuard<'a, T>,
    }

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self {
                lock: loom::sync::Mutex::new(value),
            }
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard {
                guard: self
                    .lock
                    .lock()
                    .expect("a model does not go on after a panic"),
            }
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }

    /// Every wait of a model has taken long: what only happens after some time happens at once.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Instant;

    impl Instant {
        pub(crate) fn now() -> Self {
            Self
        }

        pub(crate) fn elapsed(self) -> Duration {
            Duration::from_secs(1)
        }
    }
}
