//! The guard of a [`Monitor`].

use std::fmt;
use std::ops::Deref;

use super::Monitor;
use crate::sync::raw::level::Level;
use crate::sync::raw::monitor::RawMonitor;

/// One level in a [`Monitor`], given back when dropped. Pins its virtual thread; stays on its thread.
#[must_use = "the monitor is left when its guard is dropped"]
pub struct MonitorGuard<'a, T: ?Sized> {
    monitor: &'a Monitor<T>,
    level: Level<'a, RawMonitor>,
}

impl<'a, T: ?Sized> MonitorGuard<'a, T> {
    pub(super) fn new(monitor: &'a Monitor<T>, level: Level<'a, RawMonitor>) -> Self {
        Self { monitor, level }
    }

    pub(super) fn monitor(&self) -> &'a Monitor<T> {
        self.monitor
    }
}

impl<T: ?Sized> Deref for MonitorGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.monitor.cell.open(&self.level)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MonitorGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MonitorGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
