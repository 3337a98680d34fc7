//! Items.

use syn::{Fields, ImplItem, TraitItem, UseTree};

use super::super::name::Name;
use super::super::syntax::{
    At, Data, Impl, Item, ModuleFile, Path, Segment, Storage, Trait, Type, Use, Value,
};
use super::{Lowerer, at, name, ty};

impl Lowerer<'_> {
    /// The items of a file, module or block, into the current scope.
    pub(super) fn items(&mut self, items: Vec<syn::Item>) {
        for item in &items {
            if let syn::Item::Macro(call) = item {
                self.define_macro(call);
            }
        }
        for item in items {
            self.item(item);
        }
    }

    pub(super) fn push(&mut self, item: Item) {
        self.file.scopes[self.scope as usize].items.push(item);
    }

    fn item(&mut self, item: syn::Item) {
        match item {
            syn::Item::Use(item) if self.keeps(&item.attrs) => {
                let prefix = Path {
                    is_global: item.leading_colon.is_some(),
                    ..Path::default()
                };
                self.use_tree(prefix, &item.tree);
            }
            syn::Item::ExternCrate(item) if self.keeps(&item.attrs) => {
                let krate = name(&item.ident);
                let alias = item.rename.as_ref().map_or(krate, |(_, alias)| name(alias));
                let mut path = Path {
                    is_global: krate != "self",
                    ..Path::default()
                };
                path.segments.push(Segment {
                    name: if krate == "self" {
                        Name::new("crate")
                    } else {
                        krate
                    },
                    args: vec![],
                    bindings: vec![],
                });
                self.push(Item::Use(Use {
                    path,
                    name: Some(alias),
                }));
            }
            syn::Item::Mod(item) if self.keeps(&item.attrs) => self.module(item),
            syn::Item::Fn(item) if self.keeps(&item.attrs) => {
                let start = at(item.sig.fn_token.span);
                let function = self.function(&item.attrs, item.sig, Some(*item.block), start, &[]);
                self.push(Item::Function(function));
            }
            syn::Item::Struct(item) if self.keeps(&item.attrs) => {
                let fields = fields(&item.fields);
                let data = self.data(&item.attrs, &item.ident, &item.generics, fields, Vec::new());
                self.push(data);
            }
            syn::Item::Union(item) if self.keeps(&item.attrs) => {
                let fields = fields(&Fields::Named(item.fields));
                let data = self.data(&item.attrs, &item.ident, &item.generics, fields, Vec::new());
                self.push(data);
            }
            syn::Item::Enum(item) if self.keeps(&item.attrs) => {
                let variants = item
                    .variants
                    .iter()
                    .map(|variant| (name(&variant.ident), fields(&variant.fields)))
                    .collect();
                let data = self.data(
                    &item.attrs,
                    &item.ident,
                    &item.generics,
                    Vec::new(),
                    variants,
                );
                self.push(data);
            }
            syn::Item::Type(item) if self.keeps(&item.attrs) => {
                self.push(Item::Alias(
                    name(&item.ident),
                    ty::generics(&item.generics),
                    ty::ty(&item.ty),
                ));
            }
            syn::Item::Trait(item) if self.keeps(&item.attrs) => self.trait_item(item),
            syn::Item::Impl(item) if self.keeps(&item.attrs) => self.impl_item(item),
            syn::Item::Static(item) if self.keeps(&item.attrs) => {
                let at = at(item.static_token.span).to(at(item.semi_token.span));
                self.value(
                    &item.attrs,
                    name(&item.ident),
                    Storage::Constant,
                    &item.ty,
                    Some(*item.expr),
                    at,
                );
            }
            syn::Item::Const(item) if self.keeps(&item.attrs) => {
                let at = at(item.const_token.span).to(at(item.semi_token.span));
                self.value(
                    &item.attrs,
                    name(&item.ident),
                    Storage::Constant,
                    &item.ty,
                    Some(*item.expr),
                    at,
                );
            }
            syn::Item::ForeignMod(item) if self.keeps(&item.attrs) => self.foreign(item),
            syn::Item::Macro(item) if self.keeps(&item.attrs) && item.ident.is_none() => {
                self.item_macro(&item.mac)
            }
            _ => {}
        }
    }

    fn use_tree(&mut self, mut prefix: Path, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                prefix.segments.push(Segment {
                    name: name(&path.ident),
                    args: vec![],
                    bindings: vec![],
                });
                self.use_tree(prefix, &path.tree);
            }
            UseTree::Name(leaf) => self.use_leaf(prefix, name(&leaf.ident), name(&leaf.ident)),
            UseTree::Rename(leaf) => self.use_leaf(prefix, name(&leaf.ident), name(&leaf.rename)),
            UseTree::Glob(_) => self.push(Item::Use(Use {
                path: prefix,
                name: None,
            })),
            UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|tree| self.use_tree(prefix.clone(), tree)),
        }
    }

    fn use_leaf(&mut self, mut prefix: Path, leaf: Name, mut alias: Name) {
        if leaf == "self" {
            match prefix.segments.last() {
                Some(last) if alias == leaf => alias = last.name,
                _ => {}
            }
        } else {
            prefix.segments.push(Segment {
                name: leaf,
                args: vec![],
                bindings: vec![],
            });
        }
        self.push(Item::Use(Use {
            path: prefix,
            name: Some(alias),
        }));
    }

    fn module(&mut self, item: syn::ItemMod) {
        let place = at(item.mod_token.span).to(at(item.ident.span()));
        let outer = self.enter_swap(&item.attrs);
        let module = name(&item.ident);
        match item.content {
            Some((brace, items)) => {
                self.allows(&item.attrs, place.to(at(brace.span.close())));
                self.inline.push(module);
                let scope = self.in_scope(false, |this| this.items(items));
                self.inline.pop();
                self.push(Item::Module(module, scope));
            }
            None => {
                let path = self.string_attribute(&item.attrs, "path");
                let is_conditional = |attribute: &syn::Attribute| {
                    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
                };
                let file = ModuleFile {
                    name: module,
                    path,
                    at: place,
                    is_certain: self.inline.is_empty()
                        && self.expanding.is_none()
                        && !item.attrs.iter().any(is_conditional),
                    inline: self.inline.clone(),
                    swap: self.swap,
                };
                self.push(Item::File(file));
            }
        }
        self.swap = outer;
    }

    fn data(
        &mut self,
        attributes: &[syn::Attribute],
        ident: &proc_macro2::Ident,
        generics: &syn::Generics,
        fields: Vec<(Name, Type)>,
        variants: Vec<(Name, Vec<(Name, Type)>)>,
    ) -> Item {
        self.allows(attributes, at(ident.span()));
        let marks = self.marks(attributes);
        Item::Data(Data {
            name: name(ident),
            generics: ty::generics(generics),
            fields,
            variants,
            marks,
            swap: self.swap(attributes),
        })
    }

    fn trait_item(&mut self, item: syn::ItemTrait) {
        let outer = self.enter_swap(&item.attrs);
        self.allows(
            &item.attrs,
            at(item.trait_token.span).to(at(item.brace_token.span.close())),
        );
        let mut functions = Vec::new();
        for member in item.items {
            if let TraitItem::Fn(function) = member
                && self.keeps(&function.attrs)
            {
                let start = at(function.sig.fn_token.span);
                functions.push(self.function(
                    &function.attrs,
                    function.sig,
                    function.default,
                    start,
                    &[],
                ));
            }
        }
        self.swap = outer;
        self.push(Item::Trait(Trait {
            name: name(&item.ident),
            generics: ty::generics(&item.generics),
            supertraits: ty::bounds(&item.supertraits),
            functions,
        }));
    }

    fn impl_item(&mut self, item: syn::ItemImpl) {
        let outer = self.enter_swap(&item.attrs);
        self.allows(
            &item.attrs,
            at(item.impl_token.span).to(at(item.brace_token.span.close())),
        );
        let mut result = Impl {
            generics: ty::generics(&item.generics),
            of_trait: item.trait_.as_ref().map(|(path, _)| ty::path(path, None)),
            self_type: ty::ty(&item.self_ty),
            functions: Vec::new(),
            types: Vec::new(),
            constants: Vec::new(),
            swap: self.swap,
        };
        let mut pending = item.items;
        pending.reverse();
        while let Some(member) = pending.pop() {
            match member {
                ImplItem::Fn(function) if self.keeps(&function.attrs) => {
                    let start = at(function.sig.fn_token.span);
                    let function = self.function(
                        &function.attrs,
                        function.sig,
                        Some(function.block),
                        start,
                        &[],
                    );
                    result.functions.push(function);
                }
                ImplItem::Type(of) => result.types.push((name(&of.ident), ty::ty(&of.ty))),
                ImplItem::Const(of) => result.constants.push((name(&of.ident), ty::ty(&of.ty))),
                ImplItem::Macro(call) => {
                    let mut expanded = self.expand_members(&call.mac);
                    expanded.reverse();
                    pending.extend(expanded);
                }
                _ => {}
            }
        }
        self.swap = outer;
        self.push(Item::Impl(result));
    }

    /// A static or the like.
    pub(super) fn value(
        &mut self,
        attributes: &[syn::Attribute],
        name: Name,
        storage: Storage,
        ty: &syn::Type,
        init: Option<syn::Expr>,
        at: At,
    ) {
        self.allows(attributes, at);
        let outer = self.enter_swap(attributes);
        let init = init.map(|init| self.expr(init));
        let swap = std::mem::replace(&mut self.swap, outer);
        self.push(Item::Value(Value {
            name,
            storage,
            ty: ty::ty(ty),
            init,
            at,
            swap,
        }));
    }
}

fn fields(source: &Fields) -> Vec<(Name, Type)> {
    let named = |index: usize, field: &syn::Field| match &field.ident {
        Some(ident) => (name(ident), ty::ty(&field.ty)),
        None => (Name::new(&index.to_string()), ty::ty(&field.ty)),
    };
    source
        .iter()
        .enumerate()
        .map(|(index, field)| named(index, field))
        .collect()
}
