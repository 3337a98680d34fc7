//! The schema a chunk brings along: its metadata event, parsed into types that values are decoded by.

use std::collections::HashMap;

use super::cursor::{Broken, Cursor, Stored};
use super::pin::Layout;
use crate::format::schema::Unit;

/// What bytes a value of a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Boolean,
    Byte,
    Integer,
    /// The same of 32 bits: a negative one is stored in five bytes by some writers, in nine by others.
    Int,
    Float,
    Double,
    Text,
    /// The fields of the type with this index, in line.
    Struct(usize),
}

/// What a field is to a thread: found out by its name once, for there are millions of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// None of these.
    Other,
    OsName,
    OsThreadId,
    JavaName,
    JavaThreadId,
    Virtual,
}

impl Role {
    fn of(field: &str) -> Self {
        match field {
            "osName" => Self::OsName,
            "osThreadId" => Self::OsThreadId,
            "javaName" => Self::JavaName,
            "javaThreadId" => Self::JavaThreadId,
            "virtual" => Self::Virtual,
            _ => Self::Other,
        }
    }
}

/// A field of a type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The name of its type.
    pub type_name: String,
    /// What people call it; empty where the file does not say.
    pub label: String,
    /// How its number is meant.
    pub unit: Unit,
    /// It holds many.
    pub array: bool,
    /// Values are kept in the constant pool.
    pub pooled: bool,
    pub(crate) of: usize,
    pub(crate) shape: Shape,
    pub(crate) role: Role,
}

/// A type that a file declares.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Type {
    /// Its number in this file.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// What people call it; empty where the file does not say.
    pub label: String,
    /// What it means; empty where the file does not say.
    pub description: String,
    /// The path of its category.
    pub category: Vec<String>,
    /// The type it extends; empty for none.
    pub super_type: String,
    /// Its fields, in order.
    pub fields: Vec<Field>,
    pub(crate) simple: bool,
    /// How to read it as a pin, if it is one.
    pub(super) pin: Option<Layout>,
}

impl Type {
    /// Records of this type are events.
    #[must_use]
    pub fn is_event(&self) -> bool {
        self.super_type == "jdk.jfr.Event"
    }
}

/// Ids from which types are looked up by hashing.
const MAX_SMALL: usize = 4_096;

/// The types of a chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    pub(crate) list: Vec<Type>,
    by_id: HashMap<u64, usize>,
    /// The same for small ids, which all usual files have: index and one, 0 for none.
    small: Vec<u32>,
    pub(crate) text: Option<usize>,
    /// This project's recorder wrote them.
    pub(crate) is_ours: bool,
}

impl Types {
    #[inline]
    pub(crate) fn index(&self, id: u64) -> Option<usize> {
        match self.small.get(usize::try_from(id).unwrap_or(usize::MAX)) {
            Some(0) => None,
            Some(index) => Some(*index as usize - 1),
            None => self.by_id.get(&id).copied(),
        }
    }

    fn number(&mut self, id: u64, index: usize) {
        self.by_id.insert(id, index);
        let Some(at) = usize::try_from(id).ok().filter(|at| *at < MAX_SMALL) else {
            return;
        };
        if self.small.len() <= at {
            self.small.resize(at + 1, 0);
        }
        self.small[at] = index as u32 + 1;
    }

    /// Parses a metadata event from behind its size and type id.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, Broken> {
        // Start, duration, metadata id.
        for _ in 0..3 {
            cursor.integer()?;
        }
        let count = cursor.count()?;
        let mut texts = Vec::with_capacity(count);
        for _ in 0..count {
            texts.push(match cursor.text()? {
                Stored::Here(text) => text.into_owned(),
                Stored::Null => String::new(),
                Stored::Pooled(_) => return Err(Broken("a text of the schema is not in line")),
            });
        }
        let root = Element::parse(cursor, &texts, 0)?;
        Self::from_elements(&root)
    }

    fn from_elements(root: &Element<'_>) -> Result<Self, Broken> {
        let metadata = root.children.iter().find(|child| child.name == "metadata");
        let classes: Vec<_> = metadata
            .ok_or(Broken("the schema has no types"))?
            .children
            .iter()
            .filter(|child| child.name == "class")
            .collect();
        let mut types = Self::default();
        for (index, class) in classes.iter().enumerate() {
            let id = class.number("id").ok_or(Broken("a type has no id"))?;
            types.number(id, index);
            match class.text("name") {
                "java.lang.String" => types.text = Some(index),
                "vt.VirtualThreadPinnedLive" => types.is_ours = true,
                _ => {}
            }
        }
        for class in &classes {
            let of = types.class(class, &classes)?;
            types.list.push(of);
        }
        Ok(types)
    }

    fn class(&self, class: &Element<'_>, classes: &[&Element<'_>]) -> Result<Type, Broken> {
        let note = |of: &Element<'_>, name: &str| self.annotation(of, name, classes);
        let mut fields = Vec::new();
        for field in class.children.iter().filter(|child| child.name == "field") {
            let of = field
                .number("class")
                .and_then(|id| self.index(id))
                .ok_or(Broken("a field is of a type that is not declared"))?;
            let type_name = classes[of].text("name");
            let pooled = field.text("constantPool") == "true";
            fields.push(Field {
                name: field.text("name").to_owned(),
                type_name: type_name.to_owned(),
                label: note(field, "jdk.jfr.Label").concat(),
                unit: self.unit(field, classes),
                array: field.text("dimension") == "1",
                role: Role::of(field.text("name")),
                pooled,
                of,
                shape: if pooled {
                    Shape::Integer
                } else {
                    shape(type_name, of)
                },
            });
        }
        Ok(Type {
            id: class.number("id").unwrap_or_default(),
            name: class.text("name").to_owned(),
            label: note(class, "jdk.jfr.Label").concat(),
            description: note(class, "jdk.jfr.Description").concat(),
            category: note(class, "jdk.jfr.Category"),
            super_type: class.text("superType").to_owned(),
            pin: Layout::of(class.text("name"), &fields),
            fields,
            simple: class.text("simpleType") == "true",
        })
    }

    /// The values of an annotation of `of`, none where it has no such annotation.
    fn annotation(&self, of: &Element<'_>, name: &str, classes: &[&Element<'_>]) -> Vec<String> {
        let is = |child: &&Element<'_>| {
            child.name == "annotation"
                && child
                    .number("class")
                    .and_then(|id| self.index(id))
                    .is_some_and(|index| classes[index].text("name") == name)
        };
        let values = of
            .children
            .iter()
            .find(is)
            .into_iter()
            .flat_map(|child| &child.attributes);
        values
            .filter(|(key, _)| *key != "class")
            .map(|(_, value)| (*value).to_owned())
            .collect()
    }

    fn unit(&self, field: &Element<'_>, classes: &[&Element<'_>]) -> Unit {
        for child in field
            .children
            .iter()
            .filter(|child| child.name == "annotation")
        {
            let of = child.number("class").and_then(|id| self.index(id));
            let name = of.map_or("", |index| classes[index].text("name"));
            let value = child.text("value");
            let row = Unit::ANNOTATIONS.iter().find(|(_, annotation, values)| {
                *annotation == name && values.first().is_none_or(|first| *first == value)
            });
            if let Some((unit, ..)) = row {
                return *unit;
            }
        }
        Unit::None
    }
}

fn shape(type_name: &str, of: usize) -> Shape {
    match type_name {
        "boolean" => Shape::Boolean,
        "byte" => Shape::Byte,
        "char" | "long" => Shape::Integer,
        "short" | "int" => Shape::Int,
        "float" => Shape::Float,
        "double" => Shape::Double,
        "java.lang.String" => Shape::Text,
        _ => Shape::Struct(of),
    }
}

/// An element of the schema's tree.
struct Element<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    children: Vec<Element<'a>>,
}

/// Real files need five.
const MAX_DEPTH: usize = 16;

impl<'a> Element<'a> {
    fn parse(cursor: &mut Cursor<'_>, texts: &'a [String], depth: usize) -> Result<Self, Broken> {
        if depth > MAX_DEPTH {
            return Err(Broken("the schema nests too deep"));
        }
        let name = text(cursor, texts)?;
        let attributes = (0..cursor.count()?)
            .map(|_| Ok((text(cursor, texts)?, text(cursor, texts)?)))
            .collect::<Result<_, _>>()?;
        let children = (0..cursor.count()?)
            .map(|_| Self::parse(cursor, texts, depth + 1))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name,
            attributes,
            children,
        })
    }

    fn text(&self, key: &str) -> &'a str {
        self.attributes
            .iter()
            .find(|(k, _)| *k == key)
            .map_or("", |(_, value)| value)
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.text(key).parse().ok()
    }
}

fn text<'a>(cursor: &mut Cursor<'_>, texts: &'a [String]) -> Result<&'a str, Broken> {
    let index = usize::try_from(cursor.integer()?).unwrap_or(usize::MAX);
    texts
        .get(index)
        .map(String::as_str)
        .ok_or(Broken("the schema names a text it does not have"))
}
