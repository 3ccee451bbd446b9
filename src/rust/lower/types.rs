//! Paths and types.

use syn::punctuated::Punctuated;
use syn::{GenericArgument, PathArguments, ReturnType, Type, TypeParamBound};

use super::super::ir::{Path, Ty, TyShape};
use super::name;

/// Traits that say nothing about what a value does.
const MARKERS: [&str; 4] = ["Send", "Sync", "Unpin", "Sized"];

pub(super) fn path(path: &syn::Path) -> Path {
    Path { segments: path.segments.iter().map(|s| name(&s.ident)).collect() }
}

/// `<T as Trait>::f` gives `T`'s path and what follows the trait.
pub(super) fn qualified_path(qself: &Option<syn::QSelf>, whole: &syn::Path) -> Path {
    let Some(qself) = qself else { return path(whole) };
    let mut segments = ty(&qself.ty).path.segments;
    segments.extend(whole.segments.iter().skip(qself.position).map(|s| name(&s.ident)));
    Path { segments }
}

pub(super) fn ty(ty: &Type) -> Ty {
    match ty {
        Type::Path(p) => Ty {
            path: qualified_path(&p.qself, &p.path),
            args: p.path.segments.last().map(|s| segment_args(&s.arguments)).unwrap_or_default(),
            shape: TyShape::Path,
        },
        Type::Reference(r) => self::ty(&r.elem),
        Type::Paren(p) => self::ty(&p.elem),
        Type::Group(g) => self::ty(&g.elem),
        Type::Tuple(t) => unnamed(TyShape::Tuple, t.elems.iter().map(self::ty).collect()),
        Type::Slice(s) => unnamed(TyShape::List, vec![self::ty(&s.elem)]),
        Type::Array(a) => unnamed(TyShape::List, vec![self::ty(&a.elem)]),
        Type::TraitObject(t) => bounds(TyShape::Dyn, &t.bounds),
        Type::ImplTrait(t) => bounds(TyShape::Impl, &t.bounds),
        Type::Ptr(p) => unnamed(TyShape::Other, vec![self::ty(&p.elem)]),
        Type::FnPtr(f) => {
            let inputs = f.inputs.iter().map(|i| self::ty(&i.ty));
            unnamed(TyShape::Other, inputs.chain(result(&f.output)).collect())
        }
        _ => unnamed(TyShape::Other, Vec::new()),
    }
}

/// The type after `->`; none for `()`.
pub(super) fn result(output: &ReturnType) -> Option<Ty> {
    let ReturnType::Type(_, returned) = output else { return None };
    let is_unit = matches!(&**returned, Type::Tuple(t) if t.elems.is_empty());
    (!is_unit).then(|| ty(returned))
}

/// The types among generic arguments.
pub(super) fn generic_args(args: &Punctuated<GenericArgument, syn::Token![,]>) -> Vec<Ty> {
    args.iter()
        .filter_map(|arg| match arg {
            GenericArgument::Type(t) => Some(ty(t)),
            GenericArgument::AssocType(a) => Some(ty(&a.ty)),
            GenericArgument::Constraint(c) => Some(bounds(TyShape::Impl, &c.bounds)),
            _ => None,
        })
        .collect()
}

fn segment_args(args: &PathArguments) -> Vec<Ty> {
    match args {
        PathArguments::None => Vec::new(),
        PathArguments::AngleBracketed(a) => generic_args(&a.args),
        PathArguments::Parenthesized(p) => p.inputs.iter().map(|i| ty(&i.ty)).chain(result(&p.output)).collect(),
    }
}

/// The first trait that is not a marker stands for the bounds.
fn bounds(shape: TyShape, bounds: &Punctuated<TypeParamBound, syn::Token![+]>) -> Ty {
    let traits = || {
        bounds.iter().filter_map(|b| match b {
            TypeParamBound::Trait(t) => t.path.segments.last().map(|last| (&t.path, last)),
            _ => None,
        })
    };
    let chosen = traits().find(|(_, last)| MARKERS.iter().all(|m| last.ident != m)).or_else(|| traits().next());
    match chosen {
        Some((p, last)) => Ty { path: path(p), args: segment_args(&last.arguments), shape },
        None => unnamed(shape, Vec::new()),
    }
}

fn unnamed(shape: TyShape, args: Vec<Ty>) -> Ty {
    Ty { path: Path { segments: Vec::new() }, args, shape }
}
