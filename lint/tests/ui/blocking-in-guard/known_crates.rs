//! Calls of crates that the lint knows, and look-alikes of theirs that do not block.
// edition: 2021
use std::fs::File;
use std::sync::Mutex;

pub struct Held {
    lock: Mutex<u32>,
    socket: Mutex<socket2::Socket>,
    pool: mysql::Pool,
}

impl Held {
    pub fn database(&self) -> mysql::Result<()> {
        let mut free = self.pool.get_conn()?;
        free.query_drop("select 1")?;
        let _guard = self.lock.lock().unwrap();
        let mut conn = self.pool.get_conn()?; //~ blocking-in-guard
        conn.query_drop("select 1")?; //~ blocking-in-guard
        Ok(())
    }

    pub fn encoders(&self, mut file: File, value: &u32) {
        let mut memory = Vec::new();
        let _guard = self.lock.lock().unwrap();
        serde_json::to_writer(&mut memory, value).unwrap();
        serde_json::to_writer(&mut file, value).unwrap(); //~ blocking-in-guard
        let text = serde_json::to_string(value).unwrap();
        drop(text);
    }

    pub fn socket(&self, address: &socket2::SockAddr) {
        self.socket.lock().unwrap().connect(address).unwrap(); //~ blocking-through-guard
        self.socket.lock().unwrap().set_nonblocking(true).unwrap();
    }

    pub fn processes(&self) {
        let _guard = self.lock.lock().unwrap();
        let command = duct::cmd("true", ["x"]);
        let started = command.start().unwrap();
        command.read().unwrap(); //~ blocking-in-guard
        started.wait().unwrap(); //~ blocking-in-guard
        started.try_wait().unwrap();
    }

    pub fn files(&self) {
        let _guard = self.lock.lock().unwrap();
        for path in glob::glob("*.rs").unwrap() { //~ blocking-in-guard
            drop(path);
        }
    }
}
