//! A virtual thread for each item.
// edition: 2024

use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::sync::Semaphore;
use vt_runtime::task::Executor;
use vt_runtime::thread;

pub fn all_at_once(hosts: Vec<String>) {
    for host in hosts {
        thread::spawn(move || TcpStream::connect(host.as_str()).is_ok()); //~ unbounded-fanout
    }
}

fn fetch(path: &str) -> usize {
    vt_runtime::fs::read(path).map_or(0, |data| data.len())
}

pub fn with_an_iterator(paths: Vec<String>) {
    paths.into_iter().for_each(|path| {
        thread::spawn(move || fetch(&path)); //~ unbounded-fanout
    });
}

pub fn limited(hosts: Vec<String>, at_once: &'static Semaphore) {
    for host in hosts {
        let permit = at_once.acquire();
        thread::spawn(move || {
            let _permit = permit;
            TcpStream::connect(host.as_str()).is_ok()
        });
    }
}

pub fn limited_inside(hosts: Vec<String>, at_once: &'static Semaphore) {
    for host in hosts {
        thread::spawn(move || {
            let _permit = at_once.acquire();
            TcpStream::connect(host.as_str()).is_ok()
        });
    }
}

pub fn limited_by_the_executor(hosts: Vec<String>) {
    let executor = Executor::per_task(16);
    for host in hosts {
        executor.spawn(move || TcpStream::connect(host.as_str()).is_ok());
    }
}

pub fn a_few(port: u16) {
    for host in ["a.example", "b.example"] {
        thread::spawn(move || TcpStream::connect((host, port)).is_ok());
    }
}

pub fn one_for_each_connection(listener: TcpListener) {
    for peer in listener.incoming().flatten() {
        thread::spawn(move || drop(peer));
    }
}
