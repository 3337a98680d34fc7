//! Files as a whole: their chunks, their clock, and what killed processes leave.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Cursor;
use std::time::SystemTime;

use vt_runtime::event::{Event, Operation, Recorded, ThreadRef};

use super::*;
use crate::read::Reader;
use crate::symbol::InProcess;

fn park(at: u64, thread: u64) -> Record {
    let thread = ThreadRef {
        id: thread,
        name: format!("vt-{thread}").into(),
    };
    let event = Event::VirtualThreadUnpark {
        thread,
        operation: Operation::Sleep,
        parked: Duration::from_nanos(500),
    };
    Record::Runtime(Recorded {
        at: Timestamp(at),
        event,
    })
}

fn contents(records: Vec<Record>, anchor: clock::Anchor) -> Contents {
    Contents {
        anchor,
        records: Records::new(records),
        open: Vec::new(),
        open_spans: Vec::new(),
        sites: Vec::new(),
        holders: Vec::new(),
        lost: Vec::new(),
        about: About {
            max_size: u64::MAX,
            ..About::default()
        },
        carriers: Vec::new(),
    }
}

fn written(contents: &Contents) -> Vec<u8> {
    let written = contents.write(InProcess::default());
    written.expect("a vector takes every byte")
}

/// A moment on both clocks.
fn anchor(at: u64, wall: SystemTime) -> clock::Anchor {
    clock::Anchor {
        at: Timestamp(at),
        wall,
        ..clock::Anchor::take()
    }
}

/// No process has this number: it is beyond what the kernel gives.
const GONE: u32 = 1 << 30;

#[test]
fn what_killed_processes_left_goes_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let make = |name: &str, age: u64| {
        let file = File::create(folder.path().join(name)).expect("a file");
        let at = SystemTime::now() - Duration::from_secs(age);
        file.set_modified(at).expect("a time for it");
    };
    let own = std::process::id();
    make(&format!(".vt-flight-{GONE}-a.jfr.tmp"), 3_600);
    make(&format!(".vt-flight-{GONE}-b.jfr.tmp"), 0);
    make(&format!(".vt-flight-{own}-c.jfr.tmp"), 3_600);
    make("other.jfr.tmp", 3_600);
    let path = folder.path().join("new.jfr");
    write_whole(&path, b"whole").expect("it is written");
    let mut left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("listable")
        .map(|entry| entry.expect("an entry").file_name().into_string())
        .collect();
    left.sort();
    let expected = [
        format!(".vt-flight-{GONE}-b.jfr.tmp"),
        format!(".vt-flight-{own}-c.jfr.tmp"),
        "new.jfr".to_owned(),
        "other.jfr.tmp".to_owned(),
    ];
    assert_eq!(left, expected.map(Ok));
}

#[test]
fn a_long_recording_is_cut_into_chunks_that_share_no_key() {
    let many = 600_000;
    let records = (0..many).map(|at| park(at * 1_000, at % 50_000)).collect();
    let bytes = written(&contents(records, clock::Anchor::take()));
    let mut reader = Reader::new(Cursor::new(&bytes)).expect("a recording");
    let mut chunks = 0;
    let mut parks = 0;
    let mut owners: BTreeMap<u64, usize> = BTreeMap::new();
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        let last = chunk.header().flags & 2 != 0;
        let size = chunk.header().size;
        assert!(
            last || (CHUNK as u64..CHUNK as u64 * 2).contains(&size),
            "{size}"
        );
        chunk
            .each(|event| {
                parks += u64::from(event.name() == "jdk.ThreadPark");
                if let Some(key) = event.key("eventThread").filter(|key| *key > 0) {
                    assert_eq!(*owners.entry(key).or_insert(chunks), chunks);
                }
            })
            .expect("readable");
        chunks += 1;
    }
    assert!(chunks > 1, "{} bytes in one chunk", bytes.len());
    assert_eq!((parks, reader.damages()), (many, &[][..]));
    the_jdk_counts(&bytes, many);
}

fn the_jdk_counts(bytes: &[u8], parks: u64) {
    let file = tempfile::NamedTempFile::with_suffix(".jfr").expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("it can be written");
    let Ok(output) = std::process::Command::new("jfr")
        .arg("summary")
        .arg(file.path())
        .output()
    else {
        println!("skipped: the JDK's `jfr` cannot be run here");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.contains("jdk.ThreadPark"));
    let count = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    assert_eq!(count, Some(parks), "{text}");
}

#[test]
fn what_a_dump_has_no_room_for_is_left_out_by_worth_and_counted() {
    let parks = (0..50_000).map(|at| park(at * 10, at % 100));
    let leaked = |at| {
        let thread = ThreadRef {
            id: at,
            name: "worker".into(),
        };
        let event = Event::MonitorLeaked {
            thread,
            lock: Some("orders".into()),
            pinned_at: None,
        };
        Record::Runtime(Recorded {
            at: Timestamp(at),
            event,
        })
    };
    let records: Vec<_> = parks.chain((0..500).map(|at| leaked(at * 1_000))).collect();
    let total = records.len() as u64;
    let mut contents = contents(records, clock::Anchor::take());
    let whole = written(&contents).len() as u64;
    contents.about.max_size = whole / 4;
    let bytes = contents.encode(InProcess::default);
    let bytes = bytes.expect("a vector takes every byte");
    assert!(
        bytes.len() as u64 <= whole / 4,
        "{} of {whole}",
        bytes.len()
    );
    let (mut counts, mut lost) = (BTreeMap::new(), 0);
    let mut reader = Reader::new(Cursor::new(&bytes)).expect("a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        let count = |event: &crate::Event<'_>| {
            *counts.entry(event.name().to_owned()).or_default() += 1_u64;
            if event.name() == "vt.EventsDropped" {
                assert_eq!(event.text("place").as_deref(), Some("dump"));
                assert_eq!(event.text("class").as_deref(), Some("parks"));
                lost += event.integer("count").unwrap_or(0).unsigned_abs();
            }
        };
        chunk.each(count).expect("readable");
    }
    let (parks, leaks) = (counts["jdk.ThreadPark"], counts["vt.MonitorLeaked"]);
    assert_eq!((leaks, parks + leaks + lost), (500, total));
    // Nearly all of the room is used.
    assert!(bytes.len() as u64 > whole / 4 * 3 / 4);
}

#[test]
fn a_step_of_the_wall_clock_moves_all_and_changes_no_length() {
    let second = 1_000_000_000;
    let records = vec![park(second, 1), park(2 * second, 1)];
    let noon = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    // Dumped at the same moment of the events' clock: once in order, once after somebody set the clock back.
    let times = [noon, noon - Duration::from_secs(7_200)].map(|wall| {
        let bytes = written(&contents(records.clone(), anchor(3 * second, wall)));
        let mut reader = Reader::new(Cursor::new(&bytes)).expect("a recording");
        let mut chunk = reader.next_chunk().expect("readable").expect("a chunk");
        let mut times = Vec::new();
        chunk
            .each(|event| {
                if event.name() == "jdk.ThreadPark" {
                    times.push((event.start_ns(), event.duration_ns()));
                }
            })
            .expect("readable");
        times
    });
    let noon = 1_800_000_000 * second as i64;
    let second = second as i64;
    let expected = [(noon - 2 * second - 500, 500), (noon - second - 500, 500)];
    assert_eq!(times[0], expected);
    let back = 7_200 * second;
    assert_eq!(
        times[1],
        expected.map(|(start, length)| (start - back, length))
    );
}
