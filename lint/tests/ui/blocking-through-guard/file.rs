//! Calls on the guarded value itself.
// edition: 2021

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Mutex;

pub struct Log {
    file: Mutex<File>,
    memory: Mutex<Vec<u8>>,
}

impl Log {
    pub fn load(&self) -> std::io::Result<String> {
        let mut text = String::new();
        self.file.lock().unwrap().read_to_string(&mut text)?; //~ blocking-through-guard
        Ok(text)
    }

    pub fn remember(&self, text: &[u8]) -> std::io::Result<()> {
        self.memory.lock().unwrap().write_all(text)
    }
}
