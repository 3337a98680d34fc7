//! Files, as std's, without the carrier.

use std::io::{ErrorKind, IoSlice, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::mpsc;

use vt_runtime::fs::{self, File, OpenOptions};
use vt_runtime::thread;

use super::{on_both, until_it_waits};

#[test]
fn content_and_names() {
    on_both(1, |runtime| {
        let folder = tempfile::tempdir().expect("a folder");
        runtime.run(|| {
            let path = folder.path().join("file");
            assert!(!fs::exists(&path).expect("it can be told"));
            fs::write(&path, b"one\ntwo\n").expect("room");
            assert_eq!(fs::read(&path).expect("readable"), b"one\ntwo\n");
            assert_eq!(fs::read_to_string(&path).expect("text"), "one\ntwo\n");
            let copy = folder.path().join("copy");
            assert_eq!(fs::copy(&path, &copy).expect("room"), 8);
            fs::rename(&copy, folder.path().join("moved")).expect("a free name");
            fs::hard_link(&path, folder.path().join("second")).expect("the same disk");
            fs::create_dir_all(folder.path().join("a/b/c")).expect("room");
            let mut names: Vec<_> = fs::read_dir(folder.path())
                .expect("readable")
                .map(|entry| {
                    let entry = entry.expect("readable");
                    assert_eq!(
                        entry.file_type().expect("it is there").is_dir(),
                        entry.file_name() == "a"
                    );
                    entry.file_name().into_string().expect("ASCII")
                })
                .collect();
            names.sort();
            assert_eq!(names, ["a", "file", "moved", "second"]);
            fs::remove_dir_all(folder.path().join("a")).expect("it is there");
            fs::remove_file(&path).expect("it is there");
            let error = fs::metadata(&path).expect_err("it is gone");
            assert_eq!(error.kind(), ErrorKind::NotFound);
        });
        super::until(|| runtime.metrics().offload.finished > 0);
    });
}

#[test]
fn one_open_file() {
    let check = || {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut file = File::create_new(&path).expect("a new file");
        let error = File::create_new(&path).expect_err("it is there");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        file.write_all(b"0123456789").expect("room");
        let parts = [IoSlice::new(b"ab"), IoSlice::new(b"cd")];
        assert_eq!(file.write_vectored(&parts).expect("room"), 4);
        file.sync_all().expect("a disk");
        file.seek(SeekFrom::Start(8)).expect("in range");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("text");
        assert_eq!(text, "89abcd");
        assert_eq!(file.read(&mut [0; 8]).expect("the end"), 0);
        let mut bytes = [0; 3];
        file.read_exact_at(&mut bytes, 2).expect("in range");
        assert_eq!(&bytes, b"234");
        file.write_all_at(b"XY", 0).expect("in range");
        file.set_len(4).expect("shorter");
        assert_eq!(file.metadata().expect("open").len(), 4);
        assert_eq!(fs::read(&path).expect("readable"), b"XY23");
        let mut more = OpenOptions::new()
            .append(true)
            .open(&path)
            .expect("it is there");
        more.write_all(b"+").expect("room");
        assert_eq!(fs::read(&path).expect("readable"), b"XY23+");
    };
    on_both(1, |runtime| runtime.run(check));
    check();
}

#[test]
fn a_large_file_is_read_whole_in_pieces() {
    on_both(2, |runtime| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("large");
        let content: Vec<u8> = (0..2_000_000_u32).map(|n| (n % 241) as u8).collect();
        fs::write(&path, &content).expect("room");
        let readers: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                runtime.spawn(move || {
                    let mut file = File::open(path).expect("it is there");
                    let mut all = Vec::new();
                    let mut piece = [0; 4096];
                    loop {
                        match file.read(&mut piece).expect("readable") {
                            0 => return all,
                            count => all.extend_from_slice(&piece[..count]),
                        }
                    }
                })
            })
            .collect();
        for reader in readers {
            assert!(reader.join().expect("no panic") == content);
        }
    });
}

/// Read so often that the kernel is not asked any more whether a read would have to wait, alone and then with neighbours.
#[test]
fn a_warm_file_is_read_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let content: Vec<u8> = (0..1000_u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&path, &content).expect("room");
    on_both(2, |runtime| {
        let check = || {
            let mut file = File::open(&path).expect("readable");
            for round in 0..300_usize {
                let mut four = [0; 4];
                let at = round * 7 % 1000 * 4;
                file.read_exact_at(&mut four, at as u64).expect("whole");
                assert_eq!(four, content[at..at + 4]);
                file.read_exact(&mut four).expect("whole");
                assert_eq!(four, content[round * 4..][..4]);
            }
            let error = file.read_exact_at(&mut [0; 8], 3996);
            let kind = error.expect_err("only four bytes are left").kind();
            assert_eq!(kind, ErrorKind::UnexpectedEof);
            assert_eq!(file.read_at(&mut [0; 8], 4000).expect("the end"), 0);
            file.seek(SeekFrom::End(-2)).expect("a place");
            assert_eq!(file.read(&mut [0; 8]).expect("the rest"), 2);
            let written_only =
                File::from(std::fs::File::create(folder.path().join("new")).expect("room"));
            assert!(written_only.read_at(&mut [0; 8], 0).is_err());
        };
        runtime.run(check);
        runtime.run(|| {
            thread::scope(|scope| {
                for _neighbour in 0..4 {
                    scope.spawn(check);
                }
            });
        });
    });
}

#[test]
fn a_pipe_that_nobody_fills_keeps_no_carrier() {
    on_both(1, |runtime| {
        let (reader, mut writer) = std::io::pipe().expect("descriptors");
        let reads = runtime.spawn(move || {
            let mut byte = [0; 1];
            File::from(OwnedFd::from(reader))
                .read_exact(&mut byte)
                .expect("a byte comes");
            byte[0]
        });
        until_it_waits(runtime, reads.thread().id());
        runtime.spawn(|| ()).join().expect("the carrier is free");
        writer.write_all(b"!").expect("somebody reads");
        assert_eq!(reads.join().expect("no panic"), b'!');
    });
}

#[test]
fn a_lock_on_a_file_is_waited_for() {
    on_both(1, |runtime| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("locked");
        let holder = File::create(&path).expect("a new file");
        holder.lock().expect("nobody has it");
        let (tried, has_tried) = mpsc::channel();
        let waits = runtime.spawn(move || {
            let other = File::open(path).expect("it is there");
            other.try_lock().expect_err("somebody has it");
            tried.send(()).expect("the test listens");
            other.lock().expect("it comes free");
        });
        has_tried.recv().expect("it runs");
        until_it_waits(runtime, waits.thread().id());
        holder.unlock().expect("it is ours");
        waits.join().expect("no panic");
    });
}

#[test]
fn a_full_disk_is_an_error() {
    on_both(1, |runtime| {
        runtime.run(|| {
            let mut full = OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .expect("Linux has it");
            let error = full.write_all(b"x").expect_err("it is full");
            assert_eq!(error.kind(), ErrorKind::StorageFull);
            assert!(thread::is_virtual());
        });
    });
}
