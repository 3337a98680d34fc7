//! Generated programs whose pins are known beforehand: every pin is reported, and nothing else is.
//!
//! `cargo test -p vt-tests --test corpus` runs 200 scenarios with one seed and a few of undeclared blocking. The whole,
//! with its figures, on a machine that is otherwise idle:
//! `cargo test --release -p vt-tests --test corpus -- --ignored --nocapture --test-threads 1`

mod cast;
mod enclose;
mod exact;
mod random;
mod sampled;

use vt_tests::{BACKENDS, Deadline};

#[test]
fn two_hundred_scenarios_are_reported_exactly() {
    let _deadline = Deadline::standard();
    exact::run(BACKENDS[0], 1, 200).assert_exact();
}

#[test]
fn undeclared_blocking_is_told_from_computing() {
    let _deadline = Deadline::standard();
    // Long enough to be seen on a machine that has other things to do.
    let figures = sampled::run(BACKENDS[0], 1, 24, 90..160);
    figures.print("undeclared, 24 scenarios of 90 to 160 ms");
    assert!(
        figures.recall() >= 0.8 && figures.right() >= 0.8,
        "{figures:?}"
    );
}

#[test]
#[ignore = "the whole corpus takes minutes, and its last figures want an idle machine"]
fn the_whole_corpus() {
    let _deadline = Deadline::after(std::time::Duration::from_secs(600));
    for stacks in BACKENDS {
        for seed in 1..=10 {
            let figures = exact::run(stacks, seed, 200);
            figures.print(&format!("exact, {stacks}, seed {seed}"));
            figures.assert_exact();
        }
        let figures = sampled::run(stacks, 7, 200, 25..120);
        figures.print(&format!(
            "undeclared, {stacks}, 200 scenarios of 25 to 120 ms"
        ));
        assert!(
            figures.recall() >= 0.99 && figures.right() >= 0.99,
            "{figures:?}"
        );
    }
}
