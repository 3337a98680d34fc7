//! A run of records of one class, encoded, with the texts and stacks they use.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use vt_runtime::event::Timestamp;

use super::Record;
use super::codec::{Decoder, Encoder};

/// Records in the order they came.
#[derive(Debug, Default)]
pub(super) struct Segment {
    bytes: Vec<u8>,
    count: u64,
    last: Timestamp,
    tables: Tables,
}

/// Texts and stacks by number; a record holds the numbers.
#[derive(Debug, Default)]
pub(super) struct Tables {
    texts: Vec<Arc<str>>,
    text_ids: HashMap<Arc<str>, u64, RandomState>,
    stacks: Vec<Arc<[u64]>>,
    stack_ids: HashMap<Arc<[u64]>, u64, RandomState>,
    size: usize,
}

/// What a text or stack costs besides its own bytes, about.
const OVERHEAD: usize = 64;

impl Tables {
    pub(super) fn text_id(&mut self, text: &Arc<str>) -> u64 {
        if let Some(id) = self.text_ids.get(text) {
            return *id;
        }
        let id = self.texts.len() as u64;
        self.texts.push(text.clone());
        self.text_ids.insert(text.clone(), id);
        self.size += text.len() + OVERHEAD;
        id
    }

    pub(super) fn stack_id(&mut self, stack: &[u64]) -> u64 {
        if let Some(id) = self.stack_ids.get(stack) {
            return *id;
        }
        let (id, stack) = (self.stacks.len() as u64, Arc::<[u64]>::from(stack));
        self.size += size_of_val(&*stack) + OVERHEAD;
        self.stacks.push(stack.clone());
        self.stack_ids.insert(stack, id);
        id
    }

    pub(super) fn text(&self, id: u64) -> Option<Arc<str>> {
        self.texts.get(id as usize).cloned()
    }

    pub(super) fn stack(&self, id: u64) -> Vec<u64> {
        self.stacks
            .get(id as usize)
            .map_or(Vec::new(), |stack| stack.to_vec())
    }
}

impl Segment {
    pub(super) fn push(&mut self, record: &Record) {
        Encoder::new(&mut self.bytes, &mut self.tables).record(record);
        self.count += 1;
        self.last = self.last.max(record.at());
    }

    /// Every record, oldest first.
    pub(super) fn records(&self) -> impl Iterator<Item = Record> {
        let mut decoder = Decoder::new(&self.bytes, &self.tables);
        std::iter::from_fn(move || decoder.record())
    }

    pub(super) fn len(&self) -> u64 {
        self.count
    }

    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.tables.size
    }

    /// When its latest record was made.
    pub(super) fn last(&self) -> Timestamp {
        self.last
    }
}
