//! Channels of many receivers: each message once, ends, handing over, waiting for several at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{Stage, all, os_thread, until};
use crate::pinned;
use crate::sync::Semaphore;
use crate::sync::channel::{
    self, Receiver, RecvError, RecvTimeoutError, Select, SendError, SendTimeoutError, Sender,
    TryRecvError, TrySelectError, TrySendError, select,
};
use crate::thread::ThreadState;

#[test]
fn every_message_reaches_one_receiver() {
    for bound in [None, Some(0), Some(1), Some(7)] {
        Stage::on_both(2, |stage| {
            let (sender, receiver) = match bound {
                None => channel::unbounded(),
                Some(bound) => channel::bounded(bound),
            };
            let send = |who: u32| {
                let sender = sender.clone();
                move || (0..100).for_each(|n| sender.send((who, n)).expect("it is received"))
            };
            let receive = || {
                let receiver = receiver.clone();
                move || receiver.iter().collect::<Vec<_>>()
            };
            let receivers: Vec<_> = (0..3).map(|_| stage.runtime.spawn(receive())).collect();
            let os_receiver = os_thread(receive());
            let senders: Vec<_> = (1..6).map(|who| stage.runtime.spawn(send(who))).collect();
            let os_sender = os_thread(send(0));
            drop((sender, receiver));
            all(senders);
            os_sender.join().expect("no panic");
            let mut received = all(receivers);
            received.push(os_receiver.join().expect("no panic"));
            for one in &received {
                for who in 0..6 {
                    let of_one: Vec<_> = one.iter().filter(|message| message.0 == who).collect();
                    assert!(of_one.is_sorted(), "each receiver sees a sender's order");
                }
            }
            let mut every: Vec<_> = received.into_iter().flatten().collect();
            every.sort_unstable();
            let sent = (0..6).flat_map(|who| (0..100).map(move |n| (who, n)));
            assert!(every.into_iter().eq(sent));
            assert_eq!(stage.pins(), []);
        });
    }
}

#[test]
fn the_end_of_one_half_ends_the_waits_of_the_other() {
    Stage::on_both(2, |stage| {
        for bound in [0, 1] {
            let (sender, receiver) = channel::bounded(bound);
            (0..bound).for_each(|n| sender.send(n).expect("there is room"));
            let other = sender.clone();
            let sends = stage.runtime.spawn(move || other.send(9));
            stage.until(sends.thread(), ThreadState::Waiting);
            drop(receiver);
            assert_eq!(sends.join().expect("no panic"), Err(SendError(9)));
            assert_eq!(sender.try_send(8), Err(TrySendError::Disconnected(8)));

            let (sender, receiver) = channel::bounded::<u8>(bound);
            let receives: Vec<_> = (0..3)
                .map(|_| {
                    let receiver = receiver.clone();
                    let thread = stage.runtime.spawn(move || receiver.recv());
                    stage.until(thread.thread(), ThreadState::Waiting);
                    thread
                })
                .collect();
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            drop(sender);
            assert!(all(receives).into_iter().all(|got| got == Err(RecvError)));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        }
    });
}

#[test]
fn time_outs_give_the_message_back() {
    let short = Duration::from_millis(1);
    for bound in [0, 1] {
        let (sender, receiver) = channel::bounded(bound);
        (0..bound).for_each(|n| sender.send(n).expect("there is room"));
        assert_eq!(
            sender.send_timeout(5, short),
            Err(SendTimeoutError::Timeout(5))
        );
        assert_eq!(sender.try_send(6), Err(TrySendError::Full(6)));
        assert_eq!((sender.len(), sender.is_full()), (bound, true));
        assert!(receiver.try_iter().eq(0..bound));
        assert_eq!(receiver.recv_timeout(short), Err(RecvTimeoutError::Timeout));
        drop(receiver);
        assert_eq!(
            sender.send_timeout(7, short),
            Err(SendTimeoutError::Disconnected(7))
        );
    }
}

#[test]
fn select_takes_what_comes_first_and_leaves_the_rest() {
    Stage::on_both(2, |stage| {
        for bound in [0, 1] {
            let (first, from_first) = channel::bounded(bound);
            let (second, from_second) = channel::bounded::<u32>(bound);
            let (also, second_again) = (from_second.clone(), second.clone());
            let selects = stage.runtime.spawn(move || {
                select! {
                    recv(from_first) -> message => message.map(|n: u32| ("first", n)),
                    recv(also) -> message => message.map(|n| ("second", n)),
                }
            });
            stage.until(selects.thread(), ThreadState::Waiting);
            second.send(2).expect("it is received");
            let got = selects.join().expect("no panic");
            assert_eq!(got, Ok(("second", 2)));
            assert_eq!(first.try_send(1), Err(TrySendError::Disconnected(1)));
            assert_eq!(from_second.try_recv(), Err(TryRecvError::Empty));
            drop(second_again);
        }
    });
}

#[test]
fn selects_meet_each_other() {
    Stage::on_both(2, |stage| {
        let (sender, receiver) = channel::bounded::<u32>(0);
        let (other, other_receiver) = channel::bounded::<u32>(0);
        for _ in 0..200 {
            let (sender, other) = (sender.clone(), other.clone());
            let (receiver, other_receiver) = (receiver.clone(), other_receiver.clone());
            let sends = stage.runtime.spawn(move || {
                select! {
                    send(sender, 1) -> sent => sent.map(|()| 1),
                    send(other, 2) -> sent => sent.map(|()| 2),
                }
            });
            let receives = os_thread(move || {
                select! {
                    recv(receiver) -> got => got,
                    recv(other_receiver) -> got => got,
                }
            });
            let sent = sends.join().expect("no panic").expect("it is received");
            assert_eq!(receives.join().expect("no panic"), Ok(sent));
        }
        assert_eq!(other.try_send(3), Err(TrySendError::Full(3)));
    });
}

#[test]
fn who_sends_and_receives_on_one_channel_does_not_meet_itself() {
    Stage::on_both(1, |stage| {
        let (sender, receiver) = channel::bounded::<u32>(0);
        let both = |n: u32| {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            move || {
                select! {
                    send(sender, n) -> sent => sent.map(|()| n).map_err(|_| RecvError),
                    recv(receiver) -> got => got,
                }
            }
        };
        let one = stage.runtime.spawn(both(1));
        stage.until(one.thread(), ThreadState::Waiting);
        let two = stage.runtime.spawn(both(2));
        let (one, two) = (one.join().expect("no panic"), two.join().expect("no panic"));
        assert_eq!(one, two);
    });
}

#[test]
fn the_message_of_an_arm_is_made_only_if_that_arm_is_chosen() {
    let (full, _receiver) = channel::bounded(1);
    full.send(String::new()).expect("there is room");
    let made = AtomicUsize::new(0);
    let make = || {
        made.fetch_add(1, Ordering::SeqCst);
        String::new()
    };
    let chosen = select! {
        send(full, make()) -> _ => true,
        default => false,
    };
    assert!(!chosen);
    let chosen = select! {
        send(full, make()) -> _ => true,
        default(Duration::from_millis(1)) => false,
    };
    assert!(!chosen);
    assert_eq!(made.load(Ordering::SeqCst), 0);
}

#[test]
fn what_was_chosen_and_not_finished_is_given_back() {
    Stage::on_both(1, |stage| {
        for bound in [0, 1] {
            let (sender, receiver) = channel::bounded(bound);
            let other = sender.clone();
            let sends = stage.runtime.spawn(move || other.send(7));
            let mut select = Select::new();
            select.recv(&receiver);
            drop(select.select());
            assert_eq!(receiver.recv(), Ok(7));
            sends.join().expect("no panic").expect("it was received");
            assert!(matches!(select.try_select(), Err(TrySelectError)));

            let waits = receiver.clone();
            let receives = stage.runtime.spawn(move || waits.recv());
            stage.until(receives.thread(), ThreadState::Waiting);
            let mut select = Select::new();
            select.send(&sender);
            drop(select.select());
            sender.send(8).expect("it is received");
            assert_eq!(receives.join().expect("no panic"), Ok(8));
        }
    });
}

#[test]
fn clocks_are_channels_too() {
    let ticks = channel::tick(Duration::from_millis(1));
    let nothing: Receiver<()> = channel::never();
    let mut seen = 0;
    while seen < 3 {
        select! {
            recv(ticks) -> moment => { moment.expect("a clock has no end"); seen += 1; }
            recv(nothing) -> _ => unreachable!(),
        }
    }
    let after = channel::after(Duration::from_millis(1));
    assert!(after.recv().is_ok());
    assert_eq!(after.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(
        after.recv_timeout(Duration::from_millis(1)),
        Err(RecvTimeoutError::Timeout)
    );
}

#[test]
fn an_interrupt_ends_the_interruptible_select() {
    Stage::on_both(1, |stage| {
        let (_sender, receiver) = channel::bounded::<u8>(0);
        let waits = stage.runtime.spawn(move || {
            let mut select = Select::new();
            select.recv(&receiver);
            let ended = select.select_interruptibly().is_err();
            (ended, crate::thread::current().is_interrupted())
        });
        stage.until(waits.thread(), ThreadState::Waiting);
        waits.thread().interrupt();
        assert_eq!(waits.join().expect("no panic"), (true, false));
    });
}

/// A message was given to a receiver that waited and could run; then its carrier pins before it does.
#[test]
fn a_handed_message_goes_past_a_receiver_that_gets_stranded() {
    Stage::on_both(2, |stage| {
        for _ in 0..100 {
            let (sender, receiver) = channel::bounded::<u32>(0);
            let mark = Arc::new(Semaphore::new(0));
            let begin = Arc::new(Semaphore::new(0));
            let (marked, started, sends) = (Arc::clone(&mark), Arc::clone(&begin), sender.clone());
            let pins = stage.spawn_on(0, move || {
                started.acquire().forget();
                until(|| sends.try_send(1).is_ok());
                pinned::critical("until the next one has had it", || {
                    marked.acquire().forget()
                });
                sends.send(2).expect("it is received");
            });
            stage.until(pins.thread(), ThreadState::Waiting);
            let receivers = [0, 1].map(|carrier| {
                let (receiver, mark) = (receiver.clone(), Arc::clone(&mark));
                let thread = stage.spawn_on(carrier, move || {
                    let got = receiver.recv();
                    mark.add_permits(1);
                    got
                });
                stage.until(thread.thread(), ThreadState::Waiting);
                thread
            });
            begin.add_permits(1);
            pins.join().expect("no panic");
            let mut got = all(receivers).into_iter().flatten().collect::<Vec<_>>();
            got.sort_unstable();
            assert_eq!(got, [1, 2]);
        }
    });
}

/// Many selects over the same channels, buffered and not, with time-outs and interrupts: no message is lost or doubled.
#[test]
fn selects_lose_no_message() {
    const EACH: u32 = 100;
    Stage::on_both(2, |stage| {
        let channels: Vec<(Sender<u32>, Receiver<u32>)> =
            [0, 1, 3].map(channel::bounded).into_iter().collect();
        let channels = Arc::new(channels);
        let sent = Arc::new(AtomicUsize::new(0));
        let send = |seed: u32| {
            let (channels, sent) = (Arc::clone(&channels), Arc::clone(&sent));
            move || {
                for n in 0..EACH {
                    let id = seed * EACH + n;
                    loop {
                        let timeout = Duration::from_micros(u64::from(id * 7 % 300));
                        let done = select! {
                            send(channels[0].0, id) -> done => done.is_ok(),
                            send(channels[1].0, id) -> done => done.is_ok(),
                            send(channels[2].0, id) -> done => done.is_ok(),
                            default(timeout) => false,
                        };
                        if done {
                            sent.fetch_add(1, Ordering::SeqCst);
                            break;
                        }
                    }
                }
            }
        };
        let stop = channel::bounded::<()>(0);
        let receive = || {
            let (channels, stop) = (Arc::clone(&channels), stop.1.clone());
            move || {
                let mut got = Vec::new();
                loop {
                    select! {
                        recv(channels[0].1) -> id => got.push(id.expect("not the end")),
                        recv(channels[1].1) -> id => got.push(id.expect("not the end")),
                        recv(channels[2].1) -> id => got.push(id.expect("not the end")),
                        recv(stop) -> _ => return got,
                        default(Duration::from_micros(200)) => {}
                    }
                }
            }
        };
        let receivers: Vec<_> = (0..6).map(|_| stage.runtime.spawn(receive())).collect();
        let os_receiver = os_thread(receive());
        let senders: Vec<_> = (0..8).map(|n| stage.runtime.spawn(send(n))).collect();
        let os_sender = os_thread(send(8));
        for round in 0..500 {
            senders[round % 8].thread().interrupt();
            receivers[round % 6].thread().interrupt();
            std::thread::yield_now();
        }
        all(senders);
        os_sender.join().expect("no panic");
        until(|| channels.iter().all(|(_, receiver)| receiver.is_empty()));
        drop(stop.0);
        let mut got: Vec<u32> = all(receivers).into_iter().flatten().collect();
        got.extend(os_receiver.join().expect("no panic"));
        got.sort_unstable();
        assert!(got.into_iter().eq(0..9 * EACH));
    });
}

fn no_message() -> u32 {
    panic!("there is none")
}

#[test]
fn a_message_that_panics_leaves_its_receiver_waiting_for_the_next() {
    for bound in [0, 1] {
        Stage::on_both(2, |stage| {
            let (sender, receiver) = channel::bounded::<u32>(bound);
            let receives = stage.runtime.spawn(move || receiver.recv());
            stage.until(receives.thread(), ThreadState::Waiting);
            let panics = sender.clone();
            let sends = stage.runtime.spawn(move || {
                select! {
                    send(panics, no_message()) -> sent => sent.expect("it is not sent"),
                }
            });
            assert!(sends.join().is_err());
            sender.send(7).expect("it is received");
            assert_eq!(receives.join().expect("no panic"), Ok(7));
        });
    }
}
