//! The semaphore: no permit is lost, none is invented, and big requests are neither overtaken nor in the way.

use std::sync::Arc;

use crate::sync::Semaphore;
use crate::{model, on};

pub(crate) fn semaphore(permits: u32) -> Arc<Semaphore> {
    let semaphore = Arc::new(Semaphore::new(permits));
    assert_eq!(semaphore.available_permits(), u64::from(permits));
    semaphore
}

#[test]
fn permits_are_kept() {
    model(1, 0, || {
        let semaphore = semaphore(1);
        (0..3)
            .map(|_| {
                let semaphore = Arc::clone(&semaphore);
                on(None, move || drop(semaphore.acquire()))
            })
            .collect()
    });
}

#[test]
fn a_request_for_two_and_two_for_one_are_all_served() {
    model(1, 0, || {
        let semaphore = semaphore(2);
        [2, 1, 1]
            .map(|count| {
                let semaphore = Arc::clone(&semaphore);
                on(None, move || drop(semaphore.acquire_many(count)))
            })
            .into()
    });
}

#[test]
fn one_release_of_two_serves_two() {
    model(1, 0, || {
        let semaphore = semaphore(0);
        let (one, two) = (Arc::clone(&semaphore), Arc::clone(&semaphore));
        vec![
            on(None, move || one.acquire().forget()),
            on(None, move || two.acquire().forget()),
            on(None, move || semaphore.add_permits(2)),
        ]
    });
}
