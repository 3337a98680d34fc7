//! Always-on recording of the events of `vt-runtime`.

mod format;
mod read;
mod symbol;
mod write;

pub use format::Header;
pub use format::schema::Unit;
pub use read::{Chunk, Damage, Event, Field, Frame, Pin, ReadError, Reader, Thread, Type, Value};
pub use symbol::{Function, InProcess, Symbolizer};
pub use write::{ChunkWriter, Span, Writer};
