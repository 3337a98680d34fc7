//! Records of ended threads, to be used again: a spawn allocates none while some are at hand.
//!
//! Whoever holds the last handle of a record gives it here: mostly the joiner, else the carrier that ran the thread.
//! Each OS thread keeps some at hand; what is too many there goes to all, a handful at a time.

use std::cell::RefCell;
use std::sync::Arc;

use parking_lot::Mutex;

use super::record::Record;

/// Records an OS thread keeps at hand, and how many go elsewhere at a time.
const AT_HAND: usize = 256;
const HANDFUL: usize = AT_HAND / 2;
/// Most records kept elsewhere: about two megabytes.
const MOST: usize = 8192;

thread_local! {
    static HAND: RefCell<Vec<Arc<Record>>> = const { RefCell::new(Vec::new()) };
}

static ELSEWHERE: Mutex<Vec<Arc<Record>>> = Mutex::new(Vec::new());

/// A handle of `record`, in memory that served another one where there is some.
pub(super) fn make(record: Record) -> Arc<Record> {
    let used = HAND.try_with(|hand| {
        let mut hand = hand.borrow_mut();
        if hand.is_empty() {
            let mut elsewhere = ELSEWHERE.lock();
            let rest = elsewhere.len().saturating_sub(HANDFUL);
            hand.extend(elsewhere.drain(rest..));
        }
        hand.pop()
    });
    let Some(mut used) = used.ok().flatten() else {
        return Arc::new(record);
    };
    match Arc::get_mut(&mut used) {
        Some(place) => {
            *place = record;
            used
        }
        // Only handles that nobody shares are kept.
        None => Arc::new(record),
    }
}

/// Lets a handle go. If it is the last one, its memory is kept.
pub(crate) fn let_go(mut record: Arc<Record>) {
    let Some(last) = Arc::get_mut(&mut record) else {
        return;
    };
    // Dropped before anything is borrowed here: the last handle of a runtime may be in it.
    *last = Record::nobody();
    // An OS thread that is ending keeps nothing.
    let _ = HAND.try_with(|hand| {
        let mut hand = hand.borrow_mut();
        if hand.len() >= AT_HAND {
            let mut elsewhere = ELSEWHERE.lock();
            if elsewhere.len() < MOST {
                elsewhere.extend(hand.drain(..HANDFUL));
            } else {
                return;
            }
        }
        hand.push(record);
    });
}
