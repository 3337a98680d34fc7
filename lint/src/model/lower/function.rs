//! Functions, those of `extern` blocks included.

use syn::{FnArg, ForeignItem, ReceiverKind};

use super::super::syntax::{
    At, Data, Function, Generics, Item, Mark, Param, Receiver, Storage, Swap, Value,
};
use super::{Lowerer, at, name, ty};

impl Lowerer<'_> {
    /// A function; `extra` are marks of what is around it.
    pub(super) fn function(
        &mut self,
        attributes: &[syn::Attribute],
        signature: syn::Signature,
        body: Option<syn::Block>,
        start: At,
        extra: &[Mark],
    ) -> Function {
        let mut marks = self.marks(attributes);
        marks.extend(extra.iter().cloned());
        let outer = self.enter_swap(attributes);
        let mut receiver = None;
        let mut params = Vec::new();
        for input in signature.inputs {
            match input {
                FnArg::Receiver(this) => {
                    let marks = self.marks(&this.attrs);
                    let (by_reference, ty) = match &this.kind {
                        ReceiverKind::Reference(..) => (true, None),
                        ReceiverKind::Typed(_, of) => {
                            (matches!(**of, syn::Type::Reference(_)), Some(ty::ty(of)))
                        }
                        _ => (false, None),
                    };
                    receiver = Some(Receiver {
                        by_reference,
                        ty,
                        marks,
                    });
                }
                FnArg::Typed(param) if self.keeps(&param.attrs) => {
                    let marks = self.marks(&param.attrs);
                    let ty = ty::ty(&param.ty);
                    params.push(Param {
                        pattern: self.pattern(*param.pat),
                        ty,
                        marks,
                    });
                }
                FnArg::Typed(_) => {}
            }
        }
        let name_at = at(signature.ident.span());
        let end = body
            .as_ref()
            .map_or(name_at, |block| at(block.brace_token.span.close()));
        self.allows(attributes, start.to(end));
        let body = body.map(|block| self.block(block));
        let function = Function {
            name: name(&signature.ident),
            name_at,
            at: start.to(end),
            generics: ty::generics(&signature.generics),
            receiver,
            params,
            output: ty::output(&signature.output),
            is_async: signature.asyncness.is_some(),
            is_foreign: false,
            marks,
            swap: self.swap,
            body,
        };
        self.swap = outer;
        function
    }

    pub(super) fn foreign(&mut self, item: syn::ItemForeignMod) {
        // Functions of the Rust ABI are Rust, only declared elsewhere.
        if item
            .abi
            .name
            .as_ref()
            .is_some_and(|name| name.value().starts_with("Rust"))
        {
            return;
        }
        let marks = self.marks(&item.attrs);
        for member in item.items {
            match member {
                ForeignItem::Fn(function) if self.keeps(&function.attrs) => {
                    let start = at(function.sig.fn_token.span);
                    let mut function =
                        self.function(&function.attrs, function.sig, None, start, &marks);
                    function.is_foreign = true;
                    self.push(Item::Function(function));
                }
                ForeignItem::Static(of) => {
                    let place = at(of.ident.span());
                    self.push(Item::Value(Value {
                        name: name(&of.ident),
                        storage: Storage::Constant,
                        ty: ty::ty(&of.ty),
                        init: None,
                        at: place,
                        swap: Swap::Nothing,
                    }));
                }
                ForeignItem::Type(of) => self.push(Item::Data(Data {
                    name: name(&of.ident),
                    generics: Generics::default(),
                    fields: Vec::new(),
                    variants: Vec::new(),
                    marks: Vec::new(),
                    swap: Swap::Nothing,
                })),
                _ => {}
            }
        }
    }
}
