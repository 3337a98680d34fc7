//! The format's integers and strings, towards bytes: LEB128 of at most nine bytes (the ninth carries
//! eight bits), and strings behind one byte that says how they are stored.

/// How a string is stored: the byte before it.
pub(crate) mod text {
    pub(crate) const NULL: u8 = 0;
    pub(crate) const EMPTY: u8 = 1;
    pub(crate) const POOLED: u8 = 2;
    pub(crate) const UTF8: u8 = 3;
    pub(crate) const UTF16: u8 = 4;
    pub(crate) const LATIN1: u8 = 5;
}

/// Appends an integer.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    for _ in 0..8 {
        if value < 0x80 {
            bytes.push(value as u8);
            return;
        }
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The number of bytes [`put`] appends.
pub(crate) fn len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7).min(9)
}

/// Appends a string in line.
pub(crate) fn put_text(bytes: &mut Vec<u8>, value: Option<&str>) {
    match value {
        None => bytes.push(text::NULL),
        Some("") => bytes.push(text::EMPTY),
        Some(value) => {
            bytes.push(text::UTF8);
            put(bytes, value.len() as u64);
            bytes.extend_from_slice(value.as_bytes());
        }
    }
}

/// Appends `body` as an event: its size, which counts itself, in front.
pub(crate) fn put_sized(bytes: &mut Vec<u8>, body: &[u8]) {
    let mut size = body.len() + 1;
    while body.len() + len(size as u64) != size {
        size = body.len() + len(size as u64);
    }
    put(bytes, size as u64);
    bytes.extend_from_slice(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_one_to_nine_bytes() {
        for (value, expected) in [
            (0, vec![0]),
            (127, vec![0x7f]),
            (128, vec![0x80, 1]),
            (5_000_001_000, vec![0xe8, 0xeb, 0x97, 0xd0, 0x12]),
            (u64::MAX, vec![0xff; 9]),
            (
                1 << 63,
                vec![0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
            ),
        ] {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!(bytes, expected, "{value}");
            assert_eq!(len(value), expected.len(), "{value}");
        }
    }

    #[test]
    fn a_size_counts_itself() {
        for body in [1, 126, 127, 128, 16_381, 16_382, 16_383, 40_000] {
            let mut bytes = Vec::new();
            put_sized(&mut bytes, &vec![7; body]);
            let (mut size, mut shift) = (0, 0);
            for byte in &bytes {
                size |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            assert_eq!(size, bytes.len(), "a body of {body} bytes");
        }
    }
}
