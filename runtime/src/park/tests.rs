//! The wait word, step by step.

use super::word::{Allow, End, Ended, Place, WaitWord};

#[test]
fn a_wake_before_the_stop_is_kept() {
    let word = WaitWord::new();
    let epoch = word.prepare(Allow::NOTHING);
    assert_eq!(word.end(epoch, End::Done), Ended::Noted);
    assert_eq!(
        word.settle(epoch, Place::Unmounted, Allow::NOTHING),
        Err(End::Done)
    );
}

#[test]
fn exactly_one_end_wins() {
    let word = WaitWord::new();
    let epoch = word.prepare(Allow::NOTHING);
    word.settle(epoch, Place::Unmounted, Allow::NOTHING)
        .expect("nobody ended it");
    assert_eq!(word.end(epoch, End::Timeout), Ended::Schedule);
    assert_eq!(word.end(epoch, End::Done), Ended::Missed);
    assert_eq!(word.ended(), Some(End::Timeout));
}

#[test]
fn an_old_epoch_misses() {
    let word = WaitWord::new();
    let first = word.prepare(Allow::NOTHING);
    word.close();
    let second = word.prepare(Allow::NOTHING);
    assert_ne!(first, second);
    assert_eq!(word.end(first, End::Done), Ended::Missed);
    assert_eq!(word.ended(), None);
}

#[test]
fn an_interrupt_ends_only_waits_that_allow_it() {
    let word = WaitWord::new();
    let epoch = word.prepare(Allow::NOTHING);
    assert_eq!(word.end_any(End::Interrupted), Ended::Missed);
    word.settle(epoch, Place::Held, Allow::INTERRUPT)
        .expect("nobody ended it");
    assert_eq!(word.end_any(End::Cancelled), Ended::Missed);
    assert_eq!(word.end_any(End::Interrupted), Ended::Signal);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_record_fits_into_the_allocators_chunk_of_272_bytes() {
    // With the two counts of its handle and the allocator's word; the next chunk is 16 bytes larger, for each thread.
    let words = size_of::<super::Record>() / size_of::<usize>() + 3;
    assert!(words <= 34, "{words} words");
}
