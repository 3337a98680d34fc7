//! Async code called from threads: the calling thread parks while the future pends.
//!
//! The way back, an async task that awaits a virtual thread, is [`JoinHandle`](crate::thread::JoinHandle)'s
//! `IntoFuture`.

use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

use crate::event::Operation;
use crate::park::{self, Wait, Waiter};
use crate::pinned;

/// Drives `future` to its end and returns its output.
///
/// ```
/// let answer = vt_runtime::thread::spawn(|| vt_runtime::future::block_on(async { 6 * 7 }));
/// assert_eq!(answer.join().unwrap(), 42);
/// ```
///
/// # Pinning
///
/// Unmounts while the future pends, unless pinned (operation `future`). An interrupt does not end it and stays set; a
/// shutdown drops the future.
#[track_caller]
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let mut future = pin!(future.into_future());
    drive(Location::caller(), |context| future.as_mut().poll(context))
}

/// [`block_on`] for a future that wants to be polled inside something, such as a tokio runtime:
/// `block_on_with(|| handle.enter(), future)` with a `tokio::runtime::Handle`.
///
/// `enter` is called before each poll, and what it returns is dropped after it: never held over a park.
///
/// ```
/// let answer = vt_runtime::future::block_on_with(|| "a guard", async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
///
/// # Pinning
///
/// As [`block_on`]. A poll that parks by itself would carry the guard to its neighbours: it is pinned (reason
/// `critical`, labelled `future poll`).
#[track_caller]
pub fn block_on_with<G, F: IntoFuture>(mut enter: impl FnMut() -> G, future: F) -> F::Output {
    let mut future: Pin<&mut F::IntoFuture> = pin!(future.into_future());
    drive(Location::caller(), |context| {
        pinned::critical("future poll", || {
            let _inside = enter();
            future.as_mut().poll(context)
        })
    })
}

fn drive<T>(
    at: &'static Location<'static>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> T {
    let signal = Arc::<Signal>::default();
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = poll(&mut context) {
            return output;
        }
        while let Some(waiter) = signal.waiter() {
            park::wait(waiter, &Wait::new(Operation::Future, at));
        }
    }
}

/// Tells the thread to poll again. A word of its own: the thread's park permit belongs to the user.
#[derive(Default)]
struct Signal(Mutex<State>);

#[derive(Default)]
struct State {
    given: bool,
    waiter: Option<Waiter>,
}

impl Signal {
    /// Begins a wait for the signal, or takes it if it was given.
    fn waiter(&self) -> Option<Waiter> {
        let waiter = park::prepare();
        let mut state = self.0.lock();
        if std::mem::take(&mut state.given) {
            return None;
        }
        state.waiter = Some(waiter.clone());
        Some(waiter)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiter = {
            let mut state = self.0.lock();
            state.given = true;
            state.waiter.take()
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}
