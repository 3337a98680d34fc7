//! Values of a chunk: decoded by its types, followed through its constant pools.

use std::borrow::Cow;

use super::cursor::{Broken, Cursor, SHORT, Stored};
use super::pools::Pools;
use super::types::{Field, Shape, Types};

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// Named values: a thread, a class, a frame.
    Struct(Vec<(&'a str, Value<'a>)>),
    /// Many values.
    Array(Vec<Value<'a>>),
}

impl<'a> Value<'a> {
    /// The member of a structure; null for anything else.
    #[must_use]
    pub fn member(&self, name: &str) -> &Value<'a> {
        match self {
            Self::Struct(members) => members
                .iter()
                .find(|(n, _)| *n == name)
                .map_or(&Self::Null, |(_, value)| value),
            _ => &Self::Null,
        }
    }

    /// The text of a text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number of a whole number.
    #[must_use]
    pub const fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

/// References between constants followed in a row; real ones need six.
const MAX_REFERENCES: usize = 12;
/// Values made of one, references followed: room for a stack of two thousand frames.
const MAX_VALUES: usize = 100_000;
/// Structures in structures without a reference between.
const MAX_NESTING: usize = 8;

/// Makes values, following references; what it makes of one value is bounded.
pub(crate) struct Resolver<'a> {
    pub(super) types: &'a Types,
    pub(super) pools: &'a Pools,
    left: usize,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(types: &'a Types, pools: &'a Pools) -> Self {
        Self {
            types,
            pools,
            left: MAX_VALUES,
        }
    }

    /// The constant of a type; null where the file does not have it.
    pub(super) fn constant(&mut self, of: usize, key: u64, depth: usize) -> Value<'a> {
        if depth > MAX_REFERENCES {
            return Value::Null;
        }
        let Some(mut cursor) = self.pools.find(of, key) else {
            return Value::Null;
        };
        if self.types.text == Some(of) {
            return match cursor.text() {
                Ok(Stored::Here(text)) => Value::Text(text),
                _ => Value::Null,
            };
        }
        self.structure(of, &mut cursor, depth, 0)
            .unwrap_or(Value::Null)
    }

    fn structure(
        &mut self,
        of: usize,
        cursor: &mut Cursor<'a>,
        depth: usize,
        nesting: usize,
    ) -> Result<Value<'a>, Broken> {
        let of = self.types.list.get(of).ok_or(SHORT)?;
        let mut members = Vec::with_capacity(of.fields.len());
        for field in &of.fields {
            members.push((
                field.name.as_str(),
                self.field(field, cursor, depth, nesting)?,
            ));
        }
        if of.simple && members.len() == 1 {
            return Ok(members.pop().map_or(Value::Null, |(_, value)| value));
        }
        Ok(Value::Struct(members))
    }

    /// The value of a field, references followed.
    pub(super) fn field(
        &mut self,
        field: &'a Field,
        cursor: &mut Cursor<'a>,
        depth: usize,
        nesting: usize,
    ) -> Result<Value<'a>, Broken> {
        if nesting > MAX_NESTING {
            return Err(Broken("a value nests too deep"));
        }
        if !field.array {
            return self.single(field, cursor, depth, nesting);
        }
        let values = (0..cursor.count()?)
            .map(|_| self.single(field, cursor, depth, nesting))
            .collect::<Result<_, _>>()?;
        Ok(Value::Array(values))
    }

    fn single(
        &mut self,
        field: &'a Field,
        cursor: &mut Cursor<'a>,
        depth: usize,
        nesting: usize,
    ) -> Result<Value<'a>, Broken> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or(Broken("a value is too large"))?;
        if field.pooled {
            let key = cursor.integer()?;
            return Ok(self.constant(field.of, key, depth + 1));
        }
        Ok(match field.shape {
            Shape::Boolean => Value::Boolean(cursor.byte()? != 0),
            Shape::Byte => Value::Integer(i64::from(cursor.byte()?.cast_signed())),
            Shape::Integer => Value::Integer(cursor.integer()?.cast_signed()),
            Shape::Int => Value::Integer(i64::from((cursor.integer()? as u32).cast_signed())),
            Shape::Float => {
                let bytes = cursor.take(4)?.try_into().map_err(|_| SHORT)?;
                Value::Float(f64::from(f32::from_be_bytes(bytes)))
            }
            Shape::Double => {
                let bytes = cursor.take(8)?.try_into().map_err(|_| SHORT)?;
                Value::Float(f64::from_be_bytes(bytes))
            }
            Shape::Text => match cursor.text()? {
                Stored::Null => Value::Null,
                Stored::Here(text) => Value::Text(text),
                Stored::Pooled(key) => match self.types.text {
                    Some(of) => self.constant(of, key, depth + 1),
                    None => Value::Null,
                },
            },
            Shape::Struct(of) => self.structure(of, cursor, depth, nesting + 1)?,
        })
    }
}

/// Steps over the value of a field.
#[inline]
pub(super) fn skip(
    types: &Types,
    field: &Field,
    cursor: &mut Cursor<'_>,
    nesting: usize,
) -> Result<(), Broken> {
    match field.shape {
        // Nearly every field of nearly every event.
        Shape::Integer | Shape::Int if !field.array => cursor.skip_integer(),
        Shape::Text if !field.array => cursor.skip_text(),
        _ => skip_any(types, field, cursor, nesting),
    }
}

fn skip_any(
    types: &Types,
    field: &Field,
    cursor: &mut Cursor<'_>,
    nesting: usize,
) -> Result<(), Broken> {
    if nesting > MAX_NESTING {
        return Err(Broken("a value nests too deep"));
    }
    let count = if field.array { cursor.count()? } else { 1 };
    for _ in 0..count {
        match field.shape {
            Shape::Boolean | Shape::Byte => _ = cursor.byte()?,
            Shape::Integer | Shape::Int => cursor.skip_integer()?,
            Shape::Float => _ = cursor.take(4)?,
            Shape::Double => _ = cursor.take(8)?,
            Shape::Text => cursor.skip_text()?,
            Shape::Struct(of) => {
                cursor.step()?;
                let of = types.list.get(of).ok_or(SHORT)?;
                of.fields
                    .iter()
                    .try_for_each(|f| skip(types, f, cursor, nesting + 1))?;
            }
        }
    }
    Ok(())
}
