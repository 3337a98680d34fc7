//! Attribute macros of `vt-runtime`; use them through that crate.
//!
//! This file holds the entry points and their documentation. Each macro is a function over `proc_macro2`
//! tokens, so it is tested without the compiler, and each emits the item beside its errors.

mod args;
mod body;
mod entry;
mod lint_allow;
mod native;
mod park_safe;
mod path;
mod tokens;

#[cfg(test)]
#[path = "../tests/expand/mod.rs"]
mod expand;

use proc_macro::TokenStream;

/// Swaps the locks of an item for park-aware ones, which let a virtual thread unmount while it waits.
///
/// Types and constructors are rewritten, method calls never:
///
/// ```text
/// #[vt_runtime::park_safe]
/// struct Cache { entries: Mutex<Vec<u8>> }
///
/// // becomes
/// struct Cache { entries: <Mutex<Vec<u8>> as ::vt_runtime::__private::Swap>::To }
/// ```
///
/// and `Mutex::new(x)` becomes `<<Mutex<_> as ::vt_runtime::__private::Swap>::To>::new(x)`. So it is the type
/// that decides, not its name: a type called `Mutex` that is no lock of std, parking_lot or this crate does not
/// compile, and says so.
///
/// It stands on `struct`, `enum`, `union`, `impl`, `fn`, `static`, `const`, `type`, `trait` and inline `mod`.
///
/// | argument | meaning |
/// | --- | --- |
/// | `monitor = "reentrant"` | `Monitor`s become `ReentrantMonitor`s too; never done unasked, refused beside `unsafe` |
/// | `only(Mutex, Condvar)` | swap just these; `only(Local = Mutex)` for a lock imported under another name |
/// | `skip(name, ..)` | leave this field, binding, item or lock alone |
/// | `public` | a public signature or field may change its type |
/// | `check` | change nothing; an error for each lock that would be swapped |
/// | `crate = path` | where a facade crate re-exports the runtime |
#[proc_macro_attribute]
pub fn park_safe(args: TokenStream, item: TokenStream) -> TokenStream {
    park_safe::attribute(args.into(), item.into()).into()
}

/// [`macro@park_safe`] around several items: `park_safe_items! { #![park_safe(skip(name))] items }`.
///
/// It has a name of its own because an attribute and a function-like macro cannot share one.
#[proc_macro]
pub fn park_safe_items(items: TokenStream) -> TokenStream {
    park_safe::items(items.into()).into()
}

/// Declares calls into foreign code, so that blocking and pinning inside them is seen and named.
///
/// On an `extern` block each function becomes a wrapper of the same name, signature and safety that is tracked
/// under its symbol; statics, link attributes and types stay, and so do variadic functions and functions that
/// never return, which cannot be tracked. On a function that wraps foreign calls its whole body is tracked
/// under the function's name.
///
/// | argument | meaning |
/// | --- | --- |
/// | `blocking` | it waits in the kernel: the runtime may start a spare carrier meanwhile |
/// | `computing` | it computes: it is not expected to wait |
/// | `quick` | it returns at once: no clocks are read |
/// | `label = "text"` | on a function: the name in events |
/// | `crate = path` | where a facade crate re-exports the runtime |
///
/// Inside a block `#[native(quick)]` on one function overrides the block's class.
#[proc_macro_attribute]
pub fn native(args: TokenStream, item: TokenStream) -> TokenStream {
    native::attribute(args.into(), item.into()).into()
}

/// Runs the body of `main` as a virtual thread, and ends the program with its outcome.
///
/// `main(carriers = 4)` starts a runtime with that many carriers; without it the default one is used.
#[proc_macro_attribute]
pub fn main(args: TokenStream, item: TokenStream) -> TokenStream {
    entry::main(args.into(), item.into()).into()
}

/// A test that runs as a virtual thread of a runtime of its own.
///
/// It works with `Result`, `#[should_panic]` and `#[ignore]` as std's does.
///
/// | argument | meaning |
/// | --- | --- |
/// | `should_not_pin` | fails if any virtual thread of the test pins its carrier while it waits, however shortly |
/// | `should_pin` | fails unless one does |
/// | `should_pin(at_most = 3)` | the same, and fails if that happens more often |
/// | `longer_than = "20ms"` | inside of either: only waits of at least that long count |
/// | `carriers = 2` | how many carriers the test's runtime has |
/// | `crate = path` | where a facade crate re-exports the runtime |
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    entry::test(args.into(), item.into()).into()
}

/// Tells `cargo vt-lint` that a finding in this item is meant: `lint_allow(rule_name, reason = "..")`.
///
/// It changes nothing. Rules are spelled with `_`; a rule that does not exist is an error.
#[proc_macro_attribute]
pub fn lint_allow(args: TokenStream, item: TokenStream) -> TokenStream {
    lint_allow::attribute(args.into(), item.into()).into()
}
