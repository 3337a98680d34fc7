//! Names that mean two things: a crate and a macro of it, a local module and a crate.
// edition: 2021
use anyhow::{anyhow, Context};
use std::sync::{Arc, Mutex};

mod errors {
    pub use anyhow::{anyhow, bail, Context, Error};
    pub type Result<T> = anyhow::Result<T>;
}

pub struct Connection {
    shared: Arc<Mutex<Vec<u8>>>,
}

impl Connection {
    pub fn open() -> errors::Result<Self> {
        Err(anyhow!("no"))
    }

    pub fn shared(&self) -> Arc<Mutex<Vec<u8>>> {
        Arc::clone(&self.shared)
    }
}

pub fn through_a_crate_alias() -> anyhow::Result<()> {
    let shared = Connection::open()?.shared();
    if let Ok(mut bytes) = shared.lock() {
        bytes.extend(std::fs::read("x").context("no")?); //~ blocking-in-guard
    }
    Ok(())
}
