//! The checkout service before and after its repair. The two files differ in one attribute.

mod after;
mod before;

pub(crate) use after::Carts as After;
pub(crate) use before::Carts as Before;

use std::io;
use std::net::SocketAddr;

use crate::database::Database;

/// One order of one customer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) customer: usize,
    pub(crate) cents: u32,
}

/// What the HTTP server serves, whichever way it locks.
pub(crate) trait Checkout: Send + Sync + 'static {
    /// An empty cart for each of that many customers, and the payment provider to charge.
    fn new(customers: usize, payments: SocketAddr) -> Self;

    /// Charges the order and returns how many orders the customer has placed.
    fn charge(&self, order: Order) -> io::Result<u32>;
}

/// Charges an order, then writes it down.
pub(crate) fn place(
    checkout: &impl Checkout,
    database: &Database,
    order: Order,
) -> io::Result<u32> {
    let placed = checkout.charge(order)?;
    database.insert(order).map_err(io::Error::other)?;
    Ok(placed)
}
