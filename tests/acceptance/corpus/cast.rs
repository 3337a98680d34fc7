//! What is waited for in a scenario, and who ends the wait.

use std::io::{Read, Write};
use std::net::TcpStream as OsStream;
use std::task::Poll;
use std::time::Duration;

use vt_runtime::event::{Operation, WaitOutcome};
use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::sync::{
    Condition, CountDownLatch, Monitor, Mutex, OnceLock, ReentrantLock, Semaphore, mpsc,
};
use vt_runtime::{Runtime, blocking, future, thread};

/// What a scenario waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Sleep,
    Park,
    ParkTimeout,
    Lock,
    LockTimeout,
    MutexLock,
    MonitorEnter,
    MonitorWait,
    Condition,
    Join,
    Receive,
    ReceiveTimeout,
    Acquire,
    AcquireTimeout,
    Latch,
    Once,
    Read,
    Accept,
    Offload,
    Future,
    /// These do not wait.
    Compute,
    Yield,
    FreeLock,
    PermitThere,
    MessageThere,
}

impl Act {
    pub(crate) const ALL: [Self; 25] = [
        Self::Sleep,
        Self::Park,
        Self::ParkTimeout,
        Self::Lock,
        Self::LockTimeout,
        Self::MutexLock,
        Self::MonitorEnter,
        Self::MonitorWait,
        Self::Condition,
        Self::Join,
        Self::Receive,
        Self::ReceiveTimeout,
        Self::Acquire,
        Self::AcquireTimeout,
        Self::Latch,
        Self::Once,
        Self::Read,
        Self::Accept,
        Self::Offload,
        Self::Future,
        Self::Compute,
        Self::Yield,
        Self::FreeLock,
        Self::PermitThere,
        Self::MessageThere,
    ];

    /// How its wait is reported; `None` if it does not wait.
    pub(crate) fn reported(self) -> Option<(Operation, WaitOutcome)> {
        use WaitOutcome::{Done, Timeout};
        Some(match self {
            Self::Sleep => (Operation::Sleep, Done),
            Self::Park => (Operation::Park, Done),
            Self::ParkTimeout => (Operation::Park, Timeout),
            Self::Lock | Self::MutexLock => (Operation::Lock, Done),
            Self::LockTimeout => (Operation::Lock, Timeout),
            Self::MonitorEnter => (Operation::MonitorEnter, Done),
            Self::MonitorWait => (Operation::MonitorWait, Timeout),
            Self::Condition => (Operation::Condition, Timeout),
            Self::Join => (Operation::Join, Done),
            Self::Receive => (Operation::Channel, Done),
            Self::ReceiveTimeout => (Operation::Channel, Timeout),
            Self::Acquire => (Operation::Semaphore, Done),
            Self::AcquireTimeout => (Operation::Semaphore, Timeout),
            Self::Latch => (Operation::Latch, Done),
            Self::Once => (Operation::Once, Done),
            Self::Read => (Operation::IoRead, Done),
            Self::Accept => (Operation::Accept, Done),
            Self::Offload => (Operation::Blocking, Done),
            Self::Future => (Operation::Future, Done),
            Self::Compute
            | Self::Yield
            | Self::FreeLock
            | Self::PermitThere
            | Self::MessageThere => {
                return None;
            }
        })
    }
}

/// What a virtual thread does in a scenario; it returns the line of its wait.
pub(crate) type Part = Box<dyn FnOnce() -> u32 + Send>;
/// What the stage hand does once the thread waits.
pub(crate) type Release = Box<dyn FnOnce()>;

/// A value that lives as long as the program: guards of it can be kept anywhere.
fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Prepares an act on the stage hand's OS thread, which then holds what is to be waited for.
pub(crate) fn stage(act: Act, time: Duration, others: &Runtime) -> (Part, Release) {
    let nothing = || -> Release { Box::new(|| ()) };
    match act {
        Act::Sleep => (
            Box::new(move || {
                thread::sleep(time);
                line!() - 1
            }),
            nothing(),
        ),
        Act::Park => {
            let parked = leaked(std::sync::OnceLock::new());
            (
                Box::new(|| {
                    parked.get_or_init(thread::current);
                    thread::park();
                    line!() - 1
                }),
                Box::new(|| parked.get().expect("it waits").unpark()),
            )
        }
        Act::ParkTimeout => (
            Box::new(move || {
                thread::park_timeout(time);
                line!() - 1
            }),
            nothing(),
        ),
        Act::Lock => {
            let lock = leaked(ReentrantLock::new(()));
            let held = lock.lock();
            (
                Box::new(|| {
                    drop(lock.lock());
                    line!() - 1
                }),
                Box::new(|| drop(held)),
            )
        }
        Act::LockTimeout => {
            let lock = leaked(ReentrantLock::new(()));
            // Never given back.
            std::mem::forget(lock.lock());
            (
                Box::new(move || {
                    assert!(lock.try_lock_for(time).is_none());
                    line!() - 1
                }),
                nothing(),
            )
        }
        Act::MutexLock => {
            let lock = leaked(Mutex::new(()));
            let held = lock.lock().expect("not poisoned");
            (
                Box::new(|| {
                    drop(lock.lock().expect("not poisoned"));
                    line!() - 1
                }),
                Box::new(|| drop(held)),
            )
        }
        Act::MonitorEnter => {
            let monitor = leaked(Monitor::new(()));
            let held = monitor.enter();
            (
                Box::new(|| {
                    drop(monitor.enter());
                    line!() - 1
                }),
                Box::new(|| drop(held)),
            )
        }
        Act::MonitorWait => (
            Box::new(move || {
                let monitor = Monitor::new(());
                let mut guard = monitor.enter();
                let waited = monitor.wait_timeout(&mut guard, time);
                let line = line!() - 1;
                assert!(waited.expect("nobody interrupts").timed_out());
                line
            }),
            nothing(),
        ),
        Act::Condition => (
            Box::new(move || {
                let (lock, condition) = (ReentrantLock::new(()), Condition::new());
                let mut guard = lock.lock();
                let waited = condition.wait_timeout(&mut guard, time);
                let line = line!() - 1;
                assert!(waited.expect("nobody interrupts").timed_out());
                line
            }),
            nothing(),
        ),
        Act::Join => {
            let (ends, ended) = mpsc::channel::<()>();
            let awaited = others.spawn(move || ended.recv().expect("the stage hand says so"));
            (
                Box::new(|| {
                    awaited.join().expect("no panic");
                    line!() - 1
                }),
                Box::new(move || ends.send(()).expect("it waits")),
            )
        }
        Act::Receive => {
            let (sender, receiver) = mpsc::channel();
            (
                Box::new(move || {
                    receiver.recv().expect("sent");
                    line!() - 1
                }),
                Box::new(move || sender.send(()).expect("it waits")),
            )
        }
        Act::ReceiveTimeout => (
            Box::new(move || {
                let (_sender, receiver) = mpsc::channel::<()>();
                receiver.recv_timeout(time).expect_err("nobody sends");
                line!() - 1
            }),
            nothing(),
        ),
        Act::Acquire => {
            let permits = leaked(Semaphore::new(0));
            (
                Box::new(|| {
                    permits.acquire().forget();
                    line!() - 1
                }),
                Box::new(|| permits.add_permits(1)),
            )
        }
        Act::AcquireTimeout => (
            Box::new(move || {
                assert!(Semaphore::new(0).acquire_timeout(time).is_none());
                line!() - 1
            }),
            nothing(),
        ),
        Act::Latch => {
            let latch = leaked(CountDownLatch::new(1));
            (
                Box::new(|| {
                    latch.wait();
                    line!() - 1
                }),
                Box::new(|| latch.count_down()),
            )
        }
        Act::Once => {
            let cell = leaked(OnceLock::new());
            let (begins, begun) = std::sync::mpsc::channel();
            let (ends, ended) = mpsc::channel::<()>();
            drop(others.spawn(move || {
                cell.get_or_init(|| {
                    begins.send(()).expect("the stage hand waits");
                    ended.recv().expect("the stage hand says so");
                    7
                });
            }));
            begun.recv().expect("it begins");
            (
                Box::new(|| {
                    assert_eq!(*cell.get_or_init(|| 8), 7);
                    line!() - 1
                }),
                Box::new(move || ends.send(()).expect("it waits")),
            )
        }
        Act::Read => {
            let (mut stream, mut other) = connection();
            (
                Box::new(move || {
                    let count = stream.read(&mut [0; 4]);
                    let line = line!() - 1;
                    assert_eq!(count.expect("it is sent"), 1);
                    line
                }),
                Box::new(move || other.write_all(b"x").expect("there is room")),
            )
        }
        Act::Accept => {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = listener.local_addr().expect("an address");
            (
                Box::new(move || {
                    let accepted = listener.accept();
                    let line = line!() - 1;
                    accepted.expect("somebody connects");
                    line
                }),
                Box::new(move || drop(OsStream::connect(address).expect("it listens"))),
            )
        }
        Act::Offload => {
            let (ends, ended) = std::sync::mpsc::channel::<()>();
            (
                Box::new(move || {
                    blocking(move || ended.recv().expect("the stage hand says so"));
                    line!() - 1
                }),
                Box::new(move || ends.send(()).expect("it waits")),
            )
        }
        Act::Future => {
            let waker = leaked(std::sync::Mutex::new(None));
            let mut asked = false;
            let woken = std::future::poll_fn(move |context| {
                if std::mem::replace(&mut asked, true) {
                    return Poll::Ready(());
                }
                *waker.lock().expect("not poisoned") = Some(context.waker().clone());
                Poll::Pending
            });
            (
                Box::new(move || {
                    future::block_on(woken);
                    line!() - 1
                }),
                Box::new(|| {
                    let waker = waker.lock().expect("not poisoned").take();
                    std::task::Waker::wake(waker.expect("it waits"));
                }),
            )
        }
        Act::Compute => (
            Box::new(move || {
                let begun = std::time::Instant::now();
                while begun.elapsed() < time.min(Duration::from_millis(2)) {
                    std::hint::spin_loop();
                }
                line!()
            }),
            nothing(),
        ),
        Act::Yield => (
            Box::new(|| {
                (0..100).for_each(|_| thread::yield_now());
                line!()
            }),
            nothing(),
        ),
        Act::FreeLock => (
            Box::new(|| {
                let (lock, monitor) = (Mutex::new(()), Monitor::new(()));
                for _ in 0..100 {
                    drop((lock.lock(), monitor.enter()));
                }
                line!()
            }),
            nothing(),
        ),
        Act::PermitThere => (
            Box::new(|| {
                thread::current().unpark();
                thread::park();
                line!()
            }),
            nothing(),
        ),
        Act::MessageThere => (
            Box::new(|| {
                let (sender, receiver) = mpsc::channel();
                sender.send(()).expect("there is room");
                receiver.recv().expect("there is one");
                line!()
            }),
            nothing(),
        ),
    }
}

/// Both ends of a connection, ours and std's.
fn connection() -> (TcpStream, OsStream) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let other = OsStream::connect(listener.local_addr().expect("an address")).expect("it listens");
    let (stream, _) = listener.accept().expect("somebody connected");
    (TcpStream::from_std(stream).expect("a socket"), other)
}
