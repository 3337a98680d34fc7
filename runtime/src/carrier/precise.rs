//! A wait for readiness that lasts as long as it is asked to, to the nanosecond.
//!
//! `epoll_wait` counts milliseconds, rounded up: a carrier whose next timer is due in 0.9 ms would sleep for 1. Linux 5.11 has
//! a call that takes nanoseconds; where the kernel or a sandbox refuses it, the rounded one serves.
#![expect(
    unsafe_code,
    reason = "the system call fills memory of ours, and rustix makes it only for those who need no older kernel"
)]

use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::epoll::{self, Event};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::current;

/// The kernel, or what stands before it, does not know the call.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Waits at most `limit`, for ever without one, and puts what is ready at the end of `events`, as much as fits without growing.
/// An interruption is as good as nothing.
pub(super) fn wait(epoll: &OwnedFd, events: &mut Vec<Event>, limit: Option<Duration>) {
    if let Some(limit) = limit.filter(|limit| !limit.is_zero())
        && !REFUSED.load(Ordering::Relaxed)
    {
        match wait_precisely(epoll, events, limit) {
            Err(Errno::NOSYS | Errno::PERM) => REFUSED.store(true, Ordering::Relaxed),
            Ok(()) | Err(_) => return,
        }
    }
    let timeout = limit.and_then(|limit| Timespec::try_from(limit).ok());
    // An error is EINTR.
    let _ = epoll::wait(
        epoll,
        rustix::buffer::spare_capacity(events),
        timeout.as_ref(),
    );
}

fn wait_precisely(epoll: &OwnedFd, events: &mut Vec<Event>, limit: Duration) -> Result<(), Errno> {
    let room = events.spare_capacity_mut();
    let timeout = libc::timespec {
        tv_sec: limit.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos() as libc::c_long,
    };
    let room = (room.as_mut_ptr(), room.len().min(libc::c_int::MAX as usize));
    // Also a pinned thread drives its carrier here: no foreign call of its own, as far as traps are concerned.
    let count = current::as_os_thread(|| {
        // SAFETY: `Event` is the kernel's structure, `room` has place for as many as are asked for, and all that is passed
        // outlives the call.
        unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                epoll.as_raw_fd(),
                room.0,
                room.1,
                &raw const timeout,
                ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        }
    });
    let Ok(count) = usize::try_from(count) else {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INTR));
    };
    // SAFETY: the kernel has filled that many.
    unsafe { events.set_len(events.len() + count) };
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Instant;

    use rustix::event::epoll::{CreateFlags, EventData, EventFlags};
    use rustix::event::{EventfdFlags, eventfd};

    use super::*;

    #[test]
    fn it_ends_by_time_or_with_what_is_ready() {
        let epoll = epoll::create(CreateFlags::CLOEXEC).expect("an epoll");
        let bell = eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd");
        let entry = EventData::new_u64(7);
        epoll::add(&epoll, &bell, entry, EventFlags::IN).expect("it is added");
        let mut events = Vec::with_capacity(4);
        let pause = Duration::from_micros(300);
        let begin = Instant::now();
        wait(&epoll, &mut events, Some(pause));
        assert!(begin.elapsed() >= pause && events.is_empty());
        rustix::io::write(&bell, &1_u64.to_ne_bytes()).expect("it counts");
        for limit in [None, Some(Duration::ZERO), Some(Duration::from_secs(60))] {
            events.clear();
            wait(&epoll, &mut events, limit);
            let seen: Vec<_> = events.iter().map(|event| event.data.u64()).collect();
            assert_eq!(seen, [7], "{limit:?}");
        }
    }
}
