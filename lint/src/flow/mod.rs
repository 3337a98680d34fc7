//! Follows guards through every body, with Rust's drop scopes.
//!
//! Control flow of Rust is structured, so each body is walked once along its syntax (loops until nothing changes),
//! carrying the state of all owners; joins are unions, because a guard that may be alive counts. Temporaries live in
//! frames that open and close exactly where the reference says, by edition. The walk also infers types forwards, which
//! is what resolves method calls. Its results are [`Body`]s: events with the guards alive at them.

pub(crate) mod body;
mod call;
mod closure;
mod control;
mod effect;
mod expr;
mod frame;
mod invoke;
mod method;
mod pattern;
mod place;
mod state;
mod statement;
mod value;

use std::collections::HashMap;

use crate::input::Edition;
use crate::model::convert::Place;
use crate::model::facts::{Model, mark};
use crate::model::index::{FunctionId, ModuleId, Owner, ValueId};
use crate::model::name::Name;
use crate::model::syntax::{At, Generics, Swap};
use crate::model::tree::SourceFile;
use crate::model::ty::{Ty, TyBound};
use body::{Body, BodyKind, Callable, Context, Guard, GuardKind, Guards};
use state::State;
use value::Value;

/// Opens and closes with a syntactic scope.
#[derive(Debug)]
struct Frame {
    is_block: bool,
    owners: Vec<u32>,
}

/// A loop or labelled block that can be left.
struct Exit<'a> {
    label: Option<Name>,
    is_loop: bool,
    frames: usize,
    leave: State,
    again: State,
    /// What `break` gives.
    value: Option<Value<'a>>,
}

/// The walk through one function and the closures in it.
pub(crate) struct Flow<'m, 'a> {
    model: &'m Model<'a>,
    file: &'a SourceFile,
    file_index: usize,
    edition: Edition,
    module: ModuleId,
    function: Option<FunctionId>,
    generics: Vec<&'a Generics>,
    self_type: Option<Ty>,
    assoc: Vec<(Name, Ty)>,
    swap: Swap,
    bodies: Vec<Body>,
    /// The body that events belong to.
    current: usize,
    closures: HashMap<u32, u32>,
    outputs: HashMap<u32, Ty>,
    state: State,
    frames: Vec<Frame>,
    exits: Vec<Exit<'a>>,
    returns: Vec<State>,
    env: Vec<(Name, u32)>,
    vars: HashMap<u32, Value<'a>>,
    /// Owners that a closure being walked uses.
    used: Vec<u32>,
    /// Variables that are moved somewhere, wholly or in part.
    moved: std::collections::HashSet<u32>,
    /// Places that `take()` has left empty, as written.
    emptied: std::collections::HashSet<&'a str>,
    /// The owners used by the closure walked last.
    last_captured: Vec<u32>,
    /// What the parameters of lazy closures are.
    lazy_params: HashMap<u32, Vec<Value<'a>>>,
    context: Context,
    /// What running a closure declares, by its body's identity.
    repeats: HashMap<u32, u8>,
    /// The guard of each site, by body.
    sites: HashMap<(usize, u32), u32>,
    /// Event numbers by body, place and kind.
    seen: HashMap<(usize, u32, u8), usize>,
    depth: u32,
    statistics: Calls,
}

/// How many calls were seen and resolved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    /// Calls.
    pub(crate) all: usize,
    /// Of these, with a known callee.
    pub(crate) resolved: usize,
}

/// Walks a function.
pub(crate) fn function<'a>(
    model: &Model<'a>,
    files: &'a [SourceFile],
    id: FunctionId,
) -> (Vec<Body>, Calls) {
    match walked(model, files, id) {
        Some((flow, _)) => (flow.bodies, flow.statistics),
        None => (Vec::new(), Calls::default()),
    }
}

/// The type of what a function's body gives, which its signature may hide.
pub(crate) fn returned<'a>(model: &Model<'a>, files: &'a [SourceFile], id: FunctionId) -> Ty {
    walked(model, files, id).map_or(Ty::Unknown, |(_, ty)| ty)
}

fn walked<'m, 'a>(
    model: &'m Model<'a>,
    files: &'a [SourceFile],
    id: FunctionId,
) -> Option<(Flow<'m, 'a>, Ty)> {
    let def = &model.index.functions[id.index()];
    let block = def.syntax.body.as_ref()?;
    let (owner, self_type, assoc) = match def.owner {
        Owner::Module => (None, None, Vec::new()),
        Owner::Impl(of) => {
            let types = &model.impls[of.index()];
            (
                Some(&model.index.impls[of.index()].syntax.generics),
                Some(types.self_type.clone()),
                types.assoc.clone(),
            )
        }
        Owner::Trait(of) => {
            let this = Ty::Dyn([TyBound::Trait(of, [].into(), [].into())].into());
            (
                Some(&model.index.traits[of.index()].syntax.generics),
                Some(this),
                Vec::new(),
            )
        }
    };
    let generics = owner.into_iter().chain([&def.syntax.generics]).collect();
    let mut flow = Flow::new(
        model,
        files,
        def.module,
        generics,
        self_type,
        assoc,
        def.syntax.swap,
    );
    flow.function = Some(id);
    flow.open(BodyKind::Function(id), def.syntax.at, def.syntax.is_async);
    flow.frames.push(Frame {
        is_block: false,
        owners: Vec::new(),
    });
    flow.frames.push(Frame {
        is_block: true,
        owners: Vec::new(),
    });
    flow.returns.push(State::unreachable());
    let signature = &model.signatures[id.index()];
    if let Some(this) = &signature.receiver {
        let slot = u32::MAX;
        flow.declare(Name::new("self"), slot, Value::of(this.clone()));
        flow.parameter_guard(slot, this, def.syntax.name_at, "self");
    }
    for (index, (param, ty)) in def.syntax.params.iter().zip(&signature.params).enumerate() {
        let mut value = Value::of(ty.clone());
        if flow.is_callable(ty) {
            value.callable = Some(Callable::Param(index as u32));
        }
        let slot = u32::MAX - 1 - index as u32;
        value.slot = Some(slot);
        value.whole = true;
        flow.frames
            .last_mut()
            .expect("just pushed")
            .owners
            .push(slot);
        flow.parameter_guard(slot, ty, param.pattern.at, "");
        flow.bind(&param.pattern, &value);
    }
    let value = flow.block(block);
    flow.steps(&value);
    flow.close_frame();
    flow.close_frame();
    Some((flow, value.ty))
}

/// Walks the initialiser of a lazily initialised value.
pub(crate) fn initializer<'a>(
    model: &Model<'a>,
    files: &'a [SourceFile],
    id: ValueId,
) -> (Vec<Body>, Calls) {
    let def = &model.index.values[id.index()];
    let Some(init) = &def.syntax.init else {
        return (Vec::new(), Calls::default());
    };
    let mut flow = Flow::new(
        model,
        files,
        def.module,
        Vec::new(),
        None,
        Vec::new(),
        def.syntax.swap,
    );
    flow.open(BodyKind::Initializer(id), def.syntax.at, false);
    flow.frames.push(Frame {
        is_block: false,
        owners: Vec::new(),
    });
    flow.frames.push(Frame {
        is_block: true,
        owners: Vec::new(),
    });
    flow.returns.push(State::unreachable());
    flow.value(init);
    (flow.bodies, flow.statistics)
}

impl<'m, 'a> Flow<'m, 'a> {
    fn new(
        model: &'m Model<'a>,
        files: &'a [SourceFile],
        module: ModuleId,
        generics: Vec<&'a Generics>,
        self_type: Option<Ty>,
        assoc: Vec<(Name, Ty)>,
        swap: Swap,
    ) -> Self {
        let of = &model.index.modules[module.index()];
        Self {
            model,
            file: &files[of.file],
            file_index: of.file,
            edition: model.index.crates[of.krate].edition,
            module,
            function: None,
            generics,
            self_type,
            assoc,
            swap,
            bodies: Vec::new(),
            current: 0,
            closures: HashMap::new(),
            outputs: HashMap::new(),
            state: State::start(),
            frames: Vec::new(),
            exits: Vec::new(),
            returns: Vec::new(),
            env: Vec::new(),
            vars: HashMap::new(),
            used: Vec::new(),
            moved: std::collections::HashSet::new(),
            emptied: std::collections::HashSet::new(),
            last_captured: Vec::new(),
            lazy_params: HashMap::new(),
            context: Context::default(),
            repeats: HashMap::new(),
            sites: HashMap::new(),
            seen: HashMap::new(),
            depth: 0,
            statistics: Calls::default(),
        }
    }

    fn open(&mut self, kind: BodyKind, at: At, is_async: bool) -> usize {
        self.bodies.push(Body {
            kind,
            file: self.file_index,
            function: self.function,
            at,
            is_async,
            channels: 0,
            guards: Vec::new(),
            events: Vec::new(),
            detachable: Vec::new(),
        });
        self.bodies.len() - 1
    }

    /// Whether temporaries of tail expressions and `if let` end early.
    fn is_2024(&self) -> bool {
        self.edition >= Edition::E2024
    }

    /// Where types are written here.
    fn place<T>(&self, f: impl FnOnce(Place<'_>) -> T) -> T {
        f(Place {
            module: self.module,
            generics: &self.generics,
            self_type: self.self_type.as_ref(),
            assoc: &self.assoc,
            swap: self.swap,
        })
    }

    fn ty(&self, source: &crate::model::syntax::Type) -> Ty {
        self.place(|place| self.model.converter().ty(place, source))
    }

    fn parameter_guard(&mut self, slot: u32, ty: &Ty, at: At, text: &str) {
        if let Some(kind) = self.guard_kind(ty) {
            let guard = Guard {
                at,
                kind,
                lock: "a guard parameter".to_owned(),
                text: text.to_owned(),
                by: None,
            };
            let bits = self.site(slot, guard);
            self.state.give(slot, bits);
        }
    }

    /// The guard taken at a site of the current body.
    fn site(&mut self, id: u32, guard: Guard) -> Guards {
        let guards = &mut self.bodies[self.current].guards;
        let number = *self.sites.entry((self.current, id)).or_insert_with(|| {
            guards.push(guard);
            guards.len() as u32 - 1
        });
        1_u128.checked_shl(number).unwrap_or(0)
    }

    /// The kind of guard a value of this type owns.
    fn guard_kind(&self, ty: &Ty) -> Option<GuardKind> {
        self.model.guard_kind(ty, 0)
    }

    fn is_callable(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Opaque(bounds) | Ty::Dyn(bounds) => bounds
                .iter()
                .any(|bound| matches!(bound, TyBound::Function(..))),
            Ty::Param(name) => self.function_bound(*name).is_some(),
            Ty::Function(..) => true,
            Ty::Ref(inner) => self.is_callable(inner),
            Ty::Data(..) => self
                .model
                .deref(ty)
                .is_some_and(|inner| self.is_callable(&inner)),
            _ => false,
        }
    }

    /// The `Fn` bound of a type parameter here.
    fn function_bound(&self, name: Name) -> Option<(std::sync::Arc<[Ty]>, std::sync::Arc<Ty>)> {
        let bounds = self.place(|place| self.model.converter().bounds_of(place, name, 0));
        bounds.into_iter().find_map(|bound| match bound {
            TyBound::Function(params, output) => Some((params, output)),
            _ => None,
        })
    }

    /// A mark's argument of a function.
    fn mark(&self, id: FunctionId, name: &str) -> Option<&'a str> {
        mark(self.model.marks(id), name)
    }

    /// The text of a place.
    fn text(&self, at: At) -> &'a str {
        self.file.text.slice(at)
    }
}
