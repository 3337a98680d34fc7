//! What a store holds at a moment, by time.

use super::Record;

/// Records in the order of their times. They are large and many, so that they stay where they were made, and only
/// numbers are sorted.
#[derive(Debug, Default)]
pub(crate) struct Records {
    list: Vec<Record>,
    /// Places in the list.
    order: Vec<u32>,
}

impl Records {
    pub(crate) fn new(list: Vec<Record>) -> Self {
        let mut order: Vec<_> = list.iter().map(Record::at).zip(0_u32..).collect();
        // Their place tells those of one time apart, so they keep it.
        order.sort_unstable();
        Self {
            list,
            order: order.into_iter().map(|(_, place)| place).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The records from the one with this number on.
    pub(crate) fn from(&self, number: usize) -> impl Iterator<Item = &Record> {
        let order = self.order.get(number..).unwrap_or_default();
        order.iter().map(|place| &self.list[*place as usize])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.from(0)
    }

    /// Leaves out those that `keeps` says no to; asked by time.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&Record) -> bool) {
        let list = &self.list;
        self.order.retain(|place| keeps(&list[*place as usize]));
    }
}
