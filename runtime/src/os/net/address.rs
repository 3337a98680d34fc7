//! From what a user writes to addresses; host names are asked for without keeping the carrier.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::panic::Location;
use std::{option, slice, vec};

use crate::os::blocking;

/// What can be turned into addresses, as [`std::net::ToSocketAddrs`].
///
/// A trait of its own because std's asks the operating system for a name on the calling thread, and would keep the
/// carrier for as long as that takes.
pub trait ToSocketAddrs {
    /// The addresses, in the order to try them in.
    type Iter: Iterator<Item = SocketAddr>;

    /// Resolves.
    ///
    /// # Errors
    ///
    /// A name that cannot be parsed or is not known.
    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter>;
}

macro_rules! one_address {
    ($($source:ty),+) => {$(
        impl ToSocketAddrs for $source {
            type Iter = option::IntoIter<SocketAddr>;

            #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
                std::net::ToSocketAddrs::to_socket_addrs(self)
            }
        }
    )+};
}

one_address!(
    SocketAddr,
    SocketAddrV4,
    SocketAddrV6,
    (IpAddr, u16),
    (Ipv4Addr, u16),
    (Ipv6Addr, u16)
);

impl ToSocketAddrs for (&str, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        let (host, port) = *self;
        match host.parse::<IpAddr>() {
            Ok(ip) => Ok(vec![SocketAddr::new(ip, port)].into_iter()),
            Err(_) => look_up((host.to_owned(), port)),
        }
    }
}

impl ToSocketAddrs for (String, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (&*self.0, self.1).to_socket_addrs()
    }
}

impl ToSocketAddrs for str {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        match self.parse() {
            Ok(address) => Ok(vec![address].into_iter()),
            Err(_) => look_up(self.to_owned()),
        }
    }
}

impl ToSocketAddrs for String {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (**self).to_socket_addrs()
    }
}

impl<'a> ToSocketAddrs for &'a [SocketAddr] {
    type Iter = std::iter::Cloned<slice::Iter<'a, SocketAddr>>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        Ok(self.iter().cloned())
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    type Iter = T::Iter;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (**self).to_socket_addrs()
    }
}

/// The addresses of a host name, with its port (`"localhost:80"`), in the order to try them in.
///
/// # Pinning
///
/// The system's resolver reads files and waits for servers on the offload pool; the caller unmounts, unless pinned.
///
/// # Errors
///
/// A name that cannot be parsed or is not known, or an interrupt: the resolver is left behind then.
#[track_caller]
pub fn lookup<A: ToSocketAddrs>(addr: A) -> io::Result<A::Iter> {
    addr.to_socket_addrs()
}

#[track_caller]
fn look_up<A>(name: A) -> io::Result<vec::IntoIter<SocketAddr>>
where
    A: std::net::ToSocketAddrs<Iter = vec::IntoIter<SocketAddr>> + Send + 'static,
{
    let at = Location::caller();
    blocking::abandonable(move || name.to_socket_addrs(), at)?
}

/// Tries each address until one works; the error is the last one's.
#[track_caller]
pub(super) fn first<T>(
    addresses: impl ToSocketAddrs,
    mut attempt: impl FnMut(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut last = None;
    for address in addresses.to_socket_addrs()? {
        match attempt(address) {
            Ok(value) => return Ok(value),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the name stands for no address at all",
        )
    }))
}

/// The first address, for an operation that cannot be tried again elsewhere.
#[track_caller]
pub(super) fn only(addresses: impl ToSocketAddrs) -> io::Result<SocketAddr> {
    first(addresses, Ok)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, mpsc};

    use super::*;
    use crate::{Runtime, blocking};

    /// A name whose server never answers, while the sender lives.
    struct Unanswered(Arc<Mutex<mpsc::Receiver<()>>>);

    impl std::net::ToSocketAddrs for Unanswered {
        type Iter = vec::IntoIter<SocketAddr>;

        fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
            let receiver = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
            match receiver.recv() {
                Ok(()) => Ok(vec![].into_iter()),
                Err(_) => Err(io::Error::other("no server answered")),
            }
        }
    }

    /// More of them than the pool has threads.
    #[test]
    fn a_name_server_that_never_answers_holds_up_nobody() {
        let runtime = Runtime::builder()
            .carriers(1)
            .offload_threads(4)
            .build()
            .expect("a carrier can be started");
        let (answer, never) = mpsc::channel();
        let never = Arc::new(Mutex::new(never));
        let mut asks: Vec<_> = (0..20)
            .map(|_| {
                let name = Unanswered(Arc::clone(&never));
                runtime.spawn(move || look_up(name).map(Iterator::count))
            })
            .collect();
        let waiting = || {
            let threads = runtime.threads();
            threads
                .iter()
                .filter(|info| info.waits_for.is_some())
                .count()
        };
        while waiting() < asks.len() {
            std::thread::yield_now();
        }
        // Neither the carrier nor the pool is kept.
        for number in 0..20 {
            let other = runtime.spawn(move || blocking(move || number));
            assert_eq!(other.join().expect("no panic"), number);
        }
        let impatient = asks.split_off(10);
        for ask in &impatient {
            ask.thread().interrupt();
        }
        for ask in impatient {
            let error = ask.join().expect("no panic").expect_err("interrupted");
            assert!(
                error
                    .get_ref()
                    .is_some_and(|inner| inner.is::<crate::io::Interrupted>())
            );
        }
        answer.send(()).expect("somebody is asked");
        drop(answer);
        let answered = asks
            .into_iter()
            .filter_map(|ask| ask.join().expect("no panic").ok());
        // The one that is answered may be one that nobody waits for any more.
        assert!(answered.count() <= 1);
    }
}
