//! Items: functions, impls, traits, uses, constants, types, modules.

use std::sync::Arc;

use super::super::ir::{
    Const, Expr, ExprKind, Field, Function, Impl, Item, Name, Param, Pat, PatKind, Path, Struct, Ty, TyShape, Use,
};
use super::{Lowerer, name, types};

impl Lowerer<'_> {
    pub(super) fn file(&mut self, file: &syn::File) -> Vec<Item> {
        if self.leaves_out(&file.attrs) { Vec::new() } else { self.items(&file.items) }
    }

    pub(super) fn items(&mut self, items: &[syn::Item]) -> Vec<Item> {
        items.iter().flat_map(|item| self.item(item)).collect()
    }

    /// What an item comes to: nothing, one item, or several (a `use` tree, a macro that wraps items).
    pub(super) fn item(&mut self, item: &syn::Item) -> Vec<Item> {
        if self.leaves_out(attributes(item)) {
            // The file that a `mod name;` stands for is to be left out, too.
            return match item {
                syn::Item::Mod(m) if m.content.is_none() => vec![module_file(m, true)],
                _ => Vec::new(),
            };
        }
        match item {
            syn::Item::Fn(f) => {
                vec![Item::Fn(self.function(&f.attrs, Some(&f.vis), is_public(&f.vis), &f.sig, &f.block))]
            }
            syn::Item::Impl(i) => vec![Item::Impl(self.implementation(i))],
            syn::Item::Trait(t) => vec![Item::Impl(self.trait_definition(t))],
            syn::Item::Use(u) => uses(u),
            syn::Item::ExternCrate(e) => {
                let alias = e.rename.as_ref().map_or_else(|| name(&e.ident), |(_, rename)| name(rename));
                let path = Path { segments: vec![name(&e.ident)] };
                vec![Item::Use(Use { path, alias, public: is_public(&e.vis) })]
            }
            syn::Item::Const(c) => vec![Item::Const(self.constant(&c.ident, &c.ty, Some(&c.expr)))],
            syn::Item::Static(s) => vec![Item::Const(self.constant(&s.ident, &s.ty, Some(&s.expr)))],
            syn::Item::Struct(s) => vec![Item::Struct(self.structure(&s.attrs, &s.ident, s.fields.iter()))],
            syn::Item::Union(u) => {
                vec![Item::Struct(self.structure(&u.attrs, &u.ident, u.fields.named.iter()))]
            }
            syn::Item::Enum(e) => {
                vec![Item::Enum { name: name(&e.ident), variants: e.variants.iter().map(|v| name(&v.ident)).collect() }]
            }
            syn::Item::Type(t) => vec![Item::Alias { name: name(&t.ident), ty: types::ty(&t.ty) }],
            syn::Item::Mod(m) => vec![self.module(m)],
            syn::Item::Macro(m) if m.ident.is_none() => self.macro_items(&m.mac),
            _ => Vec::new(),
        }
    }

    fn module(&mut self, m: &syn::ItemMod) -> Item {
        match &m.content {
            Some((_, items)) => Item::Mod { name: name(&m.ident), items: self.items(items) },
            None => module_file(m, false),
        }
    }

    pub(super) fn constant(&mut self, ident: &syn::Ident, ty: &syn::Type, value: Option<&syn::Expr>) -> Const {
        Const {
            name: name(ident),
            span: self.span(ident.span()),
            ty: types::ty(ty),
            value: value.map(|e| self.expr(e)),
        }
    }

    fn structure<'f>(
        &mut self,
        attrs: &[syn::Attribute],
        ident: &syn::Ident,
        fields: impl Iterator<Item = &'f syn::Field>,
    ) -> Struct {
        let attributes = self.attributes(attrs);
        let fields = fields.enumerate().filter_map(|(i, f)| self.field(i, f)).collect();
        Struct {
            name: name(ident),
            fields,
            derives: attributes.derives,
            attributes: attributes.others,
            span: self.span(ident.span()),
        }
    }

    fn field(&mut self, i: usize, field: &syn::Field) -> Option<Field> {
        if self.leaves_out(&field.attrs) {
            return None;
        }
        let (name, span) = match &field.ident {
            Some(ident) => (name(ident), self.span(ident.span())),
            None => (Name::from(i.to_string()), self.span_of(&field.ty)),
        };
        Some(Field { name, ty: types::ty(&field.ty), attributes: self.attributes(&field.attrs).others, span })
    }

    fn implementation(&mut self, i: &syn::ItemImpl) -> Impl {
        let mut found = Impl {
            ty: types::ty(&i.self_ty),
            of_trait: i.trait_.as_ref().map(|(path, _)| types::path(path)),
            is_trait: false,
            functions: Vec::new(),
            consts: Vec::new(),
        };
        for item in &i.items {
            match item {
                syn::ImplItem::Fn(f) if !self.leaves_out(&f.attrs) => {
                    found.functions.push(self.function(&f.attrs, Some(&f.vis), is_public(&f.vis), &f.sig, &f.block));
                }
                syn::ImplItem::Const(c) if !self.leaves_out(&c.attrs) => {
                    found.consts.push(self.constant(&c.ident, &c.ty, Some(&c.expr)));
                }
                _ => {}
            }
        }
        found
    }

    fn trait_definition(&mut self, t: &syn::ItemTrait) -> Impl {
        let ty = Ty { path: Path { segments: vec![name(&t.ident)] }, args: Vec::new(), shape: TyShape::Path };
        let mut found = Impl { ty, of_trait: None, is_trait: true, functions: Vec::new(), consts: Vec::new() };
        let public = is_public(&t.vis);
        for item in &t.items {
            match item {
                syn::TraitItem::Fn(f) if !self.leaves_out(&f.attrs) => {
                    if let Some(body) = &f.default {
                        found.functions.push(self.function(&f.attrs, None, public, &f.sig, body));
                    }
                }
                syn::TraitItem::Const(c) if !self.leaves_out(&c.attrs) => {
                    found.consts.push(self.constant(&c.ident, &c.ty, c.default.as_ref().map(|(_, e)| e)));
                }
                _ => {}
            }
        }
        found
    }

    fn function(
        &mut self,
        attrs: &[syn::Attribute],
        vis: Option<&syn::Visibility>,
        public: bool,
        sig: &syn::Signature,
        block: &syn::Block,
    ) -> Function {
        let start = attrs.first().map_or_else(|| signature_start(vis, sig), |a| a.pound_token.span);
        let (body, is_async) = match sig.asyncness {
            Some(_) => (self.block(block, None), true),
            None => awaited(self.block(block, None)),
        };
        Function {
            name: name(&sig.ident),
            name_span: self.span(sig.ident.span()),
            span: self.between(start, block.brace_token.span.close()),
            params: sig.inputs.iter().map(|input| self.input(input)).collect(),
            ret: types::result(&sig.output),
            body,
            is_async,
            public,
            attributes: self.attributes(attrs).others,
        }
    }

    fn input(&mut self, input: &syn::FnArg) -> Param {
        match input {
            syn::FnArg::Receiver(r) => {
                let span = self.span(r.self_token.span);
                let ty = match &r.kind {
                    syn::ReceiverKind::Typed(_, ty) => Some(types::ty(ty)),
                    _ => None,
                };
                Param { pat: Pat { span, kind: PatKind::Bind { name: Name::from("self"), sub: None } }, ty }
            }
            syn::FnArg::Typed(t) => Param { pat: self.pattern(&t.pat), ty: Some(types::ty(&t.ty)) },
        }
    }
}

/// A function that gives back one async block is an async function: `Box::pin(async move { .. })`.
fn awaited(mut body: Expr) -> (Expr, bool) {
    let ExprKind::Block { tail: Some(tail), .. } = &mut *body.kind else { return (body, false) };
    let Some(inner) = async_block(tail) else { return (body, false) };
    *tail = inner;
    (body, true)
}

/// What runs in the async block that an expression is, boxed or not.
fn async_block(expr: &mut Expr) -> Option<Expr> {
    match &mut *expr.kind {
        ExprKind::Async(inner) => {
            let nothing = Expr { span: inner.span, kind: Box::new(ExprKind::Opaque) };
            Some(std::mem::replace(inner, nothing))
        }
        ExprKind::Call { callee, args } if matches!(&*callee.kind, ExprKind::Path(p) if is_boxing(p)) => {
            async_block(args.first_mut()?)
        }
        ExprKind::Method { receiver, name, .. } if matches!(&**name, "boxed" | "boxed_local") => async_block(receiver),
        _ => None,
    }
}

fn is_boxing(path: &Path) -> bool {
    matches!(path.segments.as_slice(), [.., ty, pin] if &**ty == "Box" && &**pin == "pin")
}

fn signature_start(vis: Option<&syn::Visibility>, sig: &syn::Signature) -> proc_macro2::Span {
    let vis = match vis {
        Some(syn::Visibility::Public(t)) => Some(t.span),
        Some(syn::Visibility::Restricted(r)) => Some(r.pub_token.span),
        _ => None,
    };
    let safety = match &sig.safety {
        syn::Safety::Unsafe(t) => Some(t.span),
        syn::Safety::Safe(t) => Some(t.span),
        syn::Safety::Default => None,
    };
    vis.or(sig.constness.as_ref().map(|t| t.span))
        .or(sig.asyncness.as_ref().map(|t| t.span))
        .or(safety)
        .or(sig.abi.as_ref().map(|abi| abi.extern_token.span))
        .unwrap_or(sig.fn_token.span)
}

pub(super) fn is_public(vis: &syn::Visibility) -> bool {
    !matches!(vis, syn::Visibility::Inherited)
}

/// The leaves of a `use` tree.
fn uses(item: &syn::ItemUse) -> Vec<Item> {
    let public = is_public(&item.vis);
    let mut found = Vec::new();
    let mut open: Vec<(Vec<Name>, &syn::UseTree)> = vec![(Vec::new(), &item.tree)];
    while let Some((mut prefix, tree)) = open.pop() {
        match tree {
            syn::UseTree::Path(p) => {
                prefix.push(name(&p.ident));
                open.push((prefix, &p.tree));
            }
            syn::UseTree::Group(g) => open.extend(g.items.iter().rev().map(|t| (prefix.clone(), t))),
            syn::UseTree::Glob(_) => found.push(leaf(prefix, Name::from("*"), public)),
            syn::UseTree::Name(n) => found.push(named(prefix, &n.ident, None, public)),
            syn::UseTree::Rename(r) => found.push(named(prefix, &r.ident, Some(&r.rename), public)),
        }
    }
    found
}

/// `a::{self}` brings in `a`, under that name or another.
fn named(mut prefix: Vec<Name>, ident: &syn::Ident, rename: Option<&syn::Ident>, public: bool) -> Item {
    if ident != "self" || prefix.is_empty() {
        prefix.push(name(ident));
    }
    let alias = rename.map(name).or_else(|| prefix.last().cloned()).unwrap_or_else(|| name(ident));
    leaf(prefix, alias, public)
}

fn leaf(segments: Vec<Name>, alias: Name, public: bool) -> Item {
    Item::Use(Use { path: Path { segments }, alias, public })
}

/// `mod name;`
fn module_file(m: &syn::ItemMod, test_only: bool) -> Item {
    let path = Lowerer::string_value(&m.attrs, "path").map(Arc::from);
    Item::ModFile { name: name(&m.ident), path, test_only }
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(i) => &i.attrs,
        syn::Item::Enum(i) => &i.attrs,
        syn::Item::ExternCrate(i) => &i.attrs,
        syn::Item::Fn(i) => &i.attrs,
        syn::Item::Impl(i) => &i.attrs,
        syn::Item::Macro(i) => &i.attrs,
        syn::Item::Mod(i) => &i.attrs,
        syn::Item::Static(i) => &i.attrs,
        syn::Item::Struct(i) => &i.attrs,
        syn::Item::Trait(i) => &i.attrs,
        syn::Item::Type(i) => &i.attrs,
        syn::Item::Union(i) => &i.attrs,
        syn::Item::Use(i) => &i.attrs,
        _ => &[],
    }
}
