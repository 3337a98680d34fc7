//! Ten thousand idle connections: the server takes no processor time, and when they are gone, neither descriptors.
//!
//! The server is a process of its own, so that what is counted is its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use vt_runtime::Runtime;

use super::{echo, listener, until, within_limit};

const SERVER: &str = "VT_TEST_IDLE_SERVER";
const CONNECTIONS: u64 = 10_000;

/// As many descriptors as are allowed; returns how many connections that is enough for.
fn raise_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).expect("up to the maximum is allowed");
    limit.maximum.map_or(CONNECTIONS, |most| {
        CONNECTIONS.min(most.saturating_sub(100))
    })
}

#[test]
fn ten_thousand_idle_connections_take_no_time() {
    if std::env::var_os(SERVER).is_some() {
        return serve();
    }
    within_limit(|| {
        let test = "idle::ten_thousand_idle_connections_take_no_time";
        let mut server = Command::new(std::env::current_exe().expect("this test"))
            .args([test, "--exact", "--nocapture"])
            .env(SERVER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test runs again");
        watch(&mut server);
        assert!(server.wait().expect("it ends").success());
    });
}

fn serve() {
    raise_limit();
    let runtime = Runtime::builder().build().expect("carriers can be started");
    let (listener, address) = listener();
    runtime.spawn(move || {
        for stream in listener.incoming().flatten() {
            vt_runtime::thread::spawn(move || echo(stream));
        }
    });
    println!("address {address}");
    let mut end = Vec::new();
    std::io::stdin()
        .read_to_end(&mut end)
        .expect("the test lets go");
}

fn watch(server: &mut Child) {
    let connections = raise_limit();
    let process = server.id();
    let mut output = BufReader::new(server.stdout.take().expect("piped"));
    let address = output
        .by_ref()
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.split("address ").nth(1).map(str::to_owned))
        .expect("it says where it listens");
    // The watchdog opens files of its own when it has something to look at.
    let sockets = || {
        std::fs::read_dir(format!("/proc/{process}/fd"))
            .expect("it runs")
            .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .count()
    };
    let round_trip = |mut stream: &TcpStream| {
        stream.write_all(b"x").expect("it listens");
        stream.read_exact(&mut [0; 1]).expect("it answers");
    };
    // What the first connection makes for good is there before it is counted.
    let first = TcpStream::connect(&address).expect("it listens");
    round_trip(&first);
    let before = sockets();
    let streams: Vec<_> = (0..connections)
        .map(|_| {
            let stream = TcpStream::connect(&address).expect("it listens");
            round_trip(&stream);
            stream
        })
        .collect();
    assert_eq!(sockets(), before + streams.len());
    // The carriers' last look around.
    std::thread::park_timeout(Duration::from_millis(300));
    let (time, switches) = (processor_time(process), switches(process));
    std::thread::park_timeout(Duration::from_secs(1));
    let used = processor_time(process) - time;
    let switched = self::switches(process) - switches;
    // In hundredths of a second, and wake-ups of all its threads.
    assert!(used <= 5, "{used} ticks while idle");
    assert!(switched <= 100, "{switched} wake-ups while idle");
    streams.iter().step_by(97).for_each(round_trip);
    drop(streams);
    until(|| sockets() == before);
    round_trip(&first);
    drop((server.stdin.take(), first));
    // It tells how its test went, and ends.
    output.read_to_end(&mut Vec::new()).expect("readable");
}

fn processor_time(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let rest = stat.rsplit(')').next().expect("a name in parentheses");
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<u64>().expect("a number");
    ticks(11) + ticks(12)
}

fn switches(process: u32) -> u64 {
    std::fs::read_dir(format!("/proc/{process}/task"))
        .expect("it runs")
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok())
        .filter_map(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            line.trim().parse::<u64>().ok()
        })
        .sum()
}
