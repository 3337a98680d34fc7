//! Channels: order, room, handing over, disconnection, time-outs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{Stage, all, os_thread};
use crate::sync::mpsc::{
    self, InterruptibleRecvError, RecvError, RecvTimeoutError, SendError, TryRecvError,
    TrySendError,
};
use crate::thread::ThreadState;

#[test]
fn every_message_arrives_once_and_in_its_senders_order() {
    for bound in [None, Some(0), Some(1), Some(7)] {
        Stage::on_both(2, |stage| {
            type Send = Box<dyn Fn(u32, u32) + std::marker::Send>;
            let (senders, receiver): (Vec<Send>, _) = match bound {
                None => {
                    let (sender, receiver) = mpsc::channel();
                    let make = |sender: mpsc::Sender<(u32, u32)>| -> Send {
                        Box::new(move |who, n| sender.send((who, n)).expect("it is received"))
                    };
                    ((0..6).map(|_| make(sender.clone())).collect(), receiver)
                }
                Some(bound) => {
                    let (sender, receiver) = mpsc::sync_channel(bound);
                    let make = |sender: mpsc::SyncSender<(u32, u32)>| -> Send {
                        Box::new(move |who, n| sender.send((who, n)).expect("it is received"))
                    };
                    ((0..6).map(|_| make(sender.clone())).collect(), receiver)
                }
            };
            let mut on = Vec::new();
            let mut os = Vec::new();
            for (who, send) in (0..).zip(senders) {
                let work = move || (0..100).for_each(|n| send(who, n));
                if who == 0 {
                    os.push(os_thread(work));
                } else {
                    on.push(stage.runtime.spawn(work));
                }
            }
            let receives = stage
                .runtime
                .spawn(move || receiver.iter().collect::<Vec<_>>());
            let received = receives.join().expect("no panic");
            all(on);
            os.into_iter().for_each(|os| os.join().expect("no panic"));
            assert_eq!(received.len(), 600);
            for who in 0..6 {
                let of_one = received
                    .iter()
                    .filter(|message| message.0 == who)
                    .map(|message| message.1);
                assert!(of_one.eq(0..100));
            }
            assert_eq!(stage.pins(), []);
        });
    }
}

#[test]
fn who_waits_for_room_gets_it_in_order() {
    // On one carrier: a call that is passed on because its carrier got no core for a while may overtake on another.
    Stage::on_both(1, |stage| {
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.send(0).expect("there is room");
        assert_eq!(sender.try_send(9), Err(TrySendError::Full(9)));
        let waiting: Vec<_> = (1..5)
            .map(|n| {
                let sender = sender.clone();
                let thread = stage.runtime.spawn(move || sender.send(n));
                stage.until(thread.thread(), ThreadState::Waiting);
                thread
            })
            .collect();
        drop(sender);
        assert!(receiver.iter().eq(0..5));
        assert!(all(waiting).into_iter().all(|sent| sent.is_ok()));
    });
}

#[test]
fn handing_over_waits_for_the_receiver() {
    Stage::on_both(1, |stage| {
        let (sender, receiver) = mpsc::sync_channel(0);
        assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        let other = sender.clone();
        let sends = stage.runtime.spawn(move || other.send(1));
        stage.until(sends.thread(), ThreadState::Waiting);
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(sends.join().expect("no panic"), Ok(()));
        let receives = stage.runtime.spawn(move || receiver.recv());
        stage.until(receives.thread(), ThreadState::Waiting);
        super::until(|| sender.try_send(2).is_ok());
        assert_eq!(receives.join().expect("no panic"), Ok(2));
    });
}

#[test]
fn messages_nobody_receives_go_back_or_are_dropped() {
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    Stage::on_both(2, |stage| {
        for bound in [0, 2] {
            let dropped = Arc::new(AtomicUsize::new(0));
            let (sender, receiver) = mpsc::sync_channel(bound);
            let senders: Vec<_> = (0..5)
                .map(|_| {
                    let (sender, message) = (sender.clone(), Counts(Arc::clone(&dropped)));
                    stage
                        .runtime
                        .spawn(move || sender.send(message).err().map(std::mem::forget))
                })
                .collect();
            let waiting = 5 - bound;
            super::until(|| {
                let threads = stage.runtime.threads();
                threads
                    .iter()
                    .filter(|info| info.state == ThreadState::Waiting)
                    .count()
                    == waiting
            });
            drop(receiver);
            let gone_back = all(senders).into_iter().flatten().count();
            assert_eq!(gone_back, waiting);
            assert_eq!(dropped.load(Ordering::SeqCst), bound);
            assert!(matches!(
                sender.try_send(Counts(dropped)),
                Err(TrySendError::Disconnected(_))
            ));
        }
        let (sender, receiver) = mpsc::channel();
        drop(receiver);
        assert_eq!(sender.send(1), Err(SendError(1)));
    });
}

#[test]
fn the_last_sender_ends_the_wait() {
    Stage::on_both(1, |stage| {
        let (sender, receiver) = mpsc::channel::<u8>();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(
            receiver.recv_timeout(Duration::from_millis(1)),
            Err(RecvTimeoutError::Timeout)
        );
        let receives = stage.runtime.spawn(move || {
            let got = receiver.recv();
            (
                got,
                receiver.try_recv(),
                receiver.recv_timeout(Duration::from_secs(30)),
            )
        });
        stage.until(receives.thread(), ThreadState::Waiting);
        drop(sender);
        let gone = (
            Err(RecvError),
            Err(TryRecvError::Disconnected),
            Err(RecvTimeoutError::Disconnected),
        );
        assert_eq!(receives.join().expect("no panic"), gone);
    });
}

#[test]
fn an_interrupt_ends_only_the_interruptible_receive() {
    Stage::on_both(1, |stage| {
        let (sender, receiver) = mpsc::channel::<u8>();
        let receives = stage.runtime.spawn(move || {
            let ended = receiver.recv_interruptibly();
            let flag = crate::thread::current().is_interrupted();
            (
                ended,
                flag,
                receiver.recv(),
                crate::thread::current().is_interrupted(),
            )
        });
        stage.until(receives.thread(), ThreadState::Waiting);
        receives.thread().interrupt();
        let id = receives.thread().id();
        let waits_again = || {
            stage
                .runtime
                .threads()
                .iter()
                .any(|info| info.id == id && info.state == ThreadState::Waiting)
                && !receives.thread().is_interrupted()
        };
        super::until(waits_again);
        receives.thread().interrupt();
        sender.send(5).expect("it is received");
        let (ended, flag, received, flag_after) = receives.join().expect("no panic");
        assert_eq!(
            (ended, flag),
            (Err(InterruptibleRecvError::Interrupted), false)
        );
        assert_eq!((received, flag_after), (Ok(5), true));
    });
}
