//! The ring's promises: order, exact counts under laps, no torn record under a concurrent writer.

use std::sync::atomic::AtomicBool;
use std::thread;

use super::*;

/// Writes a record of `body` words, each a function of its number and place.
fn write(ring: &Ring, number: u64, body: usize) -> bool {
    let mut record = ring.begin(7, body);
    for i in 0..body {
        record.put(pattern(number, i));
    }
    record.commit()
}

fn pattern(number: u64, i: usize) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i as u64
}

/// A body length that differs from record to record.
fn body_of(number: u64) -> usize {
    2 + (number % 5) as usize * 7
}

/// Reads everything, checks each record against its pattern, returns the numbers seen.
fn drain(ring: &Ring, cursor: &mut Cursor, lost: &mut u64) -> Vec<u64> {
    let (mut body, mut seen) = (Vec::new(), Vec::new());
    let until = ring.head();
    while let Some(header) = ring.read(cursor, until, &mut body, lost) {
        let number = header.number();
        assert_eq!(header.kind(), 7);
        assert_eq!(body.len(), body_of(number));
        for (i, word) in body.iter().enumerate() {
            assert_eq!(*word, pattern(number, i), "record {number} is torn");
        }
        seen.push(number);
    }
    seen
}

#[test]
fn records_come_out_in_order() {
    let ring = Ring::new(0);
    let (mut cursor, mut lost) = (Cursor::FROM_START, 0);
    for number in 0..10 {
        write(&ring, number, body_of(number));
    }
    assert!(ring.has_news(&cursor));
    assert_eq!(
        drain(&ring, &mut cursor, &mut lost),
        (0..10).collect::<Vec<_>>()
    );
    assert!(!ring.has_news(&cursor));
    assert_eq!(lost, 0);
}

#[test]
fn a_lapped_reader_gets_the_newest_and_the_exact_count_of_the_rest() {
    let ring = Ring::new(0);
    let (mut cursor, mut lost) = (Cursor::FROM_START, 0);
    for number in 0..1000 {
        write(&ring, number, body_of(number));
    }
    let seen = drain(&ring, &mut cursor, &mut lost);
    assert!(
        seen.len() >= MIN_WORDS / (2 * body_of(4)),
        "a full ring is mostly used: {}",
        seen.len()
    );
    assert_eq!(seen.last(), Some(&999));
    assert_eq!(lost + seen.len() as u64, 1000);
}

#[test]
fn two_readers_do_not_disturb_each_other() {
    let ring = Ring::new(0);
    let (mut early, mut late) = (Cursor::FROM_START, Cursor::FROM_START);
    let (mut early_lost, mut late_lost) = (0, 0);
    let mut early_seen = 0;
    for number in 0..100 {
        write(&ring, number, body_of(number));
        early_seen += drain(&ring, &mut early, &mut early_lost).len();
    }
    let late_seen = drain(&ring, &mut late, &mut late_lost).len() as u64;
    assert_eq!((early_seen, early_lost), (100, 0));
    assert_eq!(late_seen + late_lost, 100);
}

#[test]
fn a_reader_that_joins_late_owes_nothing_for_what_is_gone() {
    let ring = Ring::new(0);
    for number in 0..1000 {
        write(&ring, number, body_of(number));
    }
    let (mut cursor, mut lost) = (ring.oldest(), 0);
    let seen = drain(&ring, &mut cursor, &mut lost);
    assert_eq!((seen.last(), lost), (Some(&999), 0));
    for number in 1000..2000 {
        write(&ring, number, body_of(number));
    }
    let seen = drain(&ring, &mut cursor, &mut lost).len() as u64;
    assert_eq!(seen + lost, 1000);
}

#[test]
fn skipped_records_are_not_missed() {
    let ring = Ring::new(0);
    let (mut cursor, mut lost) = (Cursor::FROM_START, 0);
    for number in 0..1000 {
        write(&ring, number, body_of(number));
    }
    ring.skip(&mut cursor);
    assert!(!ring.has_news(&cursor));
    write(&ring, 1000, body_of(1000));
    assert_eq!(drain(&ring, &mut cursor, &mut lost), [1000]);
    assert_eq!(lost, 0);
}

#[test]
fn an_abandoned_record_never_was() {
    let ring = Ring::new(0);
    let (mut cursor, mut lost) = (Cursor::FROM_START, 0);
    write(&ring, 0, body_of(0));
    let mut record = ring.begin(7, 3);
    record.put(1);
    drop(record);
    write(&ring, 1, body_of(1));
    assert_eq!(drain(&ring, &mut cursor, &mut lost), [0, 1]);
    assert_eq!(lost, 0);
}

#[test]
fn concurrent_readers_see_whole_records_and_account_for_every_one() {
    const RECORDS: u64 = if cfg!(miri) { 300 } else { 300_000 };
    let ring = Ring::new(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (mut cursor, mut lost, mut seen, mut last) = (Cursor::FROM_START, 0, 0, None);
                loop {
                    let ended = done.load(Ordering::Acquire);
                    for number in drain(&ring, &mut cursor, &mut lost) {
                        assert!(last < Some(number), "{number} after {last:?}");
                        last = Some(number);
                        seen += 1;
                    }
                    if ended {
                        break;
                    }
                }
                assert_eq!(seen + lost, RECORDS);
                assert_eq!(last, Some(RECORDS - 1));
            });
        }
        for number in 0..RECORDS {
            write(&ring, number, body_of(number));
        }
        done.store(true, Ordering::Release);
    });
}

#[test]
fn a_copy_that_was_overwritten_meanwhile_is_known() {
    let ring = Ring::new(0);
    write(&ring, 0, body_of(0));
    let mut body = Vec::new();
    let (header, _) = ring.copy(0, &mut body);
    assert!(ring.was_intact(0));
    assert_eq!((header.number(), body.len()), (0, body_of(0)));
    let mut number = 1;
    while ring.head() <= MIN_WORDS as u64 {
        assert!(
            ring.was_intact(0),
            "record {number} needs no room of record 0"
        );
        write(&ring, number, body_of(number));
        number += 1;
    }
    assert!(!ring.was_intact(0));
}

#[test]
fn every_full_half_is_told_once() {
    let ring = Ring::new(0);
    let (mut words, mut told) = (0, 0);
    for number in 0..1000 {
        told += u64::from(write(&ring, number, body_of(number)));
        words += body_of(number) as u64 + 1;
        assert_eq!(told, words / (MIN_WORDS as u64 / 2));
    }
}
