//! What is known about crates whose code is not analysed, read from `knowledge/*.toml`.
//!
//! A crate is described by an *interface*: its modules, types and functions written as Rust without bodies, so that
//! paths, re-exports, fields, generics and `Deref` work exactly as for code. Attributes say what calling does:
//!
//! | on | attribute | meaning |
//! | --- | --- | --- |
//! | function | `blocks = ".."` | blocks the OS thread; the text completes "this call .." |
//! | | `if_bounded`, `makes_bounded`, `makes_unbounded` | `blocks` only where a crate makes bounded channels alone; what makes them |
//! | | `parks = ".."` | waits of a coroutine runtime |
//! | | `io_call = ".."` | blocks or parks if the receiver is a file or socket |
//! | | `blocks_by_argument` | blocks if an argument is a file or socket |
//! | | `acquires` | waits for a lock; the guard is what it returns |
//! | | `forces`, `initializes` | runs a cell's initialiser |
//! | | `blocking_iterator` | each step of what it returns blocks |
//! | | `offloads`, `declares`, `critical`, `tls` | the closure runs now: declared blocking, declared foreign, pinned, under a thread-local scope |
//! | | `tells_virtual` | says whether the caller is a virtual thread |
//! | parameter | `later`, `lazy`, `os_thread`, `offload`, `vthread`, `coroutine`, `future` | who runs the closure; without one it runs now |
//! | | `takes` | moves the value out of the place, leaving another |
//! | | `stays` | the value stays in the receiver, or in the place that the first argument points to |
//! | | `released` | a guard that is unlocked meanwhile |
//! | | `drops` | the value is dropped now |
//! | type | `guard`, `guard(aware)`, `guard(stream)` | a lock guard: of a monitor, park-aware, of an output stream |
//! | | `io`, `io(parks)`, `io(through)` | a file or socket; one that parks; a wrapper of its first argument |

use std::collections::HashMap;

use serde::Deserialize;

use crate::model::lower::MacroTable;
use crate::model::name::Name;
use crate::model::syntax::Swap;

/// The description files.
const SOURCES: &[&str] = &[
    include_str!("../knowledge/std.toml"),
    include_str!("../knowledge/std_io.toml"),
    include_str!("../knowledge/locks.toml"),
    include_str!("../knowledge/runtimes.toml"),
    include_str!("../knowledge/vt_runtime.toml"),
    include_str!("../knowledge/channels.toml"),
    include_str!("../knowledge/clients.toml"),
    include_str!("../knowledge/cells.toml"),
    include_str!("../knowledge/services.toml"),
    include_str!("../knowledge/files.toml"),
];

/// One description file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "crate")]
    krate: Option<String>,
    extends: Option<String>,
    interface: Option<String>,
    #[serde(default)]
    macros: HashMap<String, Vec<String>>,
    #[serde(default)]
    park_safe: Vec<[String; 3]>,
    #[serde(default)]
    combinators: Vec<String>,
    #[serde(default)]
    foreign_crates: Vec<String>,
    #[serde(default)]
    crates: HashMap<String, String>,
}

/// All descriptions.
#[derive(Debug, Default)]
pub(crate) struct Knowledge {
    /// Interface text by crate, in order.
    pub(crate) interfaces: Vec<(Name, String)>,
    /// Known macros.
    pub(crate) macros: MacroTable,
    /// What `#[park_safe]` swaps: from when, which path, for which.
    pub(crate) swaps: Vec<(Swap, Vec<Name>, Vec<Name>)>,
    /// Methods that run a closure at once, on whatever type.
    pub(crate) combinators: Vec<Name>,
    /// Packages of which every function is foreign, besides those named `*-sys`.
    pub(crate) foreign_crates: Vec<String>,
}

impl Knowledge {
    /// Reads the built-in descriptions.
    ///
    /// # Panics
    /// When one of them is no valid TOML, which a test rules out.
    pub(crate) fn built_in() -> Self {
        let mut knowledge = Self::default();
        for source in SOURCES {
            let file: File = toml::from_str(source).expect("built-in descriptions parse");
            knowledge.add(file);
        }
        knowledge
    }

    fn add(&mut self, file: File) {
        if let (Some(krate), Some(interface)) = (file.krate.or(file.extends), file.interface) {
            self.interface(&krate, &interface);
        }
        let mut crates: Vec<_> = file.crates.into_iter().collect();
        crates.sort();
        for (krate, interface) in crates {
            self.interface(&krate, &interface);
        }
        for (shape, names) in file.macros {
            if let Some(shape) = MacroTable::shape(&shape) {
                self.macros
                    .shapes
                    .extend(names.iter().map(|name| (Name::new(name), shape)));
            }
        }
        self.combinators
            .extend(file.combinators.iter().map(|name| Name::new(name)));
        self.foreign_crates.extend(file.foreign_crates);
        let path = |text: &str| text.split("::").map(Name::new).collect::<Vec<_>>();
        for [what, from, to] in &file.park_safe {
            let swap = if what == "monitor" {
                Swap::LocksAndMonitors
            } else {
                Swap::Locks
            };
            self.swaps.push((swap, path(from), path(to)));
        }
    }

    fn interface(&mut self, krate: &str, text: &str) {
        let name = Name::new(krate);
        match self.interfaces.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.push_str(text),
            None => self.interfaces.push((name, text.to_owned())),
        }
    }
}
