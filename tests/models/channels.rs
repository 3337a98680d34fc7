//! Channels: each message once, the end of one half reaches the other, and selects commit to one operation.

use std::sync::Arc;
use std::sync::mpsc::RecvError;

use crate::event::Operation;
use crate::primitive::constant::{AtomicU32, Ordering};
use crate::sync::channel::buffer::{Begun, Buffer};
use crate::sync::channel::mpsc::Channel;
use crate::sync::channel::standing::{Half, Receives, Sends, Standing, begin, wait};
use crate::sync::raw::attempt::{Attempt, Clock, strike};
use crate::{Thread, model, on};

pub(crate) type Messages = Arc<Buffer<()>>;

/// A channel with one handle of each half, whose locks have been used.
pub(crate) fn buffer(bound: Option<usize>) -> Messages {
    let buffer = Arc::new(Buffer::new(bound));
    buffer.add_sender();
    buffer.add_receiver();
    buffer
}

/// The next message, `None` after the last.
pub(crate) fn receive(buffer: &Messages) -> Option<()> {
    let half = Receives(Arc::clone(buffer));
    let begun = choose(&[&half as _]);
    buffer.finish_recv(begun.1)
}

/// Sends, waiting for room. False if nobody receives any more.
fn send(buffer: &Messages) -> bool {
    let half = Sends(Arc::clone(buffer));
    let begun = choose(&[&half as _]);
    buffer.finish_send(begun.1, ()).is_ok()
}

fn choose(halves: &[&dyn Half]) -> (usize, Begun) {
    let mut standings: Vec<_> = halves.iter().map(|half| Standing::new(*half)).collect();
    match begin(&standings, 0, None) {
        Some(begun) => begun,
        None => wait(&mut standings, 0, &mut attempt()).expect("no deadline"),
    }
}

fn attempt() -> Attempt {
    Attempt::new(Operation::Channel)
}

/// Sends that often and then takes the sending half away.
fn sender(buffer: &Messages, times: usize) -> Thread {
    let buffer = Arc::clone(buffer);
    on(None, move || {
        (0..times).for_each(|_| assert!(send(&buffer)));
        buffer.remove_sender();
    })
}

#[test]
fn each_message_reaches_one_of_two_receivers_and_both_see_the_end() {
    model(1, 0, || {
        let buffer = buffer(None);
        let total = Arc::new(AtomicU32::new(0));
        total.store(0, Ordering::Relaxed);
        let mut threads = vec![sender(&buffer, 2)];
        threads.extend((0..2).map(|_| {
            let (buffer, total) = (Arc::clone(&buffer), Arc::clone(&total));
            on(None, move || {
                let got = std::iter::from_fn(|| receive(&buffer)).count();
                let before = total.fetch_add(got as u32, Ordering::SeqCst);
                assert!(before as usize + got <= 2);
            })
        }));
        threads
    });
}

#[test]
fn room_reaches_those_who_wait_for_it() {
    model(1, 0, || {
        let buffer = buffer(Some(1));
        buffer.add_sender();
        let receives = Arc::clone(&buffer);
        vec![
            sender(&buffer, 1),
            sender(&buffer, 1),
            on(None, move || {
                assert_eq!(std::iter::from_fn(|| receive(&receives)).count(), 2);
            }),
        ]
    });
}

#[test]
fn senders_learn_that_the_last_receiver_is_gone() {
    for bound in [0, 1] {
        model(1, 0, move || {
            let buffer = buffer(Some(bound));
            let receives = Arc::clone(&buffer);
            let mut threads: Vec<_> = (0..2)
                .map(|_| {
                    let buffer = Arc::clone(&buffer);
                    on(None, move || {
                        // It was taken, has room, or came back: in any case this ends.
                        let _ = if bound == 0 {
                            buffer.hand_over((), attempt()).is_ok()
                        } else {
                            send(&buffer)
                        };
                    })
                })
                .collect();
            threads.push(on(None, move || {
                assert!(receive(&receives).is_some());
                receives.remove_receiver();
            }));
            threads
        });
    }
}

#[test]
fn a_message_is_handed_over() {
    model(2, 0, || {
        let buffer = buffer(Some(0));
        let receives = Arc::clone(&buffer);
        vec![
            on(None, move || {
                buffer.hand_over((), attempt()).expect("it is received");
                buffer.remove_sender();
            }),
            on(None, move || {
                assert_eq!(std::iter::from_fn(|| receive(&receives)).count(), 1);
            }),
        ]
    });
}

/// Two channels; one thread receives from whichever is first, twice; each has a sender that selects.
#[test]
fn selects_meet_and_commit_to_one() {
    for bounds in [[0, 0], [0, 1]] {
        model(1, 0, move || {
            let buffers = bounds.map(|bound| buffer(Some(bound)));
            let both = buffers.clone();
            let mut threads: Vec<_> = buffers
                .into_iter()
                .map(|buffer| {
                    on(None, move || {
                        assert!(send(&buffer));
                    })
                })
                .collect();
            threads.push(on(None, move || {
                let halves = both.clone().map(Receives);
                let mut seen = [0; 2];
                for _ in 0..2 {
                    let (arm, begun) = choose(&[&halves[0] as _, &halves[1] as _]);
                    assert!(both[arm].finish_recv(begun).is_some());
                    seen[arm] += 1;
                }
                assert_eq!(seen, [1, 1]);
            }));
            threads
        });
    }
}

#[test]
fn one_receiver_gets_all_and_the_end() {
    for bound in [None, Some(0), Some(1)] {
        model(1, 0, move || {
            let channel = Arc::new(Channel::new(bound));
            channel.try_recv().expect_err("empty");
            channel.add_sender();
            let receives = Arc::clone(&channel);
            let mut threads: Vec<_> = (0..2)
                .map(|_| {
                    let channel = Arc::clone(&channel);
                    on(None, move || {
                        channel.send_waiting(()).expect("it is received");
                        channel.remove_sender();
                    })
                })
                .collect();
            threads.push(on(None, move || {
                let next = || receives.recv(|attempt| attempt).map_err(|_| RecvError);
                let got = std::iter::from_fn(|| next().ok()).count();
                assert_eq!(got, 2);
            }));
            threads
        });
    }
}

#[test]
fn the_one_receiver_goes_while_senders_wait() {
    for bound in [0, 1] {
        model(1, 0, move || {
            let channel = Arc::new(Channel::new(Some(bound)));
            channel.try_recv().expect_err("empty");
            let receives = Arc::clone(&channel);
            let mut threads: Vec<_> = (0..2)
                .map(|_| {
                    let channel = Arc::clone(&channel);
                    on(None, move || {
                        let _ = channel.send_waiting(());
                    })
                })
                .collect();
            threads.push(on(None, move || {
                receives.recv(|attempt| attempt).expect("a sender is there");
                receives.remove_receiver();
            }));
            threads
        });
    }
}

/// Its first wait may end before, while or after a sender fills its hand, or queues.
#[test]
fn a_deadline_loses_no_message_of_the_one_receiver() {
    for bound in [None, Some(0), Some(1)] {
        model(1, 0, move || {
            let channel = Arc::new(Channel::new(bound));
            channel.try_recv().expect_err("empty");
            let (receives, clock) = (Arc::clone(&channel), Clock::default());
            let time = Arc::clone(&clock);
            vec![
                on(None, move || {
                    (0..2).for_each(|_| channel.send_waiting(()).expect("it is received"));
                    channel.remove_sender();
                }),
                on(None, move || strike(&time)),
                on(None, move || {
                    let timed = |attempt: Attempt| attempt.timed_by(&clock);
                    let first = receives.recv(timed).is_ok();
                    let next = || receives.recv(|attempt| attempt).ok();
                    let others = std::iter::from_fn(next).count();
                    assert_eq!(usize::from(first) + others, 2);
                }),
            ]
        });
    }
}
