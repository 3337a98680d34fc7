//! Interned identifiers.
//!
//! A [`Name`] is compared and hashed by address, which makes lookups cheap and lets the model be copied between
//! threads. The text lives as long as the process: the vocabulary of a workspace is small and is asked for again
//! by every run of an embedding program. **Invariant:** equal texts have equal addresses, so nothing else may
//! build a `Name`. Order by text, never by address: addresses differ from run to run.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An identifier.
#[derive(Clone, Copy)]
pub(crate) struct Name(&'static str);

static POOL: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);

thread_local! {
    static SEEN: RefCell<HashSet<&'static str>> = RefCell::default();
}

impl Name {
    /// The one `Name` of this text.
    pub(crate) fn new(text: &str) -> Self {
        SEEN.with_borrow_mut(|seen| {
            if let Some(found) = seen.get(text) {
                return Self(found);
            }
            let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            let interned = match pool.get(text) {
                Some(found) => *found,
                None => {
                    let leaked: &'static str = Box::leak(text.into());
                    pool.insert(leaked);
                    leaked
                }
            };
            seen.insert(interned);
            Self(interned)
        })
    }

    /// The text.
    pub(crate) fn as_str(self) -> &'static str {
        self.0
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Name {}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().addr().hash(state);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(other.0)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&str>::deserialize(deserializer).map(Self::new)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
