//! The part of the event schema that the locks name.

use std::fmt;

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Lock,
    Semaphore,
    Channel,
}

/// The thing waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) kind: &'static str,
    pub(crate) name: Option<&'static str>,
    pub(crate) id: u64,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {}", self.kind, self.name, self.id)
    }
}
