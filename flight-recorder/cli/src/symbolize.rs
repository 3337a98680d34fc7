//! `vt-flight symbolize`: names addresses that a recording could only number, from the files they
//! belong to: the ones the process ran, or the ones given, if they are of the same build.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use vt_flight_recorder::{InFile, Pin, Symbolizer, build_id_of};

use crate::args::Symbolize;
use crate::input::{self, Failure};
use crate::table::{Cell, Table};
use crate::text;

/// A file mapped into the recorded process.
struct Module {
    path: String,
    build_id: String,
    base: u64,
    end: u64,
}

pub(crate) fn run(arguments: &Symbolize, out: &mut impl Write) -> Result<(), Failure> {
    let mut modules = Vec::new();
    let mut unnamed: BTreeMap<u64, u64> = BTreeMap::new();
    input::events(&arguments.files.files, |event| {
        if event.name() == "vt.Module" {
            let number = |name| event.integer(name).unwrap_or(0).cast_unsigned();
            modules.push(Module {
                path: event.text("path").unwrap_or_default(),
                build_id: event.text("buildId").unwrap_or_default(),
                base: number("base"),
                end: number("end"),
            });
        }
        for frame in Pin::of(event).iter().flat_map(|pin| &pin.frames) {
            let address = frame
                .method
                .strip_prefix("0x")
                .filter(|_| frame.class == "unknown");
            if let Some(Ok(address)) = address.map(|hex| u64::from_str_radix(hex, 16)) {
                *unnamed.entry(address).or_default() += 1;
            }
        }
        Ok(())
    })?;
    let mut files: Vec<Option<InFile>> = Vec::new();
    for module in &modules {
        files.push(open(module, arguments)?);
    }
    let mut table = Table::new(
        "Addresses without a name in the recording",
        &[
            ("Address", "address"),
            ("Pins", "count"),
            ("Module", "module"),
            ("Function", "function"),
            ("Line", "line"),
        ],
    );
    for (address, count) in unnamed {
        let at = modules
            .iter()
            .position(|m| (m.base..m.end).contains(&address));
        let functions = at.and_then(|at| {
            let own = address - modules[at].base;
            Some(files[at].as_mut()?.functions(own))
        });
        let function = functions.as_deref().and_then(<[_]>::first);
        table.row(vec![
            Cell::text(format!("{address:#x}")),
            Cell::Count(count),
            Cell::text(at.map_or("", |at| modules[at].path.as_str())),
            Cell::text(function.map_or("", |function| function.name.as_str())),
            Cell::Count(function.map_or(0, |function| function.line.into())),
        ]);
    }
    if table.len() == 0 {
        writeln!(out, "Every frame has its name.")?;
        return Ok(());
    }
    table.write(out)?;
    Ok(())
}

/// The file of a module: one that was given and is of the same build, else the one that was run.
fn open(module: &Module, arguments: &Symbolize) -> Result<Option<InFile>, Failure> {
    for path in &arguments.binary {
        let failed = |error: std::io::Error| Failure::File(path.clone(), error.to_string());
        let id = build_id_of(path).map_err(failed)?;
        if !id.is_empty() && id == module.build_id {
            return InFile::open(path).map(Some).map_err(failed);
        }
    }
    let path = Path::new(&module.path);
    match build_id_of(path) {
        Ok(id) if id == module.build_id => Ok(InFile::open(path).ok()),
        // Another build has other functions at these addresses: no name is better than a wrong one.
        Ok(_) => {
            let warning = text::warning("warning");
            anstream::eprintln!(
                "{warning}: {} is another build than the recorded one; give the right file by --binary",
                path.display()
            );
            Ok(None)
        }
        Err(_) => Ok(None),
    }
}
