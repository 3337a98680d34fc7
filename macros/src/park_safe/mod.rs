//! `#[park_safe]`: parse, validate, expand.
//!
//! Without types a macro can only guess what `Mutex` is, so it does not: the expansion asks the type system
//! through the `Swap` trait, and a wrong guess does not compile. What the macro itself must refuse (public
//! signatures, monitors without consent, macros it cannot read) it reports on the user's own token, beside the
//! rewritten item, so that the user sees one error and not its thirty consequences.

mod names;
mod needles;
mod opaque;
mod options;
mod refuse;
mod strangers;
mod swap;
mod untouched;
mod visit;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::VisitMut;
use syn::{Attribute, ImplItem, Item, TraitItem};

use self::options::Options;
use self::swap::Swapper;
use self::untouched::Untouched;
use crate::args::Errors;

/// Expands `#[park_safe(args)] item`.
pub(crate) fn attribute(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = Options::parse(args, &mut errors);
    let parse = |item| {
        let annotated = Annotated::parse(item)?;
        refuse::unswappable_kind(&annotated)?;
        Ok(vec![annotated])
    };
    expand(options, item, Untouched::inside_of, parse, errors)
}

/// Expands `park_safe_items! { #![park_safe(args)] items }`.
pub(crate) fn items(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let attributes_and_items = |input: ParseStream<'_>| {
        let attrs = Attribute::parse_inner(input)?;
        Ok((attrs, input.parse::<TokenStream>()?))
    };
    let (attrs, items) = match attributes_and_items.parse2(input.clone()) {
        Ok(parts) => parts,
        Err(error) => {
            errors.add(error);
            return errors.beside(input);
        }
    };
    let mut args = TokenStream::new();
    for attr in &attrs {
        match &attr.meta {
            syn::Meta::List(list) if list.path.is_ident("park_safe") => {
                args.extend(list.tokens.clone())
            }
            other => errors.over(
                other,
                "only `#![park_safe(..)]`, with the arguments of the attribute, can stand here",
            ),
        }
    }
    let options = Options::parse(args, &mut errors);
    let parse = |items| {
        let file = syn::parse2::<syn::File>(items)?;
        Ok(file.items.into_iter().map(Annotated::Item).collect())
    };
    expand(options, items, Untouched::among, parse, errors)
}

/// What the attribute may stand on.
enum Annotated {
    Item(Item),
    /// An associated item, where the attribute stands on a method or constant of an `impl`.
    Impl(ImplItem),
    /// An associated item of a trait.
    Trait(TraitItem),
}

impl Annotated {
    fn parse(tokens: TokenStream) -> syn::Result<Annotated> {
        let item = syn::parse2::<Item>(tokens.clone());
        match item {
            Ok(Item::Verbatim(_)) | Err(_) => {}
            Ok(item) => return Ok(Annotated::Item(item)),
        }
        match (
            syn::parse2::<ImplItem>(tokens.clone()),
            syn::parse2::<TraitItem>(tokens),
        ) {
            (Ok(part), _) if !matches!(part, ImplItem::Verbatim(_)) => Ok(Annotated::Impl(part)),
            (_, Ok(part)) if !matches!(part, TraitItem::Verbatim(_)) => Ok(Annotated::Trait(part)),
            _ => item.and_then(|item| {
                Err(syn::Error::new_spanned(
                    item,
                    "`park_safe` cannot read this item, so it cannot tell what to swap",
                ))
            }),
        }
    }

    fn item(&self) -> Option<&Item> {
        match self {
            Annotated::Item(item) => Some(item),
            Annotated::Impl(_) | Annotated::Trait(_) => None,
        }
    }

    fn visit(&mut self, visitor: &mut impl VisitMut) {
        match self {
            Annotated::Item(item) => visitor.visit_item_mut(item),
            Annotated::Impl(part) => visitor.visit_impl_item_mut(part),
            Annotated::Trait(part) => visitor.visit_trait_item_mut(part),
        }
    }
}

impl ToTokens for Annotated {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Annotated::Item(item) => item.to_tokens(tokens),
            Annotated::Impl(part) => part.to_tokens(tokens),
            Annotated::Trait(part) => part.to_tokens(tokens),
        }
    }
}

fn expand(
    mut options: Options,
    original: TokenStream,
    take_out: fn(&mut Untouched, TokenStream, &Options) -> TokenStream,
    parse: impl Fn(TokenStream) -> syn::Result<Vec<Annotated>>,
    mut errors: Errors,
) -> TokenStream {
    names::Renames(options.renamed()).in_modules(original.clone());
    let mut untouched = Untouched::new(&options);
    let concerned = take_out(&mut untouched, original.clone(), &options);
    // What does not parse without the rest is parsed whole, if only for the error.
    let mut whole = false;
    let parsed = parse(concerned).or_else(|_| {
        whole = true;
        parse(original.clone())
    });
    let mut all = match parsed {
        Ok(all) => all,
        Err(error) => {
            errors.add(error);
            return errors.beside(original);
        }
    };

    if whole || untouched.leaves_imports() {
        let mut renames = names::Renames(options.renamed());
        all.iter_mut()
            .for_each(|annotated| annotated.visit(&mut renames));
    }

    let items = all.iter().filter_map(Annotated::item);
    let strangers = strangers::among(items, &options);
    let mut swapper = Swapper::new(&options, &mut errors);
    swapper.strangers = strangers;
    all.iter_mut()
        .for_each(|annotated| annotated.visit(&mut swapper));
    let Swapper {
        found,
        monitor,
        already,
        ..
    } = swapper;

    if monitor {
        refuse::monitor_beside_unsafe(&original, &mut errors);
    }
    options.report_unmet_skips(&mut errors);
    // With other errors around, "nothing" is likely their consequence.
    if found.is_empty() && !already && !options.check && errors.is_empty() {
        refuse::nothing_to_swap(&original, &mut errors);
    }
    if options.check {
        return errors.beside(original);
    }
    if !untouched.is_empty() {
        all.iter_mut()
            .for_each(|annotated| annotated.visit(&mut untouched));
    }
    errors.beside(all.iter().map(ToTokens::to_token_stream).collect())
}
