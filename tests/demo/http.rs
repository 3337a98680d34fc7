//! As much HTTP/1.1 as the demo needs: `POST /orders/<customer>?cents=<amount>`, keep-alive, no bodies in.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::{Runtime, thread};

use crate::checkout::{self, Checkout, Order};
use crate::database::Database;

/// Serves checkouts on that port of loopback, on a free one if it is 0: a virtual thread for each connection.
pub(crate) fn serve<C: Checkout>(
    runtime: &Runtime,
    port: u16,
    checkout: C,
    database: Arc<Database>,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let address = listener.local_addr()?;
    let checkout = Arc::new(checkout);
    runtime.spawn(move || {
        for connection in listener.incoming().flatten() {
            let (checkout, database) = (Arc::clone(&checkout), Arc::clone(&database));
            thread::spawn(move || serve_connection(&connection, &*checkout, &database));
        }
    });
    Ok(address)
}

fn serve_connection(
    connection: &TcpStream,
    checkout: &impl Checkout,
    database: &Database,
) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut requests = BufReader::new(connection);
    while let Some(request) = read_head(&mut requests)? {
        let (status, body) =
            match parse(&request).map(|order| checkout::place(checkout, database, order)) {
                Some(Ok(placed)) => ("201 Created", placed.to_string()),
                Some(Err(error)) => ("502 Bad Gateway", error.to_string()),
                None => (
                    "400 Bad Request",
                    "expected POST /orders/<customer>?cents=<amount>".to_owned(),
                ),
            };
        let reply = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut out = connection;
        out.write_all(reply.as_bytes())?;
    }
    Ok(())
}

/// The request line; `None` at the end of the connection.
fn read_head(requests: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut first = String::new();
    if requests.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut header = String::new();
    while requests.read_line(&mut header)? > 2 {
        header.clear();
    }
    Ok(Some(first))
}

fn parse(request: &str) -> Option<Order> {
    let path = request.strip_prefix("POST /orders/")?.split(' ').next()?;
    let (customer, cents) = path.split_once("?cents=")?;
    Some(Order {
        customer: customer.parse().ok()?,
        cents: cents.parse().ok()?,
    })
}

/// A client that keeps its connection.
pub(crate) struct Client {
    replies: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(server: SocketAddr) -> io::Result<Self> {
        let connection = TcpStream::connect(server)?;
        connection.set_nodelay(true)?;
        Ok(Self {
            replies: BufReader::new(connection),
        })
    }

    /// Places an order and waits for its reply.
    pub(crate) fn order(&mut self, order: Order) -> io::Result<()> {
        let Order { customer, cents } = order;
        let request =
            format!("POST /orders/{customer}?cents={cents} HTTP/1.1\r\nHost: shop\r\n\r\n");
        let mut connection = self.replies.get_ref();
        connection.write_all(request.as_bytes())?;
        let mut status = String::new();
        self.replies.read_line(&mut status)?;
        let mut length = 0;
        loop {
            let mut header = String::new();
            if self.replies.read_line(&mut header)? <= 2 {
                break;
            }
            if let Some(value) = header.strip_prefix("Content-Length: ") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        io::Read::read_exact(&mut self.replies, &mut body)?;
        match status.starts_with("HTTP/1.1 201") {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "{} {}",
                status.trim(),
                String::from_utf8_lossy(&body)
            ))),
        }
    }
}
