//! Names functions of this process from its own debug information.

use std::collections::HashMap;

use super::{Function, Symbolizer};

/// Asks the debug information and symbol tables of the running program, each address once.
///
/// The first question loads them, which takes tens of milliseconds; so this belongs on a thread that
/// has the time, never on a carrier.
#[derive(Debug, Default)]
pub struct InProcess {
    known: HashMap<u64, Vec<Function>>,
}

impl Symbolizer for InProcess {
    fn functions(&mut self, address: u64) -> Vec<Function> {
        self.known
            .entry(address)
            .or_insert_with(|| resolve(address))
            .clone()
    }
}

fn resolve(address: u64) -> Vec<Function> {
    let mut functions = Vec::new();
    let Ok(address) = usize::try_from(address) else {
        return functions;
    };
    backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
        if let Some(name) = symbol.name() {
            functions.push(Function {
                // The alternate form leaves the hash out.
                name: format!("{name:#}"),
                line: symbol.lineno().unwrap_or(0),
                inlined: true,
            });
        }
    });
    // The last is the function that really stands on the stack; those before were inlined into it.
    if let Some(outermost) = functions.last_mut() {
        outermost.inlined = false;
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn known_to_the_test() -> u64 {
        let mut inside = 0;
        backtrace::trace(|frame| {
            inside = frame.ip().addr() as u64;
            let function = resolve(inside);
            !function
                .iter()
                .any(|f| f.name.ends_with("known_to_the_test"))
        });
        inside
    }

    #[test]
    fn an_address_of_ours_has_its_function_s_name_and_line() {
        let functions = InProcess::default().functions(known_to_the_test());
        let own = functions
            .iter()
            .find(|f| f.name.ends_with("known_to_the_test"));
        assert!(own.is_some_and(|f| f.line > 0), "{functions:?}");
    }

    #[test]
    fn an_address_of_nobody_has_no_name() {
        assert_eq!(InProcess::default().functions(1), Vec::new());
    }
}
