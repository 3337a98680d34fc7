//! A file's syntax, reduced to what the analysis asks.
//!
//! Plain data that may cross threads, unlike syn's trees, whose spans stay in the thread that parsed them.
//! Every expression has an identity within its file, so that the flow analysis can name the temporary it makes.
//! Macros are expanded or classified before this stage; what could not be understood is [`Kind::Opaque`].

use serde::{Deserialize, Serialize};

use super::name::Name;

/// A range of bytes in the file.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct At {
    /// First byte.
    pub(crate) start: u32,
    /// Behind the last byte.
    pub(crate) end: u32,
}

impl At {
    /// From the start of `self` to the end of `last`.
    pub(crate) fn to(self, last: Self) -> Self {
        Self {
            start: self.start,
            end: last.end.max(self.start),
        }
    }
}

/// The parsed file: the file's own module first, then inline modules and blocks with items of their own.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct FileSyntax {
    /// Scopes; an index into this list is a *local scope*.
    pub(crate) scopes: Vec<Scope>,
    /// `macro_rules!` definitions that other files may use: name and text.
    pub(crate) macros: Vec<(Name, String)>,
    /// Macro calls nobody in this file defines.
    pub(crate) unknown_macros: Vec<Name>,
    /// `lint_allow` attributes.
    pub(crate) allows: Vec<AllowAttribute>,
    /// How many expressions the file has.
    pub(crate) expressions: u32,
}

/// `#[vt_runtime::lint_allow(..)]` on an item.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AllowAttribute {
    /// The attribute.
    pub(crate) at: At,
    /// The item.
    pub(crate) item: At,
    /// Rule names as written.
    pub(crate) rules: Vec<String>,
    /// Its `reason`.
    pub(crate) reason: Option<String>,
}

/// Which types `#[park_safe]` swaps for park-aware ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Swap {
    /// None: there is no such attribute.
    #[default]
    Nothing,
    /// std's and parking_lot's locks and channels.
    Locks,
    /// `Monitor` too: `#[park_safe(monitor = "reentrant")]`.
    LocksAndMonitors,
}

/// A module's or block's items.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scope {
    /// The scope around it, `None` for the file itself.
    pub(crate) parent: Option<u32>,
    /// A block's scope sees the names of its parent; a module's does not.
    pub(crate) is_block: bool,
    /// What `#[park_safe]` on it or around it swaps.
    pub(crate) swap: Swap,
    /// What it declares.
    pub(crate) items: Vec<Item>,
}

/// An item.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Item {
    /// One leaf of a `use` tree.
    Use(Use),
    /// `mod name { .. }`, with its local scope.
    Module(Name, u32),
    /// `mod name;`
    File(ModuleFile),
    /// A function.
    Function(Function),
    /// A struct, enum or union.
    Data(Data),
    /// A type alias.
    Alias(Name, Generics, Type),
    /// A trait.
    Trait(Trait),
    /// An implementation.
    Impl(Impl),
    /// A static, constant or lazily initialised cell.
    Value(Value),
}

/// A name that an import brings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Use {
    /// The path, without the name in `as`.
    pub(crate) path: Path,
    /// The name it has here; `None` for a glob.
    pub(crate) name: Option<Name>,
}

/// How the names of modules begin that stand for `include!`: no identifier has a space.
pub(crate) const INCLUDED: &str = "include ";

/// `mod name;`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ModuleFile {
    /// The name.
    pub(crate) name: Name,
    /// `#[path = ".."]`.
    pub(crate) path: Option<String>,
    /// Its place.
    pub(crate) at: At,
    /// It is there whatever is configured, so its file must be.
    pub(crate) is_certain: bool,
    /// Directories of the inline modules around it, outermost first.
    pub(crate) inline: Vec<Name>,
    /// What `#[park_safe]` on it or around it swaps.
    pub(crate) swap: Swap,
}

/// A function or method, with or without a body.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: Name,
    /// The name's place.
    pub(crate) name_at: At,
    /// All of it.
    pub(crate) at: At,
    /// Type parameters and bounds.
    pub(crate) generics: Generics,
    /// `self`, when it has one.
    pub(crate) receiver: Option<Receiver>,
    /// The other parameters.
    pub(crate) params: Vec<Param>,
    /// The declared result.
    pub(crate) output: Option<Type>,
    /// `async fn`.
    pub(crate) is_async: bool,
    /// Declared in an `extern` block.
    pub(crate) is_foreign: bool,
    /// What attributes say about it.
    pub(crate) marks: Vec<Mark>,
    /// What `#[park_safe]` on it or around it swaps.
    pub(crate) swap: Swap,
    /// The body.
    pub(crate) body: Option<Block>,
}

/// How `self` is taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Receiver {
    /// `&self` or `&mut self`.
    pub(crate) by_reference: bool,
    /// `self: Type`.
    pub(crate) ty: Option<Type>,
    /// What attributes say about it.
    pub(crate) marks: Vec<Mark>,
}

/// A parameter.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Param {
    /// What it binds.
    pub(crate) pattern: Pattern,
    /// Its type.
    pub(crate) ty: Type,
    /// What attributes say about it.
    pub(crate) marks: Vec<Mark>,
}

/// An attribute the analysis knows: its last path segment and what stands in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// `native`, `main`, `blocks`, ...
    pub(crate) name: Name,
    /// The text of its arguments.
    pub(crate) argument: String,
}

/// A struct, enum or union.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Data {
    /// Its name.
    pub(crate) name: Name,
    /// Type parameters and bounds.
    pub(crate) generics: Generics,
    /// Fields; tuple fields are named by their number.
    pub(crate) fields: Vec<(Name, Type)>,
    /// Variants with their fields.
    pub(crate) variants: Vec<(Name, Vec<(Name, Type)>)>,
    /// What attributes say about it.
    pub(crate) marks: Vec<Mark>,
    /// What `#[park_safe]` on it or around it swaps.
    pub(crate) swap: Swap,
}

/// A trait.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Trait {
    /// Its name.
    pub(crate) name: Name,
    /// Type parameters and bounds.
    pub(crate) generics: Generics,
    /// Supertraits.
    pub(crate) supertraits: Vec<Bound>,
    /// Methods.
    pub(crate) functions: Vec<Function>,
}

/// An implementation.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Impl {
    /// Type parameters and bounds.
    pub(crate) generics: Generics,
    /// The trait, if it is one.
    pub(crate) of_trait: Option<Path>,
    /// The type.
    pub(crate) self_type: Type,
    /// Functions.
    pub(crate) functions: Vec<Function>,
    /// Associated types.
    pub(crate) types: Vec<(Name, Type)>,
    /// Associated constants.
    pub(crate) constants: Vec<(Name, Type)>,
    /// What `#[park_safe]` on it or around it swaps.
    pub(crate) swap: Swap,
}

/// A static, constant or lazily initialised cell.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Value {
    /// Its name.
    pub(crate) name: Name,
    /// When its initialiser runs.
    pub(crate) storage: Storage,
    /// Its type.
    pub(crate) ty: Type,
    /// Its initialiser.
    pub(crate) init: Option<Expr>,
    /// All of it.
    pub(crate) at: At,
    /// What `#[park_safe]` on it or around it swaps.
    pub(crate) swap: Swap,
}

/// When an initialiser runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Storage {
    /// At compile time.
    Constant,
    /// At the first use in each OS thread: `thread_local!`.
    ThreadLocal,
    /// At the first use in each virtual thread: `task::local!`.
    TaskLocal,
    /// At the first use: `lazy_static!`.
    Lazy,
}

/// Type parameters and bounds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Generics {
    /// Names of type parameters, in order.
    pub(crate) params: Vec<Name>,
    /// Bounds, inline and from `where`.
    pub(crate) bounds: Vec<(Type, Vec<Bound>)>,
}

/// A trait bound.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Bound {
    /// `Trait<..>`.
    Trait(Path),
    /// `Fn(A) -> B`, `FnMut`, `FnOnce`, `AsyncFn`.
    Function(Vec<Type>, Option<Box<Type>>),
}

/// A type as written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Type {
    /// A named type; with `<T as Trait>::` the first part is in the path's `qself`.
    Path(Path),
    /// `&T`, `&mut T`.
    Reference(Box<Self>),
    /// `*const T`, `*mut T`.
    Pointer(Box<Self>),
    /// `[T]` and `[T; N]`.
    Slice(Box<Self>),
    /// `(A, B)`.
    Tuple(Vec<Self>),
    /// `fn(A) -> B`.
    Function(Vec<Self>, Option<Box<Self>>),
    /// `impl Trait`.
    Impl(Vec<Bound>),
    /// `dyn Trait`.
    Dyn(Vec<Bound>),
    /// `!`
    Never,
    /// `_`, macros and whatever else says nothing.
    Unknown,
}

/// A path as written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Path {
    /// It begins with `::`.
    pub(crate) is_global: bool,
    /// The type in `<T>::` or `<T as Trait>::`; the trait's segments come first then.
    pub(crate) qself: Option<Box<Type>>,
    /// The segments.
    pub(crate) segments: Vec<Segment>,
    /// Its place.
    pub(crate) at: At,
}

/// One part of a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Segment {
    /// The identifier.
    pub(crate) name: Name,
    /// Type arguments.
    pub(crate) args: Vec<Type>,
    /// `Item = T`.
    pub(crate) bindings: Vec<(Name, Type)>,
}

/// Statements with an optional value.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Block {
    /// The local scope of its items, if it has any.
    pub(crate) scope: Option<u32>,
    /// Statements.
    pub(crate) statements: Vec<Statement>,
    /// The tail expression.
    pub(crate) tail: Option<Box<Expr>>,
    /// All of it.
    pub(crate) at: At,
}

/// A statement.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Statement {
    /// `let`.
    Let(Box<Let>),
    /// An expression whose value is dropped.
    Expr(Expr),
}

/// `let pattern: ty = init else { otherwise };`
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Let {
    /// What it binds.
    pub(crate) pattern: Pattern,
    /// The annotation.
    pub(crate) ty: Option<Type>,
    /// The initialiser.
    pub(crate) init: Option<Expr>,
    /// The `else` block.
    pub(crate) otherwise: Option<Expr>,
}

/// An expression.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Expr {
    /// Its identity within the file.
    pub(crate) id: u32,
    /// All of it.
    pub(crate) at: At,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What an expression is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// A literal.
    Literal(Literal),
    /// A variable, function, constant.
    Path(Path),
    /// `f(..)`
    Call(Box<Expr>, Vec<Expr>),
    /// `receiver.name(..)`
    Method(Box<Method>),
    /// `base.name`
    Field(Box<Expr>, Name),
    /// `base[index]`
    Index(Box<Expr>, Box<Expr>),
    /// `*e`
    Deref(Box<Expr>),
    /// `!e`, `-e`
    Unary(Box<Expr>),
    /// `a op b`
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `a = b`
    Assign(Box<Expr>, Box<Expr>),
    /// `a op= b`
    AssignOperator(Box<Expr>, Box<Expr>),
    /// `&e`, `&mut e`, `&raw const e`
    Reference(Box<Expr>),
    /// `let pattern = e` in a condition.
    Let(Box<Pattern>, Box<Expr>),
    /// `if`
    If(Box<If>),
    /// `while`
    While(Option<Name>, Box<Expr>, Block),
    /// `loop`
    Loop(Option<Name>, Block),
    /// `for`
    For(Box<For>),
    /// `match`
    Match(Box<Expr>, Vec<Arm>),
    /// A block, labelled, `unsafe` or plain.
    Block(Option<Name>, Block),
    /// `async { .. }`
    Async(Box<Async>),
    /// A closure.
    Closure(Box<Closure>),
    /// `e.await`, with the place of the word.
    Await(Box<Expr>, At),
    /// `e?`
    Try(Box<Expr>),
    /// `return`
    Return(Option<Box<Expr>>),
    /// `break`
    Break(Option<Name>, Option<Box<Expr>>),
    /// `continue`
    Continue(Option<Name>),
    /// `Path { field: e, ..rest }`
    Struct(Box<StructLiteral>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[e; n]`
    Repeat(Box<Expr>),
    /// `a..b`
    Range(Vec<Expr>),
    /// `e as T`
    Cast(Box<Expr>, Type),
    /// A known macro's arguments.
    Macro(Box<Macro>),
    /// Not understood; it does nothing.
    Opaque,
}

/// What a literal is, as far as its type goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Literal {
    /// `".."`
    Text,
    /// Numbers, booleans, characters.
    Plain,
    /// Byte and C strings.
    Bytes,
}

/// `receiver.name(..)`
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Method {
    /// The receiver.
    pub(crate) receiver: Expr,
    /// The method's name.
    pub(crate) name: Name,
    /// The name's place.
    pub(crate) name_at: At,
    /// `::<..>`
    pub(crate) generics: Vec<Type>,
    /// The arguments.
    pub(crate) args: Vec<Expr>,
}

/// Operators, as far as evaluation differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Operator {
    /// `&&`
    And,
    /// `||`
    Or,
    /// Comparison.
    Compare,
    /// The rest.
    Arithmetic,
}

/// `if`
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct If {
    /// The condition.
    pub(crate) condition: Expr,
    /// The block.
    pub(crate) then: Block,
    /// `else`
    pub(crate) otherwise: Option<Expr>,
}

/// `for`
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct For {
    /// Its label.
    pub(crate) label: Option<Name>,
    /// The loop variable.
    pub(crate) pattern: Pattern,
    /// What is iterated.
    pub(crate) iterable: Expr,
    /// The body.
    pub(crate) body: Block,
}

/// A `match` arm.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Arm {
    /// What it binds.
    pub(crate) pattern: Pattern,
    /// `if ..`
    pub(crate) guard: Option<Expr>,
    /// Its value.
    pub(crate) body: Expr,
}

/// `async { .. }`
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Async {
    /// `async move`.
    pub(crate) moves: bool,
    /// The body.
    pub(crate) block: Block,
}

/// A closure.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Closure {
    /// `move`.
    pub(crate) moves: bool,
    /// `async |..|`.
    pub(crate) is_async: bool,
    /// Its parameters.
    pub(crate) params: Vec<(Pattern, Option<Type>)>,
    /// The annotated result.
    pub(crate) output: Option<Type>,
    /// The body.
    pub(crate) body: Expr,
}

/// `Path { field: e, ..rest }`
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StructLiteral {
    /// The type or variant.
    pub(crate) path: Path,
    /// Fields in written order.
    pub(crate) fields: Vec<(Name, Expr)>,
    /// `..rest`
    pub(crate) rest: Option<Expr>,
}

/// A macro call whose arguments are expressions.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Macro {
    /// Its name.
    pub(crate) name: Name,
    /// The name's place.
    pub(crate) name_at: At,
    /// How its arguments are evaluated.
    pub(crate) shape: MacroShape,
    /// The arguments.
    pub(crate) args: Vec<Expr>,
}

/// How a macro's arguments are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MacroShape {
    /// One statement of its own: `println!`, log macros.
    Statement,
    /// Part of the surrounding statement, borrowed: `assert_eq!`, `format_args!`.
    Borrow,
    /// Gives a `String`: `format!`.
    Format,
    /// Arguments move into a vector: `vec!`.
    Vector,
    /// The first argument is a sink the rest is written to: `write!`.
    Write,
    /// Does not come back: `panic!`.
    Diverge,
    /// Each argument is a future and is awaited: `join!`, `select!`.
    Await,
    /// The first argument runs as a coroutine of its own: `go!`.
    Coroutine,
}

/// A pattern.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Pattern {
    /// Its identity within the file.
    pub(crate) id: u32,
    /// Its place.
    pub(crate) at: At,
    /// What it is.
    pub(crate) kind: PatternKind,
}

/// What a pattern is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum PatternKind {
    /// A variable; with `ref` it borrows. May be a constant or unit variant.
    Bind {
        /// The variable.
        name: Name,
        /// `ref`.
        by_reference: bool,
        /// `@ pattern`.
        inner: Option<Box<Pattern>>,
    },
    /// `(a, b)`
    Tuple(Vec<Pattern>),
    /// `[a, b]`
    Slice(Vec<Pattern>),
    /// `Path(a, b)`
    Call(Path, Vec<Pattern>),
    /// `Path { field: a }`
    Struct(Path, Vec<(Name, Pattern)>),
    /// A constant or unit variant.
    Path(Path),
    /// `&a`
    Reference(Box<Pattern>),
    /// `a | b`
    Or(Vec<Pattern>),
    /// `a: T`
    Typed(Box<Pattern>, Type),
    /// `..`
    Rest,
    /// `_`
    Wild,
    /// Literals and ranges.
    Constant,
}
