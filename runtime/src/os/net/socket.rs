//! What all socket types have in common, written once: calls that never wait, time-outs, and the descriptor's traits.
//!
//! Each type is a struct with the field `socket: Polled<std's type>`.

/// Methods that std's type answers at once.
macro_rules! forward {
    ($($(#[$doc:meta])+ $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {$(
        $(#[$doc])+
        ///
        /// # Errors
        ///
        /// Those of the operating system.
        pub fn $name(&self $(, $argument: $type)*) -> std::io::Result<$result> {
            self.socket.inner().$name($($argument),*)
        }
    )+};
}

/// Time-outs, mode and duplication of a socket that is asked with `MSG_DONTWAIT`.
macro_rules! limits {
    ($std:ty) => {
        /// Takes over std's, with its time-outs and its mode.
        ///
        /// # Errors
        ///
        /// If the descriptor cannot be asked for them.
        pub fn from_std(socket: $std) -> std::io::Result<Self> {
            use $crate::carrier::Direction::{Read, Write};
            let mode = rustix::fs::fcntl_getfl(&socket)?;
            let (read, write) = (socket.read_timeout()?, socket.write_timeout()?);
            let socket = $crate::os::polled::Polled::new(socket);
            let limits = socket.limits();
            limits.set_timeout(Read, read)?;
            limits.set_timeout(Write, write)?;
            limits.set_nonblocking(mode.contains(rustix::fs::OFlags::NONBLOCK));
            Ok(Self { socket })
        }

        /// The socket as std's, with the same time-outs and mode.
        ///
        /// # Errors
        ///
        /// None on Linux.
        pub fn into_std(self) -> std::io::Result<$std> {
            Ok(self.socket.into_inner())
        }

        /// A second handle to the same socket, with time-outs and mode in common.
        ///
        /// # Errors
        ///
        /// If no descriptor is left.
        pub fn try_clone(&self) -> std::io::Result<Self> {
            let inner = self.socket.inner().try_clone()?;
            let limits = std::sync::Arc::clone(self.socket.limits());
            Ok(Self {
                socket: $crate::os::polled::Polled::sharing(inner, limits),
            })
        }

        /// How long a read may wait; then it fails with the kind `WouldBlock`. `None`: for ever.
        ///
        /// # Errors
        ///
        /// `InvalidInput` for zero.
        pub fn set_read_timeout(
            &self,
            timeout: Option<std::time::Duration>,
        ) -> std::io::Result<()> {
            // The kernel's own is for whoever gets the socket by `into_std` or duplicates its descriptor.
            self.socket.inner().set_read_timeout(timeout)?;
            let direction = $crate::carrier::Direction::Read;
            self.socket.limits().set_timeout(direction, timeout)
        }

        /// How long a write may wait; then it fails with the kind `WouldBlock`. `None`: for ever.
        ///
        /// # Errors
        ///
        /// `InvalidInput` for zero.
        pub fn set_write_timeout(
            &self,
            timeout: Option<std::time::Duration>,
        ) -> std::io::Result<()> {
            self.socket.inner().set_write_timeout(timeout)?;
            let direction = $crate::carrier::Direction::Write;
            self.socket.limits().set_timeout(direction, timeout)
        }

        /// How long a read may wait.
        ///
        /// # Errors
        ///
        /// None.
        pub fn read_timeout(&self) -> std::io::Result<Option<std::time::Duration>> {
            Ok(self
                .socket
                .limits()
                .timeout($crate::carrier::Direction::Read))
        }

        /// How long a write may wait.
        ///
        /// # Errors
        ///
        /// None.
        pub fn write_timeout(&self) -> std::io::Result<Option<std::time::Duration>> {
            Ok(self
                .socket
                .limits()
                .timeout($crate::carrier::Direction::Write))
        }

        /// Whether operations fail with the kind `WouldBlock` instead of waiting, for all handles of the socket.
        ///
        /// # Errors
        ///
        /// Those of the operating system.
        pub fn set_nonblocking(&self, nonblocking: bool) -> std::io::Result<()> {
            self.socket.inner().set_nonblocking(nonblocking)?;
            self.socket.limits().set_nonblocking(nonblocking);
            Ok(())
        }
    };
}

/// Mode and duplication of a listener, whose descriptor itself is in non-blocking mode: `accept` has no flag for it.
macro_rules! listener {
    ($std:ty) => {
        /// Binds with a longer queue than std's 128: between two turns of an acceptor, thousands of virtual threads may
        /// connect, and who finds the queue full tries again a second later.
        fn bound(socket: $std) -> std::io::Result<Self> {
            rustix::net::listen(&socket, $crate::os::net::QUEUE)?;
            Self::listening(socket)
        }

        fn listening(socket: $std) -> std::io::Result<Self> {
            socket.set_nonblocking(true)?;
            Ok(Self {
                socket: $crate::os::polled::Polled::new(socket),
            })
        }

        /// Takes over std's, with its mode.
        ///
        /// # Errors
        ///
        /// If the descriptor's mode cannot be changed.
        pub fn from_std(listener: $std) -> std::io::Result<Self> {
            let mode = rustix::fs::fcntl_getfl(&listener)?;
            let this = Self::listening(listener)?;
            let nonblocking = mode.contains(rustix::fs::OFlags::NONBLOCK);
            this.socket.limits().set_nonblocking(nonblocking);
            Ok(this)
        }

        /// The listener as std's, in the mode that [`set_nonblocking`](Self::set_nonblocking) says. Duplicates of
        /// the descriptor change with it.
        ///
        /// # Errors
        ///
        /// If the descriptor's mode cannot be changed.
        pub fn into_std(self) -> std::io::Result<$std> {
            let nonblocking = self.socket.limits().is_nonblocking();
            let listener = self.socket.into_inner();
            listener.set_nonblocking(nonblocking)?;
            Ok(listener)
        }

        /// A second handle to the same socket.
        ///
        /// # Errors
        ///
        /// If no descriptor is left.
        pub fn try_clone(&self) -> std::io::Result<Self> {
            let inner = self.socket.inner().try_clone()?;
            let limits = std::sync::Arc::clone(self.socket.limits());
            Ok(Self {
                socket: $crate::os::polled::Polled::sharing(inner, limits),
            })
        }

        /// Whether `accept` fails with the kind `WouldBlock` instead of waiting, for all handles of the socket.
        ///
        /// # Errors
        ///
        /// None.
        pub fn set_nonblocking(&self, nonblocking: bool) -> std::io::Result<()> {
            self.socket.limits().set_nonblocking(nonblocking);
            Ok(())
        }

        /// The connections, one after the other, for ever.
        pub fn incoming(&self) -> Incoming<'_> {
            Incoming { listener: self }
        }
    };
}

/// The traits of a type that has a descriptor, and the ways from and to std's.
macro_rules! descriptor {
    ($socket:ty, $std:ty) => {
        impl std::fmt::Debug for $socket {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.socket.inner().fmt(f)
            }
        }

        impl std::os::fd::AsFd for $socket {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.socket.inner().as_fd()
            }
        }

        impl std::os::fd::AsRawFd for $socket {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                self.socket.inner().as_raw_fd()
            }
        }

        impl std::os::fd::IntoRawFd for $socket {
            fn into_raw_fd(self) -> std::os::fd::RawFd {
                std::os::fd::IntoRawFd::into_raw_fd(self.socket.into_inner())
            }
        }

        impl From<$socket> for std::os::fd::OwnedFd {
            fn from(socket: $socket) -> Self {
                socket.socket.into_inner().into()
            }
        }

        impl TryFrom<$socket> for $std {
            type Error = std::io::Error;

            fn try_from(socket: $socket) -> std::io::Result<Self> {
                socket.into_std()
            }
        }

        impl TryFrom<std::os::fd::OwnedFd> for $socket {
            type Error = std::io::Error;

            fn try_from(fd: std::os::fd::OwnedFd) -> std::io::Result<Self> {
                Self::from_std(fd.into())
            }
        }

        impl TryFrom<$std> for $socket {
            type Error = std::io::Error;

            fn try_from(socket: $std) -> std::io::Result<Self> {
                Self::from_std(socket)
            }
        }
    };
}

pub(super) use {descriptor, forward, limits, listener};
