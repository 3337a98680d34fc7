//! Reads of 4 KiB from the page cache. may has no files of its own: its coroutine reads with std, and blocks its worker.

use std::io::{self, SeekFrom};
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::Instant;

use crate::machine::{self, Busy};
use crate::table::Table;
use crate::{Effort, READ};

const BLOCK: usize = 4096;
const BLOCKS: u64 = 256;
const READS: u64 = 1_000_000;
/// tokio's takes 50 times as long.
const READS_ASYNC: u64 = 50_000;
const CONTESTANTS: [&str; 4] = ["vt", "tokio", "may", "std"];

pub(crate) fn compare(effort: &Effort) -> io::Result<()> {
    machine::stay_anywhere();
    let path = std::env::temp_dir().join(format!("vt-peers-{}", std::process::id()));
    std::fs::write(&path, vec![7; BLOCK * BLOCKS as usize])?;
    let title = format!(
        "reads of {BLOCK} bytes from the page cache, {} rounds",
        effort.rounds
    );
    let contestants: Vec<_> = CONTESTANTS
        .into_iter()
        .filter(|name| effort.asks(name))
        .collect();
    let mut table = Table::new(title, &contestants, &["reads/s"]);
    for _ in 0..effort.rounds {
        for &contestant in &contestants {
            let busy = Busy::now();
            let output = Command::new(std::env::current_exe()?)
                .args([READ, contestant])
                .arg(&path)
                .output()?;
            let rate = String::from_utf8_lossy(&output.stdout)
                .trim()
                .parse::<f64>();
            let rate = rate.map_err(|_| io::Error::other("a reader failed"))?;
            table.add(contestant, &[rate], busy.by_others());
        }
    }
    std::fs::remove_file(&path)?;
    table.print();
    Ok(())
}

/// What is read into: on a page of its own, since where a buffer begins decides over a tenth of what copying to it takes.
#[repr(align(4096))]
struct Buffer([u8; BLOCK]);

impl Buffer {
    fn new() -> Box<Self> {
        Box::new(Self([0; BLOCK]))
    }
}

/// Reads as that contestant, and tells how many reads it did in a second.
pub(crate) fn read(contestant: &str, path: &str) -> io::Result<()> {
    let path = path.to_owned();
    let place = |number: u64| number * 7 % BLOCKS * BLOCK as u64;
    let with_std = move |path: String| -> io::Result<f64> {
        let file = std::fs::File::open(path)?;
        let mut buffer = Buffer::new();
        let start = Instant::now();
        for number in 0..READS {
            file.read_exact_at(&mut buffer.0, place(number))?;
        }
        Ok(READS as f64 / start.elapsed().as_secs_f64())
    };
    let rate = match contestant {
        "vt" => vt_runtime::Runtime::global().run(|| {
            let file = vt_runtime::fs::File::open(&path)?;
            let mut buffer = Buffer::new();
            let start = Instant::now();
            for number in 0..READS {
                file.read_exact_at(&mut buffer.0, place(number))?;
            }
            io::Result::Ok(READS as f64 / start.elapsed().as_secs_f64())
        })?,
        "tokio" => tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .build()?
            .block_on(async move {
                tokio::spawn(read_async(path))
                    .await
                    .map_err(io::Error::other)?
            })?,
        "may" => {
            may::config().set_workers(2);
            let ended = may::go!(move || with_std(path)).join();
            ended.map_err(|_| io::Error::other("the coroutine panicked"))??
        }
        "std" => with_std(path)?,
        _ => {
            return Err(io::Error::other(format!(
                "no contestant is called {contestant}"
            )));
        }
    };
    println!("{rate}");
    Ok(())
}

/// tokio has no reads at a place: it seeks, then reads.
async fn read_async(path: String) -> io::Result<f64> {
    use tokio::io::{AsyncReadExt, AsyncSeekExt};
    let mut file = tokio::fs::File::open(path).await?;
    let mut buffer = Buffer::new();
    let start = Instant::now();
    for number in 0..READS_ASYNC {
        // In sequence, so that there is hardly anything to seek.
        if number % BLOCKS == 0 {
            file.seek(SeekFrom::Start(0)).await?;
        }
        file.read_exact(&mut buffer.0).await?;
    }
    Ok(READS_ASYNC as f64 / start.elapsed().as_secs_f64())
}
