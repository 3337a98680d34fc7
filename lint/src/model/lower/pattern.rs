//! Patterns.

use syn::Pat;

use super::super::syntax::{At, Pattern, PatternKind};
use super::{Lowerer, at, name, ty};

impl Lowerer<'_> {
    /// A pattern, and the arm guard that syn keeps in it.
    pub(super) fn arm_pattern(&mut self, source: Pat) -> (Pattern, Option<Box<syn::Expr>>) {
        match source {
            Pat::Guard(guard) => (self.pattern(*guard.pat), Some(guard.guard)),
            other => (self.pattern(other), None),
        }
    }

    /// A pattern.
    pub(super) fn pattern(&mut self, source: Pat) -> Pattern {
        let id = self.id();
        let mut place = At::default();
        let kind = match source {
            Pat::Ident(bind) => {
                place = at(bind.ident.span());
                PatternKind::Bind {
                    name: name(&bind.ident),
                    by_reference: bind.by_ref.is_some(),
                    inner: bind.subpat.map(|(_, inner)| Box::new(self.pattern(*inner))),
                }
            }
            Pat::Tuple(tuple) => PatternKind::Tuple(self.patterns(tuple.elems)),
            Pat::Slice(slice) => PatternKind::Slice(self.patterns(slice.elems)),
            Pat::TupleStruct(call) => PatternKind::Call(
                ty::path(&call.path, call.qself.as_ref()),
                self.patterns(call.elems),
            ),
            Pat::Struct(fields) => PatternKind::Struct(
                ty::path(&fields.path, fields.qself.as_ref()),
                fields
                    .fields
                    .into_iter()
                    .map(|field| (super::expr::member(&field.member), self.pattern(*field.pat)))
                    .collect(),
            ),
            Pat::Path(path) => PatternKind::Path(ty::path(&path.path, path.qself.as_ref())),
            Pat::Reference(reference) => {
                PatternKind::Reference(Box::new(self.pattern(*reference.pat)))
            }
            Pat::Or(or) => PatternKind::Or(self.patterns(or.cases)),
            Pat::Paren(paren) => return self.pattern(*paren.pat),
            Pat::Guard(guard) => return self.pattern(*guard.pat),
            Pat::Type(typed) => {
                let annotated = ty::ty(&typed.ty);
                PatternKind::Typed(Box::new(self.pattern(*typed.pat)), annotated)
            }
            Pat::Rest(_) => PatternKind::Rest,
            Pat::Lit(_) | Pat::Range(_) | Pat::Const(_) => PatternKind::Constant,
            _ => PatternKind::Wild,
        };
        Pattern {
            id,
            at: place,
            kind,
        }
    }

    fn patterns(&mut self, source: impl IntoIterator<Item = Pat>) -> Vec<Pattern> {
        source
            .into_iter()
            .map(|pattern| self.pattern(pattern))
            .collect()
    }
}
