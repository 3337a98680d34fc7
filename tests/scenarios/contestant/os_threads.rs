//! The classic server: a poller watches idle connections, a fixed pool of OS threads handles one request each.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, mpsc};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use super::request::{Requests, answer};
use super::virtual_threads::ask;
use super::{QUEUE, serve_from, verify};

/// A connection, known by its place in the table.
struct Connection {
    stream: TcpStream,
    requests: Requests,
    place: usize,
}

struct Server {
    epoll: OwnedFd,
    /// Connections without a request, by their place.
    idle: Mutex<Vec<Option<Connection>>>,
    ready: mpsc::Sender<Connection>,
    queue: Mutex<mpsc::Receiver<Connection>>,
}

/// Reports a connection that is ready once, until it is armed again.
const ONCE: EventFlags = EventFlags::IN.union(EventFlags::ONESHOT);

pub(super) fn serve(threads: u32, upstream: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    rustix::net::listen(&listener, QUEUE as i32)?;
    let address = listener.local_addr()?;
    let (ready, queue) = mpsc::channel();
    let server = Arc::new(Server {
        epoll: epoll::create(CreateFlags::CLOEXEC)?,
        idle: Mutex::default(),
        ready,
        queue: Mutex::new(queue),
    });
    for _ in 0..threads {
        let upstream = TcpStream::connect(upstream)?;
        upstream.set_nodelay(true)?;
        start("worker", &server, move |server| server.work(&upstream))?;
    }
    start("poller", &server, Server::poll)?;
    start("acceptor", &server, move |server| {
        for stream in listener.incoming().flatten() {
            server.accept(stream)?;
        }
        Ok(())
    })?;
    serve_from(address)
}

fn start(
    name: &str,
    server: &Arc<Server>,
    f: impl FnOnce(&Server) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let server = Arc::clone(server);
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || f(&server))?;
    Ok(())
}

impl Server {
    fn accept(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut idle = self.idle.lock().map_err(|_| io::ErrorKind::Other)?;
        let place = idle.len();
        epoll::add(&self.epoll, &stream, EventData::new_u64(place as u64), ONCE)?;
        idle.push(Some(Connection {
            stream,
            requests: Requests::new(),
            place,
        }));
        Ok(())
    }

    fn poll(&self) -> io::Result<()> {
        let mut events = Vec::with_capacity(256);
        loop {
            events.clear();
            epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                None,
            )?;
            let mut idle = self.idle.lock().map_err(|_| io::ErrorKind::Other)?;
            for event in &events {
                if let Some(connection) = idle[event.data.u64() as usize].take() {
                    // The receiver is in `self`.
                    let _ = self.ready.send(connection);
                }
            }
        }
    }

    fn work(&self, upstream: &TcpStream) -> io::Result<()> {
        while let Some(mut connection) = self.next() {
            if connection.answer_one(upstream).unwrap_or(false) {
                self.put_back(connection)?;
            }
        }
        Ok(())
    }

    fn next(&self) -> Option<Connection> {
        self.queue.lock().ok()?.recv().ok()
    }

    fn put_back(&self, connection: Connection) -> io::Result<()> {
        let place = connection.place;
        let mut idle = self.idle.lock().map_err(|_| io::ErrorKind::Other)?;
        let stream = &idle[place].insert(connection).stream;
        epoll::modify(&self.epoll, stream, EventData::new_u64(place as u64), ONCE)?;
        Ok(())
    }
}

impl Connection {
    /// Reads until a request is whole, and answers it. False: the connection has ended.
    fn answer_one(&mut self, upstream: &TcpStream) -> io::Result<bool> {
        loop {
            if let Some(body) = self.requests.take() {
                let verified = verify::answer(&body);
                ask(upstream)?;
                self.stream.write_all(&answer("200 OK", &verified))?;
                return Ok(true);
            }
            let Some(room) = self.requests.room() else {
                return Ok(false);
            };
            match self.stream.read(room)? {
                0 => return Ok(false),
                count => self.requests.came(count),
            }
        }
    }
}
