//! `lb_retry_match`: which requests, and since 2.11.3 which answers, are tried again.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::{Conditions, Methods, Mode, ModeSet, Pick};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
use crate::systems::{settings, status_tests};

/// Sets of matchers: one of them must hold, and all in it.
pub(super) struct Matchers {
    pub span: Span,
    pub sets: Vec<Vec<Matcher>>,
}

/// One matcher.
pub(super) enum Matcher {
    /// These methods.
    Methods { methods: Vec<String>, span: Span },
    /// An expression over request and answer.
    Expression { text: String, span: Span },
    /// Anything else about the request.
    Other,
}

impl Matcher {
    /// As a Caddyfile writes it.
    pub(super) fn of_words(name: &str, words: &[&Node]) -> Self {
        let span = words.first().map(|n| n.span);
        let texts: Vec<&str> = words.iter().take(settings::MAX_LIST).filter_map(|n| n.as_str()).collect();
        match (name, span) {
            ("method", Some(span)) => Self::Methods { methods: upper(&texts), span },
            ("expression", Some(span)) => Self::Expression { text: texts.join(" "), span },
            _ => Self::Other,
        }
    }

    /// As JSON writes it.
    pub(super) fn of_entry(entry: &Entry) -> Self {
        match &*entry.key {
            "method" => {
                let texts: Vec<&str> = entry.value.items().iter().filter_map(|n| n.as_str()).collect();
                Self::Methods { methods: upper(&texts), span: entry.key_span }
            }
            "expression" => {
                let node = entry.value.get("expr").unwrap_or(&entry.value);
                Self::Expression { text: node.as_str().unwrap_or_default().to_string(), span: node.span }
            }
            _ => Self::Other,
        }
    }
}

fn upper(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|t| t.to_uppercase()).collect()
}

/// What is tried again: a connection that fails always; what was sent, of GET only, unless matchers say otherwise.
pub(super) fn read(matchers: Option<&Matchers>, opens: Span) -> (Conditions, Methods) {
    let refused: ModeSet = [Mode::Refused].into_iter().collect();
    let default = |modes: ModeSet| Pick { modes, span: opens, text: "the default".to_string() };
    let Some(matchers) = matchers.filter(|m| !m.sets.is_empty()) else {
        let modes = ModeSet::transport();
        let conditions = Conditions { yes: modes, picks: vec![default(modes)], ..Conditions::default() };
        return (conditions, Methods::Only(vec!["GET".to_string()]));
    };
    let mut out = Conditions { yes: refused, picks: vec![default(refused)], ..Conditions::default() };
    let mut methods: Option<(Vec<String>, Span)> = Some((Vec::new(), matchers.span));
    for set in &matchers.sets {
        let mut named = None;
        let mut expressions = Vec::new();
        for matcher in set {
            match matcher {
                Matcher::Methods { methods, span } => named = Some((methods, *span)),
                Matcher::Expression { text, span } => expressions.push((text, *span)),
                Matcher::Other => {}
            }
        }
        for (text, span) in &expressions {
            let (modes, unknown) = of_expression(text);
            out.yes = out.yes.union(modes);
            out.unknown = out.unknown.union(unknown);
            let text = format!("`{}`", settings::shown(text));
            out.picks.push(Pick { modes, span: *span, text });
        }
        if expressions.is_empty() {
            let modes = ModeSet::transport();
            out.yes = out.yes.union(modes);
            out.picks.push(Pick { modes, span: matchers.span, text: "`lb_retry_match`".to_string() });
        }
        // A set that names no methods takes any.
        methods = match (methods, named) {
            (Some((mut all, span)), Some((more, at))) => {
                let span = if all.is_empty() { at } else { span };
                all.extend(more.iter().cloned());
                Some((all, span))
            }
            _ => None,
        };
    }
    let methods = match methods {
        Some((methods, span)) => Methods::Written { methods, span },
        None => base::all_methods(matchers.span),
    };
    (out, methods)
}

static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\{(?:http\.reverse_proxy|rp)\.status_code\}\s*(==|!=|>=|<=|>|<|in)\s*(\[[0-9,\s]*\]|[0-9]{1,5})").ok()
});

/// The modes for which an expression is true, and those for which it may be.
fn of_expression(text: &str) -> (ModeSet, ModeSet) {
    status_tests::alternatives(text, of_test)
}

fn of_test(test: &str) -> Option<ModeSet> {
    if test.contains("is_transport_error}") {
        return (!test.contains('!')).then(ModeSet::transport);
    }
    let found = STATUS.as_ref()?.captures(test)?;
    let numbers = status_tests::numbers(found.get(2)?.as_str());
    (!numbers.is_empty()).then(|| status_tests::compared(found.get(1).map_or("", |m| m.as_str()), &numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        for (text, yes, unknown) in [
            ("{rp.status_code} in [429, 503]", "429 503", ""),
            ("{rp.is_transport_error} || {rp.status_code} == 503", "refused timeout 503", ""),
            ("{http.reverse_proxy.status_code} >= 500 && {rp.status_code} != 501", "500 502-599", ""),
            ("{rp.header.X-Retry} == \"1\"", "", "refused timeout 4xx 5xx"),
            ("{rp.status_code} > 502 && {rp.header.X} == \"1\"", "", "503-599"),
        ] {
            let (a, b) = of_expression(text);
            assert_eq!((a.names().join(" "), b.names().join(" ")), (yes.to_string(), unknown.to_string()), "{text}");
        }
    }
}
