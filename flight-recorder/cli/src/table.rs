//! Tables: built once, written aligned for people or as JSON for programs.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::text;

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// A text; empty where there is none.
    Text(String),
    /// A count.
    Count(u64),
    /// A span in nanoseconds.
    Span(i64),
    /// A moment in nanoseconds since the Unix epoch.
    Moment(i64),
    /// A share in per cent.
    Share(f64),
    /// An amount of bytes.
    Bytes(u64),
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn shown(&self) -> String {
        match self {
            Self::Text(text) if text.is_empty() => "-".to_owned(),
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Span(ns) => text::span(*ns),
            Self::Moment(ns) => text::moment(*ns),
            Self::Share(percent) => format!("{percent:.1} %"),
            Self::Bytes(amount) => text::bytes(*amount),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) if text.is_empty() => Value::Null,
            Self::Text(text) => json!(text),
            Self::Count(count) | Self::Bytes(count) => json!(count),
            Self::Span(ns) | Self::Moment(ns) => json!(ns),
            Self::Share(percent) => json!(percent),
        }
    }

    fn is_number(&self) -> bool {
        !matches!(self, Self::Text(_) | Self::Moment(_))
    }
}

/// Rows under headings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    title: String,
    /// Each heading with the name its values have in JSON.
    columns: Vec<(&'static str, &'static str)>,
    rows: Vec<Vec<Cell>>,
    /// The columns that people see only where they say something.
    sparse: &'static [&'static str],
}

/// Wider texts are cut in the middle, unless they are the last of their row.
const MAX_WIDTH: usize = 64;

impl Table {
    pub(crate) fn new(title: &str, columns: &[(&'static str, &'static str)]) -> Self {
        Self {
            title: title.to_owned(),
            columns: columns.to_vec(),
            rows: Vec::new(),
            sparse: &[],
        }
    }

    /// Leaves these columns out of what people see where they are empty in every row.
    pub(crate) fn sparse(mut self, headings: &'static [&'static str]) -> Self {
        self.sparse = headings;
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Keeps the first `rows`; gives how many went.
    pub(crate) fn keep(&mut self, rows: usize) -> usize {
        let gone = self.rows.len().saturating_sub(rows);
        self.rows.truncate(rows);
        gone
    }

    /// Writes it aligned.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let empty = Cell::Text(String::new());
        let column = self.columns.iter().enumerate().position(|(at, column)| {
            self.sparse.contains(&column.0) && self.rows.iter().all(|row| row[at] == empty)
        });
        if let Some(at) = column {
            let mut narrow = self.clone();
            narrow.columns.remove(at);
            narrow.rows.iter_mut().for_each(|row| _ = row.remove(at));
            return narrow.write(out);
        }
        writeln!(out, "{}", text::heading(&self.title))?;
        writeln!(out)?;
        let last = self.columns.len() - 1;
        let shown: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| {
                let cut = |(at, cell): (usize, &Cell)| match at {
                    _ if at == last => cell.shown(),
                    _ => middle_cut(&cell.shown(), MAX_WIDTH),
                };
                row.iter().enumerate().map(cut).collect()
            })
            .collect();
        let widths: Vec<usize> = (0..=last)
            .map(|at| {
                let cells = shown.iter().map(|row| row[at].chars().count());
                cells.chain([self.columns[at].0.len()]).max().unwrap_or(0)
            })
            .collect();
        let right: Vec<bool> = (0..=last)
            .map(|at| self.rows.first().is_some_and(|row| row[at].is_number()))
            .collect();
        let line = |cells: Vec<&str>| {
            let padded = cells.iter().enumerate().map(|(at, cell)| {
                let pad = widths[at].saturating_sub(cell.chars().count());
                if right[at] {
                    format!("{}{cell}", " ".repeat(pad))
                } else if at == last {
                    (*cell).to_owned()
                } else {
                    format!("{cell}{}", " ".repeat(pad))
                }
            });
            padded.collect::<Vec<_>>().join("  ")
        };
        writeln!(
            out,
            "{}",
            text::heading(&line(self.columns.iter().map(|c| c.0).collect()))
        )?;
        for row in &shown {
            writeln!(
                out,
                "{}",
                line(row.iter().map(String::as_str).collect()).trim_end()
            )?;
        }
        Ok(())
    }

    /// The rows as objects.
    pub(crate) fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            let members = self.columns.iter().zip(row);
            Value::Object(
                members
                    .map(|(c, cell)| (c.1.to_owned(), cell.json()))
                    .collect::<Map<_, _>>(),
            )
        };
        Value::Array(self.rows.iter().map(object).collect())
    }
}

fn middle_cut(text: &str, width: usize) -> String {
    let len = text.chars().count();
    if len <= width {
        return text.to_owned();
    }
    // The end names the line, the start the crate: keep more of the end.
    let head = (width - 3) / 3;
    let tail = width - 3 - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(len - tail).collect();
    format!("{start}...{end}")
}
