//! A small `macro_rules!` expander.
//!
//! Good enough to see what a workspace's own macros do: fragments are parsed by syn, repetitions are followed, body
//! tokens get the place of the macro's name at the use, so that findings are reported there. Hygiene is not kept.
//! A call that no rule matches is treated as unknown.

use std::collections::HashMap;
use std::rc::Rc;

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};

use super::super::name::Name;
use super::super::syntax::{At, Expr, Kind};
use super::macros::last_segment;
use super::{EXPANSIONS, Lowerer, name};

/// The rules of one macro.
pub(super) struct Rules(Vec<(Vec<Matcher>, Vec<TokenTree>)>);

/// One element of a rule's left side.
enum Matcher {
    Token(TokenTree),
    Group(Delimiter, Vec<Matcher>),
    Fragment(Name, String),
    Repeat(Vec<Matcher>, Option<TokenTree>, char),
}

/// What a variable stands for.
enum Binding {
    Leaf(TokenStream),
    Many(Vec<HashMap<Name, Binding>>),
}

type Bindings = HashMap<Name, Binding>;

impl Lowerer<'_> {
    /// Notes a `macro_rules!` definition.
    pub(super) fn define_macro(&mut self, item: &syn::ItemMacro) {
        let Some(ident) = &item.ident else { return };
        if let Some(rules) = Rules::parse(item.mac.tokens.clone()) {
            let name = name(ident);
            self.local.push((name, Rc::new(rules)));
            self.file.macros.push((name, item.mac.tokens.to_string()));
        }
    }

    fn rules(&mut self, call: &syn::Macro) -> Option<Rc<Rules>> {
        let last = last_segment(call);
        if let Some((_, rules)) = self.local.iter().rev().find(|(name, _)| *name == last) {
            return Some(Rc::clone(rules));
        }
        let text = self.context.foreign.get(&last)?;
        let parse = || text.parse().ok().and_then(Rules::parse).map(Rc::new);
        self.parsed.entry(last).or_insert_with(parse).clone()
    }

    /// The tokens a call expands to.
    fn expand(&mut self, call: &syn::Macro) -> Option<TokenStream> {
        let rules = self.rules(call)?;
        self.expansions += 1;
        if self.expansions > EXPANSIONS || self.depth > super::DEPTH / 2 {
            return None;
        }
        rules.expand(call.tokens.clone(), call.path.segments.last()?.ident.span())
    }

    /// Expands a call in expression position.
    pub(super) fn expand_expression(&mut self, call: &syn::Macro, place: At) -> Option<Expr> {
        let tokens = self.expand(call)?;
        let statements = syn::Block::parse_within.parse2(tokens).ok()?;
        let outer = self.expanding.replace(place);
        // One expression stays one, so that its temporaries belong to the surrounding statement.
        let expr = match <[syn::Stmt; 1]>::try_from(statements) {
            Ok([syn::Stmt::Expr(expr, None)]) => self.expr(expr),
            Ok([other]) => {
                let block = self.statements(vec![other], place);
                self.make(place, Kind::Block(None, block))
            }
            Err(statements) => {
                let block = self.statements(statements, place);
                self.make(place, Kind::Block(None, block))
            }
        };
        self.expanding = outer;
        Some(expr)
    }

    /// Expands a call in statement position, where `let` reaches the code around it.
    pub(super) fn expand_statements(&mut self, call: &syn::Macro) -> Option<Vec<syn::Stmt>> {
        let tokens = self.expand(call)?;
        let statements = syn::Block::parse_within.parse2(tokens).ok()?;
        let plain = statements
            .iter()
            .all(|statement| !matches!(statement, syn::Stmt::Item(_)));
        plain.then_some(statements)
    }

    /// Expands a call in item position.
    pub(super) fn expand_items(&mut self, call: &syn::Macro) -> Option<Vec<syn::Item>> {
        let Some(tokens) = self.expand(call) else {
            self.file.unknown_macros.push(last_segment(call));
            return None;
        };
        syn::parse2::<syn::File>(tokens).ok().map(|file| file.items)
    }

    /// Expands a call among the members of an implementation.
    pub(super) fn expand_members(&mut self, call: &syn::Macro) -> Vec<syn::ImplItem> {
        let Some(tokens) = self.expand(call) else {
            return Vec::new();
        };
        let members = |input: ParseStream<'_>| {
            let mut members = Vec::new();
            while !input.is_empty() {
                members.push(input.parse()?);
            }
            Ok(members)
        };
        members.parse2(tokens).unwrap_or_default()
    }
}

impl Rules {
    fn parse(tokens: TokenStream) -> Option<Self> {
        let mut rules = Vec::new();
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            let TokenTree::Group(pattern) = token else {
                continue;
            };
            let body = tokens.find_map(|token| match token {
                TokenTree::Group(group) => Some(group),
                _ => None,
            })?;
            rules.push((
                matchers(pattern.stream())?,
                body.stream().into_iter().collect(),
            ));
        }
        Some(Self(rules))
    }

    fn expand(&self, input: TokenStream, span: Span) -> Option<TokenStream> {
        self.0.iter().find_map(|(pattern, body)| {
            let parse = |input: ParseStream<'_>| {
                let mut bindings = Bindings::new();
                match_all(pattern, input, &mut bindings)?;
                if input.is_empty() {
                    Ok(bindings)
                } else {
                    Err(input.error("too many tokens"))
                }
            };
            let bindings = parse.parse2(input.clone()).ok()?;
            let mut output = TokenStream::new();
            transcribe(body, &[&bindings], span, &mut output)?;
            Some(output)
        })
    }
}

fn matchers(tokens: TokenStream) -> Option<Vec<Matcher>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut result = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        match (&tokens[index], tokens.get(index + 1)) {
            (TokenTree::Punct(dollar), Some(TokenTree::Group(group)))
                if dollar.as_char() == '$' =>
            {
                let (separator, operator, used) = repetition(&tokens[index + 2..])?;
                result.push(Matcher::Repeat(
                    matchers(group.stream())?,
                    separator,
                    operator,
                ));
                index += 2 + used;
            }
            (TokenTree::Punct(dollar), Some(TokenTree::Ident(variable)))
                if dollar.as_char() == '$' =>
            {
                let Some(TokenTree::Ident(kind)) = tokens.get(index + 3) else {
                    return None;
                };
                result.push(Matcher::Fragment(name(variable), kind.to_string()));
                index += 4;
            }
            (TokenTree::Group(group), _) => {
                result.push(Matcher::Group(group.delimiter(), matchers(group.stream())?));
                index += 1;
            }
            (token, _) => {
                result.push(Matcher::Token(token.clone()));
                index += 1;
            }
        }
    }
    Some(result)
}

/// `sep op` behind `$(..)`: separator, operator, how many tokens.
fn repetition(tokens: &[TokenTree]) -> Option<(Option<TokenTree>, char, usize)> {
    let operator = |token: &TokenTree| match token {
        TokenTree::Punct(punct) if "*+?".contains(punct.as_char()) => Some(punct.as_char()),
        _ => None,
    };
    let first = tokens.first()?;
    if let Some(second) = tokens.get(1).and_then(operator) {
        return Some((Some(first.clone()), second, 2));
    }
    if let Some(first) = operator(first) {
        return Some((None, first, 1));
    }
    // A separator of two punctuation characters, such as `=>`.
    Some((Some(first.clone()), tokens.get(2).and_then(operator)?, 3))
}

fn match_all(
    pattern: &[Matcher],
    input: ParseStream<'_>,
    bindings: &mut Bindings,
) -> syn::Result<()> {
    for matcher in pattern {
        match matcher {
            Matcher::Token(token) => {
                let found: TokenTree = input.parse()?;
                if found.to_string() != token.to_string() {
                    return Err(input.error("another token"));
                }
            }
            Matcher::Group(delimiter, inner) => {
                let found: TokenTree = input.parse()?;
                match found {
                    TokenTree::Group(group) if group.delimiter() == *delimiter => {
                        let mut parsed = Bindings::new();
                        let parse = |input: ParseStream<'_>| {
                            match_all(inner, input, &mut parsed)?;
                            if input.is_empty() {
                                Ok(())
                            } else {
                                Err(input.error("too many tokens"))
                            }
                        };
                        parse.parse2(group.stream())?;
                        bindings.extend(parsed);
                    }
                    _ => return Err(input.error("another group")),
                }
            }
            Matcher::Fragment(variable, kind) => {
                bindings.insert(*variable, Binding::Leaf(fragment(kind, input)?));
            }
            Matcher::Repeat(inner, separator, operator) => {
                let mut rounds = Vec::new();
                while !input.is_empty() {
                    let ahead = input.fork();
                    if let (false, Some(separator)) = (rounds.is_empty(), separator) {
                        match ahead.parse::<TokenTree>() {
                            Ok(found) if found.to_string() == separator.to_string() => {}
                            _ => break,
                        }
                    }
                    let before = ahead.cursor();
                    let mut round = Bindings::new();
                    if match_all(inner, &ahead, &mut round).is_err() || ahead.cursor() == before {
                        break;
                    }
                    syn::parse::discouraged::Speculative::advance_to(input, &ahead);
                    rounds.push(round);
                    if *operator == '?' || rounds.len() > 4_096 {
                        break;
                    }
                }
                if *operator == '+' && rounds.is_empty() {
                    return Err(input.error("nothing to repeat"));
                }
                collect(inner, rounds, bindings);
            }
        }
    }
    Ok(())
}

/// Files the rounds of a repetition under each variable in it.
fn collect(inner: &[Matcher], rounds: Vec<Bindings>, bindings: &mut Bindings) {
    let mut variables = Vec::new();
    names(inner, &mut variables);
    let mut per_variable: Vec<Vec<Bindings>> = variables
        .iter()
        .map(|_| Vec::with_capacity(rounds.len()))
        .collect();
    for mut round in rounds {
        for (variable, list) in variables.iter().zip(&mut per_variable) {
            list.push(round.remove_entry(variable).into_iter().collect());
        }
    }
    bindings.extend(
        variables
            .into_iter()
            .zip(per_variable.into_iter().map(Binding::Many)),
    );
}

fn names(pattern: &[Matcher], into: &mut Vec<Name>) {
    for matcher in pattern {
        match matcher {
            Matcher::Fragment(variable, _) => into.push(*variable),
            Matcher::Group(_, inner) | Matcher::Repeat(inner, ..) => names(inner, into),
            Matcher::Token(_) => {}
        }
    }
}

fn fragment(kind: &str, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let grouped =
        |tokens: TokenStream| TokenTree::Group(Group::new(Delimiter::None, tokens)).into();
    Ok(match kind {
        "expr" | "expr_2021" => grouped(input.parse::<syn::Expr>()?.into_token_stream()),
        "ty" => grouped(input.parse::<syn::Type>()?.into_token_stream()),
        "pat" => syn::Pat::parse_multi_with_leading_vert(input)?.into_token_stream(),
        "pat_param" => syn::Pat::parse_single(input)?.into_token_stream(),
        "stmt" => input.parse::<syn::Stmt>()?.into_token_stream(),
        "block" => input.parse::<syn::Block>()?.into_token_stream(),
        "item" => input.parse::<syn::Item>()?.into_token_stream(),
        "path" => input.parse::<syn::Path>()?.into_token_stream(),
        "meta" => input.parse::<syn::Meta>()?.into_token_stream(),
        "ident" => input.call(syn::Ident::parse_any)?.into_token_stream(),
        "lifetime" => input.parse::<syn::Lifetime>()?.into_token_stream(),
        "literal" => input.parse::<syn::Lit>()?.into_token_stream(),
        "vis" => input.parse::<syn::Visibility>()?.into_token_stream(),
        "tt" => input.parse::<TokenTree>()?.into(),
        _ => return Err(input.error("unknown fragment")),
    })
}

fn lookup<'a>(scopes: &[&'a Bindings], variable: Name) -> Option<&'a Binding> {
    scopes.iter().rev().find_map(|scope| scope.get(&variable))
}

fn transcribe(
    body: &[TokenTree],
    scopes: &[&Bindings],
    span: Span,
    output: &mut TokenStream,
) -> Option<()> {
    let mut index = 0;
    while index < body.len() {
        match (&body[index], body.get(index + 1)) {
            (TokenTree::Punct(dollar), Some(TokenTree::Ident(variable)))
                if dollar.as_char() == '$' =>
            {
                match lookup(scopes, name(variable)) {
                    Some(Binding::Leaf(tokens)) => output.extend(tokens.clone()),
                    Some(Binding::Many(_)) => return None,
                    None => output.extend([TokenTree::Ident(proc_macro2::Ident::new(
                        &variable.to_string(),
                        span,
                    ))]),
                }
                index += 2;
            }
            (TokenTree::Punct(dollar), Some(TokenTree::Group(group)))
                if dollar.as_char() == '$' =>
            {
                let (separator, _, used) = repetition(&body[index + 2..])?;
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                repeat(&inner, separator.as_ref(), scopes, span, output)?;
                index += 2 + used;
            }
            (TokenTree::Group(group), _) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut stream = TokenStream::new();
                transcribe(&inner, scopes, span, &mut stream)?;
                let mut group = Group::new(group.delimiter(), stream);
                group.set_span(span);
                output.extend([TokenTree::Group(group)]);
                index += 1;
            }
            (token, _) => {
                let mut token = token.clone();
                token.set_span(span);
                output.extend([token]);
                index += 1;
            }
        }
    }
    Some(())
}

fn repeat(
    inner: &[TokenTree],
    separator: Option<&TokenTree>,
    scopes: &[&Bindings],
    span: Span,
    output: &mut TokenStream,
) -> Option<()> {
    let mut variables = Vec::new();
    used(inner, &mut variables);
    let lists: Vec<&Vec<Bindings>> = variables
        .iter()
        .filter_map(|variable| match lookup(scopes, *variable) {
            Some(Binding::Many(list)) => Some(list),
            _ => None,
        })
        .collect();
    let rounds = lists.iter().map(|list| list.len()).max()?;
    for round in 0..rounds {
        if let (true, Some(separator)) = (round > 0, separator) {
            let mut separator = separator.clone();
            separator.set_span(span);
            output.extend([separator]);
        }
        let mut nested: Vec<&Bindings> = scopes.to_vec();
        nested.extend(lists.iter().filter_map(|list| list.get(round)));
        transcribe(inner, &nested, span, output)?;
    }
    Some(())
}

fn used(tokens: &[TokenTree], into: &mut Vec<Name>) {
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident)
                if index > 0
                    && matches!(&tokens[index - 1], TokenTree::Punct(p) if p.as_char() == '$' && p.spacing() == Spacing::Alone) =>
            {
                into.push(name(ident));
            }
            TokenTree::Group(group) => used(&group.stream().into_iter().collect::<Vec<_>>(), into),
            _ => {}
        }
    }
}
