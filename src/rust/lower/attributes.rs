//! Attributes: which code only tests compile, derives, and the text of what is left.

use syn::{Attribute, Meta};

use super::super::ir::{Name, Path};
use super::{Lowerer, name, types};

/// Attributes that make a function a test, besides those whose last segment is `test`.
const TEST_ATTRIBUTES: [&str; 8] =
    ["bench", "rstest", "test_case", "quickcheck", "wasm_bindgen_test", "proptest", "should_panic", "gtest"];

/// The attributes of an item, test conditions and documentation left out.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) derives: Vec<Name>,
    pub(super) others: Vec<(Path, String)>,
}

/// Whether a file is a test, benchmark or example by its place in the package, or a file of tests by its name.
pub fn is_test_path(path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').collect();
    let (file, folders) = segments.split_last().map_or(("", &[][..]), |(file, folders)| (*file, folders));
    if file == "tests.rs" {
        return true;
    }
    match folders.iter().rposition(|f| *f == "src") {
        Some(src) => folders.iter().skip(src).any(|f| *f == "tests"),
        None => folders.iter().any(|f| matches!(*f, "tests" | "benches" | "examples")),
    }
}

impl Lowerer<'_> {
    /// Whether code with these attributes is to be left out, for only tests compile it. Remembers that it was.
    pub(super) fn leaves_out(&mut self, attributes: &[Attribute]) -> bool {
        let out = !self.include_tests && attributes.iter().any(is_test_only);
        self.left_out |= out;
        out
    }

    /// Whether code with the conditions `second` is never compiled where that with `first` is: `feature = "a"` and
    /// `not(feature = "a")`.
    pub(super) fn exclude_each_other(&self, first: &[Attribute], second: &[Attribute]) -> bool {
        let mut known = Vec::new();
        conditions(first).iter().for_each(|c| self.assume(c, true, &mut known));
        !known.is_empty() && conditions(second).iter().any(|c| self.holds_given(c, &known) == Some(false))
    }

    /// What follows if a condition holds, or does not: texts of conditions.
    fn assume(&self, condition: &Meta, held: bool, known: &mut Vec<(String, bool)>) {
        known.push((self.text(self.span_of(condition)).to_owned(), held));
        let Meta::List(list) = condition else { return };
        let passes_on = match (list.path.get_ident().map(ToString::to_string).as_deref(), held) {
            (Some("not"), _) => Some(!held),
            (Some("all"), true) | (Some("any"), false) => Some(held),
            _ => None,
        };
        if let Some(held) = passes_on {
            nested(list).iter().for_each(|inner| self.assume(inner, held, known));
        }
    }

    fn holds_given(&self, condition: &Meta, known: &[(String, bool)]) -> Option<bool> {
        let text = self.text(self.span_of(condition));
        if let Some((_, held)) = known.iter().find(|(t, _)| t == text) {
            return Some(*held);
        }
        let Meta::List(list) = condition else { return None };
        let inner: Vec<Option<bool>> = nested(list).iter().map(|c| self.holds_given(c, known)).collect();
        match list.path.get_ident().map(ToString::to_string).as_deref() {
            Some("not") => inner.first().copied().flatten().map(|held| !held),
            Some("all") if inner.contains(&Some(false)) => Some(false),
            Some("any") if !inner.is_empty() && inner.iter().all(|c| *c == Some(false)) => Some(false),
            _ => None,
        }
    }

    pub(super) fn attributes(&self, attributes: &[Attribute]) -> Attributes {
        let mut found = Attributes::default();
        for attribute in attributes {
            self.meta(&attribute.meta, &mut found);
        }
        found
    }

    /// `cfg_attr(condition, a, b)` counts as `a` and `b`.
    fn meta(&self, meta: &Meta, found: &mut Attributes) {
        let path = meta.path();
        let is = |wanted: &str| path.is_ident(wanted);
        match meta {
            _ if is("doc") || is("cfg") => {}
            Meta::List(list) if is("cfg_attr") => {
                for inner in nested(list).iter().skip(1) {
                    self.meta(inner, found);
                }
            }
            Meta::List(list) if is("derive") => {
                found
                    .derives
                    .extend(nested(list).iter().filter_map(|m| m.path().segments.last().map(|s| name(&s.ident))));
            }
            Meta::List(list) => {
                let text = self.inside(self.span(list.delimiter.span().join()));
                found.others.push((types::path(path), text));
            }
            Meta::NameValue(pair) => {
                let value = self.span_of(&pair.value);
                found.others.push((types::path(path), self.text(value).to_owned()));
            }
            Meta::Path(_) => found.others.push((types::path(path), String::new())),
        }
    }

    /// The text between delimiters.
    fn inside(&self, span: crate::source::Span) -> String {
        let text = self.text(span);
        let mut chars = text.chars();
        chars.next();
        chars.next_back();
        chars.as_str().trim().to_owned()
    }

    /// The string of `#[path = "..."]`.
    pub(super) fn string_value(attributes: &[Attribute], wanted: &str) -> Option<String> {
        attributes.iter().find_map(|a| match &a.meta {
            Meta::NameValue(pair) if pair.path.is_ident(wanted) => match &pair.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(s), .. }) => Some(s.value()),
                _ => None,
            },
            _ => None,
        })
    }
}

fn nested(list: &syn::MetaList) -> Vec<Meta> {
    let parser = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
    list.parse_args_with(parser).map(|metas| metas.into_iter().collect()).unwrap_or_default()
}

/// The conditions of `#[cfg(..)]` among attributes.
fn conditions(attributes: &[Attribute]) -> Vec<Meta> {
    let list = |a: &Attribute| match &a.meta {
        Meta::List(list) if list.path.is_ident("cfg") => nested(list).into_iter().next(),
        _ => None,
    };
    attributes.iter().filter_map(list).collect()
}

fn is_test_only(attribute: &Attribute) -> bool {
    let path = attribute.path();
    match &attribute.meta {
        Meta::List(list) if path.is_ident("cfg") => {
            nested(list).first().is_some_and(|condition| holds(condition) == Some(false))
        }
        _ => path
            .segments
            .last()
            .is_some_and(|last| last.ident == "test" || TEST_ATTRIBUTES.iter().any(|t| last.ident == t)),
    }
}

/// Whether a `cfg` condition holds outside of tests, where that is certain.
fn holds(condition: &Meta) -> Option<bool> {
    match condition {
        Meta::Path(p) if p.is_ident("test") => Some(false),
        Meta::List(list) if list.path.is_ident("not") => holds(nested(list).first()?).map(|held| !held),
        Meta::List(list) if list.path.is_ident("all") => {
            let parts: Vec<_> = nested(list).iter().map(holds).collect();
            if parts.contains(&Some(false)) {
                Some(false)
            } else {
                parts.iter().all(|p| *p == Some(true)).then_some(true)
            }
        }
        Meta::List(list) if list.path.is_ident("any") => {
            let parts: Vec<_> = nested(list).iter().map(holds).collect();
            if parts.contains(&Some(true)) {
                Some(true)
            } else {
                parts.iter().all(|p| *p == Some(false)).then_some(false)
            }
        }
        _ => None,
    }
}
