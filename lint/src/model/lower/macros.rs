//! Macro calls: known ones by shape, those of the workspace by expansion, the rest opaque.

use std::collections::HashMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::{Expr as Source, Pat, Token};

use super::super::name::Name;
use super::super::syntax::{
    Arm, Expr, INCLUDED, Item, Kind, Macro, MacroShape, ModuleFile, Path, Segment, Storage, Use,
};
use super::{Lowerer, at, name};

/// What is known about macros, by the last segment of their path.
#[derive(Debug, Default)]
pub(crate) struct MacroTable {
    /// Expression macros.
    pub(crate) shapes: HashMap<Name, MacroShape>,
}

impl MacroTable {
    /// The shape named `text` in a knowledge file.
    pub(crate) fn shape(text: &str) -> Option<MacroShape> {
        Some(match text {
            "statement" => MacroShape::Statement,
            "borrow" => MacroShape::Borrow,
            "format" => MacroShape::Format,
            "vector" => MacroShape::Vector,
            "write" => MacroShape::Write,
            "diverge" => MacroShape::Diverge,
            "await" => MacroShape::Await,
            "coroutine" => MacroShape::Coroutine,
            _ => return None,
        })
    }
}

/// A static of `thread_local!` or `lazy_static!`.
struct LazyStatic {
    attributes: Vec<syn::Attribute>,
    ident: syn::Ident,
    ty: syn::Type,
    init: Option<Source>,
}

impl Lowerer<'_> {
    /// Whether a macro in statement position brings items.
    pub(super) fn declares_items(&self, call: &syn::Macro) -> bool {
        let last = last_segment(call);
        matches!(last.as_str(), "thread_local" | "lazy_static" | "cfg_if") || is_task_local(call)
    }

    /// A macro in item position.
    pub(super) fn item_macro(&mut self, call: &syn::Macro) {
        let last = last_segment(call);
        match last.as_str() {
            "thread_local" => self.statics(call, Storage::ThreadLocal),
            "lazy_static" => self.statics(call, Storage::Lazy),
            "include" => self.include(call),
            "cfg_if" => {
                if let Some(tokens) = self.cfg_if(call.tokens.clone())
                    && let Ok(file) = syn::parse2::<syn::File>(tokens)
                {
                    self.items(file.items);
                }
            }
            _ if is_task_local(call) => self.statics(call, Storage::TaskLocal),
            _ => {
                if let Some(items) = self.expand_items(call) {
                    self.items(items);
                }
            }
        }
    }

    /// `include!("file.rs")`: a file module whose names stand here, and which sees the names here.
    fn include(&mut self, call: &syn::Macro) {
        let Ok(path) = call.parse_body::<syn::LitStr>() else {
            // Put together from `OUT_DIR`: what a build script writes is not looked at.
            return;
        };
        let place = at(path.span());
        let module = Name::new(&format!("{INCLUDED}{}", place.start));
        self.push(Item::File(ModuleFile {
            name: module,
            path: Some(path.value()),
            at: place,
            is_certain: false,
            inline: Vec::new(),
            swap: self.swap,
        }));
        let segment = |name: Name| Segment {
            name,
            args: Vec::new(),
            bindings: Vec::new(),
        };
        let path = Path {
            segments: vec![segment(Name::new("self")), segment(module)],
            at: place,
            ..Path::default()
        };
        self.push(Item::Use(Use { path, name: None }));
    }

    fn statics(&mut self, call: &syn::Macro, storage: Storage) {
        let Ok(statics) = parse_statics.parse2(call.tokens.clone()) else {
            return;
        };
        for item in statics {
            if self.keeps(&item.attributes) {
                let place = at(item.ident.span());
                self.value(
                    &item.attributes,
                    name(&item.ident),
                    storage,
                    &item.ty,
                    item.init,
                    place,
                );
            }
        }
    }

    /// The tokens of the branch that holds.
    fn cfg_if(&self, tokens: TokenStream) -> Option<TokenStream> {
        let mut kept = None;
        let mut predicate = None;
        for token in tokens {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    predicate = Some(group.stream())
                }
                TokenTree::Group(group)
                    if group.delimiter() == Delimiter::Brace && kept.is_none() =>
                {
                    let holds = match predicate.take() {
                        None => true,
                        Some(predicate) => match syn::parse2::<syn::MetaList>(predicate)
                            .map(|list| list.parse_args::<syn::Meta>())
                        {
                            Ok(Ok(meta)) => {
                                self.context.conditions.state(&meta) == crate::input::CfgState::On
                            }
                            _ => false,
                        },
                    };
                    if holds {
                        kept = Some(group.stream());
                    }
                }
                _ => {}
            }
        }
        kept
    }

    /// A macro in expression position.
    pub(super) fn expr_macro(&mut self, call: &syn::Macro) -> Expr {
        let name_at = call
            .path
            .segments
            .last()
            .map(|last| at(last.ident.span()))
            .unwrap_or_default();
        let place = name_at.to(at(call.delimiter.span().close()));
        if let Some(block) = self.expand_expression(call, place) {
            return block;
        }
        let last = last_segment(call);
        match last.as_str() {
            "matches" => {
                if let Ok((scrutinee, pattern, guard)) = parse_matches.parse2(call.tokens.clone()) {
                    let scrutinee = Box::new(self.expr(scrutinee));
                    let pattern = self.pattern(pattern);
                    let guard = guard.map(|guard| self.expr(guard));
                    let body = self.make(place, Kind::Opaque);
                    return self.make(
                        place,
                        Kind::Match(
                            scrutinee,
                            vec![Arm {
                                pattern,
                                guard,
                                body,
                            }],
                        ),
                    );
                }
            }
            "assert" | "debug_assert" => {
                if let Ok(args) = parse_args.parse2(call.tokens.clone()) {
                    let mut args = args.into_iter();
                    let Some(condition) = args.next() else {
                        return self.make(place, Kind::Opaque);
                    };
                    let condition = self.expr(condition);
                    // As a condition the operand is a drop scope of its own, exactly like that of `if`.
                    let id_at = condition.at;
                    let then = super::super::syntax::Block {
                        scope: None,
                        statements: vec![],
                        tail: None,
                        at: id_at,
                    };
                    return self.make(
                        place,
                        Kind::If(Box::new(super::super::syntax::If {
                            condition,
                            then,
                            otherwise: None,
                        })),
                    );
                }
            }
            "select" => {
                if let Some(args) = self.select(call.tokens.clone()) {
                    return self.make(
                        place,
                        Kind::Macro(Box::new(Macro {
                            name: last,
                            name_at,
                            shape: MacroShape::Await,
                            args,
                        })),
                    );
                }
            }
            "cfg_if" => {
                if let Some(tokens) = self.cfg_if(call.tokens.clone())
                    && let Ok(statements) = syn::Block::parse_within.parse2(tokens)
                {
                    let block = self.statements(statements, place);
                    return self.make(place, Kind::Block(None, block));
                }
            }
            _ => {}
        }
        let shape = self.context.table.shapes.get(&last).copied();
        if shape.is_none() {
            self.file.unknown_macros.push(last);
        }
        let Some(shape) = shape else {
            return self.make(place, Kind::Opaque);
        };
        let Ok(args) = parse_args.parse2(call.tokens.clone()) else {
            let kind = Kind::Macro(Box::new(Macro {
                name: last,
                name_at,
                shape,
                args: Vec::new(),
            }));
            return self.make(place, kind);
        };
        let args = self.exprs(args);
        self.make(
            place,
            Kind::Macro(Box::new(Macro {
                name: last,
                name_at,
                shape,
                args,
            })),
        )
    }

    /// The arms of `select!`: each future, then each handler, as far as they can be read.
    fn select(&mut self, tokens: TokenStream) -> Option<Vec<Expr>> {
        let arms = parse_select.parse2(tokens).ok()?;
        let mut result = Vec::new();
        for (future, handler) in arms {
            if let Some(future) = future {
                result.push(self.expr(future));
            }
            // A handler runs after the wait; as a block of its own it cannot be mistaken for a future.
            let handler = self.expr(handler);
            let place = handler.at;
            let block = super::super::syntax::Block {
                scope: None,
                statements: vec![],
                tail: Some(Box::new(handler)),
                at: place,
            };
            result.push(self.make(place, Kind::Block(None, block)));
        }
        Some(result)
    }
}

/// The last segment of the macro's path.
pub(super) fn last_segment(call: &syn::Macro) -> Name {
    call.path
        .segments
        .last()
        .map_or_else(|| Name::new(""), |last| name(&last.ident))
}

fn is_task_local(call: &syn::Macro) -> bool {
    let segments: Vec<String> = call
        .path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    segments.len() >= 2
        && segments[segments.len() - 1] == "local"
        && segments[segments.len() - 2] == "task"
}

/// Comma-separated expressions; `name = value` becomes the value, as in format macros, and leading `key: value,`
/// pairs of log macros become their values.
fn parse_args(input: ParseStream<'_>) -> syn::Result<Vec<Source>> {
    let mut args = Vec::new();
    while !input.is_empty() {
        if input.peek(Token![,]) || input.peek(Token![;]) {
            let _: TokenTree = input.parse()?;
            continue;
        }
        // `key: value`, `%value`, `?value` of log and tracing macros.
        if input.peek(syn::Ident) && input.peek2(Token![:]) && !input.peek2(Token![::]) {
            let _: syn::Ident = input.parse()?;
            let _: Token![:] = input.parse()?;
            continue;
        }
        if input.peek(Token![%]) || input.peek(Token![?]) {
            let _: TokenTree = input.parse()?;
            continue;
        }
        let expr: Source = input.parse()?;
        args.push(match expr {
            Source::Assign(assign)
                if matches!(*assign.left, Source::Path(_) | Source::Field(_)) =>
            {
                *assign.right
            }
            other => other,
        });
        if !input.is_empty() && !input.peek(Token![,]) && !input.peek(Token![;]) {
            return Err(input.error("expected a comma"));
        }
    }
    Ok(args)
}

fn parse_matches(input: ParseStream<'_>) -> syn::Result<(Source, Pat, Option<Source>)> {
    let scrutinee = input.parse()?;
    let _: Token![,] = input.parse()?;
    let pattern = Pat::parse_multi_with_leading_vert(input)?;
    let guard = if input.peek(Token![if]) {
        let _: Token![if] = input.parse()?;
        Some(input.parse()?)
    } else {
        None
    };
    let _: Option<Token![,]> = input.parse()?;
    Ok((scrutinee, pattern, guard))
}

fn parse_statics(input: ParseStream<'_>) -> syn::Result<Vec<LazyStatic>> {
    let mut statics = Vec::new();
    while !input.is_empty() {
        let attributes = input.call(syn::Attribute::parse_outer)?;
        let _: syn::Visibility = input.parse()?;
        let _: Token![static] = input.parse()?;
        let _: Option<Token![ref]> = input.parse()?;
        let ident = input.parse()?;
        let _: Token![:] = input.parse()?;
        let ty = input.parse()?;
        let _: Token![=] = input.parse()?;
        // `const { .. }` is evaluated at compile time.
        let init = if input.peek(Token![const]) && input.peek2(syn::token::Brace) {
            let _: Token![const] = input.parse()?;
            let _: syn::Block = input.parse()?;
            None
        } else {
            Some(input.parse()?)
        };
        let _: Option<Token![;]> = input.parse()?;
        statics.push(LazyStatic {
            attributes,
            ident,
            ty,
            init,
        });
    }
    Ok(statics)
}

/// `pattern = future [, if condition] => handler`, of tokio and futures; `default =>` and `else =>` have no future.
fn parse_select(input: ParseStream<'_>) -> syn::Result<Vec<(Option<Source>, Source)>> {
    let mut arms = Vec::new();
    if input.peek(syn::Ident) && input.peek2(Token![;]) {
        let _: syn::Ident = input.parse()?;
        let _: Token![;] = input.parse()?;
    }
    while !input.is_empty() {
        let mut future = None;
        if input.peek(Token![else]) || input.peek(Token![default]) {
            let _: TokenTree = input.parse()?;
        } else {
            Pat::parse_multi_with_leading_vert(input)?;
            let _: Token![=] = input.parse()?;
            future = Some(input.parse()?);
            if input.peek(Token![,]) {
                let _: Token![,] = input.parse()?;
                let _: Token![if] = input.parse()?;
                let _: Source = input.parse()?;
            }
        }
        let _: Token![=>] = input.parse()?;
        let handler = if input.peek(syn::token::Brace) {
            let block: syn::Block = input.parse()?;
            Source::Block(syn::ExprBlock {
                attrs: vec![],
                label: None,
                block,
            })
        } else {
            input.parse()?
        };
        let _: Option<Token![,]> = input.parse()?;
        arms.push((future, handler));
    }
    Ok(arms)
}
