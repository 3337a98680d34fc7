//! Pools of virtual threads.
// edition: 2024

use std::sync::Arc;
use vt_runtime::sync::Mutex;
use vt_runtime::sync::mpsc::{Receiver, channel};
use vt_runtime::thread;

type Job = Box<dyn FnOnce() + Send>;

pub fn pool(workers: usize, jobs: Receiver<Job>) {
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..workers {
        let jobs = Arc::clone(&jobs);
        thread::spawn(move || { //~ pooled-virtual-threads
            loop {
                let job = jobs.lock().unwrap().recv();
                let Ok(job) = job else { break };
                job();
            }
        });
    }
}

fn work(jobs: &Mutex<Receiver<Job>>) {
    while let Ok(job) = jobs.lock().unwrap().recv() {
        job();
    }
}

pub fn pool_of_helpers(jobs: Arc<Mutex<Receiver<Job>>>) -> Vec<thread::JoinHandle<()>> {
    (0..8)
        .map(|_| {
            let jobs = Arc::clone(&jobs);
            thread::spawn(move || work(&jobs)) //~ pooled-virtual-threads
        })
        .collect()
}

pub fn one_for_each_job(jobs: Receiver<Job>) {
    for job in jobs {
        thread::spawn(move || job());
    }
}

pub fn a_single_consumer(jobs: Receiver<Job>) {
    thread::spawn(move || {
        for job in jobs {
            job();
        }
    });
}

pub fn a_fixed_number_of_single_jobs() {
    for _ in 0..3 {
        let (sender, receiver) = channel::<u32>();
        thread::spawn(move || receiver.recv());
        let _ = sender.send(1);
    }
}
