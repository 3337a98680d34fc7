//! What the flow analysis finds out about one piece of code that runs as a whole.

use crate::model::index::{FunctionId, ValueId};
use crate::model::name::Name;
use crate::model::syntax::At;

/// Guards as a set of bits: the guards of one body by number. Further ones are not followed.
pub(crate) type Guards = u128;

/// A channel that a full queue makes senders wait for is made.
pub(crate) const BOUNDED: u8 = 1;
/// A channel that takes whatever is sent is made.
pub(crate) const UNBOUNDED: u8 = 2;

/// A function, closure, async block or initialiser.
#[derive(Debug)]
pub(crate) struct Body {
    /// What it is.
    pub(crate) kind: BodyKind,
    /// Its file.
    pub(crate) file: usize,
    /// The function around it, or itself.
    pub(crate) function: Option<FunctionId>,
    /// Where it stands.
    pub(crate) at: At,
    /// Its calls run when a future is polled.
    pub(crate) is_async: bool,
    /// Which channels it makes: [`BOUNDED`], [`UNBOUNDED`].
    pub(crate) channels: u8,
    /// Guards by number.
    pub(crate) guards: Vec<Guard>,
    /// What happens in it, in order of evaluation.
    pub(crate) events: Vec<Event>,
    /// Where a value that needs no guard keeps one alive.
    pub(crate) detachable: Vec<Detachable>,
}

/// What a `match`, `if let`, `while let` or `for` looks at: an owned value, beside whose temporaries guards stay alive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detachable {
    /// These guards.
    pub(crate) guards: Guards,
    /// The expression that gives the value.
    pub(crate) value: At,
    /// The `match`, `if`, `while` or `for` as a whole.
    pub(crate) whole: At,
    /// The whole evaluates the value first and once, so a statement before it does the same.
    pub(crate) is_first: bool,
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// A function.
    Function(FunctionId),
    /// A closure that does not run where it stands.
    Closure,
    /// An async block.
    Async,
    /// The initialiser of a lazily initialised value.
    Initializer(ValueId),
}

/// Where a guard comes from.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// The call that gives it, or the parameter.
    pub(crate) at: At,
    /// Its kind.
    pub(crate) kind: GuardKind,
    /// The lock for people and for comparing: `Registry.entries`.
    pub(crate) lock: String,
    /// The lock as written, for telling re-entry.
    pub(crate) text: String,
    /// The function that gives it; `None` for parameters.
    pub(crate) by: Option<FunctionId>,
}

/// Kinds of guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardKind {
    /// Belongs to an OS thread: std, parking_lot, `Monitor`.
    Monitor,
    /// Park-aware.
    Aware,
    /// An output stream's lock or a thread-local scope.
    Stream,
}

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// Where to report it.
    pub(crate) at: At,
    /// What.
    pub(crate) what: What,
    /// The guards that may be alive then.
    pub(crate) live: Guards,
    /// Of these, the ones whose value it is done to.
    pub(crate) through: Guards,
    /// What is declared around it.
    pub(crate) context: Context,
    /// Closures and functions it is given.
    pub(crate) passed: Vec<(How, Callable)>,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A described call that blocks the OS thread.
    Blocks(FunctionId, Name),
    /// A described call that waits in a coroutine runtime; `true` if it only yields.
    Parks(FunctionId, Name, bool),
    /// A lock is waited for; which guard it gives.
    Acquires(FunctionId, u8),
    /// A foreign function is called; `true` if declared as native.
    Foreign(Name, bool),
    /// `.await`
    Await,
    /// Something of the workspace is called; all of several candidates must agree.
    Call(Vec<Callable>),
    /// A lazily initialised value may be initialised.
    Initializes(ValueId),
    /// A value whose type has a `Drop` is dropped.
    Drops(FunctionId),
    /// A described function gets closures; it has no effect of its own.
    Passes(FunctionId),
}

/// Something that can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Callable {
    /// A function.
    Function(FunctionId),
    /// A closure or async block, by its number in this analysis.
    Body(u32),
    /// A parameter of the function at hand.
    Param(u32),
}

/// Who runs what is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum How {
    /// The callee does with its parameter what its body says.
    Param(u32),
    /// An OS thread or pool.
    OsThread,
    /// A virtual thread.
    VirtualThread,
    /// The offload pool, while the caller waits.
    Offload,
    /// Somebody, later.
    Later,
    /// The caller, driving a future.
    Driven,
}

/// What is declared around an event, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Context(pub(crate) u8);

impl Context {
    /// Inside `native::call`.
    pub(crate) const NATIVE: u8 = 1;
    /// Inside `blocking_in_place` or `block_in_place`.
    pub(crate) const BLOCKING: u8 = 2;
    /// Inside `pinned::critical`.
    pub(crate) const CRITICAL: u8 = 4;
    /// Where `is_virtual()` said no.
    pub(crate) const NOT_VIRTUAL: u8 = 8;
    /// In a loop, or a closure that an iterator runs.
    pub(crate) const LOOP: u8 = 16;
    /// The innermost of these goes over a range or a list written in place.
    pub(crate) const COUNTED: u8 = 32;
    /// In a closure that initialises a cell or an entry of a map.
    pub(crate) const INITIALIZER: u8 = 64;

    /// Whether it is declared.
    pub(crate) fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}
