//! Recordings of virtual threads in the JDK's format: what users see of the recorder, by way of its README.
//!
#![doc = include_str!("../README.md")]

pub mod attach;
mod format;
mod layer;
mod read;
mod recorder;
mod rename;
mod store;
mod symbol;
mod write;

pub use format::Header;
pub use format::schema::Unit;
pub use layer::RecorderLayer;
pub use read::{
    Chunk, Damage, Event, Field, Frame, Pin, PinKind, ReadError, Reader, Thread, Type, Value,
};
pub use recorder::{
    Builder, DumpError, FlightRecorder, InstallError, Settings, SettingsError, Stats, Trigger,
    parse_span, parse_throttle,
};
pub use rename::{Renamed, numbered_address, rename};
pub use symbol::{Function, InFile, InProcess, Symbolizer, build_id_of};
pub use write::{ChunkWriter, Span, Writer};

#[cfg(test)]
#[expect(
    dead_code,
    reason = "unit tests need its records, not the file made of them"
)]
#[path = "../tests/golden/mod.rs"]
mod golden;
// The generator of golden files names this crate as its users do.
#[cfg(test)]
extern crate self as vt_flight_recorder;
