//! The wait word under every interleaving of its owner with two who end its wait, and announcements with one who reads.

use loom::sync::Arc;
use loom::thread;

use super::announced::Versioned;
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
        let settled = word.settle(epoch, place, Allow::NOTHING);
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

#[test]
fn an_announcement_is_read_whole_or_not_at_all() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let announced = Arc::new(Versioned::<2>::new());
        let reader = {
            let announced = Arc::clone(&announced);
            thread::spawn(move || announced.read(2))
        };
        announced.write([1, 1]);
        announced.write([2, 2]);
        if let Some([one, other]) = reader.join().expect("no panic") {
            assert!(one == other && (1..=2).contains(&one), "{one} {other}");
        }
        assert_eq!(announced.read(1), Some([2, 2]));
    });
}
