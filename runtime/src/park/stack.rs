//! The return addresses of the calling virtual thread, by walking frame pointers inside its own stack.
#![expect(
    unsafe_code,
    reason = "reads frame pointers from the thread's own stack"
)]

use std::ops::Range;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::carrier::Carrier;
use crate::continuation;
use crate::event::{MAX_STACK, Timestamp};

/// Whether this build keeps frame pointers, as far as a walk of our own frames could tell.
static HAS_FRAME_POINTERS: AtomicBool = AtomicBool::new(false);

/// Addresses of one stack, innermost first.
pub(crate) struct Stack {
    frames: [u64; MAX_STACK],
    len: usize,
    /// What is known of it where nothing could be walked.
    seen: Vec<u64>,
}

impl std::ops::Deref for Stack {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        if self.len == 0 {
            &self.seen
        } else {
            &self.frames[..self.len]
        }
    }
}

/// The stack of a pinned wait or a declared call that began at `start` and has just ended: the calling thread's, or, where that
/// cannot be walked, what the watchdog saw of it meanwhile.
#[inline]
pub(crate) fn at_end(carrier: &Carrier, start: Timestamp, depth: usize) -> Stack {
    let mut stack = Stack {
        frames: [0; MAX_STACK],
        len: 0,
        seen: Vec::new(),
    };
    // In place: to hand it back would copy a kilobyte.
    stack.len = capture(&mut stack.frames[..depth.min(MAX_STACK)]);
    if stack.len == 0 {
        stack.seen = carrier.take_seen(start);
    }
    stack
}

/// Walks the calling virtual thread's stack and gives how many frames it found. None on a plain OS thread, and where the build
/// keeps no frame pointers.
#[inline(never)]
fn capture(into: &mut [u64]) -> usize {
    match continuation::stack_bounds() {
        Some(bounds) if has_frame_pointers() && !cfg!(vt_detector_off) => walk_within(bounds, into),
        _ => 0,
    }
}

/// Can stacks be walked by frame pointers? If not, only the watchdog can tell them, by the compilers' tables: a walk of frames
/// that do not keep them can skip some, and then an innocent line would be blamed.
pub(crate) fn has_frame_pointers() -> bool {
    HAS_FRAME_POINTERS.load(Ordering::Relaxed)
}

/// Finds out, once, by walking a few frames of our own, which are compiled with the same flags as the application.
pub(crate) fn test_frame_pointers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| HAS_FRAME_POINTERS.store(nested(DEEP) >= DEEP, Ordering::Relaxed));
}

/// Frames that the test puts on the stack.
const DEEP: usize = 3;

/// Calls itself `depth` times, then counts how many of the return addresses up from there lie in itself.
#[inline(never)]
fn nested(depth: usize) -> usize {
    let top = &raw const depth;
    let found = if depth == 0 {
        let mut frames = [0; 2 * DEEP];
        // The frames of a few calls take less than that, and the stack goes on above.
        let bounds = top.addr()..top.addr() + (4 << 10);
        let len = walk_within(bounds, &mut frames[..=DEEP]);
        let within = |address: &&u64| {
            let start = nested as fn(usize) -> usize as usize as u64;
            (start..start + (4 << 10)).contains(*address)
        };
        // All but the outermost call came from this function; what called that one may stand right behind it.
        frames[..len].iter().filter(within).count()
    } else {
        // Through a pointer that the compiler knows nothing about: it shall not make one frame of several.
        std::hint::black_box(nested as fn(usize) -> usize)(depth - 1)
    };
    // Something to do after the call, or it would be no call.
    std::hint::black_box(found)
}

/// For signal handlers and traps: the return addresses of the calling virtual thread in `into`; how many there are.
#[inline(never)]
pub fn walk(into: &mut [u64]) -> usize {
    match continuation::stack_bounds() {
        Some(bounds) if has_frame_pointers() => walk_within(bounds, into),
        _ => 0,
    }
}

/// Follows the calling thread's frame pointers within `bounds`, a part of its stack that is mapped from the present frame
/// up.
#[inline(always)]
fn walk_within(bounds: Range<usize>, into: &mut [u64]) -> usize {
    // Below this frame lies nothing that a frame pointer could mean.
    let here = 0u8;
    let bottom = bounds.start.max((&raw const here).addr());
    let mut frame = frame_pointer();
    let mut len = 0;
    while len < into.len() {
        let pair = frame..frame.saturating_add(2 * size_of::<usize>());
        let inside = bottom <= pair.start && pair.end <= bounds.end;
        if !inside || !frame.is_multiple_of(size_of::<usize>()) {
            break;
        }
        let at = std::ptr::with_exposed_provenance::<[usize; 2]>(frame);
        // SAFETY: the two words lie inside the stack that this thread runs on, which is mapped from its top down
        // to the stack pointer, and every frame pointer that is followed lies above the one before.
        let [caller, address] = unsafe { at.read() };
        if address == 0 {
            break;
        }
        into[len] = address as u64;
        len += 1;
        if caller <= frame {
            break;
        }
        frame = caller;
    }
    len
}

/// Where the function this is inlined into stands: its frame pointer, or its stack pointer in a build without, and an address
/// of its code.
#[inline(always)]
pub(super) fn here() -> (usize, usize) {
    let address: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: computes an address.
    unsafe {
        std::arch::asm!("lea {}, [rip]", out(reg) address, options(nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: computes an address.
    unsafe {
        std::arch::asm!("adr {}, .", out(reg) address, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let address = 0;
    let frame = if has_frame_pointers() {
        frame_pointer()
    } else {
        stack_pointer()
    };
    (frame, address)
}

/// The stack pointer of the function this is inlined into.
#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: copies a register.
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: copies a register.
    unsafe {
        std::arch::asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let pointer = 0;
    pointer
}

/// The frame pointer of the function this is inlined into.
#[inline(always)]
fn frame_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: copies a register.
    unsafe {
        std::arch::asm!("mov {}, rbp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: copies a register.
    unsafe {
        std::arch::asm!("mov {}, x29", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let pointer = 0;
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This repository's builds keep frame pointers (`.cargo/config.toml`); a build that does not has no stacks.
    #[test]
    fn the_self_test_finds_the_frame_pointers_of_this_build() {
        test_frame_pointers();
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        if flags.is_empty() && cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert!(has_frame_pointers());
        }
    }

    #[test]
    fn a_plain_os_thread_has_no_stack_to_walk() {
        assert_eq!(capture(&mut [0; 8]), 0);
        assert_eq!(walk(&mut [0; 8]), 0);
    }
}
