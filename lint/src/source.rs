//! One file's text: lines, columns, and the suppressions in its comments.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::diagnostic::{Position, Span};
use crate::model::syntax::At;

/// A text with its line starts.
#[derive(Debug)]
pub(crate) struct Text {
    /// The path as findings show it.
    pub(crate) display: Arc<str>,
    /// The contents.
    pub(crate) text: Arc<str>,
    starts: Vec<u32>,
}

/// A suppression in a comment.
#[derive(Debug)]
pub(crate) struct Comment {
    /// From `vt-lint` to the end of the comment.
    pub(crate) at: At,
    /// The lines it covers.
    pub(crate) lines: RangeInclusive<u32>,
    /// Rule names as written.
    pub(crate) rules: Vec<String>,
    /// The text behind `--`.
    pub(crate) reason: Option<String>,
}

impl Text {
    /// Indexes a text.
    pub(crate) fn new(display: Arc<str>, text: Arc<str>) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0)
            .chain(ends.map(|(offset, _)| offset as u32 + 1))
            .collect();
        Self {
            display,
            text,
            starts,
        }
    }

    /// How many lines it has.
    pub(crate) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// The line of a byte, from 1.
    pub(crate) fn line(&self, byte: u32) -> u32 {
        self.starts.partition_point(|start| *start <= byte) as u32
    }

    /// A byte as line and column.
    pub(crate) fn position(&self, byte: u32) -> Position {
        let byte = byte.min(self.text.len() as u32);
        let line = self.line(byte);
        let start = self.starts[line as usize - 1] as usize;
        let column = self
            .text
            .get(start..byte as usize)
            .map_or(0, |before| before.chars().count());
        Position {
            line,
            column: column as u32 + 1,
            byte,
        }
    }

    /// A range for a finding.
    pub(crate) fn span(&self, at: At) -> Span {
        Span {
            file: Arc::clone(&self.display),
            start: self.position(at.start),
            end: self.position(at.end.max(at.start)),
        }
    }

    /// The text of a range.
    pub(crate) fn slice(&self, at: At) -> &str {
        self.text
            .get(at.start as usize..at.end as usize)
            .unwrap_or_default()
    }

    /// Whether the file says that a program wrote it.
    pub(crate) fn is_generated(&self) -> bool {
        self.text
            .lines()
            .take(8)
            .any(|line| line.trim_start().starts_with("//") && line.contains("@generated"))
    }

    /// The suppressions in line comments. Doc comments, block comments and strings hold none.
    pub(crate) fn suppressions(&self) -> Vec<Comment> {
        if !self.text.contains("vt-lint:") {
            return Vec::new();
        }
        line_comments(&self.text)
            .into_iter()
            .filter_map(|(start, end)| self.suppression(start, end))
            .collect()
    }

    fn suppression(&self, start: usize, end: usize) -> Option<Comment> {
        let comment = &self.text[start..end];
        let body = comment.strip_prefix("//")?;
        if body.starts_with('/') || body.starts_with('!') {
            return None;
        }
        let offset = start + 2 + (body.len() - body.trim_start().len());
        let body = body.trim_start().strip_prefix("vt-lint:")?.trim_start();
        let (whole_file, list) = match body.strip_prefix("allow-file(") {
            Some(list) => (true, list),
            None => (false, body.strip_prefix("allow(")?),
        };
        let (names, rest) = list.split_once(')')?;
        let rules = names
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        // Another `//` starts another remark, which is no part of the reason.
        let reason = rest.split_once("--").map(|(_, reason)| {
            reason
                .split("//")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        });
        let line = self.line(start as u32);
        let line_start = self.starts[line as usize - 1] as usize;
        let stands_alone = self.text[line_start..start].trim().is_empty();
        let covered = if stands_alone {
            self.next_code_line(line)
        } else {
            line
        };
        Some(Comment {
            at: At {
                start: offset as u32,
                end: end as u32,
            },
            lines: if whole_file {
                1..=u32::MAX
            } else {
                covered..=covered
            },
            rules,
            reason: reason.filter(|reason| !reason.is_empty()),
        })
    }

    /// The first line below `line` that is neither blank nor a comment.
    fn next_code_line(&self, line: u32) -> u32 {
        let mut below = line + 1;
        for text in self.text.lines().skip(line as usize) {
            let text = text.trim();
            if !text.is_empty() && !text.starts_with("//") && !text.starts_with("#[") {
                break;
            }
            below += 1;
        }
        below
    }
}

/// Start and end of each line comment outside strings and block comments.
fn line_comments(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut index = 0;
    while index < bytes.len() {
        match bytes[index] {
            b'/' if bytes.get(index + 1) == Some(&b'/') => {
                let end = memchr_line(bytes, index);
                found.push((index, end));
                index = end;
            }
            b'/' if bytes.get(index + 1) == Some(&b'*') => index = block_comment_end(bytes, index),
            b'"' => index = string_end(bytes, index + 1),
            b'r' if !index.checked_sub(1).is_some_and(|before| {
                bytes[before].is_ascii_alphanumeric()
                    && bytes[before] != b'b'
                    && bytes[before] != b'c'
            }) =>
            {
                index = raw_string_end(bytes, index).unwrap_or(index + 1);
            }
            // A character literal, as opposed to a lifetime, may hold a quote.
            b'\'' if bytes.get(index + 1) == Some(&b'\\') => index = (index + 3).min(bytes.len()),
            b'\'' if bytes.get(index + 2) == Some(&b'\'') => index += 3,
            _ => index += 1,
        }
    }
    found
}

fn memchr_line(bytes: &[u8], from: usize) -> usize {
    let end = bytes[from..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |length| from + length);
    if end > from && bytes[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}

fn block_comment_end(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    let mut index = from;
    while index + 1 < bytes.len() {
        match &bytes[index..index + 2] {
            b"/*" => {
                depth += 1;
                index += 2;
            }
            b"*/" => {
                depth -= 1;
                index += 2;
                if depth == 0 {
                    return index;
                }
            }
            _ => index += 1,
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut index = from;
    while index < bytes.len() {
        match bytes[index] {
            b'\\' => index += 2,
            b'"' => return index + 1,
            _ => index += 1,
        }
    }
    bytes.len()
}

fn raw_string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let hashes = bytes[from + 1..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    let open = from + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let mut index = open + 1;
    while index < bytes.len() {
        if bytes[index] == b'"'
            && bytes[index + 1..]
                .iter()
                .take(hashes)
                .filter(|byte| **byte == b'#')
                .count()
                == hashes
        {
            return Some(index + 1 + hashes);
        }
        index += 1;
    }
    Some(bytes.len())
}
