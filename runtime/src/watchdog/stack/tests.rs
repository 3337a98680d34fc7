//! Stacks made by hand, with the remains of older calls on them, and the stack of a thread that really blocks.

use std::ops::Range;

use super::*;

/// Code and memory that a test makes up.
#[derive(Default)]
pub(super) struct Image {
    code: Vec<(u64, Vec<u8>)>,
    rules: Vec<Rule>,
}

impl Image {
    pub(super) fn with_code(mut self, at: u64, bytes: &[u8]) -> Self {
        self.code.push((at, bytes.to_vec()));
        self
    }

    /// A function without a frame pointer and without locals.
    pub(super) fn with_function(self, function: Range<u64>) -> Self {
        self.with_rule(function, Base::Sp(8), None)
    }

    fn with_rule(mut self, function: Range<u64>, base: Base, body: Option<u64>) -> Self {
        let is_framed = matches!(base, Base::Fp(_));
        self.rules.push(Rule {
            function: (function.start, function.end),
            base,
            return_address: -8,
            frame_pointer: if is_framed {
                Saved::At(-16)
            } else {
                Saved::Not
            },
            saved: 0,
            body,
        });
        self
    }

    fn with_words(self, at: u64, words: &[u64]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.with_code(at, &bytes)
    }
}

impl Code for Image {
    fn read(&self, at: u64, into: &mut [u8]) -> usize {
        let mut count = 0;
        for (address, byte) in (at..).zip(into) {
            let piece = self.code.iter().find_map(|(start, bytes)| {
                let index = usize::try_from(address.checked_sub(*start)?).ok()?;
                bytes.get(index)
            });
            let Some(found) = piece else { break };
            *byte = *found;
            count += 1;
        }
        count
    }

    fn rule(&mut self, address: u64) -> Option<Rule> {
        let is_inside = |rule: &&Rule| (rule.function.0..rule.function.1).contains(&address);
        self.rules.iter().find(is_inside).copied()
    }
}

#[cfg(target_arch = "x86_64")]
mod by_hand {
    use super::*;

    /// `read` of the C library, which keeps 0x18 bytes; the function that calls it, and what calls that.
    const READ: u64 = 0x10_0000;
    const INNER: u64 = 0x20_0000;
    const OUTER: u64 = 0x30_0000;
    const STACK: u64 = 0x7f00_0000;

    /// Sets its frame pointer; then push rbx; sub rsp, 8 and `locals`.
    fn framed(image: Image, at: u64, locals: u8) -> Image {
        let code = [
            0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, locals, 0x90, 0x90,
        ];
        image
            .with_code(at, &code)
            .with_rule(at..at + 0x100, Base::Fp(16), Some(at + 4))
    }

    /// A call to `to` that returns to `at + offset`.
    fn call(image: Image, at: u64, offset: u64, to: u64) -> Image {
        let from = at + offset;
        let distance = i32::try_from(to.cast_signed() - from.cast_signed()).expect("near");
        let [a, b, c, d] = distance.to_le_bytes();
        image.with_code(from - 7, &[0x90, 0x90, 0xe8, a, b, c, d, 0x90])
    }

    /// `OUTER` calls `INNER`, which calls `READ`, both with frame pointers.
    fn program() -> Image {
        let image = Image::default().with_rule(READ..READ + 0x100, Base::Sp(0x20), None);
        let image = framed(framed(image, INNER, 0x38), OUTER, 0x18);
        let image = call(call(image, INNER, 0x40, READ), OUTER, 0x40, INNER);
        // An earlier call from another line of the same function.
        call(image, OUTER, 0x80, INNER)
    }

    fn unwound(image: &mut Image, words: usize) -> Vec<u64> {
        let innermost = Registers {
            pc: READ + 0x10,
            sp: STACK,
            fp: None,
        };
        unwind(image, innermost, &(STACK..STACK + 8 * words as u64), 64)
    }

    /// The frames of [`program`], the words of `INNER`'s locals filled with `locals`.
    fn words(locals: [u64; 7]) -> Vec<u64> {
        let at = |index: u64| STACK + 8 * index;
        // READ's own three words, its return; INNER's locals and saved rbx; its saved frame pointer and return.
        let mut words = vec![1, 2, 3, INNER + 0x40];
        words.extend(locals);
        words.extend([4, at(18), OUTER + 0x40]);
        // OUTER's locals and saved rbx, its saved frame pointer; it returns nowhere.
        words.extend([5, 6, 7, 8, 0, 0]);
        words
    }

    #[test]
    fn each_frame_is_left_by_its_rule() {
        let words = words([0; 7]);
        let mut image = program().with_words(STACK, &words);
        let expected = [READ + 0x10, INNER + 0x40, OUTER + 0x40];
        assert_eq!(unwound(&mut image, words.len()), expected);
    }

    #[test]
    fn the_remains_of_older_calls_below_a_frame_are_no_frames() {
        let at = |index: u64| STACK + 8 * index;
        // A chain of frame pointers with return addresses, from another line, in what are INNER's locals now.
        let stale = [
            at(6),
            OUTER + 0x80,
            at(8),
            OUTER + 0x80,
            at(18),
            OUTER + 0x80,
            9,
        ];
        let words = words(stale);
        let mut image = program().with_words(STACK, &words);
        let expected = [READ + 0x10, INNER + 0x40, OUTER + 0x40];
        assert_eq!(unwound(&mut image, words.len()), expected);
    }

    #[test]
    fn a_caller_that_calls_something_else_is_not_believed() {
        let mut words = words([0; 7]);
        // OUTER + 0xc0 follows a call, but one to READ.
        words[13] = OUTER + 0xc0;
        let mut image = call(program(), OUTER, 0xc0, READ).with_words(STACK, &words);
        assert_eq!(
            unwound(&mut image, words.len()),
            [READ + 0x10, INNER + 0x40]
        );
    }

    #[test]
    fn arguments_on_the_stack_lie_below_the_frame() {
        let mut words = words([0; 7]);
        words.splice(4..4, [11, 12]);
        let saved = words.len() - 8;
        words[saved] += 16;
        // add rsp, 0x10 behind the call.
        let mut image = Image::default()
            .with_code(INNER + 0x40, &[0x48, 0x83, 0xc4, 0x10, 0x90])
            .with_words(STACK, &words);
        let program = program();
        image.code.extend(program.code);
        image.rules = program.rules;
        let expected = [READ + 0x10, INNER + 0x40, OUTER + 0x40];
        assert_eq!(unwound(&mut image, words.len()), expected);
    }

    #[test]
    fn no_more_than_the_depth_is_told() {
        let words = words([0; 7]);
        let mut image = program().with_words(STACK, &words);
        let innermost = Registers {
            pc: READ + 0x10,
            sp: STACK,
            fp: None,
        };
        let bounds = STACK..STACK + 8 * words.len() as u64;
        assert_eq!(unwind(&mut image, innermost, &bounds, 2).len(), 2);
        assert_eq!(unwind(&mut image, innermost, &bounds, 0), []);
    }
}

mod that_really_blocks {
    use std::io::PipeReader;
    use std::path::Path;
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    use super::super::super::procfs::Probe;
    use super::*;
    use crate::event;

    /// Leaves the frames of so many calls below the caller's.
    #[inline(never)]
    fn leave_frames(depth: u32) -> u32 {
        let below = depth.checked_sub(1);
        std::hint::black_box(below.map_or(0, |depth| std::hint::black_box(leave_frames)(depth))) + 1
    }

    /// The buffer of std's copy lies over what was left, and is not cleared.
    #[inline(never)]
    fn copies(mut reader: PipeReader) -> u64 {
        leave_frames(200);
        std::io::copy(&mut reader, &mut std::io::sink()).expect("it ends")
    }

    #[inline(never)]
    fn calls_copies(reader: PipeReader) -> u64 {
        std::hint::black_box(copies)(reader) + 1
    }

    #[test]
    fn it_is_unwound_over_the_remains_of_older_calls() {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let (tell, told) = channel();
        let blocks = move || {
            let tid = rustix::thread::gettid().as_raw_nonzero().get();
            tell.send(tid.cast_unsigned()).expect("somebody asks");
            calls_copies(reader)
        };
        let thread = std::thread::Builder::new().spawn(blocks).expect("a thread");
        let tid = told.recv().expect("it says");
        let probe = Probe::open(Path::new("/proc"), tid).expect("procfs");
        let limit = Instant::now() + Duration::from_secs(60);
        let call = loop {
            let reads =
                |call: &Syscall| super::super::super::syscalls::name(call.number) == Some("read");
            if let Some(call) = probe.syscall().filter(reads) {
                break call;
            }
            assert!(Instant::now() < limit, "it never blocks");
            std::thread::yield_now();
        };
        let low = usize::try_from(call.stack_pointer).expect("an address");
        let addresses = of_blocked(&(low..low + (1 << 20)), &call, 64);
        let frames: Vec<String> = event::symbolize(&addresses)
            .into_iter()
            .map(|frame| frame.function)
            .collect();
        drop(writer);
        assert_eq!(thread.join().expect("no panic"), 1);
        let is = |frame: &str, name: &str| frame.rsplit("::").next() == Some(name);
        let position = |name: &str| frames.iter().position(|frame| is(frame, name));
        if cfg!(target_arch = "x86_64") {
            let (inner, outer) = (position("copies"), position("calls_copies"));
            assert!(inner.is_some() && inner < outer, "{frames:#?}");
        }
        assert_eq!(position("leave_frames"), None, "{frames:#?}");
    }
}
