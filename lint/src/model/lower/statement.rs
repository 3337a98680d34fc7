//! Blocks and statements.

use syn::{Expr as Source, Stmt};

use super::super::syntax::{At, Block, Expr, Let, Statement};
use super::{Lowerer, at, ty};

impl Lowerer<'_> {
    /// A block; items in it get a scope of their own.
    pub(super) fn block(&mut self, source: syn::Block) -> Block {
        let at = at(source.brace_token.span.join());
        self.statements(source.stmts, at)
    }

    /// The statements of a block or macro body.
    pub(super) fn statements(&mut self, statements: Vec<Stmt>, at: At) -> Block {
        let has_items = statements.iter().any(|statement| match statement {
            Stmt::Item(_) => true,
            Stmt::Macro(call) => self.declares_items(&call.mac),
            _ => false,
        });
        let mut block = Block {
            scope: None,
            statements: Vec::with_capacity(statements.len()),
            tail: None,
            at,
        };
        if has_items {
            let macros = self.local.len();
            let scope = self.in_scope(true, |this| this.fill(statements, &mut block));
            self.local.truncate(macros);
            block.scope = Some(scope);
        } else {
            self.fill(statements, &mut block);
        }
        block
    }

    pub(super) fn fill(&mut self, statements: Vec<Stmt>, block: &mut Block) {
        let mut rest = Vec::with_capacity(statements.len());
        let mut items = Vec::new();
        for statement in statements {
            match statement {
                Stmt::Item(item) => items.push(item),
                Stmt::Macro(call) if self.declares_items(&call.mac) => {
                    if self.keeps(&call.attrs) {
                        self.item_macro(&call.mac);
                    }
                }
                other => rest.push(other),
            }
        }
        self.items(items);
        let last = rest.len().wrapping_sub(1);
        for (index, statement) in rest.into_iter().enumerate() {
            if let Some(tail) = self.statement(statement, index == last, block) {
                block.tail = Some(Box::new(tail));
            }
        }
    }

    /// One statement into `block`; the tail is given back.
    pub(super) fn statement(
        &mut self,
        statement: Stmt,
        is_last: bool,
        block: &mut Block,
    ) -> Option<Expr> {
        match statement {
            Stmt::Local(local) if self.keeps(&local.attrs) => {
                let (pattern, ty) = match local.pat {
                    syn::Pat::Type(typed) => (*typed.pat, Some(ty::ty(&typed.ty))),
                    other => (other, None),
                };
                let (init, otherwise) = match local.init {
                    Some(init) => (
                        Some(self.expr(*init.expr)),
                        init.diverge.map(|(_, diverge)| self.expr(*diverge)),
                    ),
                    None => (None, None),
                };
                let pattern = self.pattern(pattern);
                block.statements.push(Statement::Let(Box::new(Let {
                    pattern,
                    ty,
                    init,
                    otherwise,
                })));
            }
            Stmt::Expr(expr, semicolon) if self.keeps(attributes(&expr)) => {
                let lowered = self.expr(expr);
                if is_last && semicolon.is_none() {
                    return Some(lowered);
                }
                block.statements.push(Statement::Expr(lowered));
            }
            Stmt::Macro(call) if self.keeps(&call.attrs) => {
                let has_semicolon = call.semi_token.is_some();
                if let Some(expanded) = self.expand_statements(&call.mac) {
                    let count = expanded.len();
                    let mut tail = None;
                    for (index, statement) in expanded.into_iter().enumerate() {
                        tail = self.statement(
                            statement,
                            is_last && !has_semicolon && index + 1 == count,
                            block,
                        );
                    }
                    return tail;
                }
                let lowered = self.expr_macro(&call.mac);
                if is_last && !has_semicolon {
                    return Some(lowered);
                }
                block.statements.push(Statement::Expr(lowered));
            }
            _ => {}
        }
        None
    }
}

/// The attributes of an expression statement, as far as they can hold `cfg`.
fn attributes(expr: &Source) -> &[syn::Attribute] {
    match expr {
        Source::Block(of) => &of.attrs,
        Source::Call(of) => &of.attrs,
        Source::MethodCall(of) => &of.attrs,
        Source::Macro(of) => &of.attrs,
        Source::If(of) => &of.attrs,
        Source::Match(of) => &of.attrs,
        Source::While(of) => &of.attrs,
        Source::Loop(of) => &of.attrs,
        Source::ForLoop(of) => &of.attrs,
        Source::Unsafe(of) => &of.attrs,
        Source::Return(of) => &of.attrs,
        Source::Assign(of) => &of.attrs,
        Source::Binary(of) => &of.attrs,
        Source::Path(of) => &of.attrs,
        Source::Try(of) => &of.attrs,
        Source::Await(of) => &of.attrs,
        Source::Tuple(of) => &of.attrs,
        Source::Struct(of) => &of.attrs,
        Source::Lit(of) => &of.attrs,
        _ => &[],
    }
}
