//! The crate `jfrs`, a reader of `.jfr` of others' making, agrees with ours on what we write.

mod golden;
#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::collections::BTreeMap;
use std::io::Cursor;

use vt_flight_recorder::Reader;

/// Events with what can be compared: their length in nanoseconds, the lock, the place.
type Counts = BTreeMap<(String, i64, String, String), u64>;

fn ours(file: &[u8]) -> Counts {
    let mut counts = BTreeMap::new();
    let mut reader = Reader::new(Cursor::new(file)).expect("it is a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        let count = |event: &vt_flight_recorder::Event<'_>| {
            let text = |name| event.text(name).unwrap_or_default();
            let name = event.name().to_owned();
            let key = (name, event.duration_ns(), text("lock"), text("blockedAt"));
            *counts.entry(key).or_default() += 1;
        };
        chunk.each(count).expect("readable");
    }
    counts
}

/// What `jfrs` reads, and how many frames with a name.
fn theirs(file: &[u8]) -> (Counts, u64) {
    let (mut counts, mut frames) = (BTreeMap::new(), 0);
    let mut reader = jfrs::reader::JfrReader::new(Cursor::new(file));
    for chunk in reader.chunks() {
        let (mut events, chunk) = chunk.expect("every chunk is read");
        for event in events.events(&chunk) {
            let event = event.expect("every event is read");
            let text = |name| {
                let field = event.value().get_field(name);
                let text = field.and_then(|field| <&str>::try_from(field.value).ok());
                text.unwrap_or_default().to_owned()
            };
            let length = event.value().get_field("duration");
            let length = length.and_then(|length| i64::try_from(length.value).ok());
            let name = event.class.name().to_owned();
            let key = (name, length.unwrap_or(0), text("lock"), text("blockedAt"));
            *counts.entry(key).or_default() += 1;
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
    (counts, frames)
}

#[test]
fn jfrs_reads_every_event_and_every_frame() {
    let file = golden::file();
    let (counts, frames) = theirs(&file);
    assert_eq!(counts, ours(&file));
    assert!(frames > 20, "{frames}");
}

#[test]
fn jfrs_reads_a_real_recording_alike() {
    let file = scene::recording();
    let (counts, frames) = theirs(&file);
    assert_eq!(counts, ours(&file));
    let of = |name: &str, lock: &str| {
        let are =
            |(key, _): &(&(String, i64, String, String), &u64)| key.0 == name && key.2 == lock;
        counts
            .iter()
            .filter(are)
            .map(|(_, count)| count)
            .sum::<u64>()
    };
    assert_eq!(of("jdk.VirtualThreadPinned", "orders"), 1);
    // One more where the machine is so busy that the watchdog told of it as well.
    assert!(of("vt.VirtualThreadPinnedLive", "open") >= 1);
    assert_eq!(of("jdk.VirtualThreadStart", ""), 2);
    assert!(frames > 4, "{frames}");
}
