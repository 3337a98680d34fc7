//! How much throughput does a recorder cost a server that is busy?
//!
//! `cargo bench -p vt-flight-recorder --bench throughput`: a server and its clients, all virtual threads of one
//! runtime, over loopback; once they echo 64 bytes, once they speak HTTP, each request on a thread of its own. Rounds without
//! a recorder, with one of `default` and with one of `staging` settings take turns, each turn in another order, so that whatever
//! else the machine does falls on all alike. All are rounds of one runtime: two that differ in nothing differ by 4 % for as long
//! as they live. What is lost is the median, over all turns, of what a case loses against the round without a recorder of its
//! own turn; a second case without a recorder shows what chance makes of that. The target is a loss of at most 1 % with
//! `staging`. `VT_BENCH_ROUNDS` (30) says how many of each.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use vt_flight_recorder::{FlightRecorder, Settings};
use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::{Runtime, thread};

const CONNECTIONS: usize = 64;
const MESSAGES: usize = 400;
const SIZE: usize = 64;

/// What server and clients speak: its name, a connection served, one used.
type Protocol = (&'static str, fn(TcpStream), fn(TcpStream));

const PROTOCOLS: [Protocol; 2] = [("echo", echo, ask_echo), ("http", serve, ask_http)];

fn echo(mut stream: TcpStream) {
    let mut message = [0; SIZE];
    while stream.read_exact(&mut message).is_ok() && stream.write_all(&message).is_ok() {}
}

fn ask_echo(mut stream: TcpStream) {
    let mut message = [7; SIZE];
    for _ in 0..MESSAGES {
        stream.write_all(&message).expect("it reads");
        stream.read_exact(&mut message).expect("it answers");
    }
}

/// Reads a message's head up to its empty line; gives the length of the body that follows, `None` at the end.
fn head(stream: &mut impl BufRead) -> Option<usize> {
    let (mut line, mut length, mut lines) = (String::new(), 0, 0);
    loop {
        line.clear();
        stream.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            _ if line.is_empty() => return None,
            Some(("Content-Length", text)) => length = text.parse().ok()?,
            Some(_) => {}
            None if lines > 0 => return Some(length),
            None => lines += 1,
        }
    }
}

fn serve(stream: TcpStream) {
    let mut write = stream.try_clone().expect("a socket");
    let mut read = BufReader::new(stream);
    while head(&mut read).is_some() {
        let answer = thread::spawn(|| {
            let body = "{\"order\":7}";
            let length = body.len();
            format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}")
        });
        let answer = answer.join().expect("no panic");
        if write.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn ask_http(stream: TcpStream) {
    let mut write = stream.try_clone().expect("a socket");
    let mut read = BufReader::new(stream);
    let request = b"GET /orders/7 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
    for _ in 0..MESSAGES {
        write.write_all(request).expect("it reads");
        let length = head(&mut read).expect("it answers");
        let mut body = vec![0; length];
        read.read_exact(&mut body).expect("it answers");
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    stream
}

/// Requests in a second.
fn round(runtime: &Runtime, (_, serve, ask): Protocol) -> f64 {
    let took: Duration = runtime.run(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let server = thread::spawn(move || {
            for _ in 0..CONNECTIONS {
                let (stream, _) = listener.accept().expect("a client");
                stream.set_nodelay(true).expect("a socket");
                thread::spawn(move || serve(stream));
            }
        });
        let begin = Instant::now();
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|_| thread::spawn(move || ask(connect(address))))
            .collect();
        for client in clients {
            client.join().expect("no panic");
        }
        let took = begin.elapsed();
        server.join().expect("no panic");
        took
    });
    (CONNECTIONS * MESSAGES) as f64 / took.as_secs_f64()
}

struct Case {
    name: &'static str,
    settings: Option<Settings>,
    rates: Vec<f64>,
    recorded: u64,
    lost: u64,
    throttled: u64,
}

impl Case {
    fn new(name: &'static str, settings: Option<Settings>) -> Self {
        Self {
            name,
            settings,
            rates: Vec::new(),
            recorded: 0,
            lost: 0,
            throttled: 0,
        }
    }

    /// A round, recorded as this case wants it.
    fn round(&mut self, runtime: &Runtime, protocol: Protocol) {
        let recorder = self.settings.clone().map(|settings| {
            let builder = FlightRecorder::builder().runtime(runtime);
            builder.settings(settings).install().expect("it starts").1
        });
        // What earlier rounds left in the rings is taken before this one begins.
        let before = recorder.as_ref().map(counts);
        self.rates.push(round(runtime, protocol));
        if let (Some(before), Some(after)) = (before, recorder.as_ref().map(counts)) {
            self.recorded += after[0] - before[0];
            self.lost += after[1] - before[1];
            self.throttled += after[2] - before[2];
        }
    }
}

/// Records so far: taken, lost, and above the rate.
fn counts(recorder: &FlightRecorder) -> [u64; 3] {
    let stats = recorder.stats();
    let sum = |counts: &[(&str, u64)]| counts.iter().map(|(_, count)| count).sum();
    [stats.recorded, sum(&stats.lost), sum(&stats.throttled)]
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn main() {
    let rounds = std::env::var("VT_BENCH_ROUNDS").ok();
    let rounds = rounds.and_then(|text| text.parse().ok()).unwrap_or(30);
    PROTOCOLS
        .into_iter()
        .for_each(|protocol| compare(protocol, rounds));
}

fn compare(protocol: Protocol, rounds: usize) {
    let runtime = Runtime::builder().build().expect("a runtime");
    let mut cases = [
        Case::new("without a recorder", None),
        Case::new("the same again", None),
        Case::new("default", Some(Settings::default())),
        Case::new("staging", Some(Settings::staging())),
    ];
    let number = cases.len();
    for turn in 0..=rounds {
        for at in 0..number {
            cases[(turn + at) % number].round(&runtime, protocol);
        }
    }
    // The first turn warms up.
    let base = cases[0].rates[1..].to_vec();
    for case in &cases {
        let rates = &case.rates[1..];
        let losses = rates.iter().zip(&base);
        let loss = median(
            losses
                .map(|(rate, base)| 100.0 * (1.0 - rate / base))
                .collect(),
        );
        println!(
            "{} {:<18} {:>7.0} requests/s, {loss:>5.1} % lost; {} records, {} lost, {} above the rate",
            protocol.0,
            case.name,
            median(rates.to_vec()),
            case.recorded,
            case.lost,
            case.throttled,
        );
    }
}
