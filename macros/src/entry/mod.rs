//! `#[main]` and `#[test]`: functions whose body runs as a virtual thread.
//!
//! The function keeps its name, attributes and place. Its body moves into a closure that the runtime runs, and
//! its outcome becomes an exit code there, so that an error that cannot change threads is printed where it is.

mod duration;
mod main;
mod test;

pub(crate) use self::main::attribute as main;
pub(crate) use self::test::attribute as test;

use proc_macro2::TokenStream;
use syn::ItemFn;

use crate::args::Errors;

/// Reads the function, and reports what such a function cannot be.
fn parse(item: TokenStream, what: &str, errors: &mut Errors) -> Option<ItemFn> {
    let function = match syn::parse2::<ItemFn>(item) {
        Ok(function) => function,
        Err(error) => {
            errors.add(syn::Error::new(
                error.span(),
                format_args!("`{what}` stands on a function: {error}"),
            ));
            return None;
        }
    };
    let sig = &function.sig;
    if let Some(token) = &sig.asyncness {
        errors.at(
            token.span,
            format_args!(
                "`{what}` runs a virtual thread, which simply blocks: drop `async`, and use \
                 `vt_runtime::future::block_on` for a future"
            ),
        );
    }
    if let Some(token) = &sig.constness {
        errors.at(token.span, format_args!("`{what}` cannot be a `const fn`"));
    }
    if !sig.inputs.is_empty() {
        errors.over(&sig.inputs, format_args!("`{what}` takes no arguments"));
    }
    if !sig.generics.params.is_empty() {
        errors.over(&sig.generics, format_args!("`{what}` cannot be generic"));
    }
    errors.is_empty().then_some(function)
}
