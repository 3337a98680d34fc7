//! Is an address one that a call returns to, and does that call lead to a certain function?

use super::Code;
use super::modules::Read;

/// The longest call: an indirect one with a number of four bytes and a prefix.
const LONGEST: u64 = 7;
/// Jumps followed from function to function: one that only passes on leaves no frame.
const MOST_JUMPS: u32 = 3;
/// Code of a function looked through for such jumps.
const MOST_CODE: u64 = 64 << 10;

/// Where a call or a jump leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    At(u64),
    /// What that word says.
    In(u64),
    /// What a register said.
    Unknown,
}

/// Does a call end right before this address? Yes where calls cannot be told.
pub(super) fn follows_a_call(read: &impl Read, address: u64) -> bool {
    !cfg!(target_arch = "x86_64") || calls(read, address).next().is_some()
}

/// May the call that returns to this address have led to the function that begins there?
pub(super) fn leads_to(code: &mut impl Code, address: u64, function: u64) -> bool {
    let calls: Vec<_> = calls(&|at, into: &mut [u8]| code.read(at, into), address).collect();
    for call in &calls {
        // The bytes of another call may look like a direct one, but hardly one that leads to a function's beginning.
        if let Some(target) = place(code, *call).filter(|target| is_function(code, *target)) {
            return reaches(code, target, function, MOST_JUMPS);
        }
    }
    calls.contains(&Target::Unknown)
}

/// What the bytes before the address can be read as: near and direct (`E8` and four bytes), or indirect (`FF` with 2 in the
/// middle of the next byte, which is followed by at most five more).
fn calls<R: Read>(read: &R, address: u64) -> impl Iterator<Item = Target> + use<R> {
    let from = address.wrapping_sub(LONGEST);
    let bytes: [u8; LONGEST as usize] = read.exactly(from).unwrap_or_default();
    let [_, second, third, last @ ..] = bytes;
    let to = address.wrapping_add_signed(i32::from_le_bytes(last).into());
    let direct = (third == 0xe8).then_some(Target::At(to));
    let through = ([second, third] == [0xff, 0x15]).then_some(Target::In(to));
    let is_indirect = move |length: usize| {
        let at = bytes.len() - length;
        bytes[at] == 0xff && bytes[at + 1] >> 3 & 0b111 == 2 && bytes[at + 1] != 0x15
    };
    let by_register = [2, 3, 4, 6, 7].into_iter().any(is_indirect);
    [direct, through, by_register.then_some(Target::Unknown)]
        .into_iter()
        .flatten()
}

fn place(code: &impl Code, target: Target) -> Option<u64> {
    match target {
        Target::At(place) => Some(place),
        Target::In(word) => code.word(word),
        Target::Unknown => None,
    }
}

fn is_function(code: &mut impl Code, address: u64) -> bool {
    code.rule(address)
        .is_some_and(|rule| rule.function.0 == address)
}

/// Does what begins at `from` begin at `function`, or jump there?
fn reaches(code: &mut impl Code, from: u64, function: u64, jumps: u32) -> bool {
    if from == function {
        return true;
    }
    let Some(rule) = code.rule(from).filter(|_| jumps > 0) else {
        return false;
    };
    let (start, end) = rule.function;
    let mut bytes = vec![0; usize::try_from((end - start).min(MOST_CODE)).unwrap_or(0)];
    let count = code.read(start, &mut bytes);
    let jumped = jumps_in(&bytes[..count], start);
    jumped.into_iter().any(|target| match place(code, target) {
        Some(place) if (start..end).contains(&place) => false,
        Some(place) if place == function => true,
        Some(place) => is_function(code, place) && reaches(code, place, function, jumps - 1),
        None => target == Target::Unknown,
    })
}

/// What could be a jump in code that begins at `start`.
fn jumps_in(code: &[u8], start: u64) -> Vec<Target> {
    let number = |bytes: [u8; 4]| i64::from(i32::from_le_bytes(bytes));
    let at = |index: usize, length: u64| start + index as u64 + length;
    let jump = |(index, bytes): (usize, &[u8])| match *bytes {
        [0xe9, a, b, c, d, ..] => Some(Target::At(
            at(index, 5).wrapping_add_signed(number([a, b, c, d])),
        )),
        [0x0f, 0x80..=0x8f, a, b, c, d] => Some(Target::At(
            at(index, 6).wrapping_add_signed(number([a, b, c, d])),
        )),
        [0xff, 0x25, a, b, c, d] => Some(Target::In(
            at(index, 6).wrapping_add_signed(number([a, b, c, d])),
        )),
        [0xff, next, ..] if next >> 3 & 0b111 == 4 => Some(Target::Unknown),
        _ => None,
    };
    code.windows(6).enumerate().filter_map(jump).collect()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::tests::Image;
    use super::*;

    const CALLER: u64 = 0x5000;

    fn follows(image: &Image, address: u64) -> bool {
        follows_a_call(&|at, into: &mut [u8]| image.read(at, into), address)
    }

    /// Code whose bytes end right before [`CALLER`].
    fn before(bytes: &[u8]) -> Image {
        Image::default().with_code(CALLER - bytes.len() as u64, bytes)
    }

    #[test]
    fn what_follows_no_call_is_no_return_address() {
        // call +0x10; call rax; call [rip + 0x20]; pop rbp, return and padding.
        assert!(follows(&before(&[0x90, 0x90, 0xe8, 0x10, 0, 0, 0]), CALLER));
        assert!(follows(
            &before(&[0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0]),
            CALLER
        ));
        assert!(follows(&before(&[0x90, 0xff, 0x15, 0x20, 0, 0, 0]), CALLER));
        let none = [0x5d, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc];
        assert!(!follows(&before(&none), CALLER));
        assert!(!follows(&Image::default(), CALLER));
    }

    #[test]
    fn a_call_leads_to_its_target_or_where_that_jumps() {
        // call +0x100
        let calls = || before(&[0x90, 0x90, 0xe8, 0, 1, 0, 0]);
        let target = CALLER + 0x100;
        let mut image = calls().with_function(target..target + 0x40);
        assert!(leads_to(&mut image, CALLER, target));
        assert!(!leads_to(&mut image, CALLER, target + 0x100));
        // It jumps on: jmp +0x200
        let far = target + 5 + 0x200;
        let mut image = calls()
            .with_function(target..target + 0x10)
            .with_code(target, &[0xe9, 0, 2, 0, 0, 0x90]);
        assert!(leads_to(&mut image, CALLER, far));
        assert!(!leads_to(&mut image, CALLER, far + 1));
    }

    #[test]
    fn a_call_by_register_may_lead_anywhere() {
        let mut image = before(&[0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0]);
        assert!(leads_to(&mut image, CALLER, 0x9000));
    }
}
