//! The servers: the same few lines for each contestant. They say their port and serve until their input ends.

use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::contestants;

/// How long the HTTP handler takes.
pub(crate) const HANDLER: Duration = Duration::from_millis(200);
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LOCAL: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

pub(crate) fn serve(contestant: &str, workload: &str) -> io::Result<()> {
    crate::machine::stay_on(0);
    let is_http = workload == "http";
    match contestant {
        "vt" => virtual_threads(is_http),
        "tokio" => tokio_tasks(is_http),
        "may" => may_coroutines(is_http),
        contestants::GO => Err(contestants::become_go(workload)),
        _ => Err(io::Error::other(format!(
            "no contestant is called {contestant}"
        ))),
    }
}

fn until_the_end(address: std::net::SocketAddr) -> io::Result<()> {
    println!("{address}");
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The end of the first request in `bytes`: none of them has a body.
fn request_end(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    Some(head + 4)
}

/// Echo and HTTP over blocking streams, whichever they are.
macro_rules! blocking_handlers {
    ($stream:ty, $sleep:path) => {
        fn echo(mut stream: $stream) -> io::Result<()> {
            stream.set_nodelay(true)?;
            let mut buffer = [0; 1024];
            loop {
                match stream.read(&mut buffer)? {
                    0 => return Ok(()),
                    count => stream.write_all(&buffer[..count])?,
                }
            }
        }

        fn http(mut stream: $stream) -> io::Result<()> {
            stream.set_nodelay(true)?;
            let (mut buffer, mut filled) = ([0; 1024], 0);
            loop {
                match stream.read(&mut buffer[filled..])? {
                    0 => return Ok(()),
                    count => filled += count,
                }
                while let Some(end) = request_end(&buffer[..filled]) {
                    buffer.copy_within(end..filled, 0);
                    filled -= end;
                    $sleep(HANDLER);
                    stream.write_all(ANSWER)?;
                }
            }
        }
    };
}

fn virtual_threads(is_http: bool) -> io::Result<()> {
    use vt_runtime::net::{TcpListener, TcpStream};
    blocking_handlers!(TcpStream, vt_runtime::thread::sleep);
    let listener = TcpListener::bind(LOCAL)?;
    let address = listener.local_addr()?;
    vt_runtime::Runtime::global().spawn(move || {
        for stream in listener.incoming().flatten() {
            vt_runtime::thread::spawn(move || if is_http { http(stream) } else { echo(stream) });
        }
    });
    until_the_end(address)
}

fn may_coroutines(is_http: bool) -> io::Result<()> {
    use may::net::{TcpListener, TcpStream};
    blocking_handlers!(TcpStream, may::coroutine::sleep);
    may::config().set_workers(2);
    let listener = TcpListener::bind(LOCAL)?;
    let address = listener.local_addr()?;
    may::go!(move || {
        while let Ok((stream, _)) = listener.accept() {
            may::go!(move || if is_http { http(stream) } else { echo(stream) });
        }
    });
    until_the_end(address)
}

fn tokio_tasks(is_http: bool) -> io::Result<()> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    async fn echo(mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut buffer = [0; 1024];
        loop {
            match stream.read(&mut buffer).await? {
                0 => return Ok(()),
                count => stream.write_all(&buffer[..count]).await?,
            }
        }
    }
    async fn http(mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (mut buffer, mut filled) = ([0; 1024], 0);
        loop {
            match stream.read(&mut buffer[filled..]).await? {
                0 => return Ok(()),
                count => filled += count,
            }
            while let Some(end) = request_end(&buffer[..filled]) {
                buffer.copy_within(end..filled, 0);
                filled -= end;
                tokio::time::sleep(HANDLER).await;
                stream.write_all(ANSWER).await?;
            }
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let listener = runtime.block_on(TcpListener::bind(LOCAL))?;
    let address = listener.local_addr()?;
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if is_http {
                tokio::spawn(http(stream));
            } else {
                tokio::spawn(echo(stream));
            }
        }
    });
    until_the_end(address)
}
