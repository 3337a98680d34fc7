//! Names functions of this process from its own debug information and symbol tables.

use std::collections::HashMap;
use std::fmt;

use addr2line::Loader;
use vt_runtime::event::Place;

use super::elf::{self, Module};
use super::source::Sources;
use super::{Function, Symbolizer};

/// Asks the debug information and symbol tables of the running program, each address once.
///
/// The first question loads them, which takes tens of milliseconds; so this belongs on a thread that
/// has the time, never on a carrier.
#[derive(Default)]
pub struct InProcess {
    modules: Option<Vec<Module>>,
    /// By the module's place in the list; `None` for one that cannot be read.
    loaders: HashMap<usize, Option<Loader>>,
    sources: Sources,
    known: HashMap<u64, Vec<Function>>,
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess")
            .field("known", &self.known.len())
            .finish_non_exhaustive()
    }
}

impl Symbolizer for InProcess {
    fn line(&mut self, stack: &[u64]) -> Option<Place> {
        vt_runtime::event::application_line(stack)
    }

    fn functions(&mut self, address: u64) -> Vec<Function> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        if self.modules.is_none() {
            self.start();
        }
        let functions = at_return(address, |at| self.look_up(at).unwrap_or_default());
        self.known.insert(address, functions.clone());
        functions
    }
}

impl InProcess {
    fn start(&mut self) {
        self.modules = Some(elf::modules());
        // The runtime's own files are told from the application's by a function of each crate.
        let runtime = vt_runtime::thread::is_virtual as fn() -> bool as usize as u64;
        let recorder = elf::modules as fn() -> Vec<Module> as usize as u64;
        for address in [runtime, recorder] {
            self.look_up(address);
        }
    }

    fn look_up(&mut self, address: u64) -> Option<Vec<Function>> {
        let modules = self.modules.as_ref()?;
        let at = modules
            .iter()
            .position(|module| module.addresses.contains(&address))?;
        let module = &modules[at];
        let loader = self
            .loaders
            .entry(at)
            .or_insert_with(|| Loader::new(&module.open).ok());
        let address = address.wrapping_sub(module.bias);
        Some(functions(loader.as_ref()?, &mut self.sources, address))
    }
}

/// The functions of a return address: it is behind its call, which may be the last of its function. The
/// outermost one of a stack may be made up, and be where a function begins.
pub(super) fn at_return(
    address: u64,
    mut functions: impl FnMut(u64) -> Vec<Function>,
) -> Vec<Function> {
    let found = functions(address.saturating_sub(1));
    if found.is_empty() {
        functions(address)
    } else {
        found
    }
}

/// The functions at an address of a file.
pub(super) fn functions(loader: &Loader, sources: &mut Sources, address: u64) -> Vec<Function> {
    let symbol = loader.find_symbol(address).map(demangled);
    let mut found = Vec::new();
    if let Ok(mut frames) = loader.find_frames(address) {
        while let Ok(Some(frame)) = frames.next() {
            let name = frame
                .function
                .as_ref()
                .and_then(|name| name.raw_name().ok());
            let place = frame.location.as_ref();
            let file = place
                .and_then(|place| place.file)
                .unwrap_or_default()
                .to_owned();
            let line = place.and_then(|place| place.line).unwrap_or(0);
            found.push((name.map(|name| short(&demangled(&name))), file, line));
        }
    }
    if found.is_empty() {
        found.extend(symbol.clone().map(|name| (Some(name), String::new(), 0)));
    }
    // The last is the function that really stands on the stack, which the symbol table knows by its
    // full name; those before it were inlined.
    let last = found.len().saturating_sub(1);
    if let (Some((name, file, _)), Some(symbol)) = (found.last_mut(), symbol) {
        sources.learn(&symbol, file);
        *name = Some(symbol);
    }
    let full = |name: Option<String>, file: &str| {
        let name = name.unwrap_or_else(|| "unknown".to_owned());
        match sources.module(file) {
            module if !super::split(&name).class.is_empty() || module.is_empty() => name,
            module => format!("{module}::{name}"),
        }
    };
    let functions = found
        .into_iter()
        .enumerate()
        .map(|(index, (name, file, line))| Function {
            name: full(name, &file),
            line,
            inlined: index < last,
        });
    functions.collect()
}

/// A name that is no path without its type arguments, which are longer than it and say nothing of the
/// line to change.
fn short(name: &str) -> String {
    match name.find('<') {
        Some(at) if at > 0 && !name[..at].contains("::") => name[..at].to_owned(),
        _ => name.to_owned(),
    }
}

/// A name as it was written; the alternate form leaves the hash out.
fn demangled(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_ours_has_its_name_and_line() {
        let address = demangled as fn(&str) -> String as usize as u64;
        let functions = InProcess::default().functions(address + 1);
        let own = functions
            .iter()
            .find(|f| f.name == "vt_flight_recorder::symbol::in_process::demangled");
        assert!(own.is_some_and(|f| f.line > 0), "{functions:?}");
    }

    #[test]
    fn the_runtime_is_told_from_the_application() {
        let address = vt_runtime::thread::is_virtual as fn() -> bool as usize as u64;
        let functions = InProcess::default().functions(address + 1);
        let names: Vec<_> = functions.iter().map(|f| f.name.as_str()).collect();
        assert!(
            names
                .iter()
                .all(|name| !super::super::split(name).is_application()),
            "{names:?}"
        );
    }

    #[test]
    fn type_arguments_are_left_out_of_short_names() {
        assert_eq!(short("catch_unwind<(), core::Assert>"), "catch_unwind");
        assert_eq!(short("{closure#0}<T>"), "{closure#0}");
        assert_eq!(short("<T as shop::Store>::put"), "<T as shop::Store>::put");
        assert_eq!(short("shop::Pool<T>::put"), "shop::Pool<T>::put");
    }

    #[test]
    fn an_address_of_nobody_has_no_name() {
        assert_eq!(InProcess::default().functions(1), Vec::new());
    }
}
