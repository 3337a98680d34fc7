//! How a frame is left: what the compiler's tables say for one address.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, NativeEndian, Register, RegisterRule, UnwindContext,
    UnwindSection,
};

use super::modules::{Module, PREFIX, Read};

/// The numbers that the tables have for stack pointer, frame pointer and return address.
#[cfg(target_arch = "x86_64")]
const REGISTERS: [Register; 3] = [gimli::X86_64::RSP, gimli::X86_64::RBP, gimli::X86_64::RA];
#[cfg(target_arch = "aarch64")]
const REGISTERS: [Register; 3] = [gimli::AArch64::SP, gimli::AArch64::X29, gimli::AArch64::X30];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const REGISTERS: [Register; 3] = [Register(u16::MAX); 3];

/// A longer entry is none.
const LONGEST_ENTRY: u32 = 1 << 20;

/// How one frame is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Where its function begins and ends.
    pub(super) function: (u64, u64),
    /// The stack pointer of the caller, after the return.
    pub(super) base: Base,
    /// Where the return address lies, from the base.
    pub(super) return_address: i64,
    pub(super) frame_pointer: Saved,
    /// Bytes of registers saved below the frame pointer.
    pub(super) saved: u64,
    /// Where the function's instructions go on after its frame pointer is set.
    pub(super) body: Option<u64>,
}

/// A register and what to add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Sp(i64),
    Fp(i64),
}

/// Where the caller's value of a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saved {
    /// Still in the register.
    Not,
    /// So far from the base.
    At(i64),
    Lost,
}

/// The rule for an address in that module.
pub(super) fn find(read: &impl Read, module: &Module, address: u64) -> Option<Rule> {
    let entry = Entry::read(read, entry_of(read, module, address)?)?;
    let frames = EhFrame::new(&entry.bytes, NativeEndian);
    let bases = BaseAddresses::default().set_eh_frame(entry.base);
    let function = frames
        .fde_from_offset(&bases, entry.offset.into(), EhFrame::cie_from_offset)
        .ok()?;
    // A signal handler's caller did not call it.
    if !function.contains(address) || function.is_signal_trampoline() {
        return None;
    }
    let [_, fp, _] = REGISTERS;
    let mut context = UnwindContext::new();
    let mut rows = function.rows(&frames, &bases, &mut context).ok()?;
    let mut body = None;
    while let Some(row) = rows.next_row().ok()? {
        let base = row.cfa();
        if body.is_none()
            && matches!(base, CfaRule::RegisterAndOffset { register, .. } if *register == fp)
        {
            body = Some(row.start_address());
        }
        if row.contains(address) {
            return rule(
                row,
                (function.initial_address(), function.end_address()),
                body,
            );
        }
    }
    None
}

type Row = gimli::UnwindTableRow<usize>;

fn rule(row: &Row, function: (u64, u64), body: Option<u64>) -> Option<Rule> {
    let [sp, fp, ra] = REGISTERS;
    let base = match *row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } if register == sp => Base::Sp(offset),
        CfaRule::RegisterAndOffset { register, offset } if register == fp => Base::Fp(offset),
        _ => return None,
    };
    let Some(RegisterRule::Offset(return_address)) = row.register(ra) else {
        return None;
    };
    let frame_pointer = match row.register(fp) {
        None | Some(RegisterRule::SameValue) => Saved::Not,
        Some(RegisterRule::Offset(offset)) => Saved::At(offset),
        Some(_) => Saved::Lost,
    };
    let lowest = row.registers().filter_map(|(_, rule)| match rule {
        RegisterRule::Offset(offset) => Some(*offset),
        _ => None,
    });
    let saved = match (frame_pointer, lowest.min()) {
        (Saved::At(own), Some(lowest)) => u64::try_from(own - lowest).unwrap_or(0),
        _ => 0,
    };
    Some(Rule {
        function,
        base,
        return_address,
        frame_pointer,
        saved,
        body,
    })
}

/// Where the entry lies whose function begins last before the address, by the module's sorted table.
fn entry_of(read: &impl Read, module: &Module, address: u64) -> Option<u64> {
    const SIZE: u64 = 8;
    let pair = |index: u64| -> Option<(u64, u64)> {
        let [a, b, c, d, e, f, g, h] =
            read.exactly(module.header + PREFIX as u64 + index * SIZE)?;
        let from_header = |bytes| {
            let offset = i64::from(i32::from_ne_bytes(bytes));
            module.header.wrapping_add_signed(offset)
        };
        Some((from_header([a, b, c, d]), from_header([e, f, g, h])))
    };
    let (mut low, mut high) = (0, module.functions());
    while low < high {
        let middle = low.midpoint(high);
        if pair(middle)?.0 <= address {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    pair(low.checked_sub(1)?).map(|(_, entry)| entry)
}

/// A function's entry and the one it shares with others, copied next to each other, as if they were the whole section.
struct Entry {
    bytes: Vec<u8>,
    /// Where the function's own entry begins in the copy.
    offset: usize,
    /// What the copy's beginning would be the address of.
    base: u64,
}

impl Entry {
    fn read(read: &impl Read, at: u64) -> Option<Self> {
        const LENGTH: u64 = 4;
        let whole = |at: u64| {
            let length = u32::from_ne_bytes(read.exactly(at)?);
            let is_entry = (LENGTH as u32..LONGEST_ENTRY).contains(&length);
            is_entry.then(|| read.bytes(at, length as usize + LENGTH as usize))?
        };
        let mut own = whole(at)?;
        let pointer = own.get_mut(4..8)?;
        let back = u32::from_ne_bytes((&*pointer).try_into().ok()?);
        let mut bytes = whole((at + LENGTH).checked_sub(back.into())?)?;
        let offset = bytes.len();
        // The shared entry stands before the function's own here, wherever it stood.
        pointer.copy_from_slice(&u32::try_from(offset + 4).ok()?.to_ne_bytes());
        bytes.extend(own);
        Some(Self {
            bytes,
            offset,
            base: at.wrapping_sub(offset as u64),
        })
    }
}
