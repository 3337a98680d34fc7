//! Makes the locks of a module park-aware: `#[park_safe]` above an inline module, another `use` line in a file.
//!
//! Offered only where every name of the locks stands in that one module: nothing others can see mentions them, no
//! function, struct or static from elsewhere that the module uses does, and it asks nothing of them that the
//! park-aware ones do not have.

use quote::ToTokens as _;

use crate::diagnostic::{Edit, Fix};
use crate::flow::body::{Callable, What};
use crate::model::index::{FunctionId, ModuleId};
use crate::model::syntax::At;
use crate::model::ty::Ty;
use crate::rules::site::{Site, monitor};

use super::imports;
use super::rebind::has_word;
use super::scope::{Scope, mentions, place};

/// A crate's locks and their park-aware forms, which have the same names.
struct Family {
    from: &'static [&'static str],
    to: &'static str,
    names: &'static [&'static str],
    /// Words that say the module needs more than the park-aware forms have.
    lacking: &'static [&'static str],
    /// `#[park_safe]` swaps whatever version of it there is.
    has_attribute: bool,
}

static FAMILIES: [Family; 2] = [
    Family {
        from: &["std", "sync"],
        to: "vt_runtime::sync",
        names: &[
            "Mutex",
            "MutexGuard",
            "RwLock",
            "RwLockReadGuard",
            "RwLockWriteGuard",
            "Condvar",
            "WaitTimeoutResult",
        ],
        lacking: &["data_ptr", "get_cloned", "MappedMutexGuard"],
        has_attribute: true,
    },
    Family {
        from: &["parking_lot"],
        to: "vt_runtime::sync::parking_lot",
        names: &[
            "Mutex",
            "MutexGuard",
            "MappedMutexGuard",
            "RwLock",
            "RwLockReadGuard",
            "RwLockWriteGuard",
            "MappedRwLockReadGuard",
            "MappedRwLockWriteGuard",
            "Condvar",
            "ReentrantMutex",
            "ReentrantMutexGuard",
            "WaitTimeoutResult",
        ],
        lacking: &[
            "data_ptr",
            "raw",
            "lock_arc",
            "read_arc",
            "write_arc",
            "try_lock_arc",
            "upgradable_read",
            "RwLockUpgradableReadGuard",
            "read_recursive",
            "unlocked_fair",
            "leak",
        ],
        has_attribute: false,
    },
];

/// The repair, when the lock that is held belongs to the module around the site.
pub(super) fn fix(site: &Site<'_, '_>) -> Option<Fix> {
    let held = site.held(monitor)?;
    let graph = site.graph;
    let path = graph.model.function_path(held.guard.by?);
    let family = FAMILIES
        .iter()
        .find(|family| path.split("::").next() == family.from.first().copied())?;
    let body = site.body();
    let file = &site.files[body.file];
    let text: &str = &file.text.text;
    let fix = syn::parse_file(text).ok().and_then(|parsed| {
        let scope = Scope::around(&parsed, text.len(), site.event.at.start);
        let module = module_of(site)?;
        let used = file.text.slice(scope.at);
        let fits = declares(&scope, &held.guard.lock)
            && has_word(text, "vt_runtime")
            && scope.is_private(family.names)
            && !family.lacking.iter().any(|word| has_word(used, word))
            && !(scope.has_files() && others_mention(site, family))
            && !flows_out(site, module, used, family);
        fits.then(|| edits(site, &scope, family)).flatten()
    });
    proc_macro2::extra::invalidate_current_thread_spans();
    Some(Fix {
        message: format!(
            "make the locks of this module park-aware with `{}`",
            if fix.as_ref()?.1 {
                "#[park_safe]"
            } else {
                family.to
            }
        ),
        edits: fix?.0,
    })
}

/// The edits, and whether they put the attribute.
fn edits(site: &Site<'_, '_>, scope: &Scope<'_>, family: &Family) -> Option<(Vec<Edit>, bool)> {
    let text = &site.files[site.body().file].text;
    if let Some(module) = scope.inline.filter(|_| family.has_attribute) {
        // Below the documentation and other attributes.
        let start = match &module.vis {
            syn::Visibility::Inherited => place(&module.mod_token).start,
            visibility => place(visibility).start,
        };
        let before = text.slice(At {
            start: 0,
            end: start,
        });
        let indent = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let indent = indent.trim().is_empty().then_some(indent)?;
        let edit = Edit {
            span: text.span(At { start, end: start }),
            replacement: format!("#[vt_runtime::park_safe]\n{indent}"),
        };
        return Some((vec![edit], true));
    }
    let mut edits = Vec::new();
    let mut imported = Vec::new();
    for item in scope.items {
        let syn::Item::Use(item) = item else { continue };
        let split = imports::split(&item.tree, family.from, family.names)?;
        if split.moves.is_empty() {
            continue;
        }
        if !item.attrs.is_empty() || item.leading_colon.is_some() {
            return None;
        }
        let at = place(item);
        let moved = match &split.moves[..] {
            [one] => format!("use {}::{one};", family.to),
            all => format!("use {}::{{{}}};", family.to, all.join(", ")),
        };
        let before = text.slice(At {
            start: 0,
            end: at.start,
        });
        let indent = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let replacement = match split.stays {
            Some(stays) => format!("use {stays};\n{indent}{moved}"),
            None => moved,
        };
        imported.extend(split.moves);
        edits.push(Edit {
            span: text.span(at),
            replacement,
        });
    }
    // A lock that is named by its path, or comes in by another way, would stay what it is.
    let last = family.from.last().copied().unwrap_or_default();
    let others: Vec<&syn::Item> = scope
        .items
        .iter()
        .filter(|item| !matches!(item, syn::Item::Use(_)))
        .collect();
    let is_elsewhere = |name: &str| {
        others.iter().any(|item| {
            let text = item.to_token_stream().to_string();
            text.contains(&format!("{last} :: {name}"))
                || mentions(item, &[name]) && !imported.iter().any(|one| one == name)
        })
    };
    let complete = !edits.is_empty() && !family.names.iter().any(|name| is_elsewhere(name));
    complete.then_some((edits, false))
}

/// The module of the site, blocks with items aside.
fn module_of(site: &Site<'_, '_>) -> Option<ModuleId> {
    let index = &site.graph.model.index;
    let function = &index.functions[site.body().function?.index()];
    Some(index.proper(function.module))
}

/// Whether the lock, as findings name it, is declared here.
fn declares(scope: &Scope<'_>, lock: &str) -> bool {
    match lock.split_once('.') {
        Some((owner, field)) if owner != "self" => scope.declares_field(owner, field),
        _ => scope
            .items
            .iter()
            .any(|item| matches!(item, syn::Item::Static(of) if of.ident == lock)),
    }
}

/// Whether another file of the crate names such a lock.
fn others_mention(site: &Site<'_, '_>, family: &Family) -> bool {
    let own = &site.files[site.body().file];
    site.files
        .iter()
        .filter(|file| file.krate == own.krate && file.text.display != own.text.display)
        .any(|file| {
            let words = family.names.iter();
            words
                .into_iter()
                .any(|name| has_word(&file.text.text, name))
        })
}

/// Whether the module uses something from elsewhere that names such a lock.
fn flows_out(site: &Site<'_, '_>, module: ModuleId, used: &str, family: &Family) -> bool {
    let model = &site.graph.model;
    let index = &model.index;
    let elsewhere = |of: ModuleId| index.proper(of) != module;
    let names = |ty: &Ty| is_named(site, ty, family, 0);
    let takes = |id: FunctionId| {
        if model.is_described(id) || id.index() >= index.functions.len() {
            return false;
        }
        let signature = &model.signatures[id.index()];
        let mut types = signature
            .params
            .iter()
            .chain(&signature.receiver)
            .chain([&signature.output]);
        elsewhere(index.functions[id.index()].module) && types.any(names)
    };
    let is_here = |function: Option<FunctionId>| {
        function.is_some_and(|id| !elsewhere(index.functions[id.index()].module))
    };
    let bodies = site
        .graph
        .bodies
        .iter()
        .filter(|body| is_here(body.function));
    let calls = bodies.flat_map(|body| &body.events).any(|event| {
        let targets = match &event.what {
            What::Call(targets) => &targets[..],
            _ => &[],
        };
        targets
            .iter()
            .chain(event.passed.iter().map(|(_, callable)| callable))
            .any(|callable| matches!(callable, Callable::Function(id) if takes(*id)))
    });
    let data = index.data.iter().enumerate().any(|(number, def)| {
        let of_variants = model.variants[number].iter().flat_map(|(_, fields)| fields);
        let mut fields = model.fields[number].iter().chain(of_variants);
        elsewhere(def.module)
            && has_word(used, def.syntax.name.as_str())
            && !model.is_described_data(crate::model::index::DataId(number as u32))
            && fields.any(|(_, ty)| names(ty))
    });
    let values = index.values.iter().enumerate().any(|(number, def)| {
        elsewhere(def.module)
            && has_word(used, def.syntax.name.as_str())
            && names(&model.values[number])
    });
    calls || data || values
}

/// Whether a type names one of the family's locks.
fn is_named(site: &Site<'_, '_>, ty: &Ty, family: &Family, depth: u32) -> bool {
    let any = |types: &[Ty]| types.iter().any(|ty| is_named(site, ty, family, depth + 1));
    if depth > 8 {
        return true;
    }
    match ty {
        Ty::Data(id, args) => {
            let name = site.graph.model.index.data[id.index()].syntax.name.as_str();
            site.graph.model.is_described_data(*id) && family.names.contains(&name) || any(args)
        }
        Ty::External(path, args) => mentions_path(path.as_str(), family) || any(args),
        Ty::Ref(inner) | Ty::Slice(inner) => is_named(site, inner, family, depth + 1),
        Ty::Tuple(parts) => any(parts),
        Ty::Function(params, output) => any(params) || is_named(site, output, family, depth + 1),
        _ => false,
    }
}

fn mentions_path(path: &str, family: &Family) -> bool {
    syn::parse_str::<syn::Path>(path).is_ok_and(|path| mentions(path, family.names))
}
