//! A server in a process of its own, so that its memory, threads and processor time are its own. It ends with the
//! process that started it.
//!
//! All serve the same: verify the body if there is one, ask the upstream service, which takes its time, answer. They
//! differ in what runs the handler: virtual threads, a pool of OS threads, or an async runtime.

mod async_tasks;
mod os_threads;
mod request;
pub(crate) mod verify;
mod virtual_threads;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use vt_runtime::sync::{Monitor, ReentrantLock};

use crate::load::{Exchange, Pace, Plan, Report, Stage};

/// The argument that makes this program a contestant.
pub(crate) const FLAG: &str = "--serve";

/// Connections that may wait to be accepted: a thousand users come at once, and std's and tokio's 128 would send most of them
/// away for a second or more.
const QUEUE: u32 = 4096;

/// See the module's documentation.
pub(crate) struct Contestant {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Contestant {
    /// Starts this program again with `--serve` and those arguments.
    pub(crate) fn start(arguments: &[&str]) -> io::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(FLAG)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let Some(output) = process.stdout.take() else {
            unreachable!("it is piped")
        };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().parse().map_err(|_| {
            io::Error::other(format!("the server {arguments:?} did not say its address"))
        })?;
        Ok(Self { process, address })
    }

    /// Puts it under load.
    pub(crate) fn load(
        &self,
        exchange: &dyn Exchange,
        pace: Pace,
        stages: Vec<Stage>,
        warm_up: Duration,
    ) -> io::Result<Report> {
        let plan = Plan {
            target: self.address,
            exchange,
            pace,
            stages,
            warm_up,
            timeout: Duration::from_secs(20),
            server: Some(self.process.id()),
        };
        plan.run()
    }
}

impl Drop for Contestant {
    fn drop(&mut self) {
        // Gone already is as good.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// In the contestant: serves as the arguments say.
pub(crate) fn serve(arguments: &[String]) -> Result<(), String> {
    let text: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let address = |text: &str| text.parse::<SocketAddr>().map_err(|_| "not an address");
    let number = |text: &str| text.parse::<u32>().map_err(|_| "not a number");
    let millis = |text: &str| number(text).map(|number| Duration::from_millis(number.into()));
    let ended = match text[..] {
        ["upstream", delay] => virtual_threads::slow_service(millis(delay)?),
        ["virtual", to] => virtual_threads::own_upstream(address(to)?),
        ["async", to] => async_tasks::serve(address(to)?),
        ["pool", threads, to] => os_threads::serve(number(threads)?, address(to)?),
        ["connections", size, wait, to] => {
            virtual_threads::limited_upstream(number(size)?, millis(wait)?, address(to)?)
        }
        ["pinned", to] => virtual_threads::locked_upstream(Monitor::new, address(to)?),
        ["repaired", to] => virtual_threads::locked_upstream(ReentrantLock::new, address(to)?),
        ["stalling", lasts] => virtual_threads::stalling(millis(lasts)?),
        _ => return Err(format!("no contestant is called {text:?}")),
    };
    ended.map_err(|error| error.to_string())
}

/// In the contestant: tells the address, and ends with the process that started it.
fn serve_from(address: SocketAddr) -> io::Result<()> {
    println!("{address}");
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
