//! `vt-flight symbolize`: names addresses that a recording could only number, from the files they
//! belong to: the ones the process ran, or the ones given, if they are of the same build. The recording is
//! written anew, whole or not at all.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use vt_flight_recorder::{
    Function, InFile, Pin, Reader, Symbolizer, build_id_of, numbered_address, rename,
};

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

/// The modules of a recording, each with the file that names its addresses.
struct Modules(Vec<(Module, Option<InFile>)>);

impl Modules {
    fn of(&self, address: u64) -> Option<usize> {
        let holds = |(m, _): &(Module, _)| (m.base..m.end).contains(&address);
        self.0.iter().position(holds)
    }

    fn functions(&mut self, address: u64) -> Vec<Function> {
        let Some(at) = self.of(address) else {
            return Vec::new();
        };
        let (module, file) = &mut self.0[at];
        let own = address - module.base;
        file.as_mut()
            .map_or_else(Vec::new, |file| file.functions(own))
    }
}

pub(crate) fn run(arguments: &Symbolize, out: &mut impl Write) -> Result<(), Failure> {
    if arguments.output.is_some() && arguments.files.files.len() > 1 {
        let told = "--output takes one recording; without it each is written in its place";
        return Err(Failure::Told(told.to_owned()));
    }
    for path in &arguments.files.files {
        recording(path, arguments, out)?;
    }
    Ok(())
}

fn recording(path: &Path, arguments: &Symbolize, out: &mut impl Write) -> Result<(), Failure> {
    let mut modules = Vec::new();
    let mut unnamed: BTreeMap<u64, u64> = BTreeMap::new();
    let files = [path.to_owned()];
    let seen = input::events(&files, |event| {
        if event.name() == "vt.Module" {
            let number = |name| event.integer(name).unwrap_or(0).cast_unsigned();
            modules.push(Module {
                path: event.text("path").unwrap_or_default(),
                build_id: event.text("buildId").unwrap_or_default(),
                base: number("base"),
                end: number("end"),
            });
        }
        let frames = Pin::of_anybody(event).map(|pin| Arc::clone(&pin.frames));
        for frame in frames.iter().flat_map(|frames| frames.iter()) {
            if let Some(address) = numbered_address(&frame.class, &frame.method) {
                *unnamed.entry(address).or_default() += 1;
            }
        }
        Ok(())
    })?;
    if unnamed.is_empty() {
        writeln!(out, "Every frame has its name.")?;
        return Ok(());
    }
    let mut files = Vec::new();
    for module in modules {
        // Only what an address lies in need be there.
        let needed = unnamed.range(module.base..module.end).next().is_some();
        let file = if needed {
            open(&module, arguments)?
        } else {
            None
        };
        files.push((module, file));
    }
    let mut modules = Modules(files);
    show(&unnamed, &mut modules, out)?;
    if seen.damages > 0 {
        let told = "it is damaged, and is not written anew with what is missing left out";
        return Err(Failure::File(path.to_owned(), told.to_owned()));
    }
    let named = unnamed
        .keys()
        .filter(|address| !modules.functions(**address).is_empty())
        .count();
    if named == 0 || arguments.dry_run {
        return Ok(());
    }
    let to = arguments.output.as_deref().unwrap_or(path);
    write_anew(path, to, &mut modules)?;
    let of = unnamed.len();
    writeln!(out, "\n{}: {named} of {of} addresses named", to.display())?;
    Ok(())
}

fn show(
    unnamed: &BTreeMap<u64, u64>,
    modules: &mut Modules,
    out: &mut impl Write,
) -> Result<(), Failure> {
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
        let at = modules.of(*address);
        let functions = modules.functions(*address);
        let function = functions.first();
        table.row(vec![
            Cell::text(format!("{address:#x}")),
            Cell::Count(*count),
            Cell::text(at.map_or("", |at| modules.0[at].0.path.as_str())),
            Cell::text(function.map_or("", |function| function.name.as_str())),
            Cell::Count(function.map_or(0, |function| function.line.into())),
        ]);
    }
    table.write(out)?;
    Ok(())
}

/// Writes the recording with names beside its place, then into it.
fn write_anew(from: &Path, to: &Path, modules: &mut Modules) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::File(to.to_owned(), error.to_string());
    let folder = match to.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let read = |error| Failure::Read(from.to_owned(), error);
    let mut reader = Reader::open(from).map_err(read)?;
    let names = |address| modules.functions(address);
    rename(&mut reader, BufWriter::new(file.as_file()), names).map_err(read)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(to).map_err(|error| failed(error.error))?;
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
    // Another build has other functions at these addresses: no name is better than a wrong one.
    let why = match build_id_of(path) {
        Ok(id) if !id.is_empty() && id == module.build_id => return Ok(InFile::open(path).ok()),
        Ok(_) if module.build_id.is_empty() => {
            "has no build id, so nothing tells whether a file is of its build; link it with -Wl,--build-id"
        }
        Ok(_) => "is another build than the recorded one; give the right file by --binary",
        Err(_) => "cannot be read; give it, or one of its build, by --binary",
    };
    let warning = text::warning("warning");
    anstream::eprintln!("{warning}: {} {why}", path.display());
    Ok(None)
}
