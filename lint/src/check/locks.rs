//! Which types and methods the `locks` of the configuration mean, and which functions hide a guard behind `impl Deref`.

use rayon::prelude::*;

use crate::config::is_named;
use crate::flow;
use crate::model::facts::{ConfiguredLocks, Model};
use crate::model::index::{DataId, FunctionId};
use crate::model::tree::SourceFile;
use crate::model::ty::{Ty, TyBound};

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

/// How often hidden guards are looked for: a function may return what another one hides.
const ROUNDS: usize = 2;

/// Lets functions that promise no more than `impl Deref` return the guards that their bodies give.
pub(super) fn reveal_hidden(model: &mut Model<'_>, files: &[SourceFile]) {
    let hides = |number: &u32| {
        let output = &model.signatures[*number as usize].output;
        is_hidden(model, output) && !model.is_described(FunctionId(*number))
    };
    let hiding: Vec<u32> = (0..model.signatures.len() as u32).filter(hides).collect();
    for _ in 0..ROUNDS {
        let given: Vec<Ty> = hiding
            .par_iter()
            .map(|number| flow::returned(model, files, FunctionId(*number)))
            .collect();
        for (number, ty) in hiding.iter().zip(given) {
            if model.guard_kind(&ty, 0).is_some() {
                model.signatures[*number as usize].output = ty;
            }
        }
    }
}

/// Whether all that is said of a type, or of what is in it, is what it derefs to.
fn is_hidden(model: &Model<'_>, ty: &Ty) -> bool {
    match ty {
        Ty::Opaque(bounds) | Ty::Dyn(bounds) => bounds.iter().any(|bound| match bound {
            TyBound::Trait(id, ..) => {
                let name = model.index.traits[id.index()].syntax.name;
                name == "Deref" || name == "DerefMut"
            }
            _ => false,
        }),
        Ty::Data(_, args) => args.iter().any(|arg| is_hidden(model, arg)),
        _ => false,
    }
}
