//! The metadata event: the schema table as the tree of elements readers parse.

use std::collections::HashMap;

use crate::format::METADATA;
use crate::format::schema::{Field, Kind, Schema, Type, Unit};
use crate::format::varint::{put, put_sized, put_text};

/// Which annotation types say how a value is to be shown; readers format only by those marked so.
const CONTENT_TYPES: [&str; 4] = [
    "jdk.jfr.Timestamp",
    "jdk.jfr.Timespan",
    "jdk.jfr.MemoryAddress",
    "jdk.jfr.DataAmount",
];

/// An element of the tree before its texts are numbered.
struct Element {
    name: &'static str,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            attributes: Vec::new(),
            children: Vec::new(),
        }
    }

    fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.attributes.push((key.to_owned(), value.into()));
        self
    }

    fn encode<'a>(&'a self, texts: &mut Texts<'a>, tree: &mut Vec<u8>) {
        put(tree, texts.index(self.name));
        put(tree, self.attributes.len() as u64);
        for (key, value) in &self.attributes {
            put(tree, texts.index(key));
            put(tree, texts.index(value));
        }
        put(tree, self.children.len() as u64);
        for child in &self.children {
            child.encode(texts, tree);
        }
    }
}

/// The texts elements refer to by number, in order of first use.
#[derive(Default)]
struct Texts<'a> {
    numbers: HashMap<&'a str, u64>,
    list: Vec<&'a str>,
}

impl<'a> Texts<'a> {
    fn index(&mut self, text: &'a str) -> u64 {
        *self.numbers.entry(text).or_insert_with(|| {
            self.list.push(text);
            self.list.len() as u64 - 1
        })
    }
}

/// Appends the metadata event.
pub(super) fn put_metadata(bytes: &mut Vec<u8>, schema: &Schema, start_ticks: u64) {
    let mut root = Element::new("root");
    let mut metadata = Element::new("metadata");
    for (id, of) in schema.types() {
        metadata.children.push(class(schema, id, of));
    }
    root.children.push(metadata);
    let region = Element::new("region").with("locale", "en_US");
    root.children
        .push(region.with("gmtOffset", "0").with("dst", "0"));

    let mut texts = Texts::default();
    let mut tree = Vec::new();
    root.encode(&mut texts, &mut tree);

    let mut body = Vec::with_capacity(tree.len() * 4);
    put(&mut body, METADATA);
    put(&mut body, start_ticks);
    put(&mut body, 0);
    put(&mut body, schema.fingerprint());
    put(&mut body, texts.list.len() as u64);
    for text in &texts.list {
        put_text(&mut body, Some(text));
    }
    body.extend_from_slice(&tree);
    put_sized(bytes, &body);
}

fn class(schema: &Schema, id: u64, of: &Type) -> Element {
    let mut class = Element::new("class").with("name", of.name);
    class = match of.kind {
        Kind::Event => class.with("superType", "jdk.jfr.Event"),
        Kind::Annotation => class.with("superType", "java.lang.annotation.Annotation"),
        Kind::Simple => class.with("simpleType", "true"),
        Kind::Primitive | Kind::Struct => class,
    };
    class = class.with("id", id.to_string());
    let annotate = |name, values: &[&str]| annotation(schema, name, values);
    for (name, value) in [
        ("jdk.jfr.Label", of.label),
        ("jdk.jfr.Description", of.description),
    ] {
        if !value.is_empty() {
            class.children.push(annotate(name, &[value]));
        }
    }
    if !of.category.is_empty() {
        class
            .children
            .push(annotate("jdk.jfr.Category", of.category));
    }
    if CONTENT_TYPES.contains(&of.name) {
        class.children.push(annotate("jdk.jfr.ContentType", &[]));
    }
    class
        .children
        .extend(of.fields.iter().map(|f| field(schema, f)));
    class
}

fn field(schema: &Schema, of: &Field) -> Element {
    let mut field = Element::new("field")
        .with("name", of.name)
        .with("class", schema.id(of.of).to_string());
    if of.pooled {
        field = field.with("constantPool", "true");
    }
    if of.array {
        field = field.with("dimension", "1");
    }
    if !of.label.is_empty() {
        field
            .children
            .push(annotation(schema, "jdk.jfr.Label", &[of.label]));
    }
    if let Some((_, name, values)) = Unit::ANNOTATIONS.iter().find(|row| row.0 == of.unit) {
        field.children.push(annotation(schema, name, values));
    }
    field
}

fn annotation(schema: &Schema, name: &str, values: &[&str]) -> Element {
    let (id, of) = schema.named(name);
    let mut annotation = Element::new("annotation").with("class", id.to_string());
    let array = of.fields.first().is_some_and(|field| field.array);
    for (index, value) in values.iter().enumerate() {
        let key = if array {
            format!("value-{index}")
        } else {
            "value".to_owned()
        };
        annotation = annotation.with(&key, *value);
    }
    annotation
}
