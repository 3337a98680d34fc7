//! Source text of the places that findings point to.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::diagnostic::Span;
use crate::input::Sources;

/// Texts by display path, read on first use.
pub struct Texts<'a> {
    sources: &'a dyn Sources,
    root: PathBuf,
    read: Mutex<HashMap<Arc<str>, Arc<str>>>,
}

impl<'a> Texts<'a> {
    /// Texts of `sources`, whose display paths are relative to `root`.
    pub fn new(sources: &'a dyn Sources, root: PathBuf) -> Self {
        Self {
            sources,
            root,
            read: Mutex::default(),
        }
    }

    /// The text of a file; empty when it can no longer be read.
    pub fn of(&self, file: &Arc<str>) -> Arc<str> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let text = read.entry(Arc::clone(file)).or_insert_with(|| {
            let path = self.root.join(&**file);
            self.sources.read(&path).unwrap_or_else(|_| Arc::from(""))
        });
        Arc::clone(text)
    }

    /// The lines that a place touches, without line ends.
    pub(crate) fn lines(&self, span: &Span) -> Vec<String> {
        let text = self.of(&span.file);
        let first = span.start.line.max(1) as usize;
        let last = (span.end.line as usize).max(first);
        text.lines()
            .skip(first - 1)
            .take(last - first + 1)
            .map(str::to_owned)
            .collect()
    }

    /// The bytes of a place within `text`, moved to character boundaries inside it: the file may have changed
    /// since it was analysed.
    pub(crate) fn range(text: &str, span: &Span) -> Range<usize> {
        let floor = |byte: u32| {
            let mut byte = (byte as usize).min(text.len());
            while !text.is_char_boundary(byte) {
                byte -= 1;
            }
            byte
        };
        let start = floor(span.start.byte);
        start..floor(span.end.byte).max(start)
    }
}
