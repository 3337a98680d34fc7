//! Walks every place of an item where a lock's type or constructor can stand.
//!
//! Decides for each place whether `skip` leaves it alone and whether what stands there is public; what to do
//! with a lock once it is found is `swap`'s.

use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, Field, FieldValue, Ident, ImplItem, Item, Local, Macro, Pat, TraitItem, Type, Visibility,
};

use super::opaque;
use super::strangers;
use super::swap::Swapper;

/// The name by which `skip` can leave an item alone.
fn item_name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Mod(item) => Some(&item.ident),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        Item::Macro(item) => item.ident.as_ref().or_else(|| item.mac.path.get_ident()),
        _ => None,
    }
}

impl VisitMut for Swapper<'_> {
    fn visit_type_mut(&mut self, node: &mut Type) {
        let Type::Path(ty) = node else {
            return visit_mut::visit_type_mut(self, node);
        };
        if self.rewritten_already(ty) {
            self.already = true;
            return;
        }
        visit_mut::visit_type_path_mut(self, ty);
        let Some(last) = ty.path.segments.len().checked_sub(1) else {
            return;
        };
        if ty.qself.is_some() {
            return;
        }
        if let Some(lock) = self.lock_at(&ty.path, last) {
            let name = ty.path.segments[last].ident.clone();
            self.note(&name, lock);
            *node = self.swapped(ty.path.clone(), name.span());
        }
    }

    fn visit_expr_mut(&mut self, node: &mut Expr) {
        visit_mut::visit_expr_mut(self, node);
        if let Expr::Path(path) = node
            && path.qself.is_none()
            && let Some(swapped) = self.swap_function(path)
        {
            *node = swapped;
        }
    }

    fn visit_item_mut(&mut self, node: &mut Item) {
        if item_name(node).is_some_and(|name| self.options.skips(name)) {
            return;
        }
        // What stands inside a body or a module is public only if it says so itself.
        self.on_surface(None, |this| match node {
            Item::Const(item) => {
                let vis = item.vis.clone();
                this.exposed(&vis, "public constant", |this| {
                    this.visit_type_mut(&mut item.ty)
                });
                this.visit_expr_mut(&mut item.expr);
            }
            Item::Static(item) => {
                let vis = item.vis.clone();
                this.exposed(&vis, "public static", |this| {
                    this.visit_type_mut(&mut item.ty)
                });
                this.visit_expr_mut(&mut item.expr);
            }
            Item::Type(item) => {
                let vis = item.vis.clone();
                this.exposed(&vis, "public type alias", |this| {
                    visit_mut::visit_item_type_mut(this, item)
                });
            }
            Item::Fn(item) => {
                let vis = item.vis.clone();
                this.exposed(&vis, "public signature", |this| {
                    this.visit_signature_mut(&mut item.sig)
                });
                this.visit_block_mut(&mut item.block);
            }
            Item::Enum(item) => {
                let vis = item.vis.clone();
                this.exposed(&vis, "variant of a public enum", |this| {
                    visit_mut::visit_item_enum_mut(this, item)
                });
            }
            Item::Struct(item) => {
                let vis = item.vis.clone();
                this.visit_generics_mut(&mut item.generics);
                this.exposed(&vis, "public field", |this| {
                    this.visit_fields_mut(&mut item.fields)
                });
            }
            Item::Union(item) => {
                let vis = item.vis.clone();
                this.visit_generics_mut(&mut item.generics);
                this.exposed(&vis, "public field", |this| {
                    this.visit_fields_named_mut(&mut item.fields)
                });
            }
            Item::Trait(item) => {
                let vis = item.vis.clone();
                this.exposed(&vis, "public trait", |this| {
                    visit_mut::visit_item_trait_mut(this, item)
                });
            }
            Item::Impl(item) => {
                if !this.refuse_impl_for_lock(item) {
                    visit_mut::visit_item_impl_mut(this, item);
                }
            }
            Item::Mod(item) => {
                let items = item.content.iter().flat_map(|(_, items)| items);
                let inner = strangers::among(items, this.options);
                let outer = std::mem::replace(&mut this.strangers, inner);
                visit_mut::visit_item_mod_mut(this, item);
                this.strangers = outer;
            }
            Item::Macro(item) => {
                if item.ident.is_some() {
                    opaque::refuse_definition(this, &item.mac);
                } else {
                    this.visit_macro_mut(&mut item.mac);
                }
            }
            other => visit_mut::visit_item_mut(this, other),
        });
    }

    fn visit_field_mut(&mut self, node: &mut Field) {
        if node
            .ident
            .as_ref()
            .is_some_and(|name| self.options.skips(name))
        {
            return;
        }
        // The fields of an enum's variant have no visibility of their own: they are as public as the enum.
        let outer = self.surface;
        let hidden = outer == Some("public field") && !matches!(node.vis, Visibility::Public(_));
        self.on_surface(outer.filter(|_| !hidden), |this| {
            visit_mut::visit_field_mut(this, node)
        });
    }

    fn visit_impl_item_mut(&mut self, node: &mut ImplItem) {
        let (name, vis) = match node {
            ImplItem::Const(item) => (&item.ident, item.vis.clone()),
            ImplItem::Fn(item) => (&item.sig.ident, item.vis.clone()),
            ImplItem::Type(item) => (&item.ident, item.vis.clone()),
            _ => return visit_mut::visit_impl_item_mut(self, node),
        };
        if self.options.skips(name) {
            return;
        }
        match node {
            ImplItem::Fn(item) => {
                self.exposed(&vis, "public signature", |this| {
                    this.visit_signature_mut(&mut item.sig)
                });
                self.on_surface(None, |this| this.visit_block_mut(&mut item.block));
            }
            ImplItem::Const(item) => {
                self.exposed(&vis, "public constant", |this| {
                    this.visit_type_mut(&mut item.ty)
                });
                self.visit_expr_mut(&mut item.expr);
            }
            other => visit_mut::visit_impl_item_mut(self, other),
        }
    }

    fn visit_trait_item_mut(&mut self, node: &mut TraitItem) {
        if let TraitItem::Fn(item) = node {
            self.visit_signature_mut(&mut item.sig);
            if let Some(body) = &mut item.default {
                self.on_surface(None, |this| this.visit_block_mut(body));
            }
        } else {
            visit_mut::visit_trait_item_mut(self, node);
        }
    }

    fn visit_field_value_mut(&mut self, node: &mut FieldValue) {
        let skipped = matches!(&node.member, syn::Member::Named(name) if self.options.skips(name));
        if !skipped {
            visit_mut::visit_field_value_mut(self, node);
        }
    }

    fn visit_local_mut(&mut self, node: &mut Local) {
        let pat = match &node.pat {
            Pat::Type(typed) => &*typed.pat,
            pat => pat,
        };
        let skipped = matches!(pat, Pat::Ident(binding) if self.options.skips(&binding.ident));
        if !skipped {
            visit_mut::visit_local_mut(self, node);
        }
    }

    fn visit_macro_mut(&mut self, node: &mut Macro) {
        opaque::visit(self, node);
    }
}
