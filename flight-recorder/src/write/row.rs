//! One record as a row of cells, checked against the schema when debug assertions are on.

use std::io::Write;

use super::ChunkWriter;
use crate::format::schema::{Field, Type};
use crate::format::varint::{put, put_sized, put_text, text};

/// The value of one field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    /// A moment or span in ticks, a count, an id.
    Long(u64),
    /// The key of a pooled value.
    Key(u64),
    /// A text, which the pool keeps where the type's readers allow it.
    Text(Option<&'a str>),
    /// The key of a text that the pool keeps already, 0 for none.
    Pooled(u64),
}

impl Cell<'_> {
    fn fits(&self, field: &Field) -> bool {
        match self {
            Self::Long(_) => matches!(field.of, "long" | "int") && !field.pooled,
            Self::Key(_) => field.pooled,
            Self::Text(_) | Self::Pooled(_) => field.of == "java.lang.String",
        }
    }
}

impl<W: Write> ChunkWriter<W> {
    /// Appends a record of the type `name`.
    pub(super) fn row(&mut self, name: &str, cells: &[Cell<'_>]) {
        let (id, of) = self.writer.schema.named(name);
        check(of, cells);
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        put(&mut row, id);
        let [Cell::Long(at), cells @ ..] = cells else {
            unreachable!("{name} does not begin with its time");
        };
        // A record may begin before its chunk does: such a time is negative.
        put(&mut row, at.wrapping_sub(self.span.start));
        for cell in cells {
            match cell {
                Cell::Pooled(0) => row.push(text::NULL),
                Cell::Pooled(key) => {
                    row.push(text::POOLED);
                    put(&mut row, *key);
                }
                Cell::Long(value) | Cell::Key(value) => put(&mut row, *value),
                Cell::Text(Some(value)) if of.pools_text && !value.is_empty() => {
                    row.push(text::POOLED);
                    put(&mut row, self.pools.text(value));
                }
                Cell::Text(value) => put_text(&mut row, *value),
            }
        }
        put_sized(&mut self.rows, &row);
        self.row = row;
    }
}

fn check(of: &Type, cells: &[Cell<'_>]) {
    debug_assert_eq!(
        of.fields.len(),
        cells.len(),
        "{} has another number of fields",
        of.name
    );
    for (field, cell) in of.fields.iter().zip(cells) {
        debug_assert!(
            cell.fits(field),
            "{}.{} is no {cell:?}",
            of.name,
            field.name
        );
    }
}
