//! What waits for the operating system: on both backends, between virtual threads and with plain OS threads at the
//! other end.
//!
//! Nothing here may hang: `on_both` ends the process when a test takes longer than its limit.

mod as_std;
mod blocking;
mod compensation;
mod datagrams;
mod files;
mod futures;
mod hostile;
mod idle;
mod lifetimes;
mod processes;
mod refused;
mod tcp;
mod unix;
mod waits;

use std::io::{Read, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use vt_runtime::event::Event;
use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::thread::ThreadId;
use vt_runtime::{Runtime, Stacks};

/// Longer than any test takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs `test` once with each backend.
fn on_both(carriers: usize, test: impl Fn(&Runtime)) {
    for stacks in [Stacks::Dense, Stacks::Generator] {
        let runtime = Runtime::builder()
            .stacks(stacks)
            .carriers(carriers)
            .pin_threshold(Duration::ZERO)
            .build()
            .expect("carriers can be started");
        within_limit(|| test(&runtime));
    }
}

/// Ends the process if `f` does not end in time.
fn within_limit(f: impl FnOnce()) {
    let (done, ended) = channel::<()>();
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    std::thread::Builder::new()
        .name("kill-timer".to_owned())
        .spawn(move || {
            if ended.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{name} hangs");
                std::process::abort();
            }
        })
        .expect("an OS thread for the kill timer");
    f();
    drop(done);
}

/// Runs that test again, alone, in a process whose environment says so, and fails if it fails.
fn in_its_own_process(test: &str, environment: &[(&str, &str)]) {
    let output = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args([test, "--exact", "--nocapture"])
        .envs(environment.iter().copied())
        .output()
        .expect("this test runs again");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{environment:?}: {text}");
}

/// A listener of the runtime's on a free port, and its address.
fn listener() -> (TcpListener, std::net::SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// A connection: our end, and the other as std's, for the test's own OS thread.
fn pair() -> (TcpStream, std::net::TcpStream) {
    let (listener, address) = listener();
    let other = std::net::TcpStream::connect(address).expect("it listens");
    let (ours, _) = listener.accept().expect("a connection is there");
    (ours, other)
}

/// Sends back what comes, until the other end is closed.
fn echo(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => stream.write_all(&buffer[..count]).expect("the peer reads"),
            Err(error) => panic!("read: {error}"),
        }
    }
}

/// Open sockets of this process.
fn sockets() -> usize {
    std::fs::read_dir("/proc/self/fd")
        .expect("procfs")
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .count()
}

/// Everything recorded so far.
fn events(runtime: &Runtime) -> Vec<Event> {
    let mut events = Vec::new();
    runtime
        .event_reader()
        .drain(|recorded| events.push(recorded.event));
    events
}

/// Returns when the thread waits for something.
fn until_it_waits(runtime: &Runtime, id: ThreadId) {
    until(|| {
        let threads = runtime.threads();
        let info = threads.iter().find(|info| info.id == id);
        info.is_some_and(|info| info.waits_for.is_some())
    });
}

/// Returns when `condition` holds.
fn until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}
