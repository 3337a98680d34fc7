//! `#[test]`: a test that runs as a virtual thread of its own runtime, and may say whether it pins.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::{ItemFn, Meta};

use super::duration;
use crate::args::{self, Errors};
use crate::body;
use crate::path::{RuntimePath, generated};

const KNOWN: &[&str] = &["should_not_pin", "should_pin", "carriers", "crate"];

/// Expands `#[test(args)] fn`.
pub(crate) fn attribute(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut plan = Plan::default();
    for meta in args::parse(arguments, &mut errors) {
        plan.read(&meta, &mut errors);
    }
    let Some(ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    }) = super::parse(item.clone(), "test", &mut errors)
    else {
        return errors.beside(item);
    };
    let attrs = body::outer_attributes(&attrs);
    if let Some(plain) = attrs.iter().find(|attr| attr.path().is_ident("test")) {
        errors.over(
            plain,
            "this would run the test twice; `#[vt_runtime::test]` is enough",
        );
        return errors.beside(item);
    }
    let name = &sig.ident;
    let span = generated(name.span());
    let private = plan.runtime.private(name.span());
    let label = name.to_string();
    let calls = plan.calls(span);
    let closure = body::closure(&sig.output, &block, name.span());
    let run = quote_spanned!(span=> #private::Test::new(#label) #calls .run(#closure));
    // A test that returns nothing still does: `#[should_panic]` asks for it.
    let (output, end) = if body::returns_unit(&sig.output) {
        (None, Some(quote_spanned!(span=> ;)))
    } else {
        (Some(quote_spanned!(span=> -> #private::ExitCode)), None)
    };
    errors.beside(quote_spanned! {span=>
        #[::core::prelude::v1::test]
        #(#attrs)*
        #vis fn #name() #output {
            #run #end
        }
    })
}

/// What the test says of its runtime and its pins.
#[derive(Default)]
struct Plan {
    runtime: RuntimePath,
    carriers: Option<usize>,
    pins: Option<Pins>,
}

struct Pins {
    at: Span,
    expected: bool,
    at_most: Option<usize>,
    longer_than_ns: Option<u64>,
}

impl Plan {
    fn read(&mut self, meta: &Meta, errors: &mut Errors) {
        match args::name(meta).as_str() {
            "should_not_pin" => self.pins(meta, false, errors),
            "should_pin" => self.pins(meta, true, errors),
            "carriers" => self.carriers = args::number(meta, 1, errors),
            "crate" => {
                if let Some(path) = args::path(meta, errors) {
                    self.runtime.set(path);
                }
            }
            _ => args::unknown(meta, "test", KNOWN, errors),
        }
    }

    fn pins(&mut self, meta: &Meta, expected: bool, errors: &mut Errors) {
        let at = syn::spanned::Spanned::span(meta.path());
        let mut pins = Pins {
            at,
            expected,
            at_most: None,
            longer_than_ns: None,
        };
        match meta {
            Meta::Path(_) => {}
            Meta::List(list) => {
                for inner in args::parse(list.tokens.clone(), errors) {
                    pins.read(&inner, errors);
                }
            }
            Meta::NameValue(pair) => {
                errors.over(pair, "write `should_not_pin`, `should_pin` or `should_pin(at_most = 3, longer_than = \"20ms\")`");
            }
        }
        if let Some(first) = &self.pins {
            let both = first.at.join(at).unwrap_or(at);
            errors.at(
                both,
                "a test either pins or does not: give one of `should_pin` and `should_not_pin`",
            );
            return;
        }
        self.pins = Some(pins);
    }

    fn calls(&self, span: Span) -> TokenStream {
        let carriers = self
            .carriers
            .map(|carriers| quote_spanned!(span=> .carriers(#carriers)));
        let pins = self.pins.as_ref().map(|pins| {
            let longer_than = pins.longer_than_ns.map(|nanos| {
                let nanos = Literal::u64_unsuffixed(nanos);
                quote_spanned!(span=> .longer_than_ns(#nanos))
            });
            let verdict = match (pins.expected, pins.at_most) {
                (false, _) => quote_spanned!(span=> .should_not_pin()),
                (true, None) => quote_spanned!(span=> .should_pin()),
                (true, Some(most)) => {
                    let most = Literal::usize_unsuffixed(most);
                    quote_spanned!(span=> .should_pin_at_most(#most))
                }
            };
            quote_spanned!(span=> #verdict #longer_than)
        });
        quote_spanned!(span=> #carriers #pins)
    }
}

impl Pins {
    fn read(&mut self, meta: &Meta, errors: &mut Errors) {
        let name = args::name(meta);
        match name.as_str() {
            "at_most" if self.expected => self.at_most = args::number(meta, 1, errors),
            "at_most" => errors.over(
                meta,
                "`should_not_pin` allows none; for an allowance write `should_pin(at_most = n)`",
            ),
            "longer_than" => {
                let Some(text) = args::text(meta, "longer_than = \"20ms\"", errors) else {
                    return;
                };
                match duration::parse(&text.value()) {
                    Some(nanos) => self.longer_than_ns = Some(nanos),
                    None => errors.at(
                        text.span(),
                        "a duration is a whole number and `ns`, `us`, `ms` or `s`, as in \"20ms\"",
                    ),
                }
            }
            _ if self.expected => {
                args::unknown(meta, "should_pin", &["at_most", "longer_than"], errors)
            }
            _ => args::unknown(meta, "should_not_pin", &["longer_than"], errors),
        }
    }
}
