//! A failed pin check as a person wants to read it: what held the carrier, where the wait was, how long, who
//! waited meanwhile, and the cure.

use std::fmt::{self, Write as _};
use std::time::Duration;

use crate::event::{PinReason, PinSource, Pinned, UNKNOWN};

/// More pins than that are counted, not told: the first ones show the place.
const TOLD: usize = 10;

/// The text of the failure of `test`, which did not do what `wanted` says.
pub(super) fn failure(test: &str, wanted: &str, longer_than: Duration, pins: &[&Pinned]) -> String {
    let mut text = format!("`{test}` {wanted}, ");
    let long = if longer_than.is_zero() {
        String::new()
    } else {
        format!(" for {longer_than:?} or more")
    };
    let written = match pins.len() {
        0 => write!(text, "but no wait kept its carrier{long}"),
        1 => write!(text, "but 1 wait kept its carrier{long}"),
        more => write!(text, "but {more} waits kept their carriers{long}"),
    };
    written.expect("a string takes any text");
    list(&mut text, pins).expect("a string takes any text");
    text
}

/// The first pins, one paragraph each, and how many more there are.
pub(crate) fn list(text: &mut impl fmt::Write, pins: &[&Pinned]) -> fmt::Result {
    for (index, pin) in pins.iter().take(TOLD).enumerate() {
        write!(text, "\n\n{}. {}", index + 1, Told(pin))?;
    }
    if let Some(rest) = pins.len().checked_sub(TOLD).filter(|rest| *rest > 0) {
        write!(text, "\n\nand {rest} more")?;
    }
    Ok(())
}

struct Told<'a>(&'a Pinned);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pin = self.0;
        write!(
            f,
            "virtual thread #{} {} kept carrier {} for {:.1?}",
            pin.thread.id, pin.thread.name, pin.carrier, pin.duration
        )?;
        let place = |place: &Option<crate::event::Place>| {
            place
                .as_ref()
                .map_or_else(|| UNKNOWN.to_owned(), ToString::to_string)
        };
        write!(
            f,
            "\n   pinned at   {}, {}",
            place(&pin.pinned_at),
            holder(pin)
        )?;
        write!(
            f,
            "\n   blocked at  {}, in `{}`",
            place(&pin.blocked_at),
            pin.operation
        )?;
        if let Some(thing) = &pin.waits_for {
            write!(f, "\n   waited for  {thing}")?;
            if let Some(owner) = &pin.waits_owner {
                write!(f, ", which {owner} has")?;
            }
        }
        match pin.stranded {
            0 => {}
            1 => write!(
                f,
                "\n   stranded    1 ready thread, for {:.1?}",
                pin.stranded_time
            )?,
            more => write!(
                f,
                "\n   stranded    {more} ready threads, for {:.1?} in sum",
                pin.stranded_time
            )?,
        }
        write!(f, "\n   cure        {}", cure(pin))
    }
}

/// What kept the thread from unmounting.
fn holder(pin: &Pinned) -> String {
    let named = |name: &Option<std::sync::Arc<str>>| match name {
        Some(name) => format!(" `{name}`"),
        None => String::new(),
    };
    match pin.reason {
        PinReason::Monitor => format!("inside the monitor{}", named(&pin.lock)),
        PinReason::Native => format!("inside the foreign call{}", named(&pin.native)),
        PinReason::Critical => format!("inside the critical region{}", named(&pin.lock)),
        PinReason::Unwinding => "while a panic unwinds".to_owned(),
    }
}

fn cure(pin: &Pinned) -> &'static str {
    match (pin.reason, pin.source) {
        (PinReason::Monitor, _) => {
            "leave the monitor before this wait, or swap it: `#[vt_runtime::park_safe(monitor = \"reentrant\")]`"
        }
        (PinReason::Native, PinSource::Sampled) => {
            "use `vt_runtime`'s own call instead, swap a std lock with `#[vt_runtime::park_safe]`, or go through \
             `vt_runtime::blocking`"
        }
        (PinReason::Native, PinSource::Declared) => {
            "make this foreign call through `vt_runtime::blocking`"
        }
        (PinReason::Native, PinSource::Wait) => "do not wait in code that foreign code calls back",
        (PinReason::Critical, _) => "leave the critical region before this wait",
        (PinReason::Unwinding, _) => "do not wait in a destructor that runs while a panic unwinds",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::event::{Operation, Place, ThreadRef, Timestamp, WaitOutcome};

    fn pin() -> Pinned {
        let place = |line| {
            Some(Place {
                file: Arc::from("src/orders.rs"),
                line,
                column: 20,
            })
        };
        Pinned {
            thread: ThreadRef {
                id: 21,
                name: Arc::from("checkout"),
            },
            carrier: 1,
            span: None,
            reason: PinReason::Monitor,
            operation: Operation::Lock,
            start: Timestamp(5),
            duration: Duration::from_micros(100_240),
            pinned_at: place(12),
            blocked_at: place(13),
            lock: Some(Arc::from("orders")),
            waits_for: Some(Arc::from("audit")),
            waits_owner: Some(Arc::from("#7 vt-7")),
            native: None,
            depth: 1,
            stranded: 3,
            stranded_time: Duration::from_millis(290),
            outcome: WaitOutcome::Done,
            source: PinSource::Wait,
            stack: Vec::new(),
        }
    }

    #[test]
    fn a_failure_tells_what_where_how_long_who_and_the_cure() {
        let text = failure("checks_out", "should not pin", Duration::ZERO, &[&pin()]);
        let expected = "\
`checks_out` should not pin, but 1 wait kept its carrier

1. virtual thread #21 checkout kept carrier 1 for 100.2ms
   pinned at   src/orders.rs:12:20, inside the monitor `orders`
   blocked at  src/orders.rs:13:20, in `lock`
   waited for  audit, which #7 vt-7 has
   stranded    3 ready threads, for 290.0ms in sum
   cure        leave the monitor before this wait, or swap it: `#[vt_runtime::park_safe(monitor = \"reentrant\")]`";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let bare = Pinned {
            reason: PinReason::Native,
            operation: Operation::NativeCall,
            source: PinSource::Declared,
            native: Some(Arc::from("sqlite3_step")),
            blocked_at: None,
            waits_for: None,
            stranded: 0,
            ..pin()
        };
        let text = failure(
            "checks_out",
            "should not pin",
            Duration::from_millis(20),
            &[&bare],
        );
        let expected = "\
`checks_out` should not pin, but 1 wait kept its carrier for 20ms or more

1. virtual thread #21 checkout kept carrier 1 for 100.2ms
   pinned at   src/orders.rs:12:20, inside the foreign call `sqlite3_step`
   blocked at  unknown, in `native_call`
   cure        make this foreign call through `vt_runtime::blocking`";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_flood_is_counted_and_none_is_said() {
        let one = pin();
        let text = failure(
            "checks_out",
            "should pin at most 3 times",
            Duration::ZERO,
            &[&one; 14],
        );
        assert!(text.starts_with(
            "`checks_out` should pin at most 3 times, but 14 waits kept their carriers\n"
        ));
        assert!(
            text.contains("\n10. ") && !text.contains("\n11. "),
            "{text}"
        );
        assert!(text.ends_with("\n\nand 4 more"), "{text}");
        let none = failure("checks_out", "should pin", Duration::ZERO, &[]);
        assert_eq!(
            none,
            "`checks_out` should pin, but no wait kept its carrier"
        );
    }

    #[test]
    fn every_reason_has_a_cure_of_its_own() {
        let cures = PinReason::ALL.iter().map(|reason| {
            cure(&Pinned {
                reason: *reason,
                ..pin()
            })
        });
        let distinct = cures.collect::<std::collections::HashSet<_>>();
        assert_eq!(distinct.len(), PinReason::ALL.len());
    }
}
