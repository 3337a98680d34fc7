//! The async contestant: a tokio task for each connection, two workers, as many as there are carriers.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::request::{Requests, answer};
use super::{QUEUE, serve_from, verify};

pub(super) fn serve(upstream: SocketAddr) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_io()
        .build()?;
    let listener = runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        socket.listen(QUEUE)
    })?;
    let address = listener.local_addr()?;
    runtime.spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(answer_all(connection, upstream));
        }
    });
    serve_from(address)
}

async fn answer_all(mut connection: TcpStream, upstream: SocketAddr) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut upstream = TcpStream::connect(upstream).await?;
    upstream.set_nodelay(true)?;
    let mut requests = Requests::new();
    loop {
        while let Some(body) = requests.take() {
            let verified = verify::answer(&body);
            upstream.write_all(b"?").await?;
            upstream.read_exact(&mut [0; 1]).await?;
            connection.write_all(&answer("200 OK", &verified)).await?;
        }
        let Some(room) = requests.room() else {
            return Ok(());
        };
        match connection.read(room).await? {
            0 => return Ok(()),
            count => requests.came(count),
        }
    }
}
