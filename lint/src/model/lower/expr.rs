//! Expressions, statements and blocks.

use syn::{Expr as Source, Member, UnOp};

use super::super::name::Name;
use super::super::syntax::{Arm, Async, At, Closure, Expr, For, If, Kind, Literal, StructLiteral};
use super::{Lowerer, at, name, ty};

impl Lowerer<'_> {
    /// An expression.
    pub(super) fn expr(&mut self, source: Source) -> Expr {
        let place = self.expanding.unwrap_or_default();
        match self.deeper(place, |this| this.shallow(source)) {
            Some(expr) => expr,
            None => self.make(place, Kind::Opaque),
        }
    }

    fn boxed(&mut self, source: Source) -> Box<Expr> {
        Box::new(self.expr(source))
    }

    pub(super) fn exprs(&mut self, source: impl IntoIterator<Item = Source>) -> Vec<Expr> {
        source.into_iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn make(&mut self, at: At, kind: Kind) -> Expr {
        Expr {
            id: self.id(),
            at,
            kind,
        }
    }

    fn shallow(&mut self, source: Source) -> Expr {
        match source {
            Source::MethodCall(_)
            | Source::Field(_)
            | Source::Try(_)
            | Source::Await(_)
            | Source::Binary(_) => self.chain(source),
            Source::Lit(of) => {
                let kind = match of.lit {
                    syn::Lit::Str(_) => Literal::Text,
                    syn::Lit::ByteStr(_) | syn::Lit::CStr(_) => Literal::Bytes,
                    _ => Literal::Plain,
                };
                self.make(at(of.lit.span()), Kind::Literal(kind))
            }
            Source::Path(of) => {
                let path = ty::path(&of.path, of.qself.as_ref());
                self.make(path.at, Kind::Path(path))
            }
            Source::Call(of) => {
                let end = at(of.paren_token.span.close());
                let callee = self.boxed(*of.func);
                let place = callee.at.to(end);
                let mut args = self.exprs(of.args);
                if args.len() == 1 && is_unwind_marker(&callee) {
                    // It only marks what it is given.
                    return args.swap_remove(0);
                }
                self.make(place, Kind::Call(callee, args))
            }
            Source::Index(of) => {
                let end = at(of.bracket_token.span.close());
                let base = self.boxed(*of.expr);
                let place = base.at.to(end);
                let index = self.boxed(*of.index);
                self.make(place, Kind::Index(base, index))
            }
            Source::Unary(of) => {
                let (start, dereferences) = match &of.op {
                    UnOp::Deref(token) => (at(token.span), true),
                    UnOp::Not(token) => (at(token.span), false),
                    UnOp::Neg(token) => (at(token.span), false),
                    _ => (At::default(), false),
                };
                let inner = self.boxed(*of.expr);
                let place = start.to(inner.at);
                self.make(
                    place,
                    if dereferences {
                        Kind::Deref(inner)
                    } else {
                        Kind::Unary(inner)
                    },
                )
            }
            Source::Assign(of) => {
                let left = self.boxed(*of.left);
                let right = self.boxed(*of.right);
                let place = left.at.to(right.at);
                self.make(place, Kind::Assign(left, right))
            }
            Source::Reference(of) => {
                let inner = self.boxed(*of.expr);
                let place = at(of.and_token.span).to(inner.at);
                self.make(place, Kind::Reference(inner))
            }
            Source::RawAddr(of) => {
                let inner = self.boxed(*of.expr);
                let place = at(of.and_token.span).to(inner.at);
                self.make(place, Kind::Reference(inner))
            }
            Source::Let(of) => {
                let pattern = Box::new(self.pattern(*of.pat));
                let value = self.boxed(*of.expr);
                let place = at(of.let_token.span).to(value.at);
                self.make(place, Kind::Let(pattern, value))
            }
            Source::Paren(of) => self.expr(*of.expr),
            Source::Group(of) => self.expr(*of.expr),
            Source::Cast(of) => {
                let inner = self.boxed(*of.expr);
                self.make(inner.at, Kind::Cast(inner, ty::ty(&of.ty)))
            }
            Source::Tuple(of) => {
                let place = at(of.paren_token.span.join());
                let parts = self.exprs(of.elems);
                self.make(place, Kind::Tuple(parts))
            }
            Source::Array(of) => {
                let place = at(of.bracket_token.span.join());
                let parts = self.exprs(of.elems);
                self.make(place, Kind::Array(parts))
            }
            Source::Repeat(of) => {
                let place = at(of.bracket_token.span.join());
                let inner = self.boxed(*of.expr);
                self.make(place, Kind::Repeat(inner))
            }
            Source::Range(of) => {
                let ends = self.exprs([of.start, of.end].into_iter().flatten().map(|end| *end));
                let place = ends.first().map(|end| end.at).unwrap_or_default();
                self.make(place, Kind::Range(ends))
            }
            Source::Struct(of) => {
                let path = ty::path(&of.path, of.qself.as_ref());
                let place = path.at.to(at(of.brace_token.span.close()));
                let mut fields = Vec::with_capacity(of.fields.len());
                for field in of.fields {
                    if self.keeps(&field.attrs) {
                        fields.push((member(&field.member), self.expr(field.expr)));
                    }
                }
                let rest = of.rest.map(|rest| self.expr(*rest));
                self.make(
                    place,
                    Kind::Struct(Box::new(StructLiteral { path, fields, rest })),
                )
            }
            Source::Macro(of) => self.expr_macro(&of.mac),
            other => self.control(other),
        }
    }

    fn control(&mut self, source: Source) -> Expr {
        match source {
            Source::Block(of) => {
                let label = of.label.as_ref().map(|label| name(&label.name.ident));
                let block = self.block(of.block);
                self.make(block.at, Kind::Block(label, block))
            }
            Source::Unsafe(of) => {
                let block = self.block(of.block);
                self.make(block.at, Kind::Block(None, block))
            }
            Source::Const(of) => self.make(at(of.const_token.span), Kind::Opaque),
            Source::TryBlock(of) => {
                let block = self.block(of.block);
                self.make(block.at, Kind::Block(None, block))
            }
            Source::If(of) => {
                let start = at(of.if_token.span);
                let condition = self.expr(*of.cond);
                let then = self.block(of.then_branch);
                let otherwise = of.else_branch.map(|(_, otherwise)| self.expr(*otherwise));
                let place = start.to(otherwise.as_ref().map_or(then.at, |otherwise| otherwise.at));
                self.make(
                    place,
                    Kind::If(Box::new(If {
                        condition,
                        then,
                        otherwise,
                    })),
                )
            }
            Source::While(of) => {
                let start = at(of.while_token.span);
                let label = of.label.as_ref().map(|label| name(&label.name.ident));
                let condition = self.boxed(*of.cond);
                let body = self.block(of.body);
                self.make(start.to(body.at), Kind::While(label, condition, body))
            }
            Source::Loop(of) => {
                let start = at(of.loop_token.span);
                let label = of.label.as_ref().map(|label| name(&label.name.ident));
                let body = self.block(of.body);
                self.make(start.to(body.at), Kind::Loop(label, body))
            }
            Source::ForLoop(of) => {
                let start = at(of.for_token.span);
                let label = of.label.as_ref().map(|label| name(&label.name.ident));
                let pattern = self.pattern(*of.pat);
                let iterable = self.expr(*of.expr);
                let body = self.block(of.body);
                self.make(
                    start.to(body.at),
                    Kind::For(Box::new(For {
                        label,
                        pattern,
                        iterable,
                        body,
                    })),
                )
            }
            Source::Match(of) => {
                let place = at(of.match_token.span).to(at(of.brace_token.span.close()));
                let scrutinee = self.boxed(*of.expr);
                let mut arms = Vec::with_capacity(of.arms.len());
                for arm in of.arms {
                    if self.keeps(&arm.attrs) {
                        let (pattern, guard) = self.arm_pattern(arm.pat);
                        let guard = guard.map(|guard| self.expr(*guard));
                        let body = self.expr(*arm.body);
                        arms.push(Arm {
                            pattern,
                            guard,
                            body,
                        });
                    }
                }
                self.make(place, Kind::Match(scrutinee, arms))
            }
            Source::Async(of) => {
                let start = at(of.async_token.span);
                let block = self.block(of.block);
                self.make(
                    start.to(block.at),
                    Kind::Async(Box::new(Async {
                        moves: of.capture.is_some(),
                        block,
                    })),
                )
            }
            Source::Closure(of) => {
                let start = at(of.inputs_begin.span);
                let mut params = Vec::with_capacity(of.inputs.len());
                for input in of.inputs {
                    params.push(match input {
                        syn::Pat::Type(typed) => {
                            let annotated = ty::ty(&typed.ty);
                            (self.pattern(*typed.pat), Some(annotated))
                        }
                        other => (self.pattern(other), None),
                    });
                }
                let output = ty::output(&of.output);
                let body = self.expr(*of.body);
                let place = start.to(body.at);
                let closure = Closure {
                    moves: of.capture.is_some(),
                    is_async: of.asyncness.is_some(),
                    params,
                    output,
                    body,
                };
                self.make(place, Kind::Closure(Box::new(closure)))
            }
            Source::Return(of) => {
                let start = at(of.return_token.span);
                let value = of.expr.map(|value| self.boxed(*value));
                let place = value.as_ref().map_or(start, |value| start.to(value.at));
                self.make(place, Kind::Return(value))
            }
            Source::Break(of) => {
                let start = at(of.break_token.span);
                let label = of.label.as_ref().map(|label| name(&label.ident));
                let value = of.expr.map(|value| self.boxed(*value));
                self.make(start, Kind::Break(label, value))
            }
            Source::Continue(of) => {
                let label = of.label.as_ref().map(|label| name(&label.ident));
                self.make(at(of.continue_token.span), Kind::Continue(label))
            }
            _ => self.make(At::default(), Kind::Opaque),
        }
    }
}

pub(super) fn generic(argument: &syn::GenericArgument) -> Option<super::super::syntax::Type> {
    match argument {
        syn::GenericArgument::Type(of) => Some(ty::ty(of)),
        _ => None,
    }
}

/// A field's name.
pub(super) fn member(member: &Member) -> Name {
    match member {
        Member::Named(ident) => name(ident),
        Member::Unnamed(index) => Name::new(&index.index.to_string()),
    }
}

/// `AssertUnwindSafe`
fn is_unwind_marker(callee: &Expr) -> bool {
    matches!(&callee.kind, Kind::Path(path) if path.segments.last().is_some_and(|last| last.name == "AssertUnwindSafe"))
}
