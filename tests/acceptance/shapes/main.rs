//! `blocked_at` in every shape that a call can have: the application's own line, or `unknown`; never std's or ours.

mod streams;
mod undeclared;

use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use vt_runtime::event::Pinned;
use vt_runtime::sync::{LazyLock, Monitor, Semaphore, mpsc};
use vt_runtime::thread::{self as threads, JoinHandle};
use vt_runtime::{future, pinned, thread};
use vt_tests::{BACKENDS, Capture, Deadline, Gate, runtime};

const MOMENT: Duration = Duration::from_millis(2);
/// A shape waits once, or several times at one line, and returns that line.
type Shape = fn() -> u32;

/// The wait under test, pinned; what comes before it in the shape is not.
fn pin<T>(f: impl FnOnce() -> T) -> T {
    pinned::critical("shape", f)
}

fn direct() -> u32 {
    pin(|| thread::sleep(MOMENT));
    line!() - 1
}

fn through_an_alias() -> u32 {
    pin(|| threads::park_timeout(MOMENT));
    line!() - 1
}

#[rustfmt::skip]
fn over_several_lines() -> u32 {
    let semaphore = Semaphore::new(0);
    pin(|| semaphore
        .acquire_timeout(MOMENT)
        .is_none());
    line!() - 2
}

fn auto_deref() -> u32 {
    let semaphore = Arc::new(Box::new(Semaphore::new(0)));
    pin(|| semaphore.acquire_timeout(MOMENT).is_none());
    line!() - 1
}

fn in_a_closure() -> u32 {
    let nap = || thread::sleep(MOMENT);
    pin(nap);
    line!() - 2
}

fn in_a_closure_of_an_iterator() -> u32 {
    pin(|| (0..1).for_each(|_| thread::sleep(MOMENT)));
    line!() - 1
}

fn in_a_collected_iterator() -> u32 {
    let (_sender, receiver) = mpsc::channel::<()>();
    let wait = |_| receiver.recv_timeout(MOMENT);
    let line = line!() - 1;
    pin(|| (0..1).map(wait).collect::<Vec<_>>());
    line
}

fn as_a_function_pointer() -> u32 {
    let nap: fn(Duration) = std::hint::black_box(thread::sleep);
    pin(|| nap(MOMENT));
    line!() - 1
}

fn as_a_function_given_to_std() -> u32 {
    let moment = Some(MOMENT);
    pin(|| moment.map(thread::sleep));
    line!() - 1
}

macro_rules! nap {
    () => {
        thread::sleep(MOMENT)
    };
}

fn in_a_macro() -> u32 {
    pin(|| nap!());
    line!() - 1
}

macro_rules! nested {
    ($($wait:tt)*) => { { $($wait)* } };
}

fn in_nested_macros() -> u32 {
    pin(|| nested!(nested!(nap!())));
    line!() - 1
}

#[inline(always)]
fn inlined_helper() -> u32 {
    thread::sleep(MOMENT);
    line!() - 1
}

fn in_an_inlined_function() -> u32 {
    pin(inlined_helper)
}

/// Something that waits.
trait Wait {
    fn wait(&self) -> u32;
}

impl Wait for Duration {
    fn wait(&self) -> u32 {
        thread::sleep(*self);
        line!() - 1
    }
}

fn generic<W: Wait>(waits: &W) -> u32 {
    waits.wait()
}

fn in_a_generic_function() -> u32 {
    pin(|| generic(&MOMENT))
}

fn behind_a_trait_object() -> u32 {
    let waits: Box<dyn Wait> = Box::new(MOMENT);
    pin(|| std::hint::black_box(&waits).wait())
}

/// Waits when dropped.
struct Late(Arc<Mutex<u32>>);

impl Drop for Late {
    fn drop(&mut self) {
        thread::sleep(MOMENT);
        *self.0.lock().expect("not poisoned") = line!() - 1;
    }
}

fn in_a_destructor() -> u32 {
    let line = Arc::new(Mutex::new(0));
    let late = Late(Arc::clone(&line));
    pin(|| drop(late));
    *line.lock().expect("not poisoned")
}

fn a_contended_monitor() -> u32 {
    let (monitor, held) = (Arc::new(Monitor::new(())), Gate::new());
    let (other, told) = (Arc::clone(&monitor), held.clone());
    let holder = threads::Builder::new().carrier(1).spawn(move || {
        let guard = other.enter();
        told.open();
        thread::sleep(5 * MOMENT);
        drop(guard);
    });
    held.pass();
    pin(|| drop(monitor.enter()));
    let line = line!() - 1;
    holder.expect("spawned").join().expect("no panic");
    line
}

fn joined(handle: JoinHandle<()>) -> u32 {
    pin(|| handle.join().expect("no panic"));
    line!() - 1
}

fn a_join() -> u32 {
    let sleeper = threads::Builder::new()
        .carrier(1)
        .spawn(|| thread::sleep(5 * MOMENT));
    joined(sleeper.expect("spawned"))
}

fn a_join_given_to_std() -> u32 {
    let sleeper = threads::Builder::new()
        .carrier(1)
        .spawn(|| thread::sleep(5 * MOMENT));
    let sleeper = sleeper.expect("spawned");
    let sleeper = Some(sleeper);
    pin(|| sleeper.map(JoinHandle::join));
    line!() - 1
}

fn a_lazy_value_that_another_makes() -> u32 {
    type Slow = LazyLock<u32, Box<dyn FnOnce() -> u32 + Send>>;
    let begun = Gate::new();
    let told = begun.clone();
    let slow: Arc<Slow> = Arc::new(LazyLock::new(Box::new(move || {
        told.open();
        thread::sleep(5 * MOMENT);
        7
    })));
    let other = Arc::clone(&slow);
    let maker = threads::Builder::new().carrier(1).spawn(move || **other);
    begun.pass();
    pin(|| assert_eq!(**slow, 7));
    let line = line!() - 1;
    maker.expect("spawned").join().expect("no panic");
    line
}

fn a_future() -> u32 {
    let mut is_woken = false;
    let once_woken = std::future::poll_fn(move |context| {
        if std::mem::replace(&mut is_woken, true) {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        let other = threads::Builder::new().carrier(1).spawn(move || {
            thread::sleep(5 * MOMENT);
            waker.wake();
        });
        drop(other.expect("spawned"));
        Poll::Pending
    });
    pin(|| future::block_on(once_woken));
    line!() - 1
}

macro_rules! shapes {
    ($($shape:path),+ $(,)?) => { [$((stringify!($shape), $shape as Shape)),+] };
}

/// Runs a shape on carrier 0 and tells the waits there.
fn waits_of(
    runtime: &vt_runtime::Runtime,
    capture: &Capture,
    (name, shape): (&str, Shape),
) -> (u32, Vec<Pinned>) {
    capture.clear();
    let thread = threads::Builder::new().carrier(0).spawn_in(runtime, shape);
    let line = thread.expect("spawned").join().expect("no panic");
    // On a busy machine the watchdog may see locks that no shape is about.
    let mut pins = if name.starts_with("undeclared") {
        capture.pinned_or_sampled(runtime)
    } else {
        capture.pinned(runtime)
    };
    pins.retain(|pin| pin.carrier == 0);
    (line, pins)
}

#[test]
fn the_application_s_line_is_named_or_none() {
    let _deadline = Deadline::standard();
    let shapes = shapes![
        direct,
        through_an_alias,
        over_several_lines,
        auto_deref,
        in_a_closure,
        in_a_closure_of_an_iterator,
        in_a_collected_iterator,
        as_a_function_pointer,
        as_a_function_given_to_std,
        in_a_macro,
        in_nested_macros,
        in_an_inlined_function,
        in_a_generic_function,
        behind_a_trait_object,
        in_a_destructor,
        a_contended_monitor,
        a_join,
        a_join_given_to_std,
        a_lazy_value_that_another_makes,
        a_future,
        streams::a_read,
        streams::a_read_of_a_reference,
        streams::a_read_behind_a_trait_object,
        streams::a_read_in_a_generic_function,
        streams::a_read_to_the_end,
        streams::a_line_of_a_buffered_reader,
        streams::the_lines_of_a_buffered_reader,
        streams::a_copy_by_std,
        streams::a_formatted_write,
        streams::a_formatted_write_behind_a_trait_object,
        streams::a_flush_of_a_buffered_writer,
        undeclared::undeclared_receive,
        undeclared::undeclared_receive_by_an_iterator,
        undeclared::undeclared_lock,
        undeclared::undeclared_read_of_a_line,
        undeclared::undeclared_copy_over_old_frames,
    ];
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 2);
        let mut unknown = Vec::new();
        for (name, shape) in shapes {
            // On a busy machine the other end may come before the wait: then there is none, and the shape is tried again.
            let (line, pins) =
                std::iter::repeat_with(|| waits_of(&runtime, &capture, (name, shape)))
                    .find(|(_, pins)| !pins.is_empty())
                    .expect("tried until it pins");
            for pin in &pins {
                match &pin.blocked_at {
                    Some(place) => {
                        assert!(
                            place.file.starts_with("tests/acceptance/shapes/"),
                            "{name}: {place}"
                        );
                        assert_eq!(place.line, line, "{name}: {pin:?} of {pins:?}");
                    }
                    None => unknown.push(name),
                }
            }
        }
        // With frame pointers, which this repository builds with, hardly any line stays unknown.
        unknown.dedup();
        assert!(unknown.len() <= 2, "unknown: {unknown:?}");
    }
}
