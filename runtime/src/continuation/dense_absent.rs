//! Stands in for the dense backend on targets that do not have it: nothing of it can exist there.
#![expect(
    unsafe_code,
    reason = "has the signatures of the backend it stands in for"
)]

use std::io;
use std::ptr::NonNull;

use super::pool::{DenseStack, StackError};
use super::running::State;
use super::{Step, ThreadLabel};

/// Whether this target has the backend.
pub(super) const SUPPORTED: bool = false;

/// There are no bodies on dense stacks.
pub(super) enum Dense {}

impl Dense {
    pub(super) fn new(
        _: DenseStack,
        _: ThreadLabel,
        _: impl FnOnce() + 'static,
    ) -> Result<Self, StackError> {
        Err(StackError::Refused(io::ErrorKind::Unsupported.into()))
    }

    pub(super) fn state(&self) -> &State {
        match *self {}
    }

    pub(super) fn resume(&mut self) -> Step {
        match *self {}
    }

    pub(super) fn recycle(&mut self) {
        match *self {}
    }

    pub(super) fn leak(&mut self) {
        match *self {}
    }
}

/// Never called: nobody is on a dense stack.
///
/// # Safety
///
/// None.
pub(super) unsafe fn leave(_: NonNull<()>) {
    unreachable!("no continuation is dense on this target")
}
