//! Values of a chunk: decoded by its types, followed through its constant pools.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::cursor::{Broken, Cursor, SHORT, Stored};
use super::event::{Frame, Thread};
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

/// Where each constant stands, and the checkpoints' bytes they stand in.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    pub(super) segments: Vec<Vec<u8>>,
    places: HashMap<(u32, u64), (u32, u32), RandomState>,
    /// Stacks and threads that were made already: few are asked for many times.
    pub(super) stacks: RefCell<HashMap<u64, Arc<[Frame]>, RandomState>>,
    pub(super) threads: RefCell<HashMap<u64, Option<Thread>, RandomState>>,
}

/// Stacks and threads that are kept made; more are made anew.
pub(super) const MAX_KEPT: usize = 4_096;

/// More constants than any real chunk has; what keeps a hostile one from filling the memory.
const MAX_CONSTANTS: usize = 4_000_000;
/// References between constants followed in a row; real ones need six.
const MAX_REFERENCES: usize = 12;
/// Values made of one, references followed: room for a stack of two thousand frames.
const MAX_VALUES: usize = 100_000;
/// Structures in structures without a reference between.
const MAX_NESTING: usize = 8;

impl Pools {
    /// Takes a checkpoint event from behind its size and type id, up to where its delta stands.
    pub(super) fn add(&mut self, types: &Types, bytes: Vec<u8>, at: usize) -> Result<(), Broken> {
        let segment = u32::try_from(self.segments.len()).map_err(|_| SHORT)?;
        let mut cursor = Cursor::starting_at(&bytes, at);
        let result = self.index(types, segment, &mut cursor);
        self.segments.push(bytes);
        result
    }

    fn index(
        &mut self,
        types: &Types,
        segment: u32,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Broken> {
        cursor.byte()?;
        for _ in 0..cursor.count()? {
            let of = types
                .index(cursor.integer()?)
                .ok_or(Broken("a constant pool is of a type that is not declared"))?;
            for _ in 0..cursor.count()? {
                let key = cursor.integer()?;
                let place = u32::try_from(cursor.at()).map_err(|_| SHORT)?;
                skip_constant(types, of, cursor)?;
                // The first definition of a key holds, and checkpoints are taken from the last back.
                self.places
                    .entry((of as u32, key))
                    .or_insert((segment, place));
                if self.places.len() > MAX_CONSTANTS {
                    return Err(Broken("it has more constants than any recording needs"));
                }
            }
        }
        Ok(())
    }

    /// The constants of a type, by key.
    pub(super) fn of<'a>(
        &'a self,
        types: &'a Types,
        name: &str,
    ) -> impl Iterator<Item = (u64, Value<'a>)> {
        let of = types.list.iter().position(|of| of.name == name);
        let keys = self.places.keys().filter_map(move |(index, key)| {
            (Some(*index as usize) == of).then_some((*index as usize, *key))
        });
        keys.map(|(of, key)| (key, Resolver::new(types, self).constant(of, key, 0)))
    }

    /// Every constant in a fixed order: its type's id, its key, and its bytes as stored.
    pub(super) fn raw<'a>(
        &'a self,
        types: &'a Types,
    ) -> impl Iterator<Item = (u64, u64, &'a [u8])> {
        let mut places: Vec<_> = self.places.iter().collect();
        places.sort_unstable();
        places.into_iter().filter_map(|((of, key), (segment, at))| {
            let bytes = self.segments.get(*segment as usize)?.get(*at as usize..)?;
            let mut cursor = Cursor::new(bytes);
            skip_constant(types, *of as usize, &mut cursor).ok()?;
            Some((
                types.list.get(*of as usize)?.id,
                *key,
                &bytes[..cursor.at()],
            ))
        })
    }

    fn find(&self, of: usize, key: u64) -> Option<Cursor<'_>> {
        let (segment, at) = self.places.get(&(of as u32, key))?;
        Some(Cursor::starting_at(
            self.segments.get(*segment as usize)?,
            *at as usize,
        ))
    }
}

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

fn skip_constant(types: &Types, of: usize, cursor: &mut Cursor<'_>) -> Result<(), Broken> {
    if types.text == Some(of) {
        return cursor.skip_text();
    }
    let of = types.list.get(of).ok_or(SHORT)?;
    of.fields
        .iter()
        .try_for_each(|field| skip(types, field, cursor, 0))
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
