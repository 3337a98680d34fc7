//! How waits for sockets end: by readiness, time-out, interrupt and shutdown, mounted or pinned.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::event::{Event, Operation, PinReason, WaitOutcome};
use vt_runtime::io::Interrupted;
use vt_runtime::net::{Shutdown, TcpStream};
use vt_runtime::sync::mpsc;
use vt_runtime::{Runtime, pinned, thread};

use super::{echo, events, listener, on_both, pair, until_it_waits};

/// Pins recorded so far.
fn pins(runtime: &Runtime) -> Vec<vt_runtime::event::Pinned> {
    let pin = |event| match event {
        Event::VirtualThreadPinned(pinned) => Some(pinned),
        _ => None,
    };
    events(runtime).into_iter().filter_map(pin).collect()
}

#[test]
fn a_pinned_read_keeps_the_carrier_and_is_reported_at_the_line_that_read() {
    on_both(1, |runtime| {
        let (mut ours, mut other) = pair();
        let handle = runtime.spawn(move || {
            pinned::critical("reads", || {
                let mut buffer = [0; 3];
                let line = line!() + 1;
                ours.read_exact(&mut buffer).expect("bytes come");
                line
            })
        });
        until_it_waits(runtime, handle.thread().id());
        let neighbour = runtime.spawn(|| ());
        assert!(!neighbour.is_finished());
        other.write_all(b"abc").expect("written");
        let line = handle.join().expect("no panic");
        neighbour.join().expect("no panic");
        let pins = pins(runtime);
        assert_eq!(pins.len(), 1, "{pins:?}");
        let pin = &pins[0];
        assert_eq!(
            (pin.reason, pin.operation, pin.outcome),
            (PinReason::Critical, Operation::IoRead, WaitOutcome::Done)
        );
        let place = pin.blocked_at.as_ref().expect("a place");
        assert!(place.file.ends_with("waits.rs"), "{place}");
        assert_eq!(place.line, line);
        assert_eq!(pin.stranded, 1);
    });
}

#[test]
fn an_unmounted_read_reports_no_pin() {
    on_both(1, |runtime| {
        let (mut ours, mut other) = pair();
        let handle = runtime.spawn(move || {
            let mut buffer = [0; 1];
            ours.read_exact(&mut buffer).expect("a byte comes");
        });
        until_it_waits(runtime, handle.thread().id());
        runtime.spawn(|| ()).join().expect("the carrier is free");
        other.write_all(b"1").expect("written");
        handle.join().expect("no panic");
        assert!(pins(runtime).is_empty());
    });
}

#[test]
fn a_read_time_out_is_stds() {
    on_both(1, |runtime| {
        let (ours, other) = pair();
        ours.set_read_timeout(Some(Duration::from_millis(30)))
            .expect("not zero");
        let read = || {
            let start = Instant::now();
            let error = (&ours).read(&mut [0; 1]).expect_err("nothing comes");
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            assert!(start.elapsed() >= Duration::from_millis(30));
        };
        runtime.run(read);
        runtime.run(|| pinned::critical("reads", read));
        read();
        assert_eq!(
            ours.set_read_timeout(Some(Duration::ZERO))
                .expect_err("zero")
                .kind(),
            ErrorKind::InvalidInput
        );
        assert_eq!(pins(runtime)[0].outcome, WaitOutcome::Timeout);
        drop(other);
    });
}

#[test]
fn a_write_time_out_ends_a_write_that_nobody_reads() {
    on_both(1, |runtime| {
        let (ours, other) = pair();
        ours.set_write_timeout(Some(Duration::from_millis(20)))
            .expect("not zero");
        runtime.run(|| {
            let error = (&ours)
                .write_all(&vec![0; 64 << 20])
                .expect_err("nobody reads");
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
        });
        drop(other);
    });
}

#[test]
fn a_connection_that_nobody_takes_times_out() {
    on_both(1, |runtime| {
        // A full backlog makes the kernel ignore further requests.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        rustix::net::listen(&listener, 0).expect("a smaller backlog");
        let address = listener.local_addr().expect("bound");
        let _fills = std::net::TcpStream::connect(address).expect("room for one");
        runtime.run(|| {
            let start = Instant::now();
            let error = TcpStream::connect_timeout(&address, Duration::from_millis(50))
                .expect_err("nobody accepts");
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            assert!(start.elapsed() >= Duration::from_millis(50));
        });
    });
}

/// A carrier whose threads wake each other, so that it never runs out of ready ones, and one that is woken from outside all the
/// time: both look at their descriptors, again and again.
#[test]
fn wakes_without_end_hide_no_readiness() {
    on_both(1, |runtime| {
        let (ours, mut other) = pair();
        let serves = runtime.spawn(move || echo(ours));
        let stop = Arc::new(AtomicBool::new(false));
        let (to_second, from_first) = mpsc::channel();
        let (to_first, from_second) = mpsc::channel();
        to_first.send(()).expect("the first listens");
        let hand_over = |from: mpsc::Receiver<()>, to: mpsc::Sender<()>| {
            let stop = Arc::clone(&stop);
            runtime.spawn(move || {
                while !stop.load(Ordering::Relaxed) && from.recv().is_ok() {
                    // Whoever stops first leaves the other without a partner.
                    let _ = to.send(());
                }
            })
        };
        let first = hand_over(from_second, to_second);
        let second = hand_over(from_first, to_first);
        let parked = {
            let stop = Arc::clone(&stop);
            runtime.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    thread::park();
                }
            })
        };
        let ask = |other: &mut std::net::TcpStream| {
            for number in 0..100_u8 {
                other.write_all(&[number]).expect("it is served");
                let mut back = [0; 1];
                other.read_exact(&mut back).expect("it answers");
                assert_eq!(back, [number]);
            }
        };
        // Woken by each other, then from outside as well.
        ask(&mut other);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    parked.thread().unpark();
                }
            });
            ask(&mut other);
            stop.store(true, Ordering::Relaxed);
        });
        parked.thread().unpark();
        for thread in [first, second, parked] {
            thread.join().expect("no panic");
        }
        drop(other);
        serves.join().expect("no panic");
    });
}

#[test]
fn time_outs_that_race_with_readiness_lose_no_byte() {
    on_both(2, |runtime| {
        let (ours, mut other) = pair();
        ours.set_read_timeout(Some(Duration::from_micros(300)))
            .expect("not zero");
        const COUNT: usize = 2000;
        let reader = runtime.spawn(move || {
            let (mut got, mut late) = (Vec::new(), 0);
            while got.len() < COUNT {
                let mut buffer = [0; 1];
                match (&ours).read(&mut buffer) {
                    Ok(1) => got.push(buffer[0]),
                    Ok(_) => panic!("the stream ended early"),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => late += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            (got, late)
        });
        for number in 0..COUNT {
            other.write_all(&[(number % 256) as u8]).expect("written");
            // About as long as the reader waits, so that both orders happen.
            let pause = Instant::now();
            while pause.elapsed() < Duration::from_micros(100 + (number as u64 % 5) * 100) {
                std::hint::spin_loop();
            }
        }
        let (got, _late) = reader.join().expect("no panic");
        assert!(
            got.iter()
                .enumerate()
                .all(|(n, byte)| *byte == (n % 256) as u8)
        );
    });
}

#[test]
fn an_interrupt_ends_the_wait_with_an_error_no_loop_retries() {
    on_both(1, |runtime| {
        let (mut ours, other) = pair();
        let (listener, _) = listener();
        let reads = runtime.spawn(move || ours.read_exact(&mut [0; 1]).expect_err("interrupted"));
        let accepts = runtime.spawn(move || listener.accept().map(drop).expect_err("interrupted"));
        for (handle, operation) in [(reads, Operation::IoRead), (accepts, Operation::Accept)] {
            until_it_waits(runtime, handle.thread().id());
            handle.thread().interrupt();
            let thread = handle.thread().clone();
            let error = handle.join().expect("no panic");
            assert_ne!(error.kind(), ErrorKind::Interrupted);
            let inner = error
                .get_ref()
                .and_then(|e| e.downcast_ref::<Interrupted>());
            assert_eq!(inner.expect("ours").operation(), operation);
            assert!(!thread.is_interrupted());
        }
        drop(other);
    });
}

#[test]
fn shutdown_of_the_socket_wakes_its_reader() {
    on_both(1, |runtime| {
        let (ours, other) = pair();
        let clone = ours.try_clone().expect("a descriptor");
        let reader = runtime.spawn(move || (&clone).read(&mut [0; 1]).expect("an end, no error"));
        until_it_waits(runtime, reader.thread().id());
        ours.shutdown(Shutdown::Read).expect("connected");
        assert_eq!(reader.join().expect("no panic"), 0);
        drop(other);
    });
}

#[test]
fn a_shutdown_of_the_runtime_unwinds_readers() {
    on_both(1, |runtime| {
        let (mut ours, mut other) = pair();
        let reader = runtime.spawn(move || drop(ours.read(&mut [0; 1])));
        until_it_waits(runtime, reader.thread().id());
        let report = runtime.shutdown(Duration::ZERO);
        assert_eq!(report.cancelled.len(), 1, "{report:?}");
        assert_eq!(other.read(&mut [0; 1]).expect("closed by the unwinding"), 0);
    });
}

#[test]
fn two_threads_use_one_stream_at_once() {
    on_both(2, |runtime| {
        let (ours, other) = pair();
        let total = runtime.run(|| {
            thread::scope(|scope| {
                let readers: Vec<_> = (0..4)
                    .map(|_| {
                        scope.spawn(|| {
                            let mut count = 0;
                            let mut buffer = [0; 7];
                            loop {
                                match (&ours).read(&mut buffer).expect("no error") {
                                    0 => return count,
                                    more => count += more,
                                }
                            }
                        })
                    })
                    .collect();
                scope.spawn(move || {
                    let other = TcpStream::from_std(other).expect("a socket");
                    for _ in 0..1000 {
                        (&other).write_all(&[1; 11]).expect("readers read");
                    }
                });
                readers
                    .into_iter()
                    .map(|reader| reader.join().expect("no panic"))
                    .sum::<usize>()
            })
        });
        assert_eq!(total, 11_000);
    });
}
