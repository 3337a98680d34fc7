//! What pins: a part of a scenario runs inside the pins that the scenario says.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use vt_runtime::event::PinReason;
use vt_runtime::sync::Monitor;
use vt_runtime::{native, pinned};

use super::cast::Part;

/// Runs `part` inside these pins, the first outermost; returns the lines of the outermost pin and of the wait.
pub(crate) fn enclose(pins: &[PinReason], part: Part) -> (u32, u32) {
    let Some((outermost, inner)) = pins.split_first() else {
        return (0, part());
    };
    match outermost {
        PinReason::Monitor => {
            let monitor = Monitor::named("scenario", ());
            let guard = monitor.enter();
            let line = line!() - 1;
            let (_, waited) = enclose(inner, part);
            drop(guard);
            (line, waited)
        }
        PinReason::Native => {
            let (_, waited) = native::call("scenario", || enclose(inner, part));
            (line!() - 1, waited)
        }
        PinReason::Critical => {
            let (_, waited) = pinned::critical("scenario", || enclose(inner, part));
            (line!() - 1, waited)
        }
        _ => (0, while_unwinding(part)),
    }
}

/// Runs a part in a destructor, while a panic unwinds.
fn while_unwinding(part: Part) -> u32 {
    struct Last<'a>(Option<Part>, &'a mut u32);
    impl Drop for Last<'_> {
        fn drop(&mut self) {
            *self.1 = self.0.take().map_or(0, |part| part());
        }
    }
    let mut line = 0;
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _last = Last(Some(part), &mut line);
        resume_unwind(Box::new("on purpose"));
    }));
    unwound.expect_err("it unwinds");
    line
}
