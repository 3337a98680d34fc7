//! `vt-flight print`: events field by field, in the shape of the JDK's tool, or as JSON lines.

use std::io::{self, Write};

use vt_flight_recorder::{Event, Field, Frame, Thread, Unit, Value};

use crate::args::Print;
use crate::input::{self, Failure};
use crate::text;

pub(crate) fn run(arguments: &Print, out: &mut impl Write) -> Result<(), Failure> {
    input::events(&arguments.files.files, |event| {
        if !input::fits(event.name(), &arguments.events) {
            return Ok(());
        }
        if arguments.json {
            serde_json::to_writer(&mut *out, &json_event(event)).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            write_event(event, arguments, out)?;
        }
        Ok(())
    })?;
    Ok(())
}

fn write_event(event: &Event<'_>, arguments: &Print, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} {{", text::heading(event.name()))?;
    for (field, value) in event.fields() {
        if field.type_name == "jdk.types.StackTrace" {
            continue;
        }
        writeln!(out, "  {} = {}", field.name, shown(event, field, &value))?;
    }
    let stack = event.stack();
    if !stack.is_empty() {
        writeln!(out, "  stackTrace = [")?;
        let all = arguments.hidden_frames;
        let frames: Vec<_> = stack.iter().filter(|frame| all || !frame.hidden).collect();
        for frame in frames.iter().take(arguments.stack_depth) {
            writeln!(out, "    {}", shown_frame(frame))?;
        }
        if frames.len() > arguments.stack_depth {
            writeln!(out, "    ...")?;
        }
        writeln!(out, "  ]")?;
    }
    writeln!(out, "}}\n")
}

/// A frame with its line.
pub(crate) fn shown_frame(frame: &Frame) -> String {
    // A place ends with its line already.
    if frame.line > 0 && frame.kind != "Place" {
        format!("{frame}  line {}", frame.line)
    } else {
        frame.to_string()
    }
}

fn shown(event: &Event<'_>, field: &Field, value: &Value<'_>) -> String {
    match value {
        Value::Null => "N/A".to_owned(),
        Value::Boolean(flag) => flag.to_string(),
        // The JDK's way to say that there is no such time.
        Value::Integer(i64::MIN) if field.unit != Unit::None => "N/A".to_owned(),
        Value::Integer(number) => match (field.unit, event.to_nanos(field, *number)) {
            (Unit::Ticks | Unit::EpochMillis, Some(ns)) => text::moment(ns),
            (_, Some(ns)) => text::span(ns),
            (Unit::Bytes, None) => text::bytes(number.unsigned_abs()),
            (Unit::Address, None) => format!("{number:#x}"),
            _ => number.to_string(),
        },
        Value::Float(number) if field.unit == Unit::Percentage => {
            format!("{:.2} %", number * 100.0)
        }
        Value::Float(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Struct(members) => match field.type_name.as_str() {
            "java.lang.Thread" => event
                .thread(&field.name)
                .map_or_else(|| "N/A".to_owned(), |thread| shown_thread(&thread)),
            "java.lang.Class" => value.member("name").text().unwrap_or("N/A").to_owned(),
            _ => {
                let inside = members
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", plain(value)));
                format!("{{{}}}", inside.collect::<Vec<_>>().join(", "))
            }
        },
        other => plain(other),
    }
}

/// A thread with its number.
pub(crate) fn shown_thread(thread: &Thread) -> String {
    let kind = if thread.is_virtual { ", virtual" } else { "" };
    format!("{:?} (#{}{kind})", thread.name, thread.id)
}

/// A value whose field is not known.
fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Struct(members) => {
            let inside = members
                .iter()
                .map(|(name, value)| format!("{name}: {}", plain(value)));
            format!("{{{}}}", inside.collect::<Vec<_>>().join(", "))
        }
        Value::Array(values) => {
            format!(
                "[{}]",
                values.iter().map(plain).collect::<Vec<_>>().join(", ")
            )
        }
        _ => "N/A".to_owned(),
    }
}

/// An event as one object: times in nanoseconds, threads and frames in our own short shape.
pub(crate) fn json_event(event: &Event<'_>) -> serde_json::Value {
    let mut values = serde_json::Map::new();
    for (field, value) in event.fields() {
        let value = match &value {
            _ if field.type_name == "jdk.types.StackTrace" => {
                serde_json::Value::Array(event.stack().iter().map(json_frame).collect())
            }
            Value::Integer(number) => match event.to_nanos(field, *number) {
                Some(_) if *number == i64::MIN => serde_json::Value::Null,
                Some(ns) => ns.into(),
                None => (*number).into(),
            },
            Value::Struct(_) if field.type_name == "java.lang.Thread" => {
                let thread = event.thread(&field.name).unwrap_or_default();
                serde_json::json!({
                    "id": thread.id, "name": thread.name, "virtual": thread.is_virtual,
                })
            }
            Value::Struct(_) if field.type_name == "java.lang.Class" => {
                value.member("name").text().into()
            }
            other => json(other),
        };
        values.insert(field.name.clone(), value);
    }
    serde_json::json!({ "type": event.name(), "values": values })
}

fn json_frame(frame: &Frame) -> serde_json::Value {
    serde_json::json!({
        "name": frame.to_string(),
        "line": frame.line,
        "kind": frame.kind,
        "application": frame.application,
    })
}

fn json(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Boolean(flag) => (*flag).into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) => text.as_ref().into(),
        Value::Struct(members) => serde_json::Value::Object(
            members
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json(value)))
                .collect(),
        ),
        Value::Array(values) => values.iter().map(json).collect(),
        _ => serde_json::Value::Null,
    }
}
