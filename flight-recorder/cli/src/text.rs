//! How spans, moments and amounts are written for people.

use anstyle::{AnsiColor, Style};

/// A heading.
pub(crate) fn heading(text: &str) -> String {
    styled(Style::new().bold(), text)
}

/// Something wrong.
pub(crate) fn error(text: &str) -> String {
    styled(AnsiColor::Red.on_default().bold(), text)
}

/// Something to know.
pub(crate) fn warning(text: &str) -> String {
    styled(AnsiColor::Yellow.on_default().bold(), text)
}

/// Something fine.
pub(crate) fn good(text: &str) -> String {
    styled(AnsiColor::Green.on_default().bold(), text)
}

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// A span in nanoseconds, with three digits.
pub(crate) fn span(ns: i64) -> String {
    let size = ns.unsigned_abs() as f64;
    let (value, unit) = match ns.unsigned_abs() {
        0 => return "0 s".to_owned(),
        1..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (size / 1e3, "us"),
        1_000_000..1_000_000_000 => (size / 1e6, "ms"),
        1_000_000_000..120_000_000_000 => (size / 1e9, "s"),
        seconds => {
            let seconds = seconds / 1_000_000_000;
            let sign = if ns < 0 { "-" } else { "" };
            return match seconds {
                ..7_200 => format!("{sign}{} m {} s", seconds / 60, seconds % 60),
                _ => format!("{sign}{} h {} m", seconds / 3_600, seconds / 60 % 60),
            };
        }
    };
    let digits = if value < 9.995 {
        2
    } else {
        usize::from(value < 99.95)
    };
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{value:.digits$} {unit}")
}

/// A moment in nanoseconds since the Unix epoch, in UTC.
pub(crate) fn moment(ns: i64) -> String {
    let (seconds, nanos) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let millis = nanos / 1_000_000;
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date `days` after 1970-01-01, by counting from a March, so that leap days come last.
pub(crate) fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// An amount of bytes.
pub(crate) fn bytes(amount: u64) -> String {
    let size = amount as f64;
    match amount {
        ..1_000 => format!("{amount} B"),
        1_000..1_000_000 => format!("{:.1} kB", size / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", size / 1e6),
        _ => format!("{:.1} GB", size / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_three_digits_and_a_unit() {
        for (ns, expected) in [
            (0, "0 s"),
            (999, "999 ns"),
            (1_000, "1.00 us"),
            (9_999_999, "10.0 ms"),
            (25_000_000, "25.0 ms"),
            (999_900_000, "1000 ms"),
            (1_000_000_000, "1.00 s"),
            (-25_000_000, "-25.0 ms"),
            (125_000_000_000, "2 m 5 s"),
            (7_260_000_000_000, "2 h 1 m"),
        ] {
            assert_eq!(span(ns), expected);
        }
    }

    #[test]
    fn moments_are_dates_in_utc() {
        assert_eq!(moment(0), "1970-01-01 00:00:00.000Z");
        assert_eq!(
            moment(1_767_323_045_030_000_000),
            "2026-01-02 03:04:05.030Z"
        );
        assert_eq!(moment(951_782_400_000_000_000), "2000-02-29 00:00:00.000Z");
        assert_eq!(moment(-1), "1969-12-31 23:59:59.999Z");
    }
}
