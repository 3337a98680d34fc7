//! One library for every edition, under the name that its manifest gives the runtime, with lints that generated code
//! is prone to break.
#![deny(
    warnings,
    missing_debug_implementations,
    missing_docs,
    rust_2018_idioms,
    single_use_lifetimes,
    unsafe_op_in_unsafe_fn,
    unused_qualifications
)]

use std::collections::HashMap;
use std::os::raw::c_int;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};

/// Locks in fields.
#[threads::park_safe(crate = threads)]
#[derive(Debug, Default)]
pub struct Sessions {
    live: Mutex<HashMap<u64, String>>,
    changed: Condvar,
    cell: OnceLock<Arc<Mutex<u8>>>,
}

#[threads::park_safe(crate = threads)]
impl Sessions {
    /// Constructors.
    pub fn new() -> Self {
        Sessions {
            live: Mutex::new(HashMap::new()),
            changed: Condvar::new(),
            cell: OnceLock::new(),
        }
    }

    fn hold(&self) -> MutexGuard<'_, HashMap<u64, String>> {
        self.live.lock().unwrap()
    }

    /// A wait.
    pub fn wait(&self) -> u8 {
        let mut live = self.hold();
        while live.is_empty() {
            live = self.changed.wait(live).unwrap();
        }
        let cell = self.cell.get_or_init(|| Arc::new(Mutex::new(1)));
        let value = *cell.lock().unwrap();
        value
    }
}

// What stays in an extern block, and what moves out of it.
#[threads::native(blocking, crate = threads)]
EXTERN "C" {
    /// A foreign function.
    #[threads::native(quick)]
    pub fn abs(number: c_int) -> c_int;
    /// One that stays.
    pub fn printf(format: *const u8, ...) -> c_int;
    /// One that nobody else names so.
    pub fn toUpper(letter: c_int) -> c_int;
}

/// A wrapper with `?` in it.
#[threads::native(crate = threads)]
pub fn wrapper(number: i32) -> Result<i32, Box<dyn std::error::Error>> {
    let number = number.to_string().parse::<u8>()?;
    // SAFETY: it is pure.
    Ok(unsafe { abs(number.into()) })
}

/// A program's main function, called by nobody here.
#[threads::main(crate = threads, carriers = 2)]
pub fn entry() -> Result<(), Box<dyn std::error::Error>> {
    Sessions::new().changed.notify_all();
    wrapper(-1)?;
    Ok(())
}
