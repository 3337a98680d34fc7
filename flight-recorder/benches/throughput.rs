//! How much throughput does a recorder cost a server that is busy?
//!
//! `cargo bench -p vt-flight-recorder --bench throughput`: an echo server and its clients, all virtual threads of one
//! runtime, over loopback. Rounds without a recorder, with one of `default` and with one of `staging` settings take
//! turns, so that whatever else the machine does falls on all alike; medians are shown. The target is a loss of at
//! most 1 % with `staging`. `VT_BENCH_ROUNDS` (30) says how many of each.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use vt_flight_recorder::{FlightRecorder, Settings};
use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::{Runtime, thread};

const CONNECTIONS: usize = 64;
const MESSAGES: usize = 200;
const SIZE: usize = 64;

fn serve(mut stream: TcpStream) {
    let mut message = [0; SIZE];
    while stream.read_exact(&mut message).is_ok() && stream.write_all(&message).is_ok() {}
}

fn ask(address: std::net::SocketAddr) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    let mut message = [7; SIZE];
    for _ in 0..MESSAGES {
        stream.write_all(&message).expect("it reads");
        stream.read_exact(&mut message).expect("it answers");
    }
}

/// Requests in a second.
fn round(runtime: &Runtime) -> f64 {
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
            .map(|_| thread::spawn(move || ask(address)))
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
    runtime: Runtime,
    recorder: Option<FlightRecorder>,
    rates: Vec<f64>,
}

impl Case {
    fn new(name: &'static str, settings: Option<Settings>) -> Self {
        let runtime = Runtime::builder().build().expect("a runtime");
        let recorder = settings.map(|settings| {
            let builder = FlightRecorder::builder()
                .runtime(&runtime)
                .settings(settings);
            builder.install().expect("it starts").1
        });
        Self {
            name,
            runtime,
            recorder,
            rates: Vec::new(),
        }
    }

    fn median(&mut self) -> f64 {
        self.rates.sort_by(f64::total_cmp);
        self.rates[self.rates.len() / 2]
    }
}

fn main() {
    let rounds = std::env::var("VT_BENCH_ROUNDS").ok();
    let rounds = rounds.and_then(|text| text.parse().ok()).unwrap_or(30);
    let mut cases = [
        Case::new("without a recorder", None),
        Case::new("default", Some(Settings::default())),
        Case::new("staging", Some(Settings::staging())),
    ];
    for turn in 0..=rounds {
        for case in &mut cases {
            let rate = round(&case.runtime);
            // The first one warms up.
            if turn > 0 {
                case.rates.push(rate);
            }
        }
    }
    let base = cases[0].median();
    for case in &mut cases {
        let rate = case.median();
        let loss = 100.0 * (1.0 - rate / base);
        let recorded = case.recorder.as_ref().map_or(0, |r| r.stats().recorded);
        let lost: u64 = case
            .recorder
            .as_ref()
            .map_or(0, |r| r.stats().lost.iter().map(|(_, n)| n).sum());
        println!(
            "{:<20} {rate:>9.0} requests/s, {loss:>5.1} % lost; {recorded} records, {lost} lost",
            case.name
        );
    }
}
