//! Threads as a tree.

use std::sync::Arc;

use super::on_both;
use crate::sync::Semaphore;
use crate::task::ThreadTree;
use crate::thread::{Builder, JoinHandle};

fn named(name: &str, f: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let builder = Builder::new().name(name.to_owned());
    builder.spawn(f).expect("a thread")
}

#[test]
fn threads_stand_below_those_that_spawned_them_in_the_order_of_their_birth() {
    on_both(1, |runtime| {
        let (gate, ready) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (opens, counts) = (Arc::clone(&gate), Arc::clone(&ready));
        let waits = move || {
            let (gate, ready) = (Arc::clone(&gate), Arc::clone(&ready));
            move || {
                ready.add_permits(1);
                gate.acquire().forget();
            }
        };
        let owner = Builder::new().name("owner".to_owned());
        let owner = owner.spawn_in(runtime, move || {
            let (leaf, next, second) = (waits(), waits(), waits());
            let first = named("first", move || {
                let below = named("below", move || {
                    named("deepest", leaf).join().expect("it ends")
                });
                let beside = named("beside", next);
                below.join().expect("it ends");
                beside.join().expect("it ends");
            });
            let second = named("second", second);
            first.join().expect("it ends");
            second.join().expect("it ends");
        });
        counts.acquire_many(3).forget();
        let tree = ThreadTree::new(runtime.threads()).to_string();
        let shape: Vec<_> = tree
            .lines()
            .map(|line| {
                let text = line.trim_start();
                let name = text.split(' ').nth(1).expect("a name");
                (line.len() - text.len(), name)
            })
            .collect();
        let expected = [
            (0, "owner"),
            (2, "first"),
            (4, "below"),
            (6, "deepest"),
            (4, "beside"),
            (2, "second"),
        ];
        assert_eq!(shape, expected, "{tree}");
        opens.add_permits(3);
        owner.expect("a thread").join().expect("no panic");
    });
}
