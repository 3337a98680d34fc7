//! Both ways between virtual threads and an async runtime, here tokio: a thread drives a future that needs tokio's timers
//! and sockets, and a task awaits a thread.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use vt_runtime::future::{block_on, block_on_with};
use vt_runtime::{Stacks, pinned, thread};
use vt_tests::{Deadline, runtime};

fn tokio_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a worker can be started")
}

#[test]
fn futures_of_tokio_are_driven_by_virtual_threads() {
    let _alive = Deadline::standard();
    let tokio = tokio_runtime();
    for stacks in [Stacks::Dense, Stacks::Generator] {
        let (virtual_threads, capture) = runtime(stacks, 2);
        let (listener, address) = tokio.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
            let listener = listener.expect("a free port");
            let address = listener.local_addr().expect("bound");
            (listener, address)
        });
        tokio.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    tokio::io::copy(&mut read, &mut write).await
                });
            }
        });
        let threads: Vec<_> = (0..200_u32)
            .map(|number| {
                let handle = tokio.handle().clone();
                virtual_threads.spawn(move || {
                    let answer = block_on_with(|| handle.enter(), async move {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                        let stream = tokio::net::TcpStream::connect(address).await;
                        let mut stream = stream.expect("it listens");
                        stream.write_all(&number.to_be_bytes()).await?;
                        let mut answer = [0; 4];
                        stream.read_exact(&mut answer).await?;
                        std::io::Result::Ok(u32::from_be_bytes(answer))
                    });
                    assert!(!pinned::is_pinned());
                    // The guard is gone: the carrier's next thread is outside of tokio.
                    assert!(tokio::runtime::Handle::try_current().is_err());
                    answer.expect("the echo answers")
                })
            })
            .collect();
        for (number, thread) in threads.into_iter().enumerate() {
            assert_eq!(thread.join().expect("no panic") as usize, number);
        }
        let pins = capture.pinned(&virtual_threads);
        assert!(pins.is_empty(), "a poll waited by itself: {pins:?}");
    }
}

/// What only wakes its task (channels, locks, join handles) needs no handle: `block_on` alone drives it.
#[test]
fn tokios_channels_connect_threads_and_tasks() {
    let _alive = Deadline::standard();
    let tokio = tokio_runtime();
    for stacks in [Stacks::Dense, Stacks::Generator] {
        let (virtual_threads, _) = runtime(stacks, 2);
        let (to_task, mut from_thread) = tokio::sync::mpsc::channel::<u64>(4);
        let (to_thread, mut from_task) = tokio::sync::mpsc::channel::<u64>(4);
        let task = tokio.spawn(async move {
            while let Some(number) = from_thread.recv().await {
                to_thread
                    .send(number * 2)
                    .await
                    .expect("the thread listens");
            }
        });
        let thread = virtual_threads.spawn(move || {
            let mut sum = 0;
            for number in 0..500 {
                block_on(to_task.send(number)).expect("the task listens");
                sum += block_on(from_task.recv()).expect("the task answers");
            }
            drop(to_task);
            block_on(task).expect("no panic");
            sum
        });
        assert_eq!(thread.join().expect("no panic"), 499 * 500);
    }
}

#[test]
fn tasks_of_tokio_await_virtual_threads() {
    let _alive = Deadline::standard();
    let tokio = tokio_runtime();
    for stacks in [Stacks::Dense, Stacks::Generator] {
        let (virtual_threads, _) = runtime(stacks, 2);
        let threads: Vec<_> = (0..200_u64)
            .map(|number| {
                virtual_threads.spawn(move || {
                    thread::sleep(Duration::from_millis(number % 7));
                    number
                })
            })
            .collect();
        let panics = virtual_threads.spawn(|| panic!("on purpose"));
        let forgotten = virtual_threads.spawn(thread::park);
        let sum = tokio.block_on(async {
            let task = tokio::spawn(async move {
                let mut sum = 0;
                for thread in threads {
                    sum += thread.await.expect("no panic");
                }
                sum
            });
            let payload = panics.await.expect_err("it panics");
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
            // The other branch of a race drops the future, which detaches the thread.
            let unpark = forgotten.thread().clone();
            let waited =
                tokio::time::timeout(Duration::from_millis(1), forgotten.into_future()).await;
            assert!(waited.is_err());
            unpark.unpark();
            task.await.expect("no panic")
        });
        assert_eq!(sum, 199 * 200 / 2);
    }
}
