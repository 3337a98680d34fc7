//! Places whose pins are allowed: `sites.toml`. An allowance has an owner and ends on a date, so that
//! none outlives the reason it was given for.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use vt_flight_recorder::Pin;

use crate::input::Failure;
use crate::text;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "site")]
    sites: Vec<Site>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Site {
    /// `path`, `path:line` or `path:line:column` of the wait.
    blocked_at: Option<String>,
    /// The same of the pin.
    pinned_at: Option<String>,
    /// The monitor, region or foreign call that pins.
    holder: Option<String>,
    /// Who answers for it.
    owner: String,
    /// The last day it holds, as `2027-01-31`.
    expires: toml::Value,
    #[serde(skip)]
    used: u64,
}

/// The allowances of one file.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    sites: Vec<Site>,
    expired: Vec<Site>,
}

impl Allowed {
    pub(super) fn load(path: &Path) -> Result<Self, Failure> {
        let failed = |what: String| Failure::File(path.to_owned(), what);
        let content = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let file: File = toml::from_str(&content).map_err(|error| failed(error.to_string()))?;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        let (year, month, day) = text::date(i64::try_from(now / 86_400).unwrap_or(0));
        Self::at(file, &format!("{year:04}-{month:02}-{day:02}")).map_err(failed)
    }

    fn at(file: File, today: &str) -> Result<Self, String> {
        let mut allowed = Self::default();
        for (number, site) in (1..).zip(file.sites) {
            let names = [&site.blocked_at, &site.pinned_at, &site.holder];
            if names.into_iter().all(Option::is_none) {
                return Err(format!(
                    "site {number} names no place: give blocked_at, pinned_at or holder"
                ));
            }
            if site.owner.trim().is_empty() {
                return Err(format!("site {number} has no owner"));
            }
            let expires = site.expiry();
            if !is_date(&expires) {
                return Err(format!(
                    "site {number} expires on `{expires}`, which is no date"
                ));
            }
            // Dates of this form sort as texts.
            if expires.as_str() < today {
                allowed.expired.push(site);
            } else {
                allowed.sites.push(site);
            }
        }
        Ok(allowed)
    }

    /// The pin is at an allowed place.
    pub(super) fn permits(&mut self, pin: &Pin) -> bool {
        for site in &mut self.expired {
            site.used += u64::from(site.fits(pin));
        }
        let site = self.sites.iter_mut().find(|site| site.fits(pin));
        site.is_some_and(|site| {
            site.used += 1;
            true
        })
    }

    /// What the owner of the file should know.
    pub(super) fn notes(&self) -> Vec<String> {
        let expired = self.expired.iter().map(|site| {
            let (name, owner, date) = (site.name(), &site.owner, site.expiry());
            format!(
                "the allowance for {name} of {owner} ended on {date}; {} pins fit it",
                site.used
            )
        });
        let unused = self.sites.iter().filter(|site| site.used == 0).map(|site| {
            format!(
                "the allowance for {} of {} fits no pin",
                site.name(),
                site.owner
            )
        });
        expired.chain(unused).collect()
    }
}

impl Site {
    fn fits(&self, pin: &Pin) -> bool {
        let place = |allowed: &Option<String>, seen: &str| {
            allowed.as_ref().is_none_or(|allowed| {
                seen.strip_prefix(allowed.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
            })
        };
        place(&self.blocked_at, &pin.site())
            && place(&self.pinned_at, &pin.pinned_at)
            && self
                .holder
                .as_ref()
                .is_none_or(|h| *h == pin.lock || *h == pin.native)
    }

    fn name(&self) -> &str {
        let names = [&self.blocked_at, &self.pinned_at, &self.holder];
        names
            .into_iter()
            .flatten()
            .next()
            .map_or("", String::as_str)
    }

    fn expiry(&self) -> String {
        match &self.expires {
            toml::Value::String(date) => date.clone(),
            other => other.to_string(),
        }
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let digits = |at: usize, len| {
        parts
            .get(at)
            .is_some_and(|p: &&str| p.len() == len && p.bytes().all(|b| b.is_ascii_digit()))
    };
    parts.len() == 3 && digits(0, 4) && digits(1, 2) && digits(2, 2)
}

#[cfg(test)]
mod tests {
    use vt_flight_recorder::PinKind;

    use super::*;

    fn allowed(text: &str) -> Result<Allowed, String> {
        let file = toml::from_str(text).map_err(|error| error.to_string())?;
        Allowed::at(file, "2026-06-01")
    }

    fn pin(blocked_at: &str, lock: &str) -> Pin {
        let mut kind = PinKind::default();
        blocked_at.clone_into(&mut kind.blocked_at);
        lock.clone_into(&mut kind.lock);
        let mut pin = Pin::default();
        pin.kind = kind.into();
        pin
    }

    #[test]
    fn a_site_fits_at_whole_parts_of_its_place() {
        let text = "[[site]]\nblocked_at = \"src/a.rs:1\"\nowner = \"me\"\nexpires = 2026-06-01";
        let mut allowed = allowed(text).expect("a valid file");
        assert!(allowed.permits(&pin("src/a.rs:1:9", "")));
        assert!(!allowed.permits(&pin("src/a.rs:12:9", "")));
        assert_eq!(allowed.notes(), [""; 0]);
    }

    #[test]
    fn an_expired_allowance_allows_nothing_and_is_told() {
        let text = "[[site]]\nholder = \"orders\"\nowner = \"me\"\nexpires = \"2026-05-31\"";
        let mut allowed = allowed(text).expect("a valid file");
        assert!(!allowed.permits(&pin("src/a.rs:1:9", "orders")));
        assert_eq!(
            allowed.notes(),
            ["the allowance for orders of me ended on 2026-05-31; 1 pins fit it"]
        );
    }

    #[test]
    fn a_site_needs_a_place_an_owner_and_a_date() {
        for (text, cause) in [
            (
                "[[site]]\nowner = \"me\"\nexpires = 2026-06-01",
                "names no place",
            ),
            ("[[site]]\nholder = \"a\"\nexpires = 2026-06-01", "owner"),
            ("[[site]]\nholder = \"a\"\nowner = \"me\"", "expires"),
            (
                "[[site]]\nholder = \"a\"\nowner = \"me\"\nexpires = \"soon\"",
                "no date",
            ),
            (
                "[[site]]\nholder = \"a\"\nowner = \" \"\nexpires = 2026-06-01",
                "no owner",
            ),
            ("[[place]]\nholder = \"a\"", "unknown field"),
        ] {
            let error = allowed(text).expect_err(text);
            assert!(error.contains(cause), "{text}: {error}");
        }
    }
}
