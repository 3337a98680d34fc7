//! Services on virtual threads: one for each connection, plain blocking code. They differ in how they come to their
//! connection upstream.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::sync::{Monitor, Once, ReentrantLock, RwLock};
use vt_runtime::task::Pool;
use vt_runtime::{Runtime, thread};

use super::request::{Requests, answer};
use super::{serve_from, verify};

/// The upstream service: answers each byte with the same byte, later.
pub(super) fn slow_service(delay: Duration) -> io::Result<()> {
    listen(move |mut connection| {
        let mut byte = [0; 1];
        connection.set_nodelay(true)?;
        loop {
            connection.read_exact(&mut byte)?;
            thread::sleep(delay);
            connection.write_all(&byte)?;
        }
    })
}

/// A virtual thread for each connection.
fn listen<F>(serve: F) -> io::Result<()>
where
    F: Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let serve = Arc::new(serve);
    Runtime::global().spawn(move || {
        for connection in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(connection));
        }
    });
    serve_from(address)
}

/// Answers a request; `Err` is an answer with the status 503.
type Handler = Box<dyn FnMut(&[u8]) -> io::Result<Vec<u8>> + Send>;

/// Serves HTTP with a handler made for each connection.
fn on_virtual_threads(
    handler: impl Fn() -> io::Result<Handler> + Send + Sync + 'static,
) -> io::Result<()> {
    listen(move |mut connection| {
        connection.set_nodelay(true)?;
        let mut handler = handler()?;
        let mut requests = Requests::new();
        loop {
            while let Some(body) = requests.take() {
                let reply = match handler(&body) {
                    Ok(body) => answer("200 OK", &body),
                    Err(error) => answer("503 Service Unavailable", error.to_string().as_bytes()),
                };
                connection.write_all(&reply)?;
            }
            let Some(room) = requests.room() else {
                return Ok(());
            };
            match connection.read(room)? {
                0 => return Ok(()),
                count => requests.came(count),
            }
        }
    })
}

/// A question to the upstream service over that connection, whatever its type.
pub(super) fn ask<S: Read + Write>(mut upstream: S) -> io::Result<()> {
    upstream.write_all(b"?")?;
    upstream.read_exact(&mut [0; 1])
}

/// Each connection has one of its own upstream.
pub(super) fn own_upstream(to: SocketAddr) -> io::Result<()> {
    on_virtual_threads(move || {
        let upstream = TcpStream::connect(to)?;
        upstream.set_nodelay(true)?;
        Ok(Box::new(move |body: &[u8]| {
            let verified = verify::answer(body);
            ask(&upstream)?;
            Ok(verified)
        }))
    })
}

/// All connections share `size` of the upstream's; who gets none in time is told so.
pub(super) fn limited_upstream(size: u32, wait: Duration, to: SocketAddr) -> io::Result<()> {
    let pool = Pool::builder(move || TcpStream::connect(to))
        .max_size(size)
        .wait(wait)
        .build();
    let pool = Arc::new(pool);
    on_virtual_threads(move || {
        let pool = Arc::clone(&pool);
        Ok(Box::new(move |body: &[u8]| {
            let upstream = pool.get().map_err(io::Error::other)?;
            ask(&*upstream)?;
            Ok(verify::answer(body))
        }))
    })
}

/// Answers at once, but for one stall, a little after its first connection.
pub(super) fn stalling(lasts: Duration) -> io::Result<()> {
    static GATE: RwLock<()> = RwLock::new(());
    static FIRST: Once = Once::new();
    on_virtual_threads(move || {
        FIRST.call_once(|| {
            thread::spawn(move || {
                thread::sleep(lasts / 2);
                let _closed = GATE.write();
                thread::sleep(lasts);
            });
        });
        Ok(Box::new(move |body: &[u8]| {
            drop(GATE.read());
            Ok(verify::answer(body))
        }))
    })
}

/// What the pinned service and the repaired one differ in.
pub(super) trait Lock<T>: Send + Sync + 'static {
    fn held<R>(&self, f: impl FnOnce(&T) -> R) -> R;
}

impl<T: Send + 'static> Lock<T> for Monitor<T> {
    fn held<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.enter())
    }
}

impl<T: Send + 'static> Lock<T> for ReentrantLock<T> {
    fn held<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.lock())
    }
}

/// Each connection asks under a lock of its own: nobody ever waits for it, and yet a monitor pins.
pub(super) fn locked_upstream<L: Lock<TcpStream>>(
    lock: fn(TcpStream) -> L,
    to: SocketAddr,
) -> io::Result<()> {
    on_virtual_threads(move || {
        let upstream = lock(TcpStream::connect(to)?);
        Ok(Box::new(move |body: &[u8]| {
            upstream.held(|upstream| ask(upstream))?;
            Ok(verify::answer(body))
        }))
    })
}
