//! Signals that come to an OS thread while it waits: as in std they end neither `accept` nor `connect`.

#![expect(
    unsafe_code,
    reason = "one test handles a signal, and sends it to its own threads"
)]

use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use vt_runtime::net::{TcpListener, TcpStream};

use crate::{until, within_limit};

/// How often the handler has run.
static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn handle(_signal: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::SeqCst);
}

/// From now on the signal ends what the thread it comes to waits for in the kernel.
fn handle_signals() {
    // SAFETY: zeros are a valid `sigaction`: no flags, so that calls are not restarted, and no other signal masked.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as *const () as libc::sighandler_t;
    // SAFETY: the handler only counts, and lives as long as the process; nobody else uses this signal.
    let result = unsafe { libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut()) };
    assert_eq!(result, 0, "the signal can be handled");
}

/// Runs `wait` on an OS thread, and interrupts it there some times, each time that it is in the kernel's `poll`.
fn interrupted<T: Send + 'static>(wait: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let (tell, told) = channel();
    let waits = std::thread::Builder::new()
        .name("interrupted".to_owned())
        .spawn(move || {
            tell.send(rustix::thread::gettid())
                .expect("somebody listens");
            wait()
        })
        .expect("an OS thread");
    let thread = told.recv().expect("it starts").as_raw_nonzero();
    let is_polling = || {
        let call = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall"));
        let call = call.expect("procfs tells of one's own threads");
        let number = call.split(' ').next().and_then(|text| text.parse().ok());
        number.is_some_and(|number: i64| number == libc::SYS_ppoll || is_plain_poll(number))
    };
    for _signal in 0..5 {
        until(|| is_polling() || waits.is_finished());
        if waits.is_finished() {
            break;
        }
        let before = HANDLED.load(Ordering::SeqCst);
        // SAFETY: the thread has not been joined, so its name is valid.
        let result = unsafe { libc::pthread_kill(waits.as_pthread_t(), libc::SIGUSR2) };
        assert_eq!(result, 0, "the thread is there");
        until(|| HANDLED.load(Ordering::SeqCst) > before);
    }
    waits
}

/// Newer machines have only `ppoll`.
fn is_plain_poll(number: i64) -> bool {
    #[cfg(target_arch = "x86_64")]
    return number == libc::SYS_poll;
    #[cfg(not(target_arch = "x86_64"))]
    return number < 0;
}

#[test]
fn neither_accept_nor_connect_of_an_os_thread_ends_by_a_signal() {
    handle_signals();
    within_limit(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let accepts = interrupted(move || listener.accept().map(|(_, peer)| peer));
        assert!(!accepts.is_finished(), "nobody has connected");
        let client = std::net::TcpStream::connect(address).expect("it listens");
        let peer = accepts.join().expect("no panic").expect("a connection");
        assert_eq!(peer, client.local_addr().expect("connected"));

        // A full queue makes the kernel ignore further requests; they are repeated after a second.
        let full = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        rustix::net::listen(&full, 0).expect("a smaller queue");
        let address = full.local_addr().expect("it is bound");
        let _fills = std::net::TcpStream::connect(address).expect("room for one");
        let connects = interrupted(move || TcpStream::connect(address));
        full.accept().expect("the first");
        let stream = connects.join().expect("no panic").expect("room now");
        assert_eq!(stream.peer_addr().expect("connected"), address);
    });
    assert!(HANDLED.load(Ordering::SeqCst) > 5, "both were interrupted");
}
