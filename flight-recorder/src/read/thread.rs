//! Threads as a recording names them.

use super::cursor::Cursor;
use super::event::Event;
use super::types::{Field, Role};
use super::value::{Value, skip};
use crate::format::unnamed;

/// A thread as a recording names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Thread {
    /// Its name, possibly empty.
    pub name: String,
    /// `thread.id` of a virtual thread; the operating system's id of a carrier.
    pub id: i64,
    /// It is a virtual thread.
    pub is_virtual: bool,
}

impl Thread {
    /// The thread in a value; `None` for null. A virtual thread that was given no name has none here:
    /// [`Event::thread`] knows what the runtime calls it.
    #[must_use]
    pub fn of(value: &Value<'_>) -> Option<Self> {
        if !matches!(value, Value::Struct(_)) {
            return None;
        }
        let number = |name| value.member(name).integer().unwrap_or(0);
        let java_id = number("javaThreadId");
        let (name, id) = if java_id > 0 {
            (value.member("javaName"), java_id)
        } else {
            (value.member("osName"), number("osThreadId"))
        };
        Some(Self {
            name: name.text().unwrap_or_default().to_owned(),
            id,
            is_virtual: *value.member("virtual") == Value::Boolean(true),
        })
    }

    /// The thread that an event's field names by key, made without a value between: recordings hold millions.
    pub(super) fn pooled<'c>(event: &Event<'c>, field: &'c Field, key: u64) -> Option<Self> {
        let mut at = event.pools.find(field.of, key)?;
        let of = event.types.list.get(field.of)?;
        let (mut os, mut java, mut is_virtual) = ((None, 0), (None, 0), false);
        for member in &of.fields {
            let here: Cursor<'c> = at.clone();
            skip(event.types, member, &mut at, 0).ok()?;
            match member.role {
                Role::OsName => os.0 = event.text_at(member, here),
                Role::OsThreadId => os.1 = event.number_at(member, here).unwrap_or(0),
                Role::JavaName => java.0 = event.text_at(member, here),
                Role::JavaThreadId => java.1 = event.number_at(member, here).unwrap_or(0),
                Role::Virtual => is_virtual = here.clone().byte().is_ok_and(|byte| byte != 0),
                _ => {}
            }
        }
        let (name, id) = if java.1 > 0 { java } else { os };
        let mut name = name.map_or_else(String::new, |name| name.into_owned());
        if is_virtual && name.is_empty() && event.types.is_ours {
            name = unnamed(id.unsigned_abs());
        }
        Some(Self {
            name,
            id,
            is_virtual,
        })
    }
}
