//! The return addresses of the calling virtual thread, by walking frame pointers inside its own stack.
#![expect(
    unsafe_code,
    reason = "reads frame pointers from the thread's own stack"
)]

use crate::continuation;

/// Frames kept at most, as the JDK's default.
pub(crate) const DEPTH: usize = 64;

/// Addresses of one stack, innermost first.
pub(crate) struct Stack {
    frames: [u64; DEPTH],
    len: usize,
}

impl std::ops::Deref for Stack {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.frames[..self.len]
    }
}

/// Walks the calling virtual thread's stack. Empty on a plain OS thread, and where the build keeps no frame
/// pointers the walk ends at the first word that is not one.
#[inline(never)]
pub(crate) fn capture() -> Stack {
    let mut stack = Stack {
        frames: [0; DEPTH],
        len: 0,
    };
    let Some(bounds) = continuation::stack_bounds() else {
        return stack;
    };
    // Below this frame lies nothing that a frame pointer could mean.
    let bottom = bounds.start.max((&raw const stack).addr());
    let mut frame = frame_pointer();
    while stack.len < DEPTH {
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
        stack.frames[stack.len] = address as u64;
        stack.len += 1;
        if caller <= frame {
            break;
        }
        frame = caller;
    }
    stack
}

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
