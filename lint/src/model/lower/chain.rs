//! Method chains and operator chains, however long: lowered link by link, without a stack frame for each.

use syn::{BinOp, Expr as Source, Member};

use super::super::syntax::{Expr, Kind, Method, Operator};
use super::expr::{generic, member};
use super::{Lowerer, at, name};

impl Lowerer<'_> {
    /// A postfix or left-leaning expression: its first operand, then each link around it.
    pub(super) fn chain(&mut self, source: Source) -> Expr {
        let mut links = Vec::new();
        let mut first = source;
        while let Some(inner) = before(&mut first) {
            links.push(std::mem::replace(&mut first, inner));
        }
        let mut expr = self.expr(first);
        while let Some(link) = links.pop() {
            expr = self.link(expr, link);
        }
        expr
    }

    /// One link around what stands before it, which `before` has taken out.
    fn link(&mut self, inner: Expr, link: Source) -> Expr {
        match link {
            Source::MethodCall(of) => {
                let place = inner.at.to(at(of.paren_token.span.close()));
                let method = Method {
                    receiver: inner,
                    name: name(&of.method),
                    name_at: at(of.method.span()),
                    generics: of
                        .turbofish
                        .iter()
                        .flat_map(|list| &list.args)
                        .filter_map(generic)
                        .collect(),
                    args: self.exprs(of.args),
                };
                self.make(place, Kind::Method(Box::new(method)))
            }
            Source::Field(of) => {
                let end = match &of.member {
                    Member::Named(ident) => at(ident.span()),
                    Member::Unnamed(index) => at(index.span),
                };
                let place = inner.at.to(end);
                self.make(place, Kind::Field(Box::new(inner), member(&of.member)))
            }
            Source::Try(of) => {
                let place = inner.at.to(at(of.question_token.span));
                self.make(place, Kind::Try(Box::new(inner)))
            }
            Source::Await(of) => {
                let word = at(of.await_token.span);
                let place = inner.at.to(word);
                self.make(place, Kind::Await(Box::new(inner), word))
            }
            Source::Binary(of) => {
                let right = Box::new(self.expr(*of.right));
                let place = inner.at.to(right.at);
                let kind = match operator(&of.op) {
                    Some(operator) => Kind::Binary(operator, Box::new(inner), right),
                    None => Kind::AssignOperator(Box::new(inner), right),
                };
                self.make(place, kind)
            }
            _ => inner,
        }
    }
}

/// Takes out what stands before the last link.
fn before(source: &mut Source) -> Option<Source> {
    let inner = match source {
        Source::MethodCall(of) => &mut of.receiver,
        Source::Field(of) => &mut of.base,
        Source::Try(of) => &mut of.expr,
        Source::Await(of) => &mut of.base,
        Source::Binary(of) => &mut of.left,
        _ => return None,
    };
    Some(std::mem::replace(
        &mut **inner,
        Source::Verbatim(proc_macro2::TokenStream::new()),
    ))
}

/// What an operator is for the analysis; `None` for those that assign.
fn operator(of: &BinOp) -> Option<Operator> {
    match of {
        BinOp::And(_) => Some(Operator::And),
        BinOp::Or(_) => Some(Operator::Or),
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
            Some(Operator::Compare)
        }
        BinOp::AddAssign(_)
        | BinOp::SubAssign(_)
        | BinOp::MulAssign(_)
        | BinOp::DivAssign(_)
        | BinOp::RemAssign(_)
        | BinOp::BitXorAssign(_)
        | BinOp::BitAndAssign(_)
        | BinOp::BitOrAssign(_)
        | BinOp::ShlAssign(_)
        | BinOp::ShrAssign(_) => None,
        _ => Some(Operator::Arithmetic),
    }
}
