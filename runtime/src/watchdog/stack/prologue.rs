//! How far below its frame pointer a function keeps its stack pointer: its first instructions say so.
//!
//! A function that sets up a frame pointer tells by it where its frame is, and its tables say no more. Seen from outside the
//! register is not known, but the stack pointer is, and between the two lies what the function pushed and subtracted
//! right after it had set the frame pointer. Compilers write that in few ways. Known here are those of x86-64.

use super::Code;

/// Instructions of a prologue are shorter than this in sum.
const LONGEST: usize = 256;
/// Where the frame pointer points, as the calling convention wants it.
const ALIGNED: u64 = 16;

/// What happens to the stack pointer after the frame pointer was set to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prologue {
    /// Bytes it is lowered by, at least.
    pub(super) size: u64,
    /// Bytes of it that are pushed registers.
    pub(super) pushed: u64,
    /// Then it is rounded down to a multiple of this, if that is more than a word.
    alignment: u64,
}

impl Prologue {
    /// Reads the instructions at `body`, where the frame pointer has just been set.
    pub(super) fn read(code: &impl Code, body: u64) -> Option<Self> {
        if !cfg!(target_arch = "x86_64") {
            return None;
        }
        let mut bytes = [0; LONGEST];
        let count = code.read(body, &mut bytes);
        let prologue = Self::decode(&bytes[..count]);
        // The stack pointer is aligned at every call too: if it is not, something was overlooked.
        let is_whole = prologue.alignment > 1 || prologue.size.is_multiple_of(ALIGNED);
        is_whole.then_some(prologue)
    }

    pub(super) fn decode(mut code: &[u8]) -> Self {
        let mut found = Self {
            alignment: 1,
            ..Self::default()
        };
        loop {
            code = match code {
                // push of a register
                [0x50..=0x57, rest @ ..] | [0x41, 0x50..=0x57, rest @ ..] => {
                    found.pushed += 8;
                    found.size += 8;
                    rest
                }
                // sub rsp, byte or number
                [0x48, 0x83, 0xec, byte, rest @ ..] => {
                    found.size += u64::from(*byte);
                    rest
                }
                [0x48, 0x81, 0xec, a, b, c, d, rest @ ..] => {
                    found.size += u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
                    rest
                }
                // and rsp, byte or number
                [0x48, 0x83, 0xe4, byte, rest @ ..] => {
                    found.alignment = u64::from(byte.cast_signed().unsigned_abs());
                    rest
                }
                [0x48, 0x81, 0xe4, a, b, c, d, rest @ ..] => {
                    let mask = i32::from_le_bytes([*a, *b, *c, *d]);
                    found.alignment = u64::from(mask.unsigned_abs());
                    rest
                }
                // mov qword [rsp], 0: touches a page before the next is taken
                [0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0, rest @ ..] => rest,
                // lea r11, [rsp - number]; then page by page: sub rsp; mov [rsp], 0; cmp rsp, r11; jne
                [0x4c, 0x8d, 0x9c, 0x24, a, b, c, d, rest @ ..] => {
                    let number = i32::from_le_bytes([*a, *b, *c, *d]);
                    found.size += u64::from(number.unsigned_abs());
                    let Some(rest) = after_loop(rest) else {
                        break;
                    };
                    rest
                }
                _ => break,
            };
        }
        found
    }

    /// What the frame pointer may be where rounding was at its least and the stack pointer, lowered, came from `least`.
    pub(super) fn frame_pointers(&self, least: u64) -> impl Iterator<Item = u64> + use<> {
        let rounded = least..least.saturating_add(self.alignment);
        rounded.filter(|fp| fp.is_multiple_of(ALIGNED))
    }

    /// Bytes of arguments that lie on the stack during the call which returns to `pc`: what is taken back there.
    pub(super) fn arguments(&self, code: &impl Code, pc: u64) -> u64 {
        let mut bytes = [0; 16];
        let count = code.read(pc, &mut bytes);
        let (taken, rest) = match &bytes[..count] {
            // add rsp, byte or number
            [0x48, 0x83, 0xc4, byte, rest @ ..] => (u64::from(*byte), rest),
            [0x48, 0x81, 0xc4, a, b, c, d, rest @ ..] => {
                (u64::from(u32::from_le_bytes([*a, *b, *c, *d])), rest)
            }
            _ => return 0,
        };
        // At the function's end its locals are taken back too.
        match rest {
            [0x58..=0x5f | 0xc3, ..] | [0x41, 0x58..=0x5f, ..] => {
                taken.saturating_sub(self.size - self.pushed)
            }
            _ => taken,
        }
    }
}

/// What follows the loop that touches page after page.
fn after_loop(code: &[u8]) -> Option<&[u8]> {
    const PAGES: [u8; 15] = [
        0x48, 0x81, 0xec, 0x00, 0x10, 0x00, 0x00, 0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0,
    ];
    match code.strip_prefix(&PAGES)? {
        [0x4c, 0x39, 0xdc, 0x75, _, rest @ ..] => Some(rest),
        _ => None,
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_pushed_and_subtracted_is_summed() {
        // push r15; push r14; push rbx; sub rsp, 0x18; mov rbx, rdi
        let code = [
            0x41, 0x57, 0x41, 0x56, 0x53, 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0xfb,
        ];
        let found = Prologue::decode(&code);
        assert_eq!((found.size, found.pushed), (24 + 0x18, 24));
        assert_eq!(Prologue::decode(&[0x48, 0x89, 0xfb]).size, 0);
    }

    #[test]
    fn pages_that_are_touched_one_by_one_count() {
        // sub rsp, 0x1000; mov [rsp], 0; sub rsp, 0x378; mov [rbp - 8], rcx
        let code = [
            0x48, 0x81, 0xec, 0x00, 0x10, 0, 0, 0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0, 0x48, 0x81,
            0xec, 0x78, 0x03, 0, 0, 0x48, 0x89, 0x4d, 0xf8,
        ];
        assert_eq!(Prologue::decode(&code).size, 0x1378);
        // lea r11, [rsp - 0x10000]; the loop; sub rsp, 0x28; xor eax, eax
        let code = [
            0x4c, 0x8d, 0x9c, 0x24, 0, 0, 0xff, 0xff, 0x48, 0x81, 0xec, 0x00, 0x10, 0, 0, 0x48,
            0xc7, 0x04, 0x24, 0, 0, 0, 0, 0x4c, 0x39, 0xdc, 0x75, 0xec, 0x48, 0x83, 0xec, 0x28,
            0x31, 0xc0,
        ];
        assert_eq!(Prologue::decode(&code).size, 0x1_0028);
    }

    #[test]
    fn a_frame_that_is_rounded_may_begin_at_few_places() {
        // push rbx; and rsp, -64; sub rsp, 0x40
        let code = [0x53, 0x48, 0x83, 0xe4, 0xc0, 0x48, 0x83, 0xec, 0x40];
        let found = Prologue::decode(&code);
        assert_eq!(found.alignment, 64);
        let places: Vec<_> = found.frame_pointers(0x7008).collect();
        assert_eq!(places, [0x7010, 0x7020, 0x7030, 0x7040]);
        let exact = Prologue {
            alignment: 1,
            ..found
        };
        assert_eq!(exact.frame_pointers(0x7010).collect::<Vec<_>>(), [0x7010]);
        assert_eq!(exact.frame_pointers(0x7008).count(), 0);
    }
}
