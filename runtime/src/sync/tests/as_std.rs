//! One program for each thing that std documents of its locks, cells and channels, compiled twice: with std's import and
//! with ours. Nothing else changes.

/// The same functions over std and over this crate.
macro_rules! on_both {
    ($($programs:item)*) => {
        #[expect(clippy::disallowed_methods, reason = "std's own way, for comparison")]
        mod std_itself {
            use std::{sync, thread};
            $($programs)*
        }

        mod ours {
            use crate::{sync, thread};
            $($programs)*
        }
    };
}

on_both! {
    use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;
    use self::sync::mpsc::{
        Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryRecvError, TrySendError, channel, sync_channel,
    };
    use self::sync::{
        Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard, TryLockError,
    };

    static COUNT: Mutex<u32> = Mutex::new(0);
    static TEXT: LazyLock<String> = LazyLock::new(|| "made once".to_owned());
    static CELL: OnceLock<u32> = OnceLock::new();
    static ONCE: Once = Once::new();

    #[test]
    fn a_mutex_counts_and_tells_who_reached_the_end() {
        const THREADS: u32 = 10;
        let (sender, receiver) = channel();
        for _ in 0..THREADS {
            let sender = sender.clone();
            thread::spawn(move || {
                let mut count = COUNT.lock().unwrap();
                *count += 1;
                if *count == THREADS {
                    sender.send(*count).unwrap();
                }
            });
        }
        assert_eq!(receiver.recv(), Ok(THREADS));
    }

    #[test]
    fn a_mutex_is_poisoned_by_a_panic_and_can_be_mended() {
        let mutex = Arc::new(Mutex::new(1));
        let other = Arc::clone(&mutex);
        let failed = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("on purpose");
        });
        assert!(failed.join().is_err());
        assert!(mutex.is_poisoned());
        assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_))));
        let mut guard = mutex.lock().unwrap_or_else(|poisoned| {
            mutex.clear_poison();
            poisoned.into_inner()
        });
        *guard += 1;
        assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
        drop(guard);
        let mut mutex = Arc::try_unwrap(mutex).unwrap();
        *mutex.get_mut().unwrap() += 1;
        assert_eq!(mutex.into_inner().unwrap(), 3);
        let from: Mutex<_> = "x".into();
        assert_eq!(format!("{:?}", from.lock().unwrap()), "\"x\"");
        assert_eq!(*Mutex::<u8>::default().lock().unwrap(), 0);
    }

    #[test]
    fn a_rw_lock_has_many_readers_or_one_writer() {
        let lock = RwLock::new(5);
        {
            let (one, two) = (lock.read().unwrap(), lock.read().unwrap());
            assert_eq!((*one, *two), (5, 5));
            assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        }
        {
            let mut writer = lock.write().unwrap();
            *writer += 1;
            assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
        }
        assert_eq!(*lock.try_read().unwrap(), 6);
        {
            let mut writer = lock.write().unwrap();
            *writer += 1;
            let reader = RwLockWriteGuard::downgrade(writer);
            assert_eq!((*reader, *lock.try_read().unwrap()), (7, 7));
        }
        let lock = Arc::new(lock);
        let other = Arc::clone(&lock);
        let failed = thread::spawn(move || {
            let _writer = other.write().unwrap();
            panic!("on purpose");
        });
        assert!(failed.join().is_err());
        assert!(lock.is_poisoned() && lock.read().is_err());
        lock.clear_poison();
        let mut lock = Arc::try_unwrap(lock).unwrap();
        *lock.get_mut().unwrap() = 9;
        assert_eq!(lock.into_inner().unwrap(), 9);
    }

    #[test]
    fn a_condvar_waits_for_a_flag_in_each_of_its_ways() {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let start = |pair: &Arc<(Mutex<bool>, Condvar)>| {
            let pair = Arc::clone(pair);
            thread::spawn(move || {
                *pair.0.lock().unwrap() = true;
                pair.1.notify_one();
            })
        };
        let started = start(&pair);
        let mut is_set = pair.0.lock().unwrap();
        while !*is_set {
            is_set = pair.1.wait(is_set).unwrap();
        }
        *is_set = false;
        drop(is_set);
        started.join().unwrap();

        let started = start(&pair);
        let is_set = pair.1.wait_while(pair.0.lock().unwrap(), |is_set| !*is_set).unwrap();
        assert!(*is_set);
        drop(is_set);
        started.join().unwrap();

        let long = Duration::from_secs(30);
        let waited = pair.1.wait_timeout_while(pair.0.lock().unwrap(), long, |is_set| !*is_set);
        let (mut is_set, ended) = waited.unwrap();
        assert!(*is_set && !ended.timed_out());
        *is_set = false;
        let (is_set, ended) = pair.1.wait_timeout(is_set, Duration::from_millis(1)).unwrap();
        assert!(!*is_set && ended.timed_out());
        pair.1.notify_all();
    }

    #[test]
    fn a_barrier_lets_all_go_together() {
        const THREADS: usize = 10;
        let barrier = Arc::new(Barrier::new(THREADS));
        let before = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (barrier, before) = (Arc::clone(&barrier), Arc::clone(&before));
                thread::spawn(move || {
                    before.fetch_add(1, Ordering::SeqCst);
                    let result = barrier.wait();
                    assert_eq!(before.load(Ordering::SeqCst), THREADS);
                    result.is_leader()
                })
            })
            .collect();
        let led = threads.into_iter().map(|thread| thread.join().unwrap());
        assert_eq!(led.filter(|led| *led).count(), 1);
    }

    #[test]
    fn a_once_runs_once_and_is_poisoned_by_a_panic() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        for _ in 0..3 {
            ONCE.call_once(|| {
                RUNS.fetch_add(1, Ordering::SeqCst);
            });
        }
        ONCE.wait();
        assert!(ONCE.is_completed());
        assert_eq!(RUNS.load(Ordering::SeqCst), 1);

        let once = Once::new();
        assert!(catch_unwind(|| once.call_once(|| panic!("on purpose"))).is_err());
        assert!(catch_unwind(|| once.call_once(|| {})).is_err(), "it stays poisoned");
        assert!(catch_unwind(|| once.wait()).is_err());
        let once = Arc::new(once);
        let other = Arc::clone(&once);
        let waits = thread::spawn(move || other.wait_force());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        waits.join().unwrap();
        once.wait_force();
        once.call_once_force(|_| unreachable!("it has run"));
    }

    #[test]
    fn a_lazy_value_is_looked_at_and_changed() {
        let mut lazy = LazyLock::new(|| 5);
        assert_eq!(LazyLock::get(&lazy), None);
        assert_eq!(LazyLock::get_mut(&mut lazy), None);
        *LazyLock::force_mut(&mut lazy) += 1;
        *lazy += 1;
        *LazyLock::get_mut(&mut lazy).unwrap() += 1;
        assert_eq!(LazyLock::get(&lazy), Some(&8));
        let mut failing = LazyLock::new(|| -> u32 { panic!("on purpose") });
        assert!(catch_unwind(|| *failing).is_err());
        assert_eq!(LazyLock::get_mut(&mut failing), None);
    }

    #[test]
    fn a_panic_may_pass_by_them() {
        fn may<T: UnwindSafe + RefUnwindSafe>() {}
        may::<Mutex<Sender<u32>>>();
        may::<RwLock<u32>>();
        may::<Condvar>();
        may::<Once>();
        may::<OnceLock<u32>>();
        may::<LazyLock<u32>>();
        may::<Barrier>();
        may::<Sender<u32>>();
        may::<SyncSender<u32>>();
        may::<Receiver<u32>>();
    }

    #[test]
    fn a_once_lock_is_set_once() {
        assert_eq!(CELL.get(), None);
        assert_eq!(*CELL.get_or_init(|| 12), 12);
        assert_eq!(CELL.set(13), Err(13));
        assert_eq!(*CELL.wait(), 12);
        let mut cell = OnceLock::new();
        assert_eq!(cell.set(1), Ok(()));
        *cell.get_mut().unwrap() += 1;
        assert_eq!(cell.clone(), cell);
        assert_eq!(cell.take(), Some(2));
        assert_eq!(cell.get(), None);
        assert_eq!(OnceLock::from(3).into_inner(), Some(3));
    }

    #[test]
    fn a_lazy_lock_is_made_at_its_first_use() {
        let length = thread::spawn(|| TEXT.len());
        assert_eq!(length.join().unwrap(), TEXT.len());
        let runs = AtomicUsize::new(0);
        let lazy = LazyLock::new(|| runs.fetch_add(1, Ordering::SeqCst) + 41);
        assert_eq!(runs.load(Ordering::SeqCst), 0);
        assert_eq!((*LazyLock::force(&lazy), *lazy), (41, 41));
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_channel_has_many_senders_and_ends_with_them() {
        let (sender, receiver) = channel();
        for n in 0..10 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap());
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 45);
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        let (sender, receiver) = channel();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        let short = Duration::from_millis(1);
        assert_eq!(receiver.recv_timeout(short), Err(RecvTimeoutError::Timeout));
        sender.send('a').unwrap();
        sender.send('b').unwrap();
        assert!(receiver.try_iter().eq("ab".chars()));
        sender.send('c').unwrap();
        drop(sender);
        assert!(receiver.into_iter().eq("c".chars()));
        let (sender, receiver) = channel();
        drop(receiver);
        assert_eq!(sender.send(1), Err(SendError(1)));
    }

    #[test]
    fn a_sync_channel_holds_as_many_as_it_says_and_none_with_0() {
        let (sender, receiver) = sync_channel(1);
        sender.send(1).unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        let waits = thread::spawn(move || {
            sender.send(3).unwrap();
            sender
        });
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(3)));
        let sender = waits.join().unwrap();
        drop(receiver);
        assert_eq!(sender.try_send(4), Err(TrySendError::Disconnected(4)));

        let (sender, receiver) = sync_channel(0);
        assert_eq!(sender.try_send(5), Err(TrySendError::Full(5)));
        let hands = thread::spawn(move || sender.send(6));
        assert_eq!(receiver.recv_timeout(Duration::from_secs(30)), Ok(6));
        assert_eq!(hands.join().unwrap(), Ok(()));
    }

    #[test]
    fn borrowed_locks_work_in_a_scope() {
        let total = Mutex::new(0);
        thread::scope(|scope| {
            for n in 0..10 {
                let total = &total;
                scope.spawn(move || *total.lock().unwrap() += n);
            }
        });
        assert_eq!(total.into_inner().unwrap(), 45);
    }
}
