//! The return addresses of a thread that is blocked, taken without its help.
//!
//! The kernel tells stack pointer and program counter and no other register. That is enough for the tables which
//! compilers leave beside the code for panics and exceptions (`.eh_frame`): from one frame they tell the next, exactly,
//! whatever older calls have left on the stack. Where a frame is found by a frame pointer that nobody saved yet, it is
//! computed from the function's own first instructions (`prologue`), and believed only if what called it is seen
//! to call it (`link`). Where neither tells, the stack ends: a short stack names no line, a guessed one names a wrong one.
//!
//! All memory is read through `/proc/self/mem`, so that a thread which goes on, ends and gives its stack back meanwhile,
//! or a library that is unloaded, costs a short read, never a fault.

mod link;
mod modules;
mod prologue;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::sync::LazyLock;

use parking_lot::Mutex;

use self::modules::Modules;
use self::prologue::Prologue;
use self::rules::{Base, Rule, Saved};
use super::procfs::Syscall;

const WORD: usize = size_of::<u64>();
/// Rules remembered at most; then all are forgotten.
const REMEMBERED: usize = 16 * 1024;

/// What is known of the process's code. The code is the same for all its runtimes. Held by watchdogs only, which call nothing
/// foreign under it.
static PROCESS: LazyLock<Mutex<Process>> = LazyLock::new(Mutex::default);

/// The stack of a thread whose frames lie within `bounds` and which sits in `call`, innermost first, `depth` frames at
/// most; only the program counter where no more can be told.
pub(super) fn of_blocked(bounds: &Range<usize>, call: &Syscall, depth: usize) -> Vec<u64> {
    from(bounds, (call.program_counter, call.stack_pointer), depth)
}

/// The stack of a thread that stands at that program counter with that stack pointer.
pub(crate) fn from(bounds: &Range<usize>, (pc, sp): (u64, u64), depth: usize) -> Vec<u64> {
    let bounds = bounds.start as u64..bounds.end as u64;
    let innermost = Registers { pc, sp, fp: None };
    // Opened anew: a process that was forked has other memory.
    let Ok(memory) = File::open("/proc/self/mem") else {
        return vec![pc];
    };
    let mut process = PROCESS.lock();
    let mut code = Running {
        memory: &memory,
        process: &mut process,
    };
    unwind(&mut code, innermost, &bounds, depth)
}

/// May a call return to that address? Yes where that cannot be told.
pub(crate) fn is_return(address: u64) -> bool {
    let Ok(memory) = File::open("/proc/self/mem") else {
        return true;
    };
    let code = |at: u64, into: &mut [u8]| rustix::io::pread(&memory, into, at).unwrap_or(0);
    link::follows_a_call(&code, address)
}

/// Memory, and what compilers said about the code in it.
trait Code {
    /// Fills `into` from that address on; how many bytes could be read.
    fn read(&self, at: u64, into: &mut [u8]) -> usize;

    /// How to leave the frame of the function that this address lies in; `None` where that is not told.
    fn rule(&mut self, address: u64) -> Option<Rule>;

    fn word(&self, at: u64) -> Option<u64> {
        let mut bytes = [0; WORD];
        (self.read(at, &mut bytes) == WORD).then(|| u64::from_ne_bytes(bytes))
    }
}

/// The registers of one frame, as far as they are known.
#[derive(Clone, Copy, Debug)]
struct Registers {
    pc: u64,
    sp: u64,
    fp: Option<u64>,
}

/// Return addresses from `innermost` up, its program counter first.
fn unwind(
    code: &mut impl Code,
    innermost: Registers,
    bounds: &Range<u64>,
    depth: usize,
) -> Vec<u64> {
    let mut addresses = Vec::new();
    let mut next = Some(innermost);
    while let Some(registers) = next.filter(|_| addresses.len() < depth) {
        addresses.push(registers.pc);
        let is_inside = bounds.contains(&registers.sp);
        next = is_inside
            .then(|| caller(code, registers, addresses.len() == 1))
            .flatten()
            .filter(|caller| caller.sp <= bounds.end);
    }
    addresses
}

/// The frame that called this one.
fn caller(code: &mut impl Code, at: Registers, is_innermost: bool) -> Option<Registers> {
    // A return address may lie behind the end of its function, when the call never returns.
    let rule = code.rule(at.pc.wrapping_sub(u64::from(!is_innermost)))?;
    let base = match rule.base {
        Base::Sp(offset) => at.sp.checked_add_signed(offset)?,
        Base::Fp(offset) => {
            let fp = at
                .fp
                .or_else(|| frame_pointer(code, at, &rule, is_innermost))?;
            fp.checked_add_signed(offset)?
        }
    };
    if base <= at.sp || !base.is_multiple_of(WORD as u64) {
        return None;
    }
    let pc = code.word(base.checked_add_signed(rule.return_address)?)?;
    if !link::follows_a_call(&|at, into: &mut [u8]| code.read(at, into), pc) {
        return None;
    }
    let fp = match rule.frame_pointer {
        Saved::Not => at.fp,
        Saved::At(offset) => code.word(base.checked_add_signed(offset)?),
        Saved::Lost => None,
    };
    Some(Registers { pc, sp: base, fp })
}

/// The frame pointer of a function that set one up, from where its stack pointer is now.
fn frame_pointer(
    code: &mut impl Code,
    at: Registers,
    rule: &Rule,
    is_innermost: bool,
) -> Option<u64> {
    let prologue = Prologue::read(code, rule.body?)?;
    if prologue.pushed < rule.saved {
        return None;
    }
    let given = if is_innermost {
        0
    } else {
        prologue.arguments(code, at.pc)
    };
    let least = at.sp.checked_add(prologue.size)?.checked_add(given)?;
    let mut fitting = prologue.frame_pointers(least).filter(|fp| {
        let caller = code.word(fp + WORD as u64);
        caller.is_some_and(|caller| link::leads_to(code, caller, rule.function.0))
    });
    // Two that fit are one too many.
    fitting.next().filter(|_| fitting.next().is_none())
}

/// The process's own code, read where it runs.
struct Running<'a> {
    memory: &'a File,
    process: &'a mut Process,
}

/// What was found out about it so far.
#[derive(Default)]
struct Process {
    modules: Modules,
    rules: HashMap<u64, Rule>,
}

impl Code for Running<'_> {
    fn read(&self, at: u64, into: &mut [u8]) -> usize {
        rustix::io::pread(self.memory, into, at).unwrap_or(0)
    }

    fn rule(&mut self, address: u64) -> Option<Rule> {
        let read = |at, into: &mut [u8]| rustix::io::pread(self.memory, into, at).unwrap_or(0);
        let known = &mut self.process.rules;
        let Some(module) = self.process.modules.find(address, &read) else {
            known.clear();
            return None;
        };
        if let Some(rule) = known.get(&address) {
            return Some(*rule);
        }
        let rule = rules::find(&read, &module, address)?;
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(address, rule);
        Some(rule)
    }
}
