//! Shapes of std's own blocking calls, which nobody declared.

use std::io::{BufRead, BufReader, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use vt_runtime::thread;
use vt_tests::Gate;

/// Undeclared blocking is seen from 20 ms on.
const LONG: Duration = Duration::from_millis(70);

pub(crate) fn undeclared_receive() -> u32 {
    let (_sender, receiver) = std::sync::mpsc::channel::<()>();
    let _ = receiver.recv_timeout(LONG);
    line!() - 1
}

pub(crate) fn undeclared_receive_by_an_iterator() -> u32 {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let other = thread::Builder::new().carrier(1).spawn(move || {
        thread::sleep(LONG);
        drop(sender);
    });
    assert_eq!(receiver.iter().count(), 0);
    let line = line!() - 1;
    other.expect("spawned").join().expect("no panic");
    line
}

pub(crate) fn undeclared_lock() -> u32 {
    let (lock, held) = (Arc::new(Mutex::new(())), Gate::new());
    let (other, told) = (Arc::clone(&lock), held.clone());
    let holder = thread::Builder::new().carrier(1).spawn(move || {
        let guard = other.lock();
        told.open();
        thread::sleep(LONG);
        drop(guard);
    });
    held.pass();
    drop(lock.lock());
    let line = line!() - 1;
    holder.expect("spawned").join().expect("no panic");
    line
}

pub(crate) fn undeclared_read_of_a_line() -> u32 {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let other = thread::Builder::new().carrier(1).spawn(move || {
        thread::sleep(LONG);
        writer.write_all(b"line\n").expect("there is room");
    });
    let mut lines = BufReader::new(reader);
    lines.read_line(&mut String::new()).expect("it is sent");
    let line = line!() - 1;
    other.expect("spawned").join().expect("no panic");
    line
}

/// Leaves the frames of so many calls below the caller's.
#[inline(never)]
fn leave_frames(depth: u32) -> u32 {
    let below = depth.checked_sub(1);
    std::hint::black_box(below.map_or(0, |depth| std::hint::black_box(leave_frames)(depth))) + 1
}

/// The buffer of std's copy is not cleared: what it lies over looks like calls of another line.
pub(crate) fn undeclared_copy_over_old_frames() -> u32 {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let other = thread::Builder::new().carrier(1).spawn(move || {
        thread::sleep(LONG);
        drop(writer);
    });
    leave_frames(200);
    std::io::copy(&mut reader, &mut std::io::sink()).expect("it ends");
    let line = line!() - 1;
    other.expect("spawned").join().expect("no panic");
    line
}
