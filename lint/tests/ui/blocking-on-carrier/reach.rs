//! std's calls in what virtual threads reach.
// edition: 2024

use std::time::Duration;
use vt_runtime::thread;

fn settle() {
    std::thread::sleep(Duration::from_millis(1)); //~ blocking-on-carrier
}

fn never_on_a_carrier() {
    std::thread::sleep(Duration::from_millis(1));
}

pub fn start() {
    thread::spawn(|| {
        settle();
        vt_runtime::blocking(never_on_a_carrier);
        if thread::is_virtual() {
            thread::sleep(Duration::from_millis(1));
        } else {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
