//! Durations as text, in the form the runtime's own settings have: `20ms`.

/// The nanoseconds of a whole number with a unit, or nothing if it is not one that fits.
pub(super) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let nanos = match unit.trim_start() {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(nanos)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn durations_have_a_whole_number_and_a_unit() {
        assert_eq!(parse("20ms"), Some(20_000_000));
        assert_eq!(parse(" 3 s "), Some(3_000_000_000));
        assert_eq!(parse("7us"), parse("7µs"));
        assert_eq!(parse("0ns"), Some(0));
        for wrong in [
            "",
            "20",
            "ms",
            "1.5ms",
            "-1s",
            "20 min",
            "99999999999999999999s",
            "20000000000000s",
        ] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
    }
}
