//! [`Pool`]: a few expensive things shared by many threads.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::sync::{Permit, Semaphore};

/// A few things that are expensive to make (connections), each used by one thread at a time.
///
/// They are made when needed, at most [`max_size`](PoolBuilder::max_size) at once, checked before they are lent
/// again, and lent in the order of asking. Waiting for one unmounts; nothing is locked while one is made,
/// checked or used.
///
/// ```
/// use vt_runtime::task::Pool;
///
/// let pool = Pool::builder(|| Ok::<_, std::io::Error>(Vec::<u8>::with_capacity(4096)))
///     .max_size(2)
///     .check(|buffer| buffer.capacity() >= 4096)
///     .build();
/// let mut buffer = pool.get()?;
/// buffer.clear();
/// # Ok::<(), vt_runtime::task::PoolError<std::io::Error>>(())
/// ```
pub struct Pool<T, E> {
    settings: Settings<T, E>,
    places: Semaphore,
    state: Mutex<State<T>>,
}

type Make<T, E> = dyn Fn() -> Result<T, E> + Send + Sync;
type Check<T> = dyn Fn(&mut T) -> bool + Send + Sync;

struct Settings<T, E> {
    make: Box<Make<T, E>>,
    check: Option<Box<Check<T>>>,
    max_size: u32,
    wait: Option<Duration>,
}

struct State<T> {
    /// The last one given back is lent first.
    idle: Vec<T>,
    made: u64,
    discarded: u64,
    timed_out: u64,
    waited: Duration,
}

/// Settings of a [`Pool`] to come.
#[must_use = "a builder does nothing until `build` is called"]
pub struct PoolBuilder<T, E> {
    settings: Settings<T, E>,
}

/// A thing of a [`Pool`], given back when dropped.
#[must_use = "the thing goes back when it is dropped"]
pub struct Pooled<'a, T, E> {
    pool: &'a Pool<T, E>,
    /// `None` once it was taken out for good.
    thing: Option<T>,
    _place: Permit<'a>,
}

/// Why a [`Pool`] lent nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError<E> {
    /// All were in use for that long.
    Timeout(Duration),
    /// Making one failed.
    Make(E),
}

/// What a [`Pool`] is doing, and what it did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolMetrics {
    /// Things that are lent.
    pub in_use: u64,
    /// Things that are ready to be lent.
    pub idle: usize,
    /// Threads that wait for one.
    pub waiting: usize,
    /// Things made so far.
    pub made: u64,
    /// Things that did not pass the check.
    pub discarded: u64,
    /// Threads that gave up.
    pub timed_out: u64,
    /// The time that threads waited for a thing, in sum.
    pub waited: Duration,
}

impl<T, E> Pool<T, E> {
    /// A pool of things that `make` makes: 10 at most, until told otherwise.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn builder(make: impl Fn() -> Result<T, E> + Send + Sync + 'static) -> PoolBuilder<T, E> {
        let settings = Settings {
            make: Box::new(make),
            check: None,
            max_size: 10,
            wait: None,
        };
        PoolBuilder { settings }
    }

    /// Lends a thing, waiting until there is one. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. Having the thing does not pin.
    ///
    /// # Errors
    ///
    /// [`PoolError::Timeout`] if none was free within the pool's [`wait`](PoolBuilder::wait);
    /// [`PoolError::Make`] if one had to be made and that failed.
    #[track_caller]
    pub fn get(&self) -> Result<Pooled<'_, T, E>, PoolError<E>> {
        let since = Instant::now();
        let place = match (self.places.try_acquire_in_order(), self.settings.wait) {
            (Some(place), _) => place,
            (None, None) => self.places.acquire(),
            (None, Some(wait)) => match self.places.acquire_within(wait) {
                Some(place) => place,
                None => {
                    let mut state = self.state.lock();
                    state.timed_out += 1;
                    state.waited += since.elapsed();
                    return Err(PoolError::Timeout(wait));
                }
            },
        };
        self.state.lock().waited += since.elapsed();
        let thing = self.sound_thing().map_err(PoolError::Make)?;
        Ok(Pooled {
            pool: self,
            thing: Some(thing),
            _place: place,
        })
    }

    fn sound_thing(&self) -> Result<T, E> {
        loop {
            let idle = self.state.lock().idle.pop();
            let Some(mut thing) = idle else { break };
            if self
                .settings
                .check
                .as_ref()
                .is_none_or(|check| check(&mut thing))
            {
                return Ok(thing);
            }
            self.state.lock().discarded += 1;
        }
        let thing = (self.settings.make)()?;
        self.state.lock().made += 1;
        Ok(thing)
    }

    /// What the pool is doing.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn metrics(&self) -> PoolMetrics {
        let free = self.places.available_permits();
        let state = self.state.lock();
        PoolMetrics {
            in_use: u64::from(self.settings.max_size).saturating_sub(free),
            idle: state.idle.len(),
            waiting: self.places.waiting(),
            made: state.made,
            discarded: state.discarded,
            timed_out: state.timed_out,
            waited: state.waited,
        }
    }
}

impl<T, E> PoolBuilder<T, E> {
    /// At most that many things.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn max_size(mut self, things: u32) -> Self {
        self.settings.max_size = things;
        self
    }

    /// A thing that was used before is lent again only if `check` says so, else dropped.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn check(mut self, check: impl Fn(&mut T) -> bool + Send + Sync + 'static) -> Self {
        self.settings.check = Some(Box::new(check));
        self
    }

    /// Who asks waits for at most that long.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn wait(mut self, at_most: Duration) -> Self {
        self.settings.wait = Some(at_most);
        self
    }

    /// The pool; nothing is made yet.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Panics
    ///
    /// If `max_size` is 0: nothing could ever be lent.
    #[must_use]
    pub fn build(self) -> Pool<T, E> {
        assert!(
            self.settings.max_size > 0,
            "a pool of at most 0 things would lend nothing"
        );
        let places = Semaphore::bounded(self.settings.max_size);
        let state = State {
            idle: Vec::new(),
            made: 0,
            discarded: 0,
            timed_out: 0,
            waited: Duration::ZERO,
        };
        Pool {
            settings: self.settings,
            places,
            state: Mutex::new(state),
        }
    }
}

impl<T, E> Pooled<'_, T, E> {
    /// Takes the thing out of the pool, which may make another one in its place.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn take(mut self) -> T {
        self.thing
            .take()
            .unwrap_or_else(|| unreachable!("it is taken once"))
    }
}

impl<T, E> Deref for Pooled<'_, T, E> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing
            .as_ref()
            .unwrap_or_else(|| unreachable!("it is there until it is taken"))
    }
}

impl<T, E> DerefMut for Pooled<'_, T, E> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing
            .as_mut()
            .unwrap_or_else(|| unreachable!("it is there until it is taken"))
    }
}

impl<T, E> Drop for Pooled<'_, T, E> {
    fn drop(&mut self) {
        // A thing whose user panicked may be in any state.
        if let Some(thing) = self.thing.take()
            && !std::thread::panicking()
        {
            self.pool.state.lock().idle.push(thing);
        }
    }
}

impl<E: fmt::Display> fmt::Display for PoolError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(wait) => write!(f, "nothing in the pool became free within {wait:?}"),
            Self::Make(error) => write!(f, "could not make a thing for the pool: {error}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for PoolError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Timeout(_) => None,
            Self::Make(error) => Some(error),
        }
    }
}

impl<T, E> fmt::Debug for Pool<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("metrics", &self.metrics())
            .finish_non_exhaustive()
    }
}

impl<T, E> fmt::Debug for PoolBuilder<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolBuilder")
            .field("max_size", &self.settings.max_size)
            .finish_non_exhaustive()
    }
}

impl<T: fmt::Debug, E> fmt::Debug for Pooled<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.thing.fmt(f)
    }
}
