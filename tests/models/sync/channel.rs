//! The channels' sources, as they are.

#[path = "../../../runtime/src/sync/channel/buffer.rs"]
#[expect(dead_code, reason = "the models need a part of it")]
pub(crate) mod buffer;
#[path = "../../../runtime/src/sync/channel/mpsc/hand.rs"]
pub(crate) mod hand;
#[path = "../../../runtime/src/sync/channel/meeting.rs"]
pub(crate) mod meeting;
#[path = "../../../runtime/src/sync/channel/mpsc/channel.rs"]
#[expect(dead_code, reason = "the models need a part of it")]
pub(crate) mod mpsc;
#[path = "../../../runtime/src/sync/channel/standing.rs"]
#[expect(dead_code, reason = "the models need a part of it")]
pub(crate) mod standing;
