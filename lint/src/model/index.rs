//! All definitions with their identities, and the module tree that names them.

use std::collections::HashMap;

use super::name::Name;
use super::syntax::{Data, Function, Generics, Impl, Item, Trait, Type, Use, Value};
use super::tree::{self, SourceFile};
use crate::input::{Edition, Input};

macro_rules! identity {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            /// As an index.
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

identity! {
    /// A module or a block with items.
    ModuleId;
    /// A struct, enum or union.
    DataId;
    /// A type alias.
    AliasId;
    /// A trait.
    TraitId;
    /// A function or method.
    FunctionId;
    /// A static, constant or lazily initialised cell.
    ValueId;
    /// An implementation.
    ImplId;
}

/// What a name can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Def {
    /// A module.
    Module(ModuleId),
    /// A struct, enum or union.
    Data(DataId),
    /// A variant of an enum.
    Variant(DataId, u32),
    /// A type alias.
    Alias(AliasId),
    /// A trait.
    Trait(TraitId),
    /// A function.
    Function(FunctionId),
    /// A static or constant.
    Value(ValueId),
    /// A primitive type.
    Plain(Name),
    /// Something of a crate nobody describes: its full path.
    External(Name),
}

/// A crate of the workspace or an interface description.
#[derive(Debug)]
pub(crate) struct Krate {
    /// Its root module.
    pub(crate) root: ModuleId,
    /// Its edition.
    pub(crate) edition: Edition,
    /// What its code can name: name in code, and what that is.
    pub(crate) externs: HashMap<Name, Extern>,
    /// It is only described.
    pub(crate) is_interface: bool,
}

/// A crate that code can name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extern {
    /// One of the run's crates or a described one.
    Known(usize),
    /// Another; its package name.
    Other(Name),
}

/// A module or a block with items.
#[derive(Debug)]
pub(crate) struct Module<'a> {
    /// Its crate.
    pub(crate) krate: usize,
    /// Its file.
    pub(crate) file: usize,
    /// The module around it.
    pub(crate) parent: Option<ModuleId>,
    /// Sees its parent's names.
    pub(crate) is_block: bool,
    /// Its path for people.
    pub(crate) path: String,
    /// Types, traits and modules in it.
    pub(crate) types: HashMap<Name, Def>,
    /// Functions, values and constructors in it.
    pub(crate) values: HashMap<Name, Def>,
    /// Imports by name.
    pub(crate) imports: HashMap<Name, Vec<&'a Use>>,
    /// Glob imports.
    pub(crate) globs: Vec<&'a Use>,
}

/// A definition with its module.
#[derive(Debug)]
pub(crate) struct Placed<'a, T> {
    /// Where it stands.
    pub(crate) module: ModuleId,
    /// What was written.
    pub(crate) syntax: &'a T,
}

/// A function with what is around it.
#[derive(Debug)]
pub(crate) struct FunctionDef<'a> {
    /// Where it stands.
    pub(crate) module: ModuleId,
    /// What was written.
    pub(crate) syntax: &'a Function,
    /// The implementation or trait it belongs to.
    pub(crate) owner: Owner,
}

/// What a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A module.
    Module,
    /// An implementation.
    Impl(ImplId),
    /// A trait: a declaration or default body.
    Trait(TraitId),
}

/// A trait with its functions.
#[derive(Debug)]
pub(crate) struct TraitDef<'a> {
    /// Where it stands.
    pub(crate) module: ModuleId,
    /// What was written.
    pub(crate) syntax: &'a Trait,
    /// Its functions by name.
    pub(crate) functions: HashMap<Name, FunctionId>,
}

/// An implementation with its functions.
#[derive(Debug)]
pub(crate) struct ImplDef<'a> {
    /// Where it stands.
    pub(crate) module: ModuleId,
    /// What was written.
    pub(crate) syntax: &'a Impl,
    /// Its functions.
    pub(crate) functions: Vec<FunctionId>,
}

/// Every definition of the run.
#[derive(Debug, Default)]
pub(crate) struct Index<'a> {
    /// Crates: those of the input, then interface descriptions.
    pub(crate) crates: Vec<Krate>,
    /// Modules.
    pub(crate) modules: Vec<Module<'a>>,
    /// Structs, enums, unions.
    pub(crate) data: Vec<Placed<'a, Data>>,
    /// Aliases.
    pub(crate) aliases: Vec<(ModuleId, &'a Generics, &'a Type)>,
    /// Traits.
    pub(crate) traits: Vec<TraitDef<'a>>,
    /// Functions.
    pub(crate) functions: Vec<FunctionDef<'a>>,
    /// Statics and the like.
    pub(crate) values: Vec<Placed<'a, Value>>,
    /// Implementations.
    pub(crate) impls: Vec<ImplDef<'a>>,
    /// The module of each file's local scope.
    pub(crate) scopes: Vec<Vec<ModuleId>>,
    /// Described crates by name.
    pub(crate) interfaces: HashMap<Name, usize>,
}

impl<'a> Index<'a> {
    /// Indexes the files of the input's crates, whose roots come first, and of the interface descriptions, whose
    /// names and files are `interfaces`.
    pub(crate) fn build(
        input: &Input<'_>,
        files: &'a [SourceFile],
        interfaces: &[(Name, usize)],
    ) -> Self {
        let mut index = Self {
            scopes: vec![Vec::new(); files.len()],
            ..Self::default()
        };
        let of_input = input.crates.len();
        for (number, (name, _)) in interfaces.iter().enumerate() {
            index.interfaces.insert(*name, of_input + number);
        }
        let mut children: Vec<HashMap<usize, usize>> = files
            .iter()
            .map(|file| file.children.iter().copied().collect())
            .collect();
        for krate in 0..of_input + interfaces.len() {
            let name = match input.crates.get(krate) {
                Some(of) => Name::new(&of.name),
                None => interfaces[krate - of_input].0,
            };
            let file = if krate < of_input {
                krate
            } else {
                interfaces[krate - of_input].1
            };
            let root = index.file(
                files,
                &mut children,
                krate,
                file,
                None,
                name.as_str().to_owned(),
            );
            let externs = match input.crates.get(krate) {
                Some(of) => index.externs(input, of),
                None => index
                    .interfaces
                    .iter()
                    .map(|(name, krate)| (*name, Extern::Known(*krate)))
                    .collect(),
            };
            let edition = input
                .crates
                .get(krate)
                .map_or(Edition::E2021, |of| of.edition);
            index.crates.push(Krate {
                root,
                edition,
                externs,
                is_interface: krate >= of_input,
            });
        }
        index
    }

    fn externs(
        &self,
        input: &Input<'_>,
        krate: &crate::input::CrateInput,
    ) -> HashMap<Name, Extern> {
        let mut externs = HashMap::new();
        // A loose file has no manifest: any described crate may be meant.
        if krate.package.is_none() {
            externs.extend(
                self.interfaces
                    .iter()
                    .map(|(name, krate)| (*name, Extern::Known(*krate))),
            );
        }
        for std in ["std", "core", "alloc"] {
            externs.extend(
                self.interfaces
                    .get(&Name::new("std"))
                    .map(|known| (Name::new(std), Extern::Known(*known))),
            );
        }
        for dependency in &krate.dependencies {
            let package = dependency.package_name.replace('-', "_");
            let what = match (dependency.local, self.interfaces.get(&Name::new(&package))) {
                // A described crate is described better than its own source can be read.
                (_, Some(known)) => Extern::Known(*known),
                (Some(local), None) => Extern::Known(local),
                (None, None) => Extern::Other(Name::new(&dependency.package_name)),
            };
            externs.insert(Name::new(&dependency.code_name), what);
        }
        // A program names its own package's library.
        let library = |other: &&crate::input::CrateInput| {
            other.package.is_some()
                && other.package == krate.package
                && other.target_kind == crate::input::TargetKind::Lib
        };
        if let Some(position) = input.crates.iter().position(|other| library(&other)) {
            externs
                .entry(Name::new(&input.crates[position].name))
                .or_insert(Extern::Known(position));
        }
        externs
    }

    fn file(
        &mut self,
        files: &'a [SourceFile],
        children: &mut [HashMap<usize, usize>],
        krate: usize,
        file: usize,
        parent: Option<ModuleId>,
        path: String,
    ) -> ModuleId {
        let syntax = &files[file].syntax;
        let base = self.modules.len() as u32;
        let module_of = |scope: u32| ModuleId(base + scope);
        let count = syntax.scopes.len().max(1);
        for scope in 0..count {
            let of = syntax.scopes.get(scope);
            self.modules.push(Module {
                krate,
                file,
                parent: of
                    .and_then(|of| of.parent)
                    .map_or(parent, |scope| Some(module_of(scope))),
                is_block: of.is_some_and(|of| of.is_block),
                path: path.clone(),
                types: HashMap::new(),
                values: HashMap::new(),
                imports: HashMap::new(),
                globs: Vec::new(),
            });
        }
        self.scopes[file] = (0..count as u32).map(module_of).collect();
        let mut files_declared = Vec::new();
        for (scope, of) in syntax.scopes.iter().enumerate() {
            let module = module_of(scope as u32);
            for item in &of.items {
                match item {
                    Item::Module(name, inner) => {
                        let inner = module_of(*inner);
                        self.modules[inner.index()].path =
                            format!("{}::{name}", self.modules[module.index()].path);
                        self.modules[module.index()]
                            .types
                            .insert(*name, Def::Module(inner));
                    }
                    Item::File(declaration) => files_declared.push((module, declaration.name)),
                    item => self.item(module, item),
                }
            }
        }
        debug_assert_eq!(
            files_declared.len(),
            tree::declared(syntax).len(),
            "both walk the scopes in order"
        );
        for (ordinal, (module, name)) in files_declared.into_iter().enumerate() {
            if let Some(child) = children[file].remove(&ordinal) {
                let path = format!("{}::{name}", self.modules[module.index()].path);
                let root = self.file(files, children, krate, child, Some(module), path);
                self.modules[module.index()]
                    .types
                    .insert(name, Def::Module(root));
            }
        }
        module_of(0)
    }

    fn item(&mut self, module: ModuleId, item: &'a Item) {
        let at = module.index();
        match item {
            Item::Use(of) => match of.name {
                Some(name) => self.modules[at].imports.entry(name).or_default().push(of),
                None => self.modules[at].globs.push(of),
            },
            Item::Function(of) => {
                let id = self.function(module, of, Owner::Module);
                self.modules[at]
                    .values
                    .entry(of.name)
                    .or_insert(Def::Function(id));
            }
            Item::Data(of) => {
                let id = DataId(self.data.len() as u32);
                self.data.push(Placed { module, syntax: of });
                self.modules[at]
                    .types
                    .entry(of.name)
                    .or_insert(Def::Data(id));
                if of.variants.is_empty() {
                    self.modules[at]
                        .values
                        .entry(of.name)
                        .or_insert(Def::Data(id));
                }
            }
            Item::Alias(name, generics, ty) => {
                let id = AliasId(self.aliases.len() as u32);
                self.aliases.push((module, generics, ty));
                self.modules[at]
                    .types
                    .entry(*name)
                    .or_insert(Def::Alias(id));
            }
            Item::Trait(of) => {
                let id = TraitId(self.traits.len() as u32);
                self.traits.push(TraitDef {
                    module,
                    syntax: of,
                    functions: HashMap::new(),
                });
                for function in &of.functions {
                    let function_id = self.function(module, function, Owner::Trait(id));
                    self.traits[id.index()]
                        .functions
                        .insert(function.name, function_id);
                }
                self.modules[at]
                    .types
                    .entry(of.name)
                    .or_insert(Def::Trait(id));
            }
            Item::Impl(of) => {
                let id = ImplId(self.impls.len() as u32);
                self.impls.push(ImplDef {
                    module,
                    syntax: of,
                    functions: Vec::new(),
                });
                for function in &of.functions {
                    let function_id = self.function(module, function, Owner::Impl(id));
                    self.impls[id.index()].functions.push(function_id);
                }
            }
            Item::Value(of) => {
                let id = ValueId(self.values.len() as u32);
                self.values.push(Placed { module, syntax: of });
                self.modules[at]
                    .values
                    .entry(of.name)
                    .or_insert(Def::Value(id));
            }
            Item::Module(..) | Item::File(_) => {}
        }
    }

    fn function(&mut self, module: ModuleId, syntax: &'a Function, owner: Owner) -> FunctionId {
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(FunctionDef {
            module,
            syntax,
            owner,
        });
        id
    }

    /// The module itself, or for a block the module around it.
    pub(crate) fn proper(&self, mut module: ModuleId) -> ModuleId {
        while self.modules[module.index()].is_block {
            match self.modules[module.index()].parent {
                Some(parent) => module = parent,
                None => break,
            }
        }
        module
    }
}
