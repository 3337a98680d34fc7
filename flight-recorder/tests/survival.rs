//! What must not hurt: a process killed in the middle of a dump, a full disk, full rings.

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use scene::{LIMIT, events, pins, within};
use vt_flight_recorder::{FlightRecorder, Reader, Settings};
use vt_runtime::{Runtime, pinned, thread};

/// Makes that many pins, each over at once.
fn flood(runtime: &Runtime, pins: u64) {
    runtime.run(|| {
        for _ in 0..pins {
            pinned::critical("flood", || thread::sleep(Duration::from_nanos(1)));
        }
    });
}

/// A child process; killed when the test ends, however it does.
struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const PINS: u64 = 2_000;

#[test]
fn a_dump_that_is_killed_leaves_the_old_one_whole() {
    within(LIMIT, || {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("again.jfr");
        let names = || -> Vec<String> {
            let entries = std::fs::read_dir(folder.path()).expect("listable");
            let name =
                |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
            entries
                .map(|entry| name(entry).to_string_lossy().into_owned())
                .collect()
        };
        let mut killed_within = 0;
        for _ in 0..4 {
            let child = Command::new(std::env::current_exe().expect("the test's own path"))
                .args(["--exact", "dumps_until_it_is_killed", "--ignored"])
                .env("VT_TEST_DUMP", &path)
                .spawn();
            let mut child = Victim(child.expect("the test can run itself"));
            let making = format!(".vt-flight-{}-", child.0.id());
            // A dump is there, and the next one is in the making.
            while !(path.exists() && names().iter().any(|name| name.starts_with(&making))) {
                let ended = child.0.try_wait().expect("it is our child");
                assert_eq!(ended, None, "it ended before it was killed");
                std::thread::yield_now();
            }
            child.0.kill().expect("it can be killed");
            child.0.wait().expect("it was killed");
            let bytes = std::fs::read(&path).expect("the last whole dump is there");
            assert_eq!(pins(&bytes).len() as u64 + lost(&bytes), PINS);
            killed_within += u32::from(names().iter().any(|name| name.starts_with(&making)));
            std::fs::remove_file(&path).expect("it is there");
        }
        // What is left has a name that tells of whom, and goes with a later dump once it is old.
        println!("{killed_within} of 4 were killed within a dump");
        for name in names() {
            let file = std::fs::File::options()
                .write(true)
                .open(folder.path().join(name));
            let old = std::time::SystemTime::now() - Duration::from_secs(3_600);
            file.expect("it is there")
                .set_modified(old)
                .expect("a time for it");
        }
        let runtime = Runtime::builder().carriers(1).build().expect("a carrier");
        let builder = FlightRecorder::builder().runtime(&runtime);
        let (_layer, recorder) = builder.install().expect("it starts");
        recorder.dump(&path).expect("it is written");
        assert_eq!(names(), ["again.jfr"]);
    });
}

#[test]
#[ignore = "the child of a_dump_that_is_killed_leaves_the_old_one_whole"]
fn dumps_until_it_is_killed() {
    let path = std::env::var_os("VT_TEST_DUMP").expect("the parent says where");
    let runtime = Runtime::builder().carriers(1).build().expect("a carrier");
    let builder = FlightRecorder::builder().runtime(&runtime);
    let (_layer, recorder) = builder
        .settings(Settings::test())
        .install()
        .expect("it starts");
    flood(&runtime, PINS);
    loop {
        recorder.dump(&path).expect("it is written");
    }
}

/// Records of pins that a dump says are lost.
fn lost(bytes: &[u8]) -> u64 {
    let mut lost = 0;
    let mut reader = Reader::new(std::io::Cursor::new(bytes)).expect("a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        chunk
            .each(|event| {
                if event.name() == "vt.EventsDropped"
                    && event.text("class").as_deref() == Some("pins")
                {
                    lost += event.integer("count").unwrap_or(0).unsigned_abs();
                }
            })
            .expect("readable");
    }
    lost
}

#[test]
fn what_a_full_ring_loses_is_counted_to_the_last_record() {
    within(LIMIT, || {
        let builder = Runtime::builder().carriers(1).event_capacity(4);
        let runtime = builder.build().expect("a carrier");
        let builder = FlightRecorder::builder().runtime(&runtime);
        let (_layer, recorder) = builder
            .settings(Settings::test())
            .install()
            .expect("it starts");
        let many = 20_000;
        flood(&runtime, many);
        let bytes = recorder
            .dump_to(Vec::new(), None)
            .expect("a vector takes every byte");
        let (kept, lost) = (pins(&bytes).len() as u64, lost(&bytes));
        assert_eq!(kept + lost, many, "{kept} kept, {lost} lost");
        println!("{lost} of {many} were lost");
    });
}

/// A file system of 64 KiB, as long as the value lives; `None` where none may be mounted.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path) -> Option<Self> {
        let mount = ["-t", "tmpfs", "-o", "size=64k", "vt-test"];
        let status = Command::new("mount").args(mount).arg(at).status();
        status
            .is_ok_and(|status| status.success())
            .then(|| Self(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_is_told_and_keeps_the_old_dump() {
    within(LIMIT, || {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let Some(_disk) = SmallDisk::mount(folder.path()) else {
            println!("skipped: no small file system may be mounted here (it takes root)");
            return;
        };
        let runtime = Runtime::builder().carriers(1).build().expect("a carrier");
        let builder = FlightRecorder::builder().runtime(&runtime);
        let (_layer, recorder) = builder
            .settings(Settings::test())
            .install()
            .expect("it starts");
        let path = folder.path().join("small.jfr");
        recorder.dump(&path).expect("there is room for a small one");
        let old = std::fs::read(&path).expect("it is there");
        flood(&runtime, 20_000);
        let told = recorder.dump(&path).expect_err("no room").to_string();
        assert!(told.contains("the disk is full"), "{told}");
        assert_eq!(std::fs::read(&path).expect("it is there"), old);
        let left = std::fs::read_dir(folder.path()).expect("listable").count();
        assert_eq!(left, 1, "a temporary file was left");
        assert_eq!(recorder.stats().last_error, Some(told));
        // The program and its recorder go on.
        flood(&runtime, 1);
        let bytes = recorder
            .dump_to(Vec::new(), None)
            .expect("a vector takes every byte");
        assert_eq!(pins(&bytes).len() as u64 + lost(&bytes), 20_001);
        assert!(events(&bytes, "jdk.VirtualThreadStart") > 0);
    });
}
