//! Errors that a healthy kernel hardly ever has: a filter makes it give them for one descriptor, to this process alone.

#![expect(
    unsafe_code,
    reason = "one test asks the kernel to filter its own system calls"
)]

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};

use vt_runtime::Runtime;
use vt_runtime::net::TcpStream;

use crate::{in_its_own_process, listener, pair, until_it_waits, within_limit};

/// From now on `accept` on the one descriptor says that the connection was aborted, and the other cannot be added to any
/// epoll, as when the user's watches are used up.
fn fail(accepts: RawFd, watches: RawFd) -> io::Result<()> {
    // Of `struct seccomp_data`: the call's number, and the lower half of its arguments.
    const CALL: u32 = 0;
    const ARGUMENTS: u32 = 16;
    let load = |at| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0, 0);
    let unless = |is: i64, skip| {
        let is = u32::try_from(is).expect("small numbers");
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, is, 0, skip)
    };
    let end = |with| instruction(libc::BPF_RET | libc::BPF_K, with, 0, 0);
    let error = |number: i32| end(libc::SECCOMP_RET_ERRNO | number.cast_unsigned());
    let mut filter = [
        load(CALL),
        unless(libc::SYS_accept4, 3),
        load(ARGUMENTS),
        unless(accepts.into(), 5),
        error(libc::ECONNABORTED),
        unless(libc::SYS_epoll_ctl, 3),
        load(ARGUMENTS + 2 * 8),
        unless(watches.into(), 1),
        error(libc::ENOSPC),
        end(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).expect("ten instructions"),
        filter: filter.as_mut_ptr(),
    };
    rustix::thread::set_no_new_privs(true)?;
    // SAFETY: the program and the instructions it points to live over the call, which copies them.
    let ended = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_TSYNC,
            &raw const program,
        )
    };
    if ended != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    let code = u16::try_from(code).expect("codes are small");
    libc::sock_filter { code, jt, jf, k }
}

/// In a process of its own, which keeps the filter for ever.
#[test]
fn errors_of_accept_and_epoll_are_told_and_lose_nothing() {
    const CHILD: &str = "VT_TEST_INJECTED";
    if std::env::var_os(CHILD).is_some() {
        let runtime = Runtime::builder()
            .carriers(2)
            .build()
            .expect("carriers can be started");
        within_limit(|| under_errors(&runtime));
        return;
    }
    let test = "hostile::injected::errors_of_accept_and_epoll_are_told_and_lose_nothing";
    for stacks in ["dense", "generator"] {
        in_its_own_process(test, &[(CHILD, "1"), ("VT_STACKS", stacks)]);
    }
}

fn under_errors(runtime: &Runtime) {
    let (listener, address) = listener();
    let (unwatched, mut other) = pair();
    if let Err(error) = fail(listener.as_raw_fd(), unwatched.as_raw_fd()) {
        eprintln!("skipped: no filter can be set here: {error}");
        return;
    }
    let client = std::net::TcpStream::connect(address).expect("it listens");
    runtime.run(|| {
        for connection in listener.incoming().take(3) {
            let error = connection.expect_err("aborted");
            assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
        }
        // The listener is as it was: by another number the connection is there.
        let same = listener.try_clone().expect("a descriptor");
        let (_, peer) = same.accept().expect("it waits in the queue");
        assert_eq!(peer, client.local_addr().expect("connected"));

        let error = (&unwatched)
            .read(&mut [0; 1])
            .expect_err("no watch is left");
        assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
        other.write_all(b"12").expect("written");
        let mut byte = [0; 1];
        (&unwatched).read_exact(&mut byte).expect("needs no watch");
        assert_eq!(&byte, b"1");
    });
    let watched = unwatched.try_clone().expect("a descriptor");
    let reader = runtime.spawn(move || read(&watched));
    assert_eq!(reader.join().expect("no panic"), b'2');
    let watched = unwatched.try_clone().expect("a descriptor");
    let waits = runtime.spawn(move || read(&watched));
    until_it_waits(runtime, waits.thread().id());
    other.write_all(b"3").expect("written");
    assert_eq!(waits.join().expect("no panic"), b'3');
}

fn read(mut stream: &TcpStream) -> u8 {
    let mut byte = [0; 1];
    stream.read_exact(&mut byte).expect("a byte comes");
    byte[0]
}
