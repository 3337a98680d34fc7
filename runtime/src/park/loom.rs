//! The wait word under loom.

//! The word under every interleaving of its owner with two who end its wait.

use loom::sync::Arc;
use loom::thread;

use super::word::{Allow, End, Ended, Place, WaitWord};

/// What the owner's carrier and the enders did, taken together.
fn play(place: Place) {
    loom::model(move || {
        let word = Arc::new(WaitWord::new());
        let epoch = word.prepare(Allow::NOTHING);
        let enders: Vec<_> = [End::Done, End::Timeout]
            .into_iter()
            .map(|end| {
                let word = Arc::clone(&word);
                thread::spawn(move || word.end(epoch, end))
            })
            .collect();
        let settled = word.settle(epoch, place);
        let ended: Vec<_> = enders
            .into_iter()
            .map(|ender| ender.join().expect("no panic"))
            .collect();
        let acts = |wanted: Ended| ended.iter().filter(|&&ended| ended == wanted).count();
        // Exactly one of them ended the wait.
        assert_eq!(acts(Ended::Missed), 1, "{ended:?}");
        // The thread goes on exactly once: because it never stopped, or because the one who ended it says so.
        let resumed = acts(Ended::Schedule) + acts(Ended::Signal);
        assert_eq!(
            resumed + usize::from(settled.is_err()),
            1,
            "{settled:?} {ended:?}"
        );
        assert_eq!(
            acts(Ended::Signal) == 1,
            settled.is_ok() && place == Place::Held
        );
        assert!(word.ended().is_some());
    });
}

#[test]
fn a_wake_is_neither_lost_nor_doubled_when_it_unmounts() {
    play(Place::Unmounted);
}

#[test]
fn nor_when_it_keeps_its_carrier() {
    play(Place::Held);
}
