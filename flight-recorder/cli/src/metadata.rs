//! `vt-flight metadata`: the types a recording declares, with labels and units.

use std::collections::BTreeSet;
use std::io::{self, Write};

use vt_flight_recorder::{Type, Unit};

use crate::args::Metadata;
use crate::input::{self, Failure};
use crate::text;

pub(crate) fn run(arguments: &Metadata, out: &mut impl Write) -> Result<(), Failure> {
    // Chunks of one file repeat their schema.
    let mut known = BTreeSet::new();
    input::chunks(&arguments.files.files, |_, chunk, _| {
        for of in chunk.types().iter().filter(|of| of.is_event()) {
            if input::fits(&of.name, &arguments.events) && known.insert(of.name.clone()) {
                write_type(of, out)?;
            }
        }
        // The damage of events is none of this verb's business, that of the schema is.
        Ok(())
    })?;
    Ok(())
}

fn write_type(of: &Type, out: &mut impl Write) -> io::Result<()> {
    if !of.label.is_empty() {
        writeln!(out, "/// {}", of.label)?;
    }
    if !of.description.is_empty() {
        writeln!(out, "/// {}", of.description)?;
    }
    if !of.category.is_empty() {
        writeln!(out, "/// in {}", of.category.join(" / "))?;
    }
    writeln!(out, "{} {{", text::heading(&of.name))?;
    for field in &of.fields {
        let many = if field.array { "[]" } else { "" };
        let declared = format!("{}: {}{many}", field.name, field.type_name);
        let mut notes = vec![field.label.as_str(), unit(field.unit)];
        notes.retain(|note| !note.is_empty());
        if notes.is_empty() {
            writeln!(out, "  {declared}")?;
        } else {
            writeln!(out, "  {declared:<44}  // {}", notes.join(", "))?;
        }
    }
    writeln!(out, "}}\n")
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Ticks | Unit::EpochMillis => "a moment",
        Unit::TickSpan | Unit::NanoSpan | Unit::MicroSpan | Unit::MilliSpan | Unit::SecondSpan => {
            "a span"
        }
        Unit::Address => "an address",
        Unit::Bytes => "bytes",
        Unit::Percentage => "a share",
        _ => "",
    }
}
