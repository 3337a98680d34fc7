//! The recorder's side: accepts, checks who asks, answers.

use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::{HELLO, MAX_REQUEST, own_folder, uid};
use crate::recorder::{FlightRecorder, InstallError, Shared, parse_span, parse_throttle};

/// A request must be there by then.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);
/// A reply must be taken by then.
const REPLY_LIMIT: Duration = Duration::from_secs(30);

/// Opens the socket of a recorder and serves it until the recorder is gone.
pub(crate) fn listen(recorder: &FlightRecorder) -> Result<(), InstallError> {
    if std::env::var_os("VT_FLIGHT_ATTACH").is_some_and(|value| value == "0") {
        return Ok(());
    }
    let folder = own_folder().map_err(|error| InstallError::Attach(super::folder(), error))?;
    remove_stale(&folder);
    let path = folder.join(socket_name());
    let failed = |error| InstallError::Attach(path.clone(), error);
    // A process of the same number that is gone may have left it.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).map_err(failed)?;
    let owner_only = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&path, owner_only).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    recorder.listens_at(path.clone());
    let weak = recorder.downgrade();
    std::thread::Builder::new()
        .name("vt-flight-sock".to_owned())
        .spawn(move || serve(&listener, &weak))
        .map_err(InstallError::Thread)?;
    vt_runtime::event::at_exit(move || {
        let _ = std::fs::remove_file(&path);
    });
    Ok(())
}

fn socket_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let pid = std::process::id();
    match NEXT.fetch_add(1, Ordering::Relaxed) {
        0 => format!("{pid}.sock"),
        number => format!("{pid}-{number}.sock"),
    }
}

/// Removes sockets that nobody listens at: their processes ended without a word.
fn remove_stale(folder: &std::path::Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let refused = UnixStream::connect(&path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if path
            .extension()
            .is_some_and(|extension| extension == "sock")
            && refused
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// How often the thread looks whether its recorder is still there.
const PERIOD: Duration = Duration::from_millis(500);

/// Clients that are answered at a time; the next ones wait.
const MAX_CLIENTS: usize = 8;

fn serve(listener: &UnixListener, weak: &Weak<Shared>) {
    // Each answer holds a clone while it lasts.
    let clients = Arc::new(());
    loop {
        wait_for_client(listener);
        let Some(recorder) = FlightRecorder::upgrade(weak) else {
            return;
        };
        if Arc::strong_count(&clients) > MAX_CLIENTS {
            std::thread::park_timeout(PERIOD / 10);
            continue;
        }
        let Ok((client, _)) = listener.accept() else {
            continue;
        };
        let turn = Arc::clone(&clients);
        let answering = move || {
            // A client that went away, or came with the wrong uid, is its own problem.
            let _ = answer(&recorder, client);
            drop(turn);
        };
        // One that does not read its reply must not keep the others waiting. Where no thread is to be had the
        // client finds the connection closed.
        let _ = std::thread::Builder::new()
            .name("vt-flight-reply".to_owned())
            .spawn(answering);
    }
}

fn wait_for_client(listener: &UnixListener) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut waiting = [PollFd::new(listener, PollFlags::IN)];
    let period = Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(PERIOD.subsec_nanos()),
    };
    let _ = poll(&mut waiting, Some(&period));
}

fn answer(recorder: &FlightRecorder, mut client: UnixStream) -> io::Result<()> {
    client.set_nonblocking(false)?;
    let peer = rustix::net::sockopt::socket_peercred(&client)?.uid.as_raw();
    if peer != uid() && peer != 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let reply = match request(&mut client) {
        Ok(request) => reply(recorder, &request),
        Err(told) => Err(told.to_owned()),
    };
    let until = Instant::now() + REPLY_LIMIT;
    match reply {
        Ok(bytes) => {
            send(
                &mut client,
                format!("ok {}\n", bytes.len()).as_bytes(),
                until,
            )?;
            send(&mut client, &bytes, until)
        }
        Err(told) => {
            let told = told.replace('\n', " ");
            send(&mut client, format!("error {told}\n").as_bytes(), until)
        }
    }
}

/// Reads a request; who sends it drop by drop has five seconds for all.
fn request(client: &mut UnixStream) -> Result<String, &'static str> {
    let until = Instant::now() + REQUEST_LIMIT;
    let mut line = Vec::new();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || client.set_read_timeout(Some(left)).is_err() {
            return Err("the request did not come in time");
        }
        let mut part = [0; 64];
        let read = client
            .read(&mut part)
            .map_err(|_| "the request did not come in time")?;
        line.extend_from_slice(&part[..read]);
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            return String::from_utf8(line).map_err(|_| "the request is no text");
        }
        if read == 0 || line.len() > MAX_REQUEST {
            return Err("the request is no line of at most 512 bytes");
        }
    }
}

fn send(client: &mut UnixStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        client.set_write_timeout(Some(left))?;
        let sent = client.write(bytes)?;
        bytes = &bytes[sent..];
    }
    Ok(())
}

fn reply(recorder: &FlightRecorder, request: &str) -> Result<Vec<u8>, String> {
    let Some(request) = request.strip_prefix(HELLO) else {
        return Err(format!("this recorder speaks `{}`", HELLO.trim_end()));
    };
    let (verb, argument) = request.split_once(' ').unwrap_or((request, ""));
    match verb {
        "status" => Ok(recorder.status().into_bytes()),
        "threads" if argument == "stacks" => Ok(recorder.thread_stacks().into_bytes()),
        "threads" => Ok(recorder.thread_list().into_bytes()),
        "metrics" => Ok(recorder.metrics().into_bytes()),
        "set" => {
            let mut settings = recorder.settings();
            match argument.strip_prefix("throttle ") {
                Some(throttle) => settings.throttle = parse_throttle(throttle)?,
                None => settings.pin_threshold = Some(parse_span(argument)?),
            }
            recorder.set(settings);
            Ok(Vec::new())
        }
        "dump" => {
            let last = match argument {
                "" => None,
                span => Some(parse_span(span)?),
            };
            recorder
                .dump_for_client(last)
                .map_err(|error| error.to_string())
        }
        _ => Err(format!("`{verb}` is no verb of this recorder")),
    }
}
