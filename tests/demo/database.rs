//! The orders, in SQLite: foreign code, declared to the runtime call by call.

use std::path::Path;

use rusqlite::{Connection, Result};
use vt_runtime::native;
use vt_runtime::sync::ReentrantLock;

use crate::checkout::Order;

/// A database file behind a lock that does not pin.
pub(crate) struct Database {
    connection: ReentrantLock<Connection>,
}

impl Database {
    /// Creates the file and its table.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        // The demo measures locks, not the disk.
        connection.execute_batch(
            "pragma journal_mode = memory; pragma synchronous = off;
             create table orders (customer integer not null, cents integer not null)",
        )?;
        Ok(Self {
            connection: ReentrantLock::named("database", connection),
        })
    }

    /// Writes an order down.
    pub(crate) fn insert(&self, order: Order) -> Result<()> {
        let connection = self.connection.lock();
        native::call("sqlite3_step", || {
            let mut insert = connection.prepare_cached("insert into orders values (?1, ?2)")?;
            insert
                // vt-lint: allow(blocking-on-carrier) -- declared right here, and the demo keeps its disk out of it
                .execute((order.customer as i64, order.cents))
                .map(drop)
        })
    }

    /// How many orders there are.
    pub(crate) fn count(&self) -> Result<u64> {
        let connection = self.connection.lock();
        native::call("sqlite3_step", || {
            connection
                .query_row("select count(*) from orders", (), |row| {
                    row.get::<_, i64>(0)
                })
                .map(|n| n as u64)
        })
    }
}
