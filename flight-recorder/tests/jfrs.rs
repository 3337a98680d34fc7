//! The crate `jfrs`, a reader of `.jfr` of others' making, agrees with ours on what we write.

mod golden;

use std::collections::BTreeMap;
use std::io::Cursor;

use vt_flight_recorder::Reader;

fn ours(file: &[u8]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let mut reader = Reader::new(Cursor::new(file)).expect("it is a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        let count = |event: &vt_flight_recorder::Event<'_>| {
            *counts.entry(event.name().to_owned()).or_default() += 1;
        };
        chunk.each(count).expect("readable");
    }
    counts
}

#[test]
fn jfrs_reads_every_event_and_every_frame() {
    let file = golden::file();
    let mut theirs = BTreeMap::new();
    let mut frames = 0;
    let mut reader = jfrs::reader::JfrReader::new(Cursor::new(&file));
    for chunk in reader.chunks() {
        let (mut events, chunk) = chunk.expect("every chunk is read");
        for event in events.events(&chunk) {
            let event = event.expect("every event is read");
            *theirs.entry(event.class.name().to_owned()).or_default() += 1;
            let stack = event.value().get_field("stackTrace");
            let list = stack.and_then(|stack| stack.get_field("frames"));
            for frame in list.and_then(|list| list.as_iter()).into_iter().flatten() {
                let method = frame.get_field("method").expect("every frame has a method");
                let name = method
                    .get_field("name")
                    .and_then(|name| name.get_field("string"));
                let name = name.and_then(|name| <&str>::try_from(name.value).ok());
                assert!(
                    name.is_some_and(|name| !name.is_empty()),
                    "a frame has no name"
                );
                frames += 1;
            }
        }
    }
    assert_eq!(theirs, ours(&file));
    assert!(frames > 20, "{frames}");
}
