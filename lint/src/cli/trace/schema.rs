//! The types a recording declares, as far as they are needed to find one event's fields and to step over the rest.

use std::collections::HashMap;

use super::cursor::{Broken, Cursor, Text};

/// How deep the schema's tree and its structs may nest; real files need five.
const MAX_DEPTH: usize = 16;

#[derive(Default)]
pub(super) struct Schema {
    types: HashMap<u64, Type>,
}

#[derive(Default)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
}

pub(super) struct Field {
    pub(super) name: String,
    of: u64,
    is_array: bool,
    is_pooled: bool,
    /// Of a time span: how many of its units make a second. Ticks when `None`.
    pub(super) per_second: Option<u64>,
}

/// A value of an event, as far as values are kept.
pub(super) enum Value {
    Integer(u64),
    Text(Text),
    Other,
}

impl Schema {
    /// Reads a metadata record behind its type.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Broken> {
        // Start, duration and the metadata's id.
        for _ in 0..3 {
            cursor.integer()?;
        }
        let texts: Result<Vec<String>, Broken> = (0..cursor.count()?)
            .map(|_| match cursor.text()? {
                Text::Here(text) => Ok(text),
                Text::Pooled(_) => Err(Broken("a name of its schema is not in place")),
            })
            .collect();
        let root = Element::read(cursor, &texts?, 0)?;
        let mut schema = Self::default();
        let classes = root
            .children
            .iter()
            .filter(|child| child.name == "metadata")
            .flat_map(|child| &child.children);
        let classes: Vec<&Element> = classes.filter(|child| child.name == "class").collect();
        let timespan = classes
            .iter()
            .find(|class| class.text("name") == "jdk.jfr.Timespan")
            .map(|class| class.text("id"));
        for class in classes {
            let fields = class
                .children
                .iter()
                .filter(|child| child.name == "field")
                .map(|field| Field {
                    name: field.text("name").to_owned(),
                    of: field.number("class"),
                    is_array: !matches!(field.text("dimension"), "" | "0"),
                    is_pooled: field.text("constantPool") == "true",
                    per_second: field
                        .children
                        .iter()
                        .find(|child| {
                            child.name == "annotation" && Some(child.text("class")) == timespan
                        })
                        .and_then(|annotation| per_second(annotation.text("value"))),
                });
            let fields = fields.collect();
            schema.types.insert(
                class.number("id"),
                Type {
                    name: class.text("name").to_owned(),
                    fields,
                },
            );
        }
        Ok(schema)
    }

    pub(super) fn of(&self, id: u64) -> Result<&Type, Broken> {
        self.types
            .get(&id)
            .ok_or(Broken("it has values of a type that it does not declare"))
    }

    /// Reads one field of an event.
    pub(super) fn value(&self, cursor: &mut Cursor<'_>, field: &Field) -> Result<Value, Broken> {
        if field.is_array {
            self.skip(cursor, field, 0)?;
            return Ok(Value::Other);
        }
        if field.is_pooled {
            let key = cursor.integer()?;
            let is_text = self.of(field.of)?.name == "java.lang.String";
            return Ok(if is_text {
                Value::Text(Text::Pooled(key))
            } else {
                Value::Other
            });
        }
        match self.of(field.of)?.name.as_str() {
            "java.lang.String" => Ok(Value::Text(cursor.text()?)),
            "int" | "long" | "short" | "char" => Ok(Value::Integer(cursor.integer()?)),
            _ => {
                self.skip(cursor, field, 0)?;
                Ok(Value::Other)
            }
        }
    }

    /// Steps over all fields of a value.
    pub(super) fn skip_value(
        &self,
        cursor: &mut Cursor<'_>,
        of: u64,
        depth: usize,
    ) -> Result<(), Broken> {
        cursor.step()?;
        if depth > MAX_DEPTH {
            return Err(Broken("its values nest too deep"));
        }
        let of = self.of(of)?;
        match of.name.as_str() {
            "boolean" | "byte" => cursor.take(1).map(drop),
            "char" | "short" | "int" | "long" => cursor.integer().map(drop),
            "float" => cursor.take(4).map(drop),
            "double" => cursor.take(8).map(drop),
            "java.lang.String" => cursor.text().map(drop),
            _ => of
                .fields
                .iter()
                .try_for_each(|field| self.skip(cursor, field, depth + 1)),
        }
    }

    fn skip(&self, cursor: &mut Cursor<'_>, field: &Field, depth: usize) -> Result<(), Broken> {
        let count = if field.is_array { cursor.integer()? } else { 1 };
        for _ in 0..count {
            if field.is_pooled {
                cursor.integer()?;
            } else {
                self.skip_value(cursor, field.of, depth)?;
            }
        }
        Ok(())
    }
}

/// Units of a time span; other words, and spans without the note, mean ticks.
fn per_second(unit: &str) -> Option<u64> {
    Some(match unit {
        "NANOSECONDS" => 1_000_000_000,
        "MICROSECONDS" => 1_000_000,
        "MILLISECONDS" => 1_000,
        "SECONDS" => 1,
        _ => return None,
    })
}

/// A node of the schema's tree.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn read(cursor: &mut Cursor<'_>, texts: &[String], depth: usize) -> Result<Self, Broken> {
        if depth > MAX_DEPTH {
            return Err(Broken("its schema nests too deep"));
        }
        let name = text(cursor, texts)?;
        let mut attributes = Vec::new();
        for _ in 0..cursor.count()? {
            attributes.push((text(cursor, texts)?, text(cursor, texts)?));
        }
        let mut children = Vec::new();
        for _ in 0..cursor.count()? {
            children.push(Self::read(cursor, texts, depth + 1)?);
        }
        Ok(Self {
            name,
            attributes,
            children,
        })
    }

    fn text(&self, key: &str) -> &str {
        self.attributes
            .iter()
            .find(|(name, _)| name == key)
            .map_or("", |(_, value)| value)
    }

    /// A number; one that no type has when it is missing.
    fn number(&self, key: &str) -> u64 {
        self.text(key).parse().unwrap_or(u64::MAX)
    }
}

fn text(cursor: &mut Cursor<'_>, texts: &[String]) -> Result<String, Broken> {
    let index = usize::try_from(cursor.integer()?).unwrap_or(usize::MAX);
    texts
        .get(index)
        .cloned()
        .ok_or(Broken("its schema uses a name it does not have"))
}
