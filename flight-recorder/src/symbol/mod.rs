//! From return addresses and places to the frames a recording names.
//!
//! Runs when a dump is written, never on a carrier. [`InProcess`] asks the process's own debug
//! information; tests bring their own [`Symbolizer`].

mod elf;
mod in_file;
mod in_process;
mod name;
mod source;

use std::sync::Arc;

use vt_runtime::event::Place;

pub use self::elf::build_id_of;
pub(crate) use self::elf::{Module, modules};
pub use self::in_file::InFile;
pub use self::in_process::InProcess;
pub(crate) use self::name::{Name, split};

/// One function an address lies in: several when calls were inlined, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its full path, demangled.
    pub name: String,
    /// The line, 0 where unknown.
    pub line: u32,
    /// It was inlined into the next.
    pub inlined: bool,
}

/// Names the functions at an address.
pub trait Symbolizer {
    /// The functions at a return address, innermost first; empty where nothing is known.
    fn functions(&mut self, address: u64) -> Vec<Function>;

    /// The application's line on a stack, where it can be told: what stands for a pin's place if nobody declared it.
    fn line(&mut self, stack: &[u64]) -> Option<Place> {
        let _ = stack;
        None
    }
}

/// How a frame came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FrameKind {
    /// A function of its own.
    Native,
    /// Inlined into the next frame.
    Inlined,
    /// No stack was taken: a place in source stands for it.
    Place,
}

impl FrameKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "Native",
            Self::Inlined => "Inlined",
            Self::Place => "Place",
        }
    }
}

/// A frame as a recording stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) class: Arc<str>,
    pub(crate) method: Arc<str>,
    pub(crate) package: Arc<str>,
    /// It is neither std's nor the runtime's nor tracing's.
    pub(crate) application: bool,
    /// Readers leave it out unless asked.
    pub(crate) hidden: bool,
    pub(crate) line: u32,
    pub(crate) kind: FrameKind,
}

impl Frame {
    pub(crate) fn of_function(function: &Function) -> Self {
        let name = split(&function.name);
        let kind = if function.inlined {
            FrameKind::Inlined
        } else {
            FrameKind::Native
        };
        Self::named(&name, function.line, kind)
    }

    /// The frame of an address nothing is known about.
    pub(crate) fn of_address(address: u64) -> Self {
        let method = format!("{address:#x}");
        let name = Name {
            class: "unknown",
            method: &method,
            package: "unknown",
        };
        Self {
            application: false,
            ..Self::named(&name, 0, FrameKind::Native)
        }
    }

    /// A place in source stands for the frame: its file for the class, its line for the method.
    pub(crate) fn of_place(place: &Place) -> Self {
        let method = format!("{}:{}", place.line, place.column);
        let name = Name {
            class: &place.file,
            method: &method,
            package: "",
        };
        Self::named(&name, place.line, FrameKind::Place)
    }

    fn named(name: &Name<'_>, line: u32, kind: FrameKind) -> Self {
        Self {
            class: name.class.into(),
            method: name.method.into(),
            package: name.package.into(),
            application: name.is_application(),
            hidden: name.is_internal(),
            line,
            kind,
        }
    }
}
