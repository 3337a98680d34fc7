//! A hundred lines of ordinary code with its locks: the unit that the measured file repeats.
//!
//! `NAME` is numbered; a line that ends in `EVERY n` is in each n-th copy only.

pub mod NAME {
    use std::collections::{BTreeMap, HashMap};
    use std::fmt;
    use std::sync::{Arc, Condvar, Mutex, OnceLock, RwLock};

    /// What an order can be in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum State { Open, Paid, Shipped, Returned }

    #[derive(Clone, Debug, PartialEq)]
    pub struct Order { pub id: u64, pub customer: String, pub lines: Vec<Line>, pub state: State }

    #[derive(Clone, Debug, PartialEq)]
    pub struct Line { pub article: String, pub pieces: u32, pub cents: u64 }

    #[derive(Debug)]
    pub enum Refused { Unknown(u64), Empty, Wrong { id: u64, is: State, wanted: State } }

    impl fmt::Display for Refused {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Refused::Unknown(id) => write!(f, "there is no order {id}"),
                Refused::Empty => f.write_str("an order has at least one line"),
                Refused::Wrong { id, is, wanted } => write!(f, "order {id} is {is:?}, not {wanted:?}"),
            }
        }
    }

    impl std::error::Error for Refused {}

    impl Order {
        pub fn total(&self) -> u64 {
            self.lines.iter().map(|line| line.cents * u64::from(line.pieces)).sum()
        }

        pub fn articles(&self) -> impl Iterator<Item = &str> + '_ {
            self.lines.iter().filter(|line| line.pieces > 0).map(|line| line.article.as_str())
        }

        fn expect(&self, wanted: State) -> Result<(), Refused> {
            if self.state == wanted {
                return Ok(());
            }
            Err(Refused::Wrong { id: self.id, is: self.state, wanted })
        }
    }

    /// The article names, each once.
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new(); // EVERY 10

    #[derive(Default)]
    pub struct Orders {
        open: Mutex<BTreeMap<u64, Order>>,
        changed: Condvar, // EVERY 2
        prices: RwLock<HashMap<String, u64>>, // EVERY 4
    }

    impl Orders {
        pub fn new() -> Arc<Orders> {
            let open = Mutex::new(BTreeMap::new());
            Arc::new(Orders { open, ..Orders::default() })
        }

        pub fn place(&self, customer: &str, lines: Vec<Line>) -> Result<u64, Refused> {
            if lines.is_empty() {
                return Err(Refused::Empty);
            }
            let mut open = self.open.lock().unwrap();
            let id = open.keys().next_back().map_or(1, |last| last + 1);
            let lines = lines.into_iter().filter(|line| line.pieces > 0).collect::<Vec<_>>();
            open.insert(id, Order { id, customer: customer.to_owned(), lines, state: State::Open });
            self.changed.notify_all(); // EVERY 2
            Ok(id)
        }

        pub fn pay(&self, id: u64, cents: u64) -> Result<u64, Refused> {
            let mut open = self.open.lock().unwrap();
            let order = open.get_mut(&id).ok_or(Refused::Unknown(id))?;
            order.expect(State::Open)?;
            let total = order.total();
            let back = cents.saturating_sub(total);
            order.state = if cents >= total { State::Paid } else { order.state };
            Ok(back)
        }

        pub fn report(&self) -> String {
            let open = self.open.lock().unwrap();
            let mut by_state: BTreeMap<State, (usize, u64)> = BTreeMap::new();
            for order in open.values() {
                let entry = by_state.entry(order.state).or_default();
                entry.0 += 1;
                entry.1 += order.total();
            }
            let mut text = String::from("orders by state\n");
            for (state, (count, cents)) in &by_state {
                text += &format!("{state:?}: {count} orders, {}.{:02}\n", cents / 100, cents % 100);
            }
            text
        }
        fn wait_until_open(&self) { // EVERY 2
            let mut open = self.open.lock().unwrap(); // EVERY 2
            while open.is_empty() { // EVERY 2
                open = self.changed.wait(open).unwrap(); // EVERY 2
            } // EVERY 2
        } // EVERY 2
        pub fn price(&self, article: &str) -> Option<u64> { // EVERY 4
            self.prices.read().unwrap().get(article).copied() // EVERY 4
        } // EVERY 4
    }
}
