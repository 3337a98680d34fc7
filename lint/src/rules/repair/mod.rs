//! Changes that remove a finding and keep the program's meaning: what `--fix` applies.
//!
//! Owns when a repair is offered. Whatever cannot be shown to compile from the source alone is not offered: a finding
//! without a repair costs its reader a minute, a wrong repair costs trust.

mod imports;
mod park_aware;
mod rebind;
mod scope;

use super::site::Site;
use crate::diagnostic::{Finding, Fix};
use crate::rules::guard;

/// The repair of a finding at a site, if there is a safe one.
pub(crate) fn of(site: &Site<'_, '_>, finding: &Finding) -> Option<Fix> {
    finding.guard.as_ref()?;
    rebind::fix(site).or_else(|| {
        let is_of_wait = finding.rule == guard::guard_across_park::RULE.id;
        is_of_wait.then(|| park_aware::fix(site)).flatten()
    })
}
