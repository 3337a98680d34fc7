//! Expansions as snapshots: what each macro makes of each shape, formatted, made without the compiler.
//!
//! One snapshot for each case, under the case's name. An expansion with errors shows them as `compile_error!`
//! beside the item; where they point is the business of `ui.rs`.

use proc_macro2::TokenStream;

mod cookbook;
mod entry;
mod lint_allow;
mod native;
mod park_safe;

/// Formats an expansion; a method without a body is shown inside of a `trait`.
fn formatted(tokens: TokenStream) -> String {
    let parse = |tokens| {
        syn::parse2::<syn::File>(tokens).unwrap_or_else(|error| panic!("not Rust: {error}"))
    };
    let file = parse(tokens.clone());
    let bodiless = file
        .items
        .iter()
        .any(|item| matches!(item, syn::Item::Verbatim(_)));
    prettyplease::unparse(&if bodiless {
        parse(quote::quote!(trait Owner { #tokens }))
    } else {
        file
    })
}

/// Compares the expansion of `item` under `args` with the snapshot called `name`.
fn check(macro_: fn(TokenStream, TokenStream) -> TokenStream, name: &str, args: &str, item: &str) {
    let tokens = |text: &str| {
        text.parse::<TokenStream>()
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let output = formatted(macro_(tokens(args), tokens(item)));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, output));
}
