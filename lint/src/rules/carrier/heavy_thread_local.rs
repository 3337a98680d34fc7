//! Flags caches in thread-local storage that virtual threads use.
//!
//! ## What it does
//! Reports a `thread_local!` or `task::local!` that holds a collection, a buffer or a cache and that code reachable from
//! `vt_runtime`'s spawns, `main` and `test` uses. Reported once, at the declaration, with the first use.
//!
//! ## Why
//! A cache in each thread pays when there are few threads. In `task::local!` there is one for each virtual thread, of which
//! there may be a million. In `thread_local!` there is one for each carrier, so virtual threads that have nothing to do with
//! each other share it, and none finds again what it put there before it moved its work to another thread.
//!
//! ## What it cannot see
//! How large the cache gets, and types that nothing in their name tells from plain values. Calls through function pointers,
//! type parameters and crates whose code is neither analysed nor described. Such uses are never reported.
//!
//! ## Example
//! ```rust,ignore
//! thread_local! {
//!     static PARSED: RefCell<HashMap<String, Template>> = RefCell::default();
//! }
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! static PARSED: vt_runtime::sync::RwLock<BTreeMap<String, Template>> = vt_runtime::sync::RwLock::new(BTreeMap::new());
//! ```
//!
//! ## Runtime reason
//! None: it costs memory, not carriers.

use crate::diagnostic::{Finding, Label, Level, RuleId};
use crate::flow::body::What;
use crate::model::index::ValueId;
use crate::model::syntax::Storage;
use crate::model::ty::Ty;
use crate::rules::Rule;
use crate::rules::site::Site;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("heavy-thread-local"),
    level: Level::Allow,
    summary: "a cache in thread-local storage that virtual threads use",
    source: include_str!("heavy_thread_local.rs"),
};

/// Collections of std.
const COLLECTIONS: [&str; 9] = [
    "Vec",
    "VecDeque",
    "String",
    "HashMap",
    "HashSet",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "LinkedList",
];

/// What names of types that cost memory contain.
const TELLING: [&str; 8] = [
    "Cache", "Lru", "Pool", "Arena", "Bump", "Buf", "Regex", "Map",
];

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    let What::Initializes(id) = site.event.what else {
        return None;
    };
    let value = site.graph.model.index.values[id.index()].syntax;
    let whose = match value.storage {
        Storage::ThreadLocal => "every carrier has one, which its virtual threads share",
        Storage::TaskLocal => "every virtual thread has one of its own",
        Storage::Constant | Storage::Lazy => return None,
    };
    if !is_heavy(site, &site.graph.model.values[id.index()], 0) || !site.on_carrier(0) {
        return None;
    }
    let message = format!(
        "virtual threads use the thread-local cache `{}`",
        value.name
    );
    let mut finding = site.finding(&RULE, message, "declared here", None);
    let used = std::mem::replace(&mut finding.primary, declaration(site, id)?);
    finding.chain.push(Label {
        span: used,
        text: "a virtual thread uses it here".to_owned(),
    });
    finding.function = None;
    finding.notes.push(whose.into());
    finding.help.push(
        "share one cache behind a lock of `vt_runtime::sync`, or pass it along as an argument"
            .into(),
    );
    Some(finding)
}

fn declaration(site: &Site<'_, '_>, id: ValueId) -> Option<crate::diagnostic::Span> {
    let def = &site.graph.model.index.values[id.index()];
    let file = site.graph.model.index.modules[def.module.index()].file;
    let file = site.files.get(file)?;
    Some(file.text.span(def.syntax.at))
}

fn is_heavy(site: &Site<'_, '_>, ty: &Ty, depth: u32) -> bool {
    let any = |types: &[Ty]| types.iter().any(|ty| is_heavy(site, ty, depth + 1));
    let telling = |name: &str| TELLING.iter().any(|part| name.contains(part));
    if depth > 8 {
        return false;
    }
    match ty {
        Ty::Data(id, args) => {
            let name = site.graph.model.index.data[id.index()].syntax.name.as_str();
            let described = site.graph.model.is_described_data(*id);
            described && COLLECTIONS.contains(&name) || telling(name) || any(args)
        }
        Ty::External(path, args) => {
            let name = path.as_str().rsplit("::").next().unwrap_or_default();
            telling(name) || any(args)
        }
        Ty::Ref(inner) => is_heavy(site, inner, depth + 1),
        Ty::Tuple(parts) => any(parts),
        Ty::Slice(_) => true,
        _ => false,
    }
}
