//! `#[main]`: the program's main function as the first virtual thread.

use proc_macro2::{Literal, TokenStream};
use quote::quote_spanned;
use syn::ItemFn;

use crate::args::{self, Errors};
use crate::body;
use crate::path::{RuntimePath, generated};

/// Expands `#[main(args)] fn`.
pub(crate) fn attribute(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut runtime = RuntimePath::default();
    let mut carriers = None;
    for meta in args::parse(arguments, &mut errors) {
        match args::name(&meta).as_str() {
            "carriers" => carriers = args::number(&meta, 1, &mut errors),
            "crate" => {
                if let Some(path) = args::path(&meta, &mut errors) {
                    runtime.set(path);
                }
            }
            _ => args::unknown(&meta, "main", &["carriers", "crate"], &mut errors),
        }
    }
    let Some(ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    }) = super::parse(item.clone(), "main", &mut errors)
    else {
        return errors.beside(item);
    };
    let name = &sig.ident;
    let span = generated(name.span());
    let private = runtime.private(name.span());
    let attrs = body::outer_attributes(&attrs);
    let carriers = carriers.map(|carriers| {
        let carriers = Literal::usize_unsuffixed(carriers);
        quote_spanned!(span=> .carriers(#carriers))
    });
    let closure = body::closure(&sig.output, &block, name.span());
    errors.beside(quote_spanned! {span=>
        #(#attrs)*
        #vis fn #name() -> #private::ExitCode {
            #private::Main::new() #carriers .run(#closure)
        }
    })
}
