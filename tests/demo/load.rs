//! Load from inside: clients on a runtime of their own, each with a connection and a customer.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::{Runtime, thread};

use crate::checkout::Order;
use crate::http::Client;

/// Clients at work at the same time, and so customers.
pub(crate) const CLIENTS: usize = 64;

/// What a run of the load measured.
pub(crate) struct Measured {
    pub(crate) orders: u64,
    pub(crate) per_second: f64,
}

/// Places orders for about that long; an error of any client is the error of all.
pub(crate) fn drive(runtime: &Runtime, server: SocketAddr, time: Duration) -> io::Result<Measured> {
    let orders = AtomicU64::new(0);
    let start = Instant::now();
    let placed = &orders;
    runtime.run(move || {
        thread::scope(|s| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|customer| s.spawn(move || place(server, customer, start + time, placed)))
                .collect();
            clients.into_iter().try_for_each(|client| {
                client
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })
    })?;
    let orders = orders.into_inner();
    Ok(Measured {
        orders,
        per_second: orders as f64 / start.elapsed().as_secs_f64(),
    })
}

fn place(
    server: SocketAddr,
    customer: usize,
    until: Instant,
    placed: &AtomicU64,
) -> io::Result<()> {
    let mut client = Client::connect(server)?;
    while Instant::now() < until {
        client.order(Order {
            customer,
            cents: 1999,
        })?;
        placed.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
