//! Which types and methods the `locks` of the configuration mean.

use crate::config::is_named;
use crate::model::facts::{ConfiguredLocks, Model};
use crate::model::index::{DataId, FunctionId};
use crate::model::ty::Ty;

/// Methods that give a guard of a lock, and whether they wait for it.
const METHODS: [(&str, bool); 6] = [
    ("lock", true),
    ("read", true),
    ("write", true),
    ("try_lock", false),
    ("try_read", false),
    ("try_write", false),
];

/// Finds them.
pub(super) fn configured(model: &Model<'_>, names: &[String]) -> ConfiguredLocks {
    let mut locks = ConfiguredLocks {
        names: names.to_vec(),
        ..ConfiguredLocks::default()
    };
    if names.is_empty() {
        return locks;
    }
    for number in 0..model.index.functions.len() {
        let id = FunctionId(number as u32);
        let name = model.index.functions[number].syntax.name;
        let Some((_, waits)) = METHODS.iter().find(|(method, _)| name == *method) else {
            continue;
        };
        let path = model.function_path(id);
        let owner = path.rsplit_once("::").map_or("", |(owner, _)| owner);
        if names.iter().any(|entry| is_named(owner, entry)) {
            guards(model, &model.signatures[number].output, &mut |guard| {
                locks.guards.insert(guard);
            });
            if *waits {
                locks.waits.insert(id);
            }
        }
    }
    locks
}

/// The types a method gives; of `Option` and `Result` what is in them.
fn guards(model: &Model<'_>, ty: &Ty, found: &mut impl FnMut(DataId)) {
    match ty {
        Ty::Data(id, args) if model.is_wrapper(*id) => {
            if let Some(inner) = args.first() {
                guards(model, inner, found);
            }
        }
        Ty::Data(id, _) => found(*id),
        _ => {}
    }
}
