//! Output locks over waits.
// edition: 2024

use std::io::Write;
use std::time::Duration;
use vt_runtime::thread;

fn slow() {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(b"a");
    thread::sleep(Duration::from_millis(1)); //~ scoped-tls-across-park
}

fn short() {
    let _ = std::io::stdout().lock().write_all(b"a");
    thread::sleep(Duration::from_millis(1));
}

pub fn start() {
    thread::spawn(|| {
        slow();
        short();
    });
}
