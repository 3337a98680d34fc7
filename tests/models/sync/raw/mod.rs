//! Raw locks.

pub(crate) mod attempt;
#[path = "../../../../runtime/src/sync/raw/condition.rs"]
#[expect(dead_code, reason = "the models need a part of it")]
pub(crate) mod condition;
#[path = "../../../../runtime/src/sync/raw/exclusive.rs"]
#[expect(dead_code, reason = "the models need a part of it")]
pub(crate) mod exclusive;
#[path = "../../../../runtime/src/sync/raw/level.rs"]
#[expect(dead_code, reason = "the models need a part of it")]
pub(crate) mod level;
#[path = "../../../../runtime/src/sync/raw/protected.rs"]
#[expect(dead_code, reason = "the models need a part of it")]
pub(crate) mod protected;
#[path = "../../../../runtime/src/sync/raw/shared.rs"]
#[expect(dead_code, reason = "the models need a part of it")]
pub(crate) mod shared;
