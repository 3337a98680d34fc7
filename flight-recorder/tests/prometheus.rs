//! A real Prometheus scrapes what a recorder serves: the installed one, or Debian's package, unpacked into the target
//! folder. Where neither can be had it is skipped with a printed line.

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use scene::{LIMIT, pin, runtime, within};
use vt_flight_recorder::{FlightRecorder, Settings};

fn runs(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Prometheus, if there is one.
fn prometheus() -> Option<PathBuf> {
    let installed = PathBuf::from("prometheus");
    if runs(&installed) {
        return Some(installed);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prometheus");
    let unpacked = folder.join("usr/bin/prometheus");
    if !unpacked.exists() {
        std::fs::create_dir_all(&folder).ok()?;
        let mut download = Command::new("apt-get");
        download
            .args(["download", "prometheus"])
            .current_dir(&folder);
        let _ = download.output();
        let mut names = std::fs::read_dir(&folder).ok()?.flatten();
        let package =
            names.find(|entry| entry.path().extension().is_some_and(|end| end == "deb"))?;
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("-x").arg(package.path()).arg(&folder);
        let _ = unpack.output();
    }
    runs(&unpacked).then_some(unpacked)
}

/// A server that ends with the value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a query for one name gives, as the server's JSON.
fn query(server: SocketAddr, name: &str) -> Option<serde_json::Value> {
    let mut stream = TcpStream::connect(server).ok()?;
    let head = format!("GET /api/v1/query?query={name} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).ok()?;
    let (_, body) = reply.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}

/// The value of the row with that label, waiting for the first scrape to bring it.
fn value(server: &mut Server, at: SocketAddr, name: &str, label: (&str, &str)) -> f64 {
    loop {
        let ended = server.0.try_wait().expect("it is our child");
        assert_eq!(ended, None, "Prometheus has ended");
        let answer = query(at, name).unwrap_or_default();
        let rows = answer["data"]["result"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let row = rows.iter().find(|row| row["metric"][label.0] == label.1);
        if let Some(text) = row.and_then(|row| row["value"][1].as_str()) {
            return text.parse().expect("a number");
        }
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
}

#[test]
fn prometheus_scrapes_what_a_recorder_serves() {
    let Some(program) = prometheus() else {
        println!("skipped: no Prometheus here, and Debian's package cannot be had");
        return;
    };
    within(LIMIT, move || {
        let runtime = runtime();
        let builder = FlightRecorder::builder()
            .runtime(&runtime)
            .settings(Settings::test());
        let (_layer, recorder) = builder.install().expect("it starts");
        let target = recorder.serve_metrics("127.0.0.1:0").expect("a free port");
        pin(&runtime);
        let parked = runtime.spawn(vt_runtime::thread::park);
        while runtime.threads()[0].state != vt_runtime::thread::ThreadState::Waiting {
            std::thread::yield_now();
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let config = folder.path().join("prometheus.yml");
        let text = format!(
            "scrape_configs:\n  - job_name: vt\n    scrape_interval: 200ms\n    scrape_timeout: 200ms\n    static_configs:\n      - targets: ['{target}']\n"
        );
        std::fs::write(&config, text).expect("it can be written");
        // Free now; whoever takes it meanwhile makes the server end, which is told.
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let at = free.expect("a free port");
        let server = Command::new(program)
            .arg(format!("--config.file={}", config.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!("--web.listen-address={at}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut server = Server(server.expect("it ran before"));
        let job = ("job", "vt");
        assert_eq!(value(&mut server, at, "up", job), 1.0);
        let monitor = ("reason", "monitor");
        // A histogram as Prometheus understands one: its own quantile function finds the pin.
        let name = "histogram_quantile(0.5,sum%20by(le,job)(vthread_pinned_seconds_bucket))";
        let median = value(&mut server, at, name, job);
        assert!(median > 0.001, "{median}");
        assert_eq!(
            value(&mut server, at, "vthread_pinned_seconds_count", monitor),
            1.0
        );
        assert!(value(&mut server, at, "vthread_pinned_seconds_sum", monitor) >= 0.003);
        assert_eq!(
            value(&mut server, at, "vthread_live", ("state", "waiting")),
            1.0
        );
        assert_eq!(value(&mut server, at, "vthread_carriers", job), 2.0);
        assert_eq!(value(&mut server, at, "vthread_started_total", job), 2.0);
        assert_eq!(
            value(&mut server, at, "vthread_submit_failed_total", job),
            0.0
        );
        assert_eq!(
            value(
                &mut server,
                at,
                "flight_recorder_lost_total",
                ("class", "pins")
            ),
            0.0
        );
        parked.thread().unpark();
        parked.join().expect("it does not panic");
    });
}
