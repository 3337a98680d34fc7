//! Programs made at random from the forms in which guards and their temporaries live, move and end.
//!
//! Each function of a program runs once for each way its `bit`s can fall, so that every path of it is taken, and says
//! at each probe whether the lock is held. **Invariant:** what decides a branch is a bit that decides nothing else, so
//! that what may be held on some path is held in some run. The lock is only read, so that it may be taken again.

mod expression;
mod statement;

/// The start of each program: the lock, the probes, and what the forms use.
const START: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{RwLock, RwLockReadGuard};
type Guard = RwLockReadGuard<'static, Vec<usize>>;
static M: RwLock<Vec<usize>> = RwLock::new(Vec::new());
static BITS: AtomicU32 = AtomicU32::new(0);
fn say(line: u32) {
    println!("{line} {}", M.try_write().is_err());
}
fn b(line: u32) -> usize {
    let _ = std::fs::metadata(".");
    say(line);
    1
}
fn yes(line: u32) -> bool {
    b(line) == 1
}
async fn ab(line: u32) -> usize {
    say(line);
    1
}
fn bit(number: u32) -> bool {
    BITS.load(Ordering::Relaxed) >> number & 1 == 1
}
fn at(number: u32) -> usize {
    if bit(number) { 9 } else { 0 }
}
fn turns(number: u32) -> usize {
    if bit(number) { 2 } else { 0 }
}
fn two(_: usize, _: usize) -> usize {
    2
}
fn take(_: Guard) {}
fn helper() -> Guard {
    M.read().unwrap()
}
struct Pair {
    x: usize,
    y: usize,
}
struct Holder {
    g: Guard,
    n: usize,
}
fn all(bits: u32, function: fn()) {
    for combination in 0..1 << bits {
        BITS.store(combination, Ordering::Relaxed);
        function();
    }
}
fn block_on(future: impl Future<Output = ()>) {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::pin!(future).poll(&mut context).is_ready());
}
"#;

/// Each function runs two to this power times.
const MOST_BITS: u32 = 5;

/// A program of this many functions; `chains` are conditions of several `let`s, which edition 2024 has.
pub(crate) fn program(seed: u64, functions: usize, chains: bool) -> String {
    let mut text = START.to_owned();
    // Named here, because its prelude has it in edition 2024 only.
    text.push_str("use std::future::Future;\n");
    let mut calls = String::new();
    for number in 0..functions {
        let mut maker = Maker::new(seed.wrapping_add(number as u64), chains);
        maker.is_async = maker.one_in(4);
        let body = maker.statements(3);
        let bits = maker.used;
        if maker.is_async {
            text.push_str(&format!("async fn f{number}() {{ {body} }}\n"));
            calls.push_str(&format!("all({bits}, || block_on(f{number}()));\n"));
        } else {
            text.push_str(&format!("fn f{number}() {{ {body} }}\n"));
            calls.push_str(&format!("all({bits}, f{number});\n"));
        }
    }
    text.push_str(&format!(
        "fn main() {{\n    M.write().unwrap().push(1);\n{calls}}}\n"
    ));
    text
}

/// What a variable holds.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A guard.
    Guard,
    /// `Option<Guard>`.
    Option,
    /// A structure with a guard in its field `g`.
    Holder,
    /// A box, tuple, vector or closure with a guard in it.
    Other,
}

struct Variable {
    name: String,
    kind: Kind,
    /// Not moved away on any path.
    is_whole: bool,
}

/// Makes one function.
struct Maker {
    random: u64,
    chains: bool,
    is_async: bool,
    /// How many bits were used.
    used: u32,
    /// For names.
    next: u32,
    variables: Vec<Variable>,
    /// Variables before this one are not moved here: it may run twice, or not at all.
    floor: usize,
    /// `break` and `continue` have a loop that ends by itself.
    in_loop: bool,
    /// `return` and `.await` would mean the closure.
    in_closure: bool,
}

impl Maker {
    fn new(seed: u64, chains: bool) -> Self {
        Self {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            chains,
            is_async: false,
            used: 0,
            next: 0,
            variables: Vec::new(),
            floor: 0,
            in_loop: false,
            in_closure: false,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 16) % end as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Bits that nothing else depends on, while there are any.
    fn bits<const N: usize>(&mut self) -> Option<[u32; N]> {
        let first = self.used;
        (first + N as u32 <= MOST_BITS).then(|| {
            self.used += N as u32;
            std::array::from_fn(|number| first + number as u32)
        })
    }

    fn name(&mut self, stem: &str) -> String {
        self.next += 1;
        format!("{stem}{}", self.next)
    }

    /// A new variable with a guard.
    fn variable(&mut self, kind: Kind) -> String {
        let name = self.name("g");
        self.variables.push(Variable {
            name: name.clone(),
            kind,
            is_whole: true,
        });
        name
    }

    /// What is made inside ends there.
    fn scope<R>(&mut self, inside: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.variables.len();
        let made = inside(self);
        self.variables.truncate(outer);
        made
    }

    /// What is made inside may run twice, or not at all.
    fn apart<R>(&mut self, in_loop: bool, inside: impl FnOnce(&mut Self) -> R) -> R {
        let floor = std::mem::replace(&mut self.floor, self.variables.len());
        let outer = std::mem::replace(&mut self.in_loop, in_loop);
        let made = self.scope(inside);
        self.floor = floor;
        self.in_loop = outer;
        made
    }

    /// What is made inside is a closure's.
    fn closure<R>(&mut self, inside: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.in_closure, true);
        let made = self.apart(false, inside);
        self.in_closure = outer;
        made
    }

    /// Alternatives: a variable is whole after them if none moved it.
    fn branches<const N: usize>(
        &mut self,
        mut each: impl FnMut(&mut Self, usize) -> String,
    ) -> [String; N] {
        let before = self.whole();
        let mut after = before.clone();
        let made = std::array::from_fn(|number| {
            self.set_whole(&before);
            let made = self.scope(|this| each(this, number));
            let now = self.whole();
            after
                .iter_mut()
                .zip(now)
                .for_each(|(all, this)| *all &= this);
            made
        });
        self.set_whole(&after);
        made
    }

    fn whole(&self) -> Vec<bool> {
        self.variables
            .iter()
            .map(|variable| variable.is_whole)
            .collect()
    }

    fn set_whole(&mut self, states: &[bool]) {
        self.variables
            .iter_mut()
            .zip(states)
            .for_each(|(variable, is_whole)| variable.is_whole = *is_whole);
    }

    /// A variable of this kind that may be moved here.
    fn movable(&mut self, kind: Kind) -> Option<usize> {
        let fits: Vec<usize> = (self.floor..self.variables.len())
            .filter(|index| {
                let variable = &self.variables[*index];
                variable.is_whole && variable.kind == kind
            })
            .collect();
        (!fits.is_empty()).then(|| fits[self.below(fits.len())])
    }

    /// Its name; it is not to be used afterwards.
    fn moved(&mut self, index: usize) -> String {
        self.variables[index].is_whole = false;
        self.variables[index].name.clone()
    }
}
