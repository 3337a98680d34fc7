//! One request that needs twenty answers of a second each: one after the other, or a thread for each.

use std::time::{Duration, Instant};

use vt_runtime::task::TaskScope;
use vt_runtime::{Runtime, thread};

use crate::{Outcome, Scenario, Size};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "fan-out",
    published: "none for this shape; the bounds are 20 s in sequence and 1 s at once",
    run,
};

const CALLS: u32 = 20;

fn run(size: Size) -> Outcome {
    let lasts = size.pick(Duration::from_millis(25), Duration::from_secs(1));
    let call = move |number: u32| {
        thread::sleep(lasts);
        number * number
    };
    let expected: u32 = (0..CALLS).map(|number| number * number).sum();
    Runtime::global().run(|| {
        let start = Instant::now();
        let in_sequence: u32 = (0..CALLS).map(call).sum();
        let sequence = start.elapsed();
        let start = Instant::now();
        let at_once = TaskScope::all_or_fail(|scope| {
            let tasks: Vec<_> = (0..CALLS)
                .map(|number| scope.spawn(move || Ok::<_, std::convert::Infallible>(call(number))))
                .collect();
            tasks
                .into_iter()
                .map(|task| task.join())
                .sum::<Result<u32, _>>()
        });
        let scoped = start.elapsed();
        let at_once = at_once.map_err(|error| format!("{error:?}"))?;
        if (in_sequence, at_once) != (expected, expected) {
            return Err(format!("{in_sequence} and {at_once}, not {expected}").into());
        }
        Ok(format!(
            "{CALLS} calls of {lasts:?}: in sequence {:.3} s, a virtual thread each {:.3} s",
            sequence.as_secs_f64(),
            scoped.as_secs_f64(),
        ))
    })
}
