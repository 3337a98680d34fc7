//! Whatever is encoded is decoded as it was.

use std::time::Duration;

use vt_runtime::event::{Event, Recorded, ThreadRef, Timestamp};

use super::{Decoder, Encoder};
use crate::store::segment::Tables;
use crate::store::{ProgramRecord, Record};

#[test]
fn every_kind_of_record_survives_the_round_trip() {
    let mut records: Vec<_> = crate::golden::records()
        .into_iter()
        .map(Record::Runtime)
        .collect();
    records.push(Record::Program(ProgramRecord {
        at: Timestamp(7),
        duration: Some(Duration::ZERO),
        thread: 1,
        thread_name: "vt-1".into(),
        span: 2,
        parent: 3,
        level: "WARN",
        target: "shop".into(),
        text: "request".into(),
        fields: "path=/orders".into(),
    }));
    // One that was given no name, and one that was given what another would be called.
    for (id, name) in [(7, "vt-6"), (8, "vt-6")] {
        let name = name.into();
        let thread = ThreadRef { id, name };
        let event = Event::VirtualThreadStart { thread, carrier: 1 };
        let at = Timestamp(8);
        records.push(Record::Runtime(Recorded { at, event }));
    }
    let (mut bytes, mut tables) = (Vec::new(), Tables::default());
    for record in &records {
        Encoder::new(&mut bytes, &mut tables).record(record);
    }
    let mut decoder = Decoder::new(&bytes, &tables);
    let read: Vec<_> = std::iter::from_fn(|| decoder.record()).collect();
    assert_eq!(read, records);
}
