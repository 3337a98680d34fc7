//! Splits a demangled path into what a recording calls class, method and package.

/// A function's path in three parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// The path up to the last `::` outside angle brackets.
    pub(crate) class: &'a str,
    /// The rest, closures and type arguments included.
    pub(crate) method: &'a str,
    /// The crate.
    pub(crate) package: &'a str,
}

/// Crates whose frames are never the line to change.
const LIBRARIES: &[&str] = &[
    "alloc",
    "backtrace",
    "core",
    "corosensei",
    "generator",
    "std",
    "tracing",
    "tracing_core",
    "tracing_subscriber",
    "vt_flight_recorder",
    "vt_runtime",
    "unknown",
];

/// The runtime's public modules; frames of all others are its inner workings.
const PUBLIC: &[&str] = &[
    "thread", "sync", "net", "native", "pinned", "task", "fs", "io", "process", "future",
];

impl Name<'_> {
    pub(crate) fn is_application(&self) -> bool {
        // A plain C name has no path, so no crate: foreign code is not the line to change either.
        !self.class.is_empty() && !LIBRARIES.contains(&self.package)
    }

    pub(crate) fn is_internal(&self) -> bool {
        match self.package {
            "corosensei" | "generator" => true,
            "vt_runtime" => {
                let path = self.class.trim_start_matches('<');
                let module = path.strip_prefix("vt_runtime::").unwrap_or("");
                !PUBLIC.contains(&module.split("::").next().unwrap_or(""))
            }
            _ => false,
        }
    }
}

/// Splits a path such as `<shop::Pool<T> as shop::Store>::put::{{closure}}`.
pub(crate) fn split(path: &str) -> Name<'_> {
    let (class, method) = match cut(path) {
        Some(at) => (&path[..at], &path[at + 2..]),
        None => ("", path),
    };
    let start = path.trim_start_matches(['<', '&', '*', ' ', '(', '[']);
    let start = start
        .strip_prefix("mut ")
        .or_else(|| start.strip_prefix("const "))
        .unwrap_or(start);
    let start = start.strip_prefix("dyn ").unwrap_or(start);
    let end = start
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(start.len());
    Name {
        class,
        method,
        package: if class.is_empty() { "" } else { &start[..end] },
    }
}

/// Where the last `::` outside brackets stands whose right side begins with a name.
fn cut(path: &str) -> Option<usize> {
    let bytes = path.as_bytes();
    let (mut depth, mut found, mut any, mut at) = (0_i32, None, None, 0);
    while at < bytes.len() {
        match bytes[at] {
            // An arrow's tip closes nothing.
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth -= 1,
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => {
                match bytes.get(at + 2) {
                    None => {}
                    Some(b'{' | b'<') => any = any.or(Some(at)),
                    Some(_) => found = Some(at),
                }
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.or(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn parts(path: &str, class: &str, method: &str, package: &str) {
        assert_eq!(
            split(path),
            Name {
                class,
                method,
                package
            },
            "{path}"
        );
    }

    #[test]
    fn paths_split_at_the_last_separator_outside_brackets() {
        parts("shop::db::query", "shop::db", "query", "shop");
        parts(
            "shop::db::Pool<T>::query::{{closure}}",
            "shop::db::Pool<T>",
            "query::{{closure}}",
            "shop",
        );
        parts(
            "shop::main::{closure#0}",
            "shop",
            "main::{closure#0}",
            "shop",
        );
        parts(
            "<shop::Pool<u8> as shop::Store>::put",
            "<shop::Pool<u8> as shop::Store>",
            "put",
            "shop",
        );
        parts(
            "std::panic::catch_unwind::<i32, a::B>",
            "std::panic",
            "catch_unwind::<i32, a::B>",
            "std",
        );
        parts(
            "<fn() -> i32 as core::ops::FnOnce<()>>::call_once",
            "<fn() -> i32 as core::ops::FnOnce<()>>",
            "call_once",
            "fn",
        );
        parts(
            "<&mut dyn shop::Store as a::B>::put",
            "<&mut dyn shop::Store as a::B>",
            "put",
            "shop",
        );
        parts("load::{closure#0}", "load", "{closure#0}", "load");
        parts("sqlite3_step", "", "sqlite3_step", "");
        parts("", "", "", "");
        parts("a::", "", "a::", "");
    }

    #[test]
    fn libraries_and_foreign_code_are_not_the_application() {
        assert!(split("shop::db::query").is_application());
        assert!(!split("std::thread::sleep").is_application());
        assert!(!split("vt_runtime::thread::sleep").is_application());
        assert!(!split("sqlite3_step").is_application());
        assert!(split("vt_runtime::park::block").is_internal());
        assert!(!split("vt_runtime::sync::monitor::Monitor<T>::enter").is_internal());
    }
}
