//! The ring under every interleaving of a writer and a reader (run with `--cfg loom`): no torn record, and
//! what is seen and what is missed add up.

use ::loom::sync::Arc;
use ::loom::thread;

use super::*;

/// Records in the model: one more than the ring holds, so that the first is overwritten.
const RECORDS: u64 = 4;

/// Words of the ring: room for three records and a bit.
const WORDS: usize = 8;

fn write(ring: &Ring, number: u64) {
    let mut record = ring.begin(0, 1);
    record.put(number + 100);
    record.commit();
}

fn drain(ring: &Ring, cursor: &mut Cursor, lost: &mut u64) -> u64 {
    let (mut body, mut seen) = (Vec::new(), 0);
    let until = ring.head();
    while let Some(header) = ring.read(cursor, until, &mut body, lost) {
        assert_eq!(body, [header.number() + 100], "a torn record");
        seen += 1;
    }
    seen
}

#[test]
fn a_reader_beside_the_writer_sees_whole_records_and_counts_the_rest() {
    let mut model = ::loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let ring = Arc::new(Ring::of_exactly(WORDS));
        // The ring is nearly full before the race begins.
        write(&ring, 0);
        write(&ring, 1);
        write(&ring, 2);
        let writer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || (3..3 + RECORDS).for_each(|number| write(&ring, number)))
        };
        let (mut cursor, mut lost) = (Cursor::FROM_START, 0);
        let mut seen = drain(&ring, &mut cursor, &mut lost);
        writer.join().expect("the writer ends");
        seen += drain(&ring, &mut cursor, &mut lost);
        assert_eq!(seen + lost, 3 + RECORDS);
    });
}
