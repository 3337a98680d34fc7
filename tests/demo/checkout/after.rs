//! Carts, each behind its monitor. A cart stays locked while the payment provider answers.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;

use vt_runtime::sync::Monitor;

use super::{Checkout, Order};
use crate::payments;

#[vt_runtime::park_safe(monitor = "reentrant")]
pub(crate) struct Carts {
    placed: Vec<Monitor<Cell<u32>>>,
    payments: SocketAddr,
}

#[vt_runtime::park_safe(monitor = "reentrant")]
impl Checkout for Carts {
    fn new(customers: usize, payments: SocketAddr) -> Self {
        let placed = (0..customers)
            .map(|_| Monitor::named("cart", Cell::new(0)))
            .collect();
        Self { placed, payments }
    }

    fn charge(&self, order: Order) -> io::Result<u32> {
        let cart = self.placed[order.customer].enter();
        payments::charge(self.payments, order.cents)?;
        cart.set(cart.get() + 1);
        Ok(cart.get())
    }
}
