//! Files: written and read back, and damaged in every way.

mod golden;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use vt_flight_recorder::Reader;

/// How many events of each type a file holds, and what is damaged in it.
fn counts(bytes: &[u8]) -> (BTreeMap<String, u64>, Vec<String>) {
    let mut counts = BTreeMap::new();
    let mut reader = match Reader::new(Cursor::new(bytes)) {
        Ok(reader) => reader,
        Err(error) => return (counts, vec![error.to_string()]),
    };
    while let Some(mut chunk) = reader.next_chunk().expect("a slice can be read") {
        chunk
            .each(|event| {
                // Everything is decoded, so that damage has every chance to show.
                for (_, value) in event.fields() {
                    std::hint::black_box(&value);
                }
                std::hint::black_box(event.stack());
                *counts.entry(event.name().to_owned()).or_default() += 1;
            })
            .expect("a slice can be read");
    }
    (
        counts,
        reader.damages().iter().map(ToString::to_string).collect(),
    )
}

fn samples() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the golden files are part of the sources")
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jfr"))
        .collect();
    files.sort();
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    files
        .iter()
        .map(|p| (name(p), std::fs::read(p).expect("it can be read")))
        .collect()
}

#[test]
fn what_was_written_is_read_back() {
    let file = golden::file();
    let mut reader = Reader::new(Cursor::new(&file)).expect("it is a recording");
    let mut pins = Vec::new();
    let mut chunk = reader.next_chunk().expect("readable").expect("one chunk");
    chunk
        .each(|event| {
            if event.name() == "jdk.VirtualThreadPinned" {
                let text = |name| event.text(name);
                let stack: Vec<_> = event.stack().iter().map(ToString::to_string).collect();
                let fields = [
                    "blockingOperation",
                    "pinnedReason",
                    "pinnedAt",
                    "blockedAt",
                    "lock",
                    "waitsFor",
                    "waitsOwner",
                    "native",
                    "outcome",
                    "source",
                ];
                pins.push((
                    event.start_ns(),
                    event.duration_ns(),
                    event
                        .thread("eventThread")
                        .map(|t| (t.id, t.name, t.is_virtual)),
                    event
                        .thread("carrierThread")
                        .map(|t| (t.id, t.name, t.is_virtual)),
                    fields.map(text),
                    ["depth", "stranded", "strandedTime", "spanId"].map(|n| event.integer(n)),
                    stack,
                ));
            }
        })
        .expect("readable");
    assert!(reader.damages().is_empty());
    assert_eq!(pins.len(), 4);
    let some = |text: &str| Some(text.to_owned());
    let first = &pins[0];
    assert_eq!(first.0, 1_767_323_045_030_000_000);
    assert_eq!(first.1, 25_000_000);
    assert_eq!(first.2, Some((1, "vt-1".to_owned(), true)));
    assert_eq!(first.3, Some((4243, "carrier-1".to_owned(), false)));
    assert_eq!(
        first.4,
        [
            some("sleep"),
            some("monitor"),
            some("shop/src/orders.rs:75:9"),
            some("shop/src/payment.rs:42:9"),
            some("orders"),
            None,
            None,
            None,
            some("done"),
            some("wait"),
        ]
    );
    assert_eq!(first.5, [Some(1), Some(3), Some(50_000_000), Some(901)]);
    assert_eq!(
        first.6,
        [
            "vt_runtime::park::block",
            "vt_runtime::thread::sleep",
            "shop::payment::charge::{{closure}}",
            "shop::payment::charge",
            "<shop::Orders<T> as shop::Store>::put",
            "core::ops::function::FnOnce::call_once",
            "unknown::0x9999",
        ]
    );
    // Where no stack was taken the places stand for it.
    assert_eq!(
        pins[2].6,
        ["shop/src/report.rs:12:9", "shop/src/orders.rs:75:9"]
    );
    assert_eq!(pins[3].4[3], some("unknown"));
}

#[test]
fn every_event_is_in_the_file_once() {
    let (counts, damages) = counts(&golden::file());
    assert_eq!(damages, [""; 0]);
    let expected = [
        ("jdk.JavaMonitorEnter", 1),
        ("jdk.ThreadPark", 1),
        ("jdk.VirtualThreadEnd", 4),
        ("jdk.VirtualThreadPinned", 4),
        ("jdk.VirtualThreadStart", 6),
        ("jdk.VirtualThreadSubmitFailed", 1),
        ("vt.CarrierCompensated", 1),
        ("vt.CarrierStalled", 1),
        ("vt.CompensationExhausted", 1),
        ("vt.EventsDropped", 1),
        ("vt.MonitorLeaked", 1),
        ("vt.NativeCall", 1),
        ("vt.OffloadQueued", 1),
        ("vt.PinnedDeadlock", 1),
        ("vt.VirtualThreadPinnedLive", 1),
    ];
    let expected = expected.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(counts, BTreeMap::from(expected));
}

#[test]
fn chunks_of_one_file_never_share_a_key() {
    let mut writer = vt_flight_recorder::Writer::new(Vec::new(), golden::FixedSymbols::new());
    for last in [false, true] {
        let mut chunk = writer.chunk(vt_flight_recorder::Span::new(0, 0, 1));
        for record in golden::records() {
            chunk.push(&record);
        }
        writer = chunk.finish(last).expect("a vector takes every byte");
    }
    let file = writer.finish().expect("a vector takes every byte");
    let mut keys = Vec::new();
    let mut reader = Reader::new(Cursor::new(&file)).expect("it is a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        let mut of_chunk = std::collections::BTreeSet::new();
        chunk
            .each(|event| of_chunk.extend(event.key("stackTrace")))
            .expect("readable");
        of_chunk.remove(&0);
        keys.push(of_chunk);
    }
    assert_eq!(keys.len(), 2);
    assert!(
        !keys[0].is_empty() && keys[0].is_disjoint(&keys[1]),
        "{keys:?}"
    );
}

#[test]
fn golden_files_of_every_schema_are_read() {
    for (name, bytes) in samples() {
        let (counts, damages) = counts(&bytes);
        assert!(damages.is_empty(), "{name}: {damages:?}");
        assert!(
            counts
                .get("jdk.VirtualThreadPinned")
                .is_some_and(|n| *n > 0),
            "{name}: {counts:?}"
        );
    }
}

/// Set `VT_BLESS=1` to write the golden file anew; do so only before its schema is released.
#[test]
fn the_golden_file_is_what_the_writer_writes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/schema-1.jfr");
    if std::env::var_os("VT_BLESS").is_some() {
        std::fs::write(&path, golden::file()).expect("the golden folder can be written");
    }
    let stored = std::fs::read(&path).expect("the golden file is part of the sources");
    assert_eq!(counts(&stored), counts(&golden::file()));
}

#[test]
fn a_file_cut_at_any_byte_gives_what_is_whole() {
    let file = golden::file();
    let (whole, _) = counts(&file);
    let total: u64 = whole.values().sum();
    let mut before = 0;
    for len in 0..file.len() {
        let (counts, damages) = counts(&file[..len]);
        let found: u64 = counts.values().sum();
        assert!(!damages.is_empty(), "nothing told of the cut at {len}");
        assert!(
            found >= before,
            "cut at {len}: {found} events, fewer than the shorter file's {before}"
        );
        assert!(found < total);
        before = found;
    }
    assert!(
        before > total / 2,
        "only {before} of {total} events survive losing the last byte"
    );
}

#[test]
fn a_jvm_s_file_cut_anywhere_is_no_trouble() {
    for (name, file) in samples() {
        let total: u64 = counts(&file).0.values().sum();
        // Its schema stands at the end, so a cut leaves little; what matters is that it is told.
        for len in (4..file.len()).step_by(file.len() / 200) {
            let (counts, damages) = counts(&file[..len]);
            assert!(
                !damages.is_empty(),
                "{name}: nothing told of the cut at {len}"
            );
            assert!(counts.values().sum::<u64>() <= total);
        }
    }
}

/// A generator of the same numbers everywhere.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn flipped_bits_never_break_the_reader() {
    let mut random = Seeded(0x5eed);
    let ours = golden::file();
    let others: Vec<_> = samples().into_iter().map(|(_, bytes)| bytes).collect();
    for round in 0..10_000 {
        // A JVM's file is ten times as long to read, so its turn comes seldom.
        let mut bytes = match round % 20 {
            0 => others[round / 20 % others.len()].clone(),
            _ => ours.clone(),
        };
        for _ in 0..1 + random.next() % 4 {
            let bit = random.next();
            let at = (bit / 8) as usize % bytes.len();
            bytes[at] ^= 1 << (bit % 8);
        }
        std::hint::black_box(counts(&bytes));
    }
}
