//! Plain names of the system calls that block, by number.

/// The name of a call that can block; `None` for others, and on platforms whose numbers are not listed.
pub(super) fn name(number: u64) -> Option<&'static str> {
    let number = i64::try_from(number).ok()?;
    BLOCKING
        .iter()
        .find(|(known, _)| *known == number)
        .map(|(_, name)| *name)
}

/// Is the first argument of that call the descriptor it waits for?
pub(super) fn takes_descriptor(name: &str) -> bool {
    const OTHERS: [&str; 11] = [
        "poll",
        "select",
        "pause",
        "nanosleep",
        "wait4",
        "open",
        "futex",
        "clock_nanosleep",
        "waitid",
        "pselect6",
        "ppoll",
    ];
    !OTHERS.contains(&name) && name != "openat"
}

macro_rules! numbers {
    ($($constant:ident $name:literal,)+) => { &[$((libc::$constant, $name),)+] };
}

#[cfg(target_arch = "x86_64")]
const BLOCKING: &[(i64, &str)] = numbers! {
    SYS_read "read", SYS_write "write", SYS_poll "poll", SYS_pread64 "pread64", SYS_pwrite64 "pwrite64",
    SYS_readv "readv", SYS_writev "writev", SYS_select "select", SYS_pause "pause", SYS_nanosleep "nanosleep",
    SYS_sendfile "sendfile", SYS_connect "connect", SYS_accept "accept", SYS_sendto "sendto",
    SYS_recvfrom "recvfrom", SYS_sendmsg "sendmsg", SYS_recvmsg "recvmsg", SYS_wait4 "wait4",
    SYS_open "open", SYS_flock "flock", SYS_fcntl "fcntl", SYS_fsync "fsync", SYS_fdatasync "fdatasync",
    SYS_futex "futex", SYS_epoll_wait "epoll_wait", SYS_clock_nanosleep "clock_nanosleep", SYS_waitid "waitid",
    SYS_openat "openat", SYS_pselect6 "pselect6", SYS_ppoll "ppoll", SYS_epoll_pwait "epoll_pwait",
    SYS_accept4 "accept4", SYS_ioctl "ioctl", SYS_copy_file_range "copy_file_range", SYS_splice "splice",
};

#[cfg(target_arch = "aarch64")]
const BLOCKING: &[(i64, &str)] = numbers! {
    SYS_read "read", SYS_write "write", SYS_pread64 "pread64", SYS_pwrite64 "pwrite64", SYS_readv "readv",
    SYS_writev "writev", SYS_nanosleep "nanosleep", SYS_sendfile "sendfile", SYS_connect "connect",
    SYS_accept "accept", SYS_sendto "sendto", SYS_recvfrom "recvfrom", SYS_sendmsg "sendmsg",
    SYS_recvmsg "recvmsg", SYS_wait4 "wait4", SYS_flock "flock", SYS_fcntl "fcntl", SYS_fsync "fsync",
    SYS_fdatasync "fdatasync", SYS_futex "futex", SYS_clock_nanosleep "clock_nanosleep", SYS_waitid "waitid",
    SYS_openat "openat", SYS_pselect6 "pselect6", SYS_ppoll "ppoll", SYS_epoll_pwait "epoll_pwait",
    SYS_accept4 "accept4", SYS_ioctl "ioctl", SYS_copy_file_range "copy_file_range", SYS_splice "splice",
};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const BLOCKING: &[(i64, &str)] = &[];
