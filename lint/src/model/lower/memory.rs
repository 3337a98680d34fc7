//! Lowered files of earlier runs.
//!
//! What a file is lowered to depends on its text, the `cfg` names and features of its crate, what `#[park_safe]` around
//! it swaps, and the macros other files define. All of that is the key. **Invariant:** recalled and lowered anew are
//! equal, or runs would differ by what earlier ones left behind.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::Arc;

use super::{Context, FileSyntax, LowerError, lower};
use crate::input::{CfgSet, CrateInput, Sources};
use crate::model::name::Name;
use crate::model::syntax::Swap;

/// What lowering depends on besides text and swap, the same for all files of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Surroundings([u64; 2]);

impl Surroundings {
    /// Those of a crate's files.
    pub(crate) fn of(cfg: &CfgSet, krate: &CrateInput) -> Self {
        let features = (&krate.features, &krate.declared_features);
        let kind = (krate.target_kind.name(), krate.edition.name());
        // Its `Debug` also lists names that are known and off.
        Self(digest(&(features, kind, format!("{cfg:?}"))))
    }

    /// The same where macros of other files are known.
    pub(crate) fn with(self, foreign: &HashMap<Name, Arc<str>>) -> Self {
        let mut all: Vec<(&str, &str)> = foreign
            .iter()
            .map(|(name, text)| (name.as_str(), &**text))
            .collect();
        all.sort_unstable();
        Self(digest(&(self, all)))
    }
}

/// Lowers a file, or recalls what came of it the last time.
///
/// # Errors
/// As [`lower`]: failures are never kept.
pub(crate) fn lowered(
    sources: &dyn Sources,
    surroundings: Surroundings,
    text: &str,
    swap: Swap,
    context: &Context<'_>,
) -> Result<FileSyntax, LowerError> {
    let Some(memory) = sources.memory() else {
        return lower(text, swap, context);
    };
    let key = digest(&(surroundings, swap as u8, text));
    let recalled = memory.recall(key);
    if let Some(syntax) = recalled.and_then(|bytes| postcard::from_bytes(&bytes).ok()) {
        return Ok(syntax);
    }
    let syntax = lower(text, swap, context)?;
    if memory.keeps()
        && let Ok(bytes) = postcard::to_allocvec(&syntax)
    {
        memory.keep(key, &bytes);
    }
    Ok(syntax)
}

/// A hash wide enough that two files do not meet by chance.
fn digest(of: &impl Hash) -> [u64; 2] {
    [1_u8, 2].map(|salt| {
        let mut hasher = DefaultHasher::new();
        (salt, of).hash(&mut hasher);
        hasher.finish()
    })
}
