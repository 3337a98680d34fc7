//! Whatever is encoded is decoded as it was.

use super::*;

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
    let (mut bytes, mut tables) = (Vec::new(), Tables::default());
    for record in &records {
        Encoder::new(&mut bytes, &mut tables).record(record);
    }
    let mut decoder = Decoder::new(&bytes, &tables);
    let read: Vec<_> = std::iter::from_fn(|| decoder.record()).collect();
    assert_eq!(read, records);
}
