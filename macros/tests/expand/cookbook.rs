//! The expansions that `docs/park-safe.md` shows are what the macros make of the code above them.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Item, Meta};

use super::formatted;
use crate::{entry, native, park_safe};

/// The line above a block that shows the expansion of the block before it.
const MARK: &str = "Expansion:";

struct Block {
    code: String,
    is_expansion: bool,
}

#[test]
fn the_cookbook_shows_what_the_macros_do() {
    let text = include_str!("../../../docs/park-safe.md");
    let blocks = blocks(text);
    let mut shown = 0;
    for pair in blocks.windows(2).filter(|pair| pair[1].is_expansion) {
        let source = syn::parse_file(&pair[0].code).expect("the code is Rust");
        let expanded = words(source.items.into_iter().map(expand).collect());
        let written = syn::parse_file(&pair[1].code).expect("the expansion is Rust");
        assert_eq!(
            words(written.to_token_stream()),
            expanded,
            "docs/park-safe.md is out of date"
        );
        shown += 1;
    }
    assert!(shown >= 5, "only {shown} expansions are shown");
}

/// Without spaces: inside of a macro's arguments they depend on who made the tokens.
fn words(tokens: TokenStream) -> String {
    formatted(tokens).split_whitespace().collect()
}

/// The Rust blocks of a page, without the lines that the documentation hides.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut above = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "```rust" {
            let code = lines
                .by_ref()
                .take_while(|line| *line != "```")
                .filter(|line| !line.starts_with("# "));
            let code = code.flat_map(|line| [line, "\n"]).collect();
            blocks.push(Block {
                code,
                is_expansion: above == MARK,
            });
        }
        if !line.is_empty() {
            above = line;
        }
    }
    blocks
}

/// The item as the compiler sees it after one of our attributes.
fn expand(mut item: Item) -> TokenStream {
    let attrs = match &mut item {
        Item::Enum(item) => &mut item.attrs,
        Item::Fn(item) => &mut item.attrs,
        Item::ForeignMod(item) => &mut item.attrs,
        Item::Impl(item) => &mut item.attrs,
        Item::Mod(item) => &mut item.attrs,
        Item::Static(item) => &mut item.attrs,
        Item::Struct(item) => &mut item.attrs,
        _ => return item.into_token_stream(),
    };
    let ours = |path: &syn::Path| {
        path.segments
            .first()
            .is_some_and(|first| first.ident == "vt_runtime")
    };
    let Some(at) = attrs.iter().position(|attr| ours(attr.path())) else {
        return item.into_token_stream();
    };
    let meta = attrs.remove(at).meta;
    let name = meta
        .path()
        .segments
        .last()
        .expect("a name")
        .ident
        .to_string();
    let args = match meta {
        Meta::List(list) => list.tokens,
        _ => TokenStream::new(),
    };
    let macro_ = match name.as_str() {
        "park_safe" => park_safe::attribute,
        "native" => native::attribute,
        "main" => entry::main,
        "test" => entry::test,
        other => panic!("no macro is called `{other}`"),
    };
    macro_(args, item.into_token_stream())
}
