//! Collapsed stacks: `outer;inner;innermost weight`, what flame graph tools read.

use std::collections::BTreeMap;
use std::io::{self, Write};

/// Weight by stack, outermost frame first.
pub(super) type Stacks = BTreeMap<Vec<String>, u64>;

pub(super) fn write(stacks: &Stacks, out: &mut impl Write) -> io::Result<()> {
    for (frames, weight) in stacks {
        // A name with the separator in it would be two.
        let frames: Vec<_> = frames.iter().map(|frame| frame.replace(';', ":")).collect();
        writeln!(out, "{} {weight}", frames.join(";"))?;
    }
    Ok(())
}
