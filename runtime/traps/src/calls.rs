//! The traps: functions of the C library under their own names, which call the originals and note who blocked.
//!
//! A call blocked if the kernel took its thread off the core of its own will meanwhile. The thread's `errno` and its
//! cancellation points stay as they were: the original is called, and nothing between it and the return changes `errno`.
#![expect(
    unsafe_code,
    reason = "defines functions of the C library, and calls the originals"
)]

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};
use std::mem::{MaybeUninit, transmute};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use libc::{
    clockid_t, epoll_event, fd_set, iovec, mode_t, msghdr, nfds_t, off_t, pid_t, pollfd,
    pthread_cond_t, pthread_mutex_t, pthread_t, sem_t, sigset_t, size_t, sockaddr, socklen_t,
    ssize_t, timespec, timeval,
};

use crate::gate::Watched;
use crate::log;
use crate::original::Original;

/// Trapped calls of any thread, for the self-test.
static ENTERED: AtomicU64 = AtomicU64::new(0);

/// How often the calling OS thread has waited in the kernel.
fn waits() -> i64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure, which is valid as zeroes too.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: zeroed, and filled by the call.
    unsafe { usage.assume_init() }.ru_nvcsw
}

/// Makes the call and notes it if it blocked a carrier that did not know.
#[inline]
fn watched<T>(call: usize, descriptor: c_int, original: impl FnOnce() -> T) -> T {
    let Some(watched) = Watched::begin() else {
        return original();
    };
    ENTERED.fetch_add(1, Ordering::Relaxed);
    let (before, begun) = (waits(), Instant::now());
    let result = original();
    // SAFETY: the calling thread's own `errno`.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above; it is only read.
    let kept = unsafe { *errno };
    if waits() > before {
        let nanos = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        log::add(call, descriptor, nanos, watched.thread);
    }
    // SAFETY: as above.
    unsafe { *errno = kept };
    result
}

/// Defines the traps, their originals, and the names that entries call them by.
macro_rules! traps {
    ($($index:literal $function:ident($($argument:ident: $type:ty),*) -> $result:ty, $descriptor:expr;)+) => {
        /// What entries call the functions, by their numbers.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($function),)+ FUTEX, "syscall"];

        /// The originals, by the same numbers.
        static ORIGINALS: [Original; SYSCALL + 1] = [$(Original::new(
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($function), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            },
        ),)+ Original::new(c"syscall")];

        $(
            /// # Safety
            ///
            /// As the C library's function of this name.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $function($($argument: $type),*) -> $result {
                type Function = unsafe extern "C" fn($($type),*) -> $result;
                // SAFETY: the address of the C library's function of this name, which has this signature.
                let original = unsafe { transmute::<*mut c_void, Function>(ORIGINALS[$index].address()) };
                watched($index, $descriptor, || {
                    // SAFETY: the caller keeps to the contract of the function it calls.
                    unsafe { original($($argument),*) }
                })
            }
        )+
    };
}

/// What entries call a futex, through which std and parking_lot wait.
pub(crate) const FUTEX: &str = "syscall futex";

/// For functions that are about no descriptor.
const NONE: c_int = -1;

traps! {
    0 read(fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t, fd;
    1 write(fd: c_int, buffer: *const c_void, count: size_t) -> ssize_t, fd;
    2 readv(fd: c_int, vectors: *const iovec, count: c_int) -> ssize_t, fd;
    3 writev(fd: c_int, vectors: *const iovec, count: c_int) -> ssize_t, fd;
    4 pread64(fd: c_int, buffer: *mut c_void, count: size_t, at: off_t) -> ssize_t, fd;
    5 pwrite64(fd: c_int, buffer: *const c_void, count: size_t, at: off_t) -> ssize_t, fd;
    6 recv(fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int) -> ssize_t, fd;
    7 recvfrom(fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int, from: *mut sockaddr, len: *mut socklen_t) -> ssize_t, fd;
    8 recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t, fd;
    9 send(fd: c_int, buffer: *const c_void, count: size_t, flags: c_int) -> ssize_t, fd;
    10 sendto(fd: c_int, buffer: *const c_void, count: size_t, flags: c_int, to: *const sockaddr, len: socklen_t) -> ssize_t, fd;
    11 sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t, fd;
    12 accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int, fd;
    13 accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int, fd;
    14 connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int, fd;
    15 poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int, NONE;
    16 ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int, NONE;
    17 select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *mut timeval) -> c_int, NONE;
    18 epoll_wait(fd: c_int, events: *mut epoll_event, count: c_int, timeout: c_int) -> c_int, fd;
    19 nanosleep(time: *const timespec, left: *mut timespec) -> c_int, NONE;
    20 clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int, NONE;
    21 usleep(micros: c_uint) -> c_int, NONE;
    22 sleep(seconds: c_uint) -> c_uint, NONE;
    23 fsync(fd: c_int) -> c_int, fd;
    24 fdatasync(fd: c_int) -> c_int, fd;
    25 flock(fd: c_int, operation: c_int) -> c_int, fd;
    26 fcntl(fd: c_int, command: c_int, argument: size_t) -> c_int, fd;
    27 fcntl64(fd: c_int, command: c_int, argument: size_t) -> c_int, fd;
    28 open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, NONE;
    29 open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, NONE;
    30 waitpid(process: pid_t, status: *mut c_int, options: c_int) -> pid_t, NONE;
    31 pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int, NONE;
    32 pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int, NONE;
    33 pthread_cond_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int, NONE;
    34 pthread_cond_timedwait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int, NONE;
    35 sem_wait(semaphore: *mut sem_t) -> c_int, NONE;
    36 sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int, NONE;
}

/// The number of `syscall` among the originals, and of its futexes among the names.
const SYSCALL: usize = 37;

/// Through which std and parking_lot wait for locks, conditions and channels.
///
/// # Safety
///
/// As the C library's function of this name. It is variadic there; on the platforms this crate is built for, integers
/// and pointers are passed in the same registers either way, and the kernel looks at those it needs.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: size_t,
    b: size_t,
    c: size_t,
    d: size_t,
    e: size_t,
    f: size_t,
) -> c_long {
    type Function = unsafe extern "C" fn(c_long, ...) -> c_long;
    // SAFETY: the address of the C library's function of this name, which has this signature.
    let original = unsafe { transmute::<*mut c_void, Function>(ORIGINALS[SYSCALL].address()) };
    let name = if number == libc::SYS_futex {
        SYSCALL
    } else {
        SYSCALL + 1
    };
    watched(name, NONE, || {
        // SAFETY: the caller keeps to the contract of the system call it makes.
        unsafe { original(number, a, b, c, d, e, f) }
    })
}

/// Before `main`, and before there is a second thread.
extern "C" fn resolve() {
    for original in &ORIGINALS {
        original.find();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = resolve;

/// Does the program call the traps, and do libraries that are loaded later?
pub(crate) fn are_interposed() -> bool {
    let ours: [*const c_void; 3] = [
        read as *const () as *const c_void,
        nanosleep as *const () as *const c_void,
        syscall as *const () as *const c_void,
    ];
    let indices = [0, 19, SYSCALL];
    let seen = indices.map(|index| ORIGINALS[index].seen_by_others().cast_const());
    seen == ours && a_call_is_trapped()
}

/// Makes a call on a virtual thread, as the program would.
fn a_call_is_trapped() -> bool {
    let watching = crate::gate::Watching::begin();
    let before = ENTERED.load(Ordering::Relaxed);
    let asked = vt_runtime::Runtime::builder()
        .carriers(1)
        .build()
        .map(|runtime| {
            runtime.run(|| {
                let moment = timespec {
                    tv_sec: 0,
                    tv_nsec: 1,
                };
                // vt-lint: allow(native-undeclared) -- an undeclared call is what is looked for
                // SAFETY: the time is valid, and what is left of it is not asked for.
                unsafe { libc::nanosleep(&raw const moment, std::ptr::null_mut()) };
            });
        });
    drop(watching);
    asked.is_ok() && ENTERED.load(Ordering::Relaxed) > before
}
