//! Bytes through a stream socket: one attempt each, and std's `Read` and `Write` over them.
//!
//! The provided methods of `Read` and `Write` are written out, with the caller's place, so that an event names the
//! application's line and not std's loop.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::os::fd::AsFd;

use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags};

use crate::os::polled::Done;

/// Slices that one call to the kernel takes.
const MOST_SLICES: usize = 1024;

pub(super) fn receive(
    fd: impl AsFd,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> io::Result<Done<usize>> {
    let asked = buffer.len();
    let (count, _) = rustix::net::recv(fd, buffer, flags | RecvFlags::DONTWAIT)?;
    Ok(Done::bytes(count, asked))
}

pub(super) fn receive_vectored(
    fd: impl AsFd,
    buffers: &mut [IoSliceMut<'_>],
) -> io::Result<Done<usize>> {
    let most = buffers.len().min(MOST_SLICES);
    let buffers = &mut buffers[..most];
    let asked = buffers.iter().map(|buffer| buffer.len()).sum();
    let mut none = RecvAncillaryBuffer::default();
    let message = rustix::net::recvmsg(fd, buffers, &mut none, RecvFlags::DONTWAIT)?;
    Ok(Done::bytes(message.bytes, asked))
}

pub(super) fn send(fd: impl AsFd, buffer: &[u8]) -> io::Result<Done<usize>> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let count = rustix::net::send(fd, buffer, flags)?;
    Ok(Done::bytes(count, buffer.len()))
}

pub(super) fn send_vectored(fd: impl AsFd, buffers: &[IoSlice<'_>]) -> io::Result<Done<usize>> {
    let buffers = &buffers[..buffers.len().min(MOST_SLICES)];
    let asked = buffers.iter().map(|buffer| buffer.len()).sum();
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let mut none = SendAncillaryBuffer::default();
    let count = rustix::net::sendmsg(fd, buffers, &mut none, flags)?;
    Ok(Done::bytes(count, asked))
}

/// Fills the whole buffer.
pub(super) fn read_exact(
    mut buffer: &mut [u8],
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<()> {
    while !buffer.is_empty() {
        match read(buffer) {
            Ok(0) => {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the stream ended before the buffer was full",
                ));
            }
            Ok(count) => buffer = &mut buffer[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads until the stream ends; what came before an error stays in `into`.
pub(super) fn read_to_end(
    into: &mut Vec<u8>,
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let start = into.len();
    let mut chunk = 4096;
    loop {
        let filled = into.len();
        into.resize(filled + chunk, 0);
        let result = read(&mut into[filled..]);
        let count = *result.as_ref().unwrap_or(&0);
        into.truncate(filled + count);
        match result {
            Ok(0) => return Ok(filled - start),
            Ok(_) if count == chunk => chunk = (chunk * 2).min(256 * 1024),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// [`read_to_end`] into text; `into` stays as it is unless all of it is UTF-8.
pub(super) fn read_to_string(
    into: &mut String,
    read: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut bytes = Vec::new();
    read_to_end(&mut bytes, read)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "the stream's bytes are not valid UTF-8",
        )
    })?;
    into.push_str(&text);
    Ok(text.len())
}

/// Writes the whole buffer.
pub(super) fn write_all(
    mut buffer: &[u8],
    mut write: impl FnMut(&[u8]) -> io::Result<usize>,
) -> io::Result<()> {
    while !buffer.is_empty() {
        match write(buffer) {
            Ok(0) => {
                return Err(io::Error::new(
                    io::ErrorKind::WriteZero,
                    "the stream takes no more bytes",
                ));
            }
            Ok(count) => buffer = &buffer[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Formats first and writes once: what `write!` on an unbuffered stream should have been.
pub(super) fn write_fmt(
    text: fmt::Arguments<'_>,
    write: impl FnMut(&[u8]) -> io::Result<usize>,
) -> io::Result<()> {
    match text.as_str() {
        Some(text) => write_all(text.as_bytes(), write),
        None => {
            let mut bytes = Vec::new();
            bytes.write_fmt(text)?;
            write_all(&bytes, write)
        }
    }
}

/// `Read` and `Write` for a stream type and for references to it, over its private `receive`, `receive_vectored`,
/// `send` and `send_vectored`, which take the caller's place.
macro_rules! stream_io {
    ($($stream:ty),+) => {$(
        impl std::io::Read for $stream {
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.receive(buf, std::panic::Location::caller())
            }

            #[track_caller]
            fn read_vectored(&mut self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                self.receive_vectored(bufs, std::panic::Location::caller())
            }

            #[track_caller]
            fn read_exact(&mut self, buf: &mut [u8]) -> std::io::Result<()> {
                let at = std::panic::Location::caller();
                $crate::os::net::bytes::read_exact(buf, |part| self.receive(part, at))
            }

            #[track_caller]
            fn read_to_end(&mut self, buf: &mut Vec<u8>) -> std::io::Result<usize> {
                let at = std::panic::Location::caller();
                $crate::os::net::bytes::read_to_end(buf, |part| self.receive(part, at))
            }

            #[track_caller]
            fn read_to_string(&mut self, buf: &mut String) -> std::io::Result<usize> {
                let at = std::panic::Location::caller();
                $crate::os::net::bytes::read_to_string(buf, |part| self.receive(part, at))
            }
        }

        impl std::io::Write for $stream {
            #[track_caller]
            fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
                self.send(buf, std::panic::Location::caller())
            }

            #[track_caller]
            fn write_vectored(&mut self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                self.send_vectored(bufs, std::panic::Location::caller())
            }

            #[track_caller]
            fn write_all(&mut self, buf: &[u8]) -> std::io::Result<()> {
                let at = std::panic::Location::caller();
                $crate::os::net::bytes::write_all(buf, |part| self.send(part, at))
            }

            #[track_caller]
            fn write_fmt(&mut self, text: std::fmt::Arguments<'_>) -> std::io::Result<()> {
                let at = std::panic::Location::caller();
                $crate::os::net::bytes::write_fmt(text, |part| self.send(part, at))
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
    )+};
}

pub(super) use stream_io;
