//! Takes what names no lock out of an item before it is parsed, and puts it back as it was.
//!
//! Most of a file names no lock. Such items, and such bodies of functions, are replaced by a call of a macro that
//! does not exist, so that parsing, walking and printing cost what the rest is worth, and come back with the very
//! tokens the user wrote. **Invariant:** only what could hold nothing of interest is taken out: its text contains
//! neither a part of a lock's name nor a name that the arguments or an import speak of. Where items end is told
//! by keywords; a wrong guess gives something that does not parse, and then the whole is parsed instead.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, ImplItem, Item as Whole, Macro, Stmt, TraitItem};

use super::needles::Needles;
use super::options::Options;

const STAND_IN: &str = "__park_safe_untouched_";

/// What was taken out, in the order in which it was.
pub(super) struct Untouched {
    taken: Vec<TokenStream>,
    needles: Needles,
    /// What imports begin with.
    import: Needles,
    /// What stays may import something inside of a body.
    imports: bool,
    /// How many items are to be parsed.
    kept: usize,
}

/// What the keyword of an item says about its braces.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// They hold statements.
    Function,
    /// `impl` or `trait`: they hold items.
    Owner,
    /// They hold items.
    Module,
    /// They do not end the item; a semicolon does.
    Value,
    /// They hold neither statements nor items.
    Data,
}

/// The item that is being read.
#[derive(Default)]
struct Reading {
    trees: Vec<TokenTree>,
    kind: Option<Kind>,
    concerned: bool,
    /// `#` or `#!` was read, so what comes next in brackets is an attribute.
    attribute: bool,
}

impl Untouched {
    /// Nothing yet.
    pub(super) fn new(options: &Options) -> Untouched {
        Untouched {
            taken: Vec::new(),
            needles: options.needles(),
            import: Needles::new(vec!["use ".to_owned()]),
            imports: false,
            kept: 0,
        }
    }

    /// Whether nothing was taken out, so that nothing is to be put back.
    pub(super) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Whether a body that was not taken out may import something.
    pub(super) fn leaves_imports(&self) -> bool {
        self.imports
    }

    /// Takes out of the one item that the attribute stands on what `options` have no interest in.
    pub(super) fn inside_of(&mut self, item: TokenStream, options: &Options) -> TokenStream {
        let reading = Reading {
            concerned: true,
            ..Reading::default()
        };
        self.take_out(item, reading, options)
    }

    /// Takes out of `items` what `options` have no interest in.
    pub(super) fn among(&mut self, items: TokenStream, options: &Options) -> TokenStream {
        self.take_out(items, Reading::default(), options)
    }

    fn take_out(&mut self, items: TokenStream, first: Reading, options: &Options) -> TokenStream {
        let mut output = Vec::new();
        let mut run = Vec::new();
        let mut reading = first;
        let mut trees = items.into_iter().peekable();
        while let Some(tree) = trees.next() {
            let attribute = std::mem::take(&mut reading.attribute);
            let mut ends = false;
            let tree = match tree {
                TokenTree::Ident(word) => {
                    let text = word.to_string();
                    reading.kind = reading.kind.or_else(|| introduced(&text, trees.peek()));
                    reading.concerned |= options.concerned_by_name(&text);
                    TokenTree::Ident(word)
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    ends = reading.kind != Some(Kind::Value);
                    TokenTree::Group(self.brace(group, &mut reading, options))
                }
                TokenTree::Group(group) => {
                    reading.concerned =
                        reading.concerned || !attribute && self.needles.in_text(&group.to_string());
                    TokenTree::Group(group)
                }
                TokenTree::Punct(punct) => {
                    ends = punct.as_char() == ';';
                    reading.attribute =
                        punct.as_char() == '#' || attribute && punct.as_char() == '!';
                    TokenTree::Punct(punct)
                }
                TokenTree::Literal(literal) => TokenTree::Literal(literal),
            };
            reading.trees.push(tree);
            if ends {
                self.put(std::mem::take(&mut reading), &mut run, &mut output);
            }
        }
        self.put(reading, &mut run, &mut output);
        self.stand_in(&mut run, &mut output);
        output.into_iter().collect()
    }

    /// Adds an item to the output, or to the run of those that are taken out.
    fn put(&mut self, item: Reading, run: &mut Vec<TokenTree>, output: &mut Vec<TokenTree>) {
        if item.concerned {
            self.kept += 1;
            self.stand_in(run, output);
            output.extend(item.trees);
        } else {
            run.extend(item.trees);
        }
    }

    fn stand_in(&mut self, run: &mut Vec<TokenTree>, output: &mut Vec<TokenTree>) {
        if let Some(first) = run.first() {
            let stand_in = self.instead_of(first.span(), std::mem::take(run).into_iter().collect());
            output.extend(stand_in);
        }
    }

    fn instead_of(&mut self, at: Span, taken: TokenStream) -> TokenStream {
        let name = Ident::new(&format!("{STAND_IN}{}", self.taken.len()), at);
        self.taken.push(taken);
        quote!(#name! {})
    }

    /// The braces of the item that is being read, without what can be taken out of them.
    fn brace(&mut self, group: Group, item: &mut Reading, options: &Options) -> Group {
        // The compiler makes text faster than this code, which is built without optimization, reads tokens.
        let owns_items = matches!(item.kind, Some(Kind::Module | Kind::Owner));
        if owns_items && !item.concerned && !self.needles.in_text(&group.to_string()) {
            return group;
        }
        let content = match item.kind {
            Some(Kind::Module) => self.among(group.stream(), options),
            Some(Kind::Owner) => {
                let (kept, taken) = (self.kept, self.taken.len());
                let content = self.among(group.stream(), options);
                if self.kept == kept && !item.concerned {
                    // Nothing in it is of interest, so it goes as a whole.
                    self.taken.truncate(taken);
                    return group;
                }
                content
            }
            Some(Kind::Data) if item.concerned => return group,
            kind => {
                let concerned = self.concerns(&group);
                if kind != Some(Kind::Function) || concerned || !item.concerned {
                    item.concerned |= concerned;
                    return group;
                }
                self.instead_of(group.span(), group.stream())
            }
        };
        item.concerned = true;
        let mut changed = Group::new(Delimiter::Brace, content);
        changed.set_span(group.span());
        changed
    }

    /// Whether these braces hold something of interest.
    fn concerns(&mut self, group: &Group) -> bool {
        let text = group.to_string();
        let concerned = self.needles.in_text(&text);
        self.imports |= concerned && self.import.in_text(&text);
        concerned
    }

    /// What this macro call stands for, if it was put there by `take_out`.
    fn original(&self, stand_in: &Macro) -> Option<TokenStream> {
        let name = stand_in.path.get_ident()?.to_string();
        let index = name.strip_prefix(STAND_IN)?.parse::<usize>().ok()?;
        self.taken.get(index).cloned()
    }
}

/// Puts everything back.
impl VisitMut for Untouched {
    fn visit_stmt_mut(&mut self, node: &mut Stmt) {
        match node {
            Stmt::Macro(call) => {
                if let Some(body) = self.original(&call.mac) {
                    *node = Stmt::Expr(Expr::Verbatim(body), None);
                }
            }
            other => visit_mut::visit_stmt_mut(self, other),
        }
    }

    fn visit_item_mut(&mut self, node: &mut Whole) {
        match node {
            Whole::Macro(call) => {
                if let Some(items) = self.original(&call.mac) {
                    *node = Whole::Verbatim(items);
                }
            }
            other => visit_mut::visit_item_mut(self, other),
        }
    }

    fn visit_impl_item_mut(&mut self, node: &mut ImplItem) {
        match node {
            ImplItem::Macro(call) => {
                if let Some(items) = self.original(&call.mac) {
                    *node = ImplItem::Verbatim(items);
                }
            }
            other => visit_mut::visit_impl_item_mut(self, other),
        }
    }

    fn visit_trait_item_mut(&mut self, node: &mut TraitItem) {
        match node {
            TraitItem::Macro(call) => {
                if let Some(items) = self.original(&call.mac) {
                    *node = TraitItem::Verbatim(items);
                }
            }
            other => visit_mut::visit_trait_item_mut(self, other),
        }
    }

    fn visit_attribute_mut(&mut self, _node: &mut Attribute) {}
}

/// The kind of item that this word begins, if it is a keyword that does.
fn introduced(word: &str, next: Option<&TokenTree>) -> Option<Kind> {
    match word {
        "fn" => Some(Kind::Function),
        "impl" | "trait" => Some(Kind::Owner),
        "mod" => Some(Kind::Module),
        "struct" | "enum" => Some(Kind::Data),
        "static" | "type" | "use" => Some(Kind::Value),
        // `const NAME`, but not `const fn`, `const unsafe fn`, ..
        "const" => {
            let qualifies = |name: &Ident| {
                ["fn", "unsafe", "async", "extern", "safe", "trait"]
                    .iter()
                    .any(|keyword| name == keyword)
            };
            let function = matches!(next, Some(TokenTree::Ident(name)) if qualifies(name));
            (!function).then_some(Kind::Value)
        }
        _ => None,
    }
}
