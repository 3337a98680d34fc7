//! A sender type that does not say whether its channel is bounded: what the crate makes says it.
// edition: 2021
use crossbeam_channel::{bounded, Receiver, Sender};
use std::sync::Mutex;

pub struct Queue {
    sender: Mutex<Sender<u32>>,
    receiver: Receiver<u32>,
}

impl Queue {
    pub fn new() -> Self {
        let (sender, receiver) = bounded(16);
        Self { sender: Mutex::new(sender), receiver }
    }

    pub fn put(&self) {
        self.sender.lock().unwrap().send(1).unwrap(); //~ blocking-through-guard
        let sender = self.sender.lock().unwrap().clone();
        sender.send(1).unwrap();
        let _ = self.receiver.try_recv();
    }
}
