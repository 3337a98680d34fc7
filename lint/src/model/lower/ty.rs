//! Types, paths, generics.

use syn::{
    GenericArgument, GenericParam, PathArguments, ReturnType, TypeParamBound, WherePredicate,
};

use super::super::name::Name;
use super::super::syntax::{Bound, Generics, Path, Segment, Type};
use super::{at, name};

/// A type.
pub(super) fn ty(source: &syn::Type) -> Type {
    match source {
        syn::Type::Path(path) => Type::Path(self::path(&path.path, path.qself.as_ref())),
        syn::Type::Reference(reference) => Type::Reference(Box::new(ty(&reference.elem))),
        syn::Type::Ptr(pointer) => Type::Pointer(Box::new(ty(&pointer.elem))),
        syn::Type::Slice(slice) => Type::Slice(Box::new(ty(&slice.elem))),
        syn::Type::Array(array) => Type::Slice(Box::new(ty(&array.elem))),
        syn::Type::Tuple(tuple) => Type::Tuple(tuple.elems.iter().map(ty).collect()),
        syn::Type::Paren(paren) => ty(&paren.elem),
        syn::Type::Group(group) => ty(&group.elem),
        syn::Type::FnPtr(function) => Type::Function(
            function.inputs.iter().map(|input| ty(&input.ty)).collect(),
            output(&function.output).map(Box::new),
        ),
        syn::Type::ImplTrait(of) => Type::Impl(bounds(&of.bounds)),
        syn::Type::TraitObject(of) => Type::Dyn(bounds(&of.bounds)),
        syn::Type::Never(_) => Type::Never,
        _ => Type::Unknown,
    }
}

/// A function's result; `None` for the unit.
pub(super) fn output(source: &ReturnType) -> Option<Type> {
    match source {
        ReturnType::Default => None,
        ReturnType::Type(_, of) => Some(ty(of)),
    }
}

/// Trait bounds; lifetimes say nothing.
pub(super) fn bounds<'a>(source: impl IntoIterator<Item = &'a TypeParamBound>) -> Vec<Bound> {
    source
        .into_iter()
        .filter_map(|bound| match bound {
            TypeParamBound::Trait(of) => {
                Some(function_bound(&of.path).unwrap_or_else(|| Bound::Trait(path(&of.path, None))))
            }
            _ => None,
        })
        .collect()
}

fn function_bound(source: &syn::Path) -> Option<Bound> {
    match &source.segments.last()?.arguments {
        PathArguments::Parenthesized(arguments) => Some(Bound::Function(
            arguments.inputs.iter().map(|input| ty(&input.ty)).collect(),
            output(&arguments.output).map(Box::new),
        )),
        _ => None,
    }
}

/// A path.
pub(super) fn path(source: &syn::Path, qself: Option<&syn::QSelf>) -> Path {
    let first = source
        .segments
        .first()
        .map(|segment| at(segment.ident.span()))
        .unwrap_or_default();
    let last = source
        .segments
        .last()
        .map(|segment| at(segment.ident.span()))
        .unwrap_or_default();
    Path {
        is_global: source.leading_colon.is_some(),
        qself: qself.map(|qself| Box::new(ty(&qself.ty))),
        segments: source.segments.iter().map(segment).collect(),
        at: first.to(last),
    }
}

fn segment(source: &syn::PathSegment) -> Segment {
    let mut args = Vec::new();
    let mut bindings = Vec::new();
    match &source.arguments {
        PathArguments::None => {}
        PathArguments::AngleBracketed(list) => {
            for argument in &list.args {
                match argument {
                    GenericArgument::Type(of) => args.push(ty(of)),
                    GenericArgument::AssocType(binding) => {
                        bindings.push((name(&binding.ident), ty(&binding.ty)))
                    }
                    _ => {}
                }
            }
        }
        PathArguments::Parenthesized(list) => {
            args.push(Type::Tuple(
                list.inputs.iter().map(|input| ty(&input.ty)).collect(),
            ));
            bindings.extend(output(&list.output).map(|of| (Name::new("Output"), of)));
        }
    }
    Segment {
        name: name(&source.ident),
        args,
        bindings,
    }
}

/// Type parameters with their bounds.
pub(super) fn generics(source: &syn::Generics) -> Generics {
    let mut result = Generics::default();
    for param in &source.params {
        if let GenericParam::Type(param) = param {
            let name = name(&param.ident);
            result.params.push(name);
            let bounds = bounds(&param.bounds);
            if !bounds.is_empty() {
                let path = Path {
                    segments: vec![Segment {
                        name,
                        args: vec![],
                        bindings: vec![],
                    }],
                    ..Path::default()
                };
                result.bounds.push((Type::Path(path), bounds));
            }
        }
    }
    for predicate in source
        .where_clause
        .iter()
        .flat_map(|clause| &clause.predicates)
    {
        if let WherePredicate::Type(of) = predicate {
            result.bounds.push((ty(&of.bounded_ty), bounds(&of.bounds)));
        }
    }
    result
}
