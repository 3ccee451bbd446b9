//! Named templates of a chart, as far as they make names and labels: text, `if`, variables, and the functions that names are
//! made with. Whatever else stands in one makes it unknown, and then it stays the action that it is.
//!
//! Nobody knows yet under which name a chart will be installed. It is read as installed under its own name, which is what its
//! usual templates leave of both then.

use std::collections::BTreeMap;

use super::actions::Actions;
use super::values::Chart;

/// How deep templates may include each other.
const MAX_DEPTH: usize = 16;

/// How long a text may become, and how many steps all of it may take.
const MAX_TEXT: usize = 8_192;
const MAX_STEPS: usize = 4_000;

/// What stands for the namespace, which only the installation tells, until it is taken out.
const NAMESPACE: &str = "\u{1}";

/// What stands for a value that the chart does not have: it is empty, and may not be a part of the result.
const MISSING: &str = "\u{2}";

/// The templates that a chart defines, by name.
#[derive(Debug, Default)]
pub struct Helpers<'t> {
    templates: BTreeMap<&'t str, Vec<Part<'t>>>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
enum Part<'t> {
    Text(&'t str),
    Value(&'t str),
    Set(&'t str, &'t str),
    /// Conditions with what each is for; no condition: otherwise.
    If(Vec<(Option<&'t str>, Vec<Part<'t>>)>),
    /// Something that is not followed.
    Other,
}

/// An action or the text between two.
#[derive(Debug, Clone, Copy)]
enum Piece<'t> {
    Text(&'t str),
    Action(&'t str),
}

impl<'t> Helpers<'t> {
    /// Adds the templates that a file defines.
    pub fn add(&mut self, text: &'t str) {
        let pieces = pieces(text);
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            at += 1;
            let Piece::Action(action) = piece else { continue };
            if let Some(name) = action.strip_prefix("define ").and_then(quoted) {
                let (parts, next) = parts(&pieces, at, 0);
                self.templates.insert(name, parts);
                at = next + 1;
            }
        }
    }

    /// What a text with actions becomes; `None` where something in it is not known.
    pub(super) fn expand(&self, text: &str, chart: Chart<'_>) -> Option<String> {
        let pieces = pieces(text);
        let (parts, end) = parts(&pieces, 0, 0);
        let mut run = Run { helpers: self, chart, vars: BTreeMap::new(), steps: 0 };
        let out = run.all(&parts, 0).filter(|out| end == pieces.len() && !out.contains(MISSING))?;
        Some(without_namespace(&out))
    }
}

/// `orders.NAMESPACE.svc` is `orders`, wherever it is installed.
fn without_namespace(text: &str) -> String {
    let mut out = text.to_owned();
    for end in [".svc.cluster.local", ".svc", ""] {
        out = out.replace(&format!(".{NAMESPACE}{end}"), "");
    }
    out.replace(NAMESPACE, "")
}

/// The actions without their marks, comments left out, and the texts between them, cut as the marks say.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut last = 0;
    let mut cut = false;
    let holes = Actions::find(text).holes;
    for hole in holes.iter().filter(|h| text.get(h.start..).is_some_and(|t| t.starts_with("{{"))) {
        let action = text.get(hole.clone()).unwrap_or_default();
        let before = text.get(last..hole.start).unwrap_or_default();
        let before = if cut { before.trim_start() } else { before };
        let before = if action.starts_with("{{-") { before.trim_end() } else { before };
        out.push(Piece::Text(before));
        cut = action.ends_with("-}}");
        last = hole.end;
        let inner = action.trim_start_matches("{{").trim_end_matches("}}").trim_matches('-').trim();
        if !inner.starts_with("/*") {
            out.push(Piece::Action(inner));
        }
    }
    let rest = text.get(last..).unwrap_or_default();
    out.push(Piece::Text(if cut { rest.trim_start() } else { rest }));
    out
}

/// The parts from one piece to the `end` or `else` that closes them; where that stands.
fn parts<'t>(pieces: &[Piece<'t>], mut at: usize, depth: usize) -> (Vec<Part<'t>>, usize) {
    let mut out = Vec::new();
    if depth >= MAX_DEPTH {
        return (vec![Part::Other], pieces.len());
    }
    while let Some(piece) = pieces.get(at) {
        let action = match piece {
            Piece::Text("") => {
                at += 1;
                continue;
            }
            Piece::Text(text) => {
                out.push(Part::Text(text));
                at += 1;
                continue;
            }
            Piece::Action(action) => *action,
        };
        let word = action.split_whitespace().next().unwrap_or_default();
        match word {
            "end" | "else" => return (out, at),
            "if" | "with" | "range" | "define" | "block" => {
                let (part, next) = branches(pieces, at, depth);
                // The others are passed over with all that they hold.
                out.push(if word == "if" { part } else { Part::Other });
                at = next;
            }
            _ => {
                out.push(part_of(action));
                at += 1;
            }
        }
    }
    (out, at)
}

/// An `if` with its `else if` and `else`, and the piece behind its `end`.
fn branches<'t>(pieces: &[Piece<'t>], mut at: usize, depth: usize) -> (Part<'t>, usize) {
    let mut branches = Vec::new();
    while let Some(Piece::Action(action)) = pieces.get(at) {
        let condition = action.trim_start_matches("else").trim();
        let condition = condition.strip_prefix("if ").map(str::trim);
        let (inner, next) = parts(pieces, at + 1, depth + 1);
        branches.push((condition, inner));
        at = next;
        if !matches!(pieces.get(at), Some(Piece::Action(action)) if action.starts_with("else")) {
            break;
        }
    }
    (Part::If(branches), at + 1)
}

fn part_of(action: &str) -> Part<'_> {
    if let Some(rest) = action.strip_prefix('$')
        && let Some((name, value)) = rest.split_once('=')
    {
        return Part::Set(name.trim_end_matches(':').trim(), value.trim());
    }
    Part::Value(action)
}

/// One expansion.
struct Run<'r> {
    helpers: &'r Helpers<'r>,
    chart: Chart<'r>,
    vars: BTreeMap<String, String>,
    steps: usize,
}

impl Run<'_> {
    fn all(&mut self, parts: &[Part<'_>], depth: usize) -> Option<String> {
        let mut out = String::new();
        for part in parts {
            self.steps += 1;
            if self.steps > MAX_STEPS || out.len() > MAX_TEXT || depth > MAX_DEPTH {
                return None;
            }
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Value(pipeline) => out.push_str(&self.pipeline(pipeline, depth)?),
                Part::Set(name, value) => {
                    let value = self.pipeline(value, depth)?;
                    self.vars.insert((*name).to_owned(), value);
                }
                Part::If(branches) => {
                    for (condition, inner) in branches {
                        let holds = match condition {
                            Some(condition) => is_true(&self.pipeline(condition, depth)?),
                            None => true,
                        };
                        if holds {
                            out.push_str(&self.all(inner, depth + 1)?);
                            break;
                        }
                    }
                }
                Part::Other => return None,
            }
        }
        Some(out)
    }

    /// `first arg | second arg`: what comes out of one is the last argument of the next.
    fn pipeline(&mut self, text: &str, depth: usize) -> Option<String> {
        self.steps += 1;
        if depth > MAX_DEPTH || self.steps > MAX_STEPS {
            return None;
        }
        let mut value = None;
        for call in split(text, '|') {
            let words = split(call.trim(), ' ');
            let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
            value = Some(self.call(&words, value, depth)?);
        }
        value
    }

    fn call(&mut self, words: &[&str], piped: Option<String>, depth: usize) -> Option<String> {
        let (first, rest) = words.split_first()?;
        if rest.is_empty() && piped.is_none() {
            return self.term(first, depth);
        }
        if matches!(*first, "include" | "template") {
            let parts = self.helpers.templates.get(quoted(rest.first()?)?)?;
            let root = rest.get(1).is_none_or(|context| matches!(*context, "." | "$"));
            let outside = std::mem::take(&mut self.vars);
            let out = self.all(parts, depth + 1).filter(|_| root);
            self.vars = outside;
            return out;
        }
        let mut args = Vec::new();
        for word in rest {
            args.push(self.term(word, depth)?);
        }
        args.extend(piped);
        function(first, &args)
    }

    fn term(&mut self, term: &str, depth: usize) -> Option<String> {
        if let Some(inner) = term.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
            return self.pipeline(inner, depth + 1);
        }
        if let Some(text) = quoted(term) {
            return Some(text.to_owned());
        }
        if term.parse::<f64>().is_ok() || matches!(term, "true" | "false") {
            return Some(term.to_owned());
        }
        let path = term.strip_prefix('$').filter(|t| t.starts_with('.')).unwrap_or(term);
        match path {
            ".Chart.Name" => Some(self.chart.name?.to_owned()),
            ".Release.Name" => Some(self.chart.release?.to_owned()),
            ".Release.Namespace" => Some(NAMESPACE.to_owned()),
            ".Release.Service" => Some("Helm".to_owned()),
            ".Chart.Version" | ".Chart.AppVersion" => Some(String::new()),
            _ => match (path.strip_prefix(".Values."), term.strip_prefix('$')) {
                (Some(path), _) => match self.chart.value(&path.split('.').collect::<Vec<_>>()) {
                    Some(value) => value.as_str().map(str::to_owned),
                    None => Some(MISSING.to_owned()),
                },
                (None, Some(name)) => self.vars.get(name).cloned(),
                (None, None) => None,
            },
        }
    }
}

fn is_true(text: &str) -> bool {
    !matches!(text, "" | "false" | "0" | MISSING)
}

fn function(name: &str, args: &[String]) -> Option<String> {
    let truth = |holds: bool| Some(if holds { "true" } else { "" }.to_owned());
    match (name, args) {
        ("default", [otherwise, value]) => Some(if is_true(value) { value } else { otherwise }.clone()),
        ("coalesce", all) => Some(all.iter().find(|v| is_true(v)).cloned().unwrap_or_default()),
        ("ternary", [yes, no, test]) => Some(if is_true(test) { yes } else { no }.clone()),
        ("printf", [format, values @ ..]) => printf(format, values),
        ("print", all) => Some(all.concat()),
        ("contains", [part, text]) => truth(text.contains(part.as_str())),
        ("hasPrefix", [part, text]) => truth(text.starts_with(part.as_str())),
        ("hasSuffix", [part, text]) => truth(text.ends_with(part.as_str())),
        ("not" | "empty", [value]) => truth(!is_true(value)),
        ("eq", [a, b]) => truth(a.replace(MISSING, "") == b.replace(MISSING, "")),
        ("ne", [a, b]) => truth(a.replace(MISSING, "") != b.replace(MISSING, "")),
        ("and", all) => all.iter().find(|v| !is_true(v)).or(all.last()).cloned(),
        ("or", all) => all.iter().find(|v| is_true(v)).or(all.last()).cloned(),
        ("trunc", [n, text]) => Some(text.chars().take(n.parse().ok()?).collect()),
        ("trimSuffix", [end, text]) => Some(text.strip_suffix(end.as_str()).unwrap_or(text).to_owned()),
        ("trimPrefix", [start, text]) => Some(text.strip_prefix(start.as_str()).unwrap_or(text).to_owned()),
        ("replace", [from, to, text]) if !from.is_empty() => Some(text.replace(from.as_str(), to)),
        ("lower", [text]) => Some(text.to_lowercase()),
        ("upper", [text]) => Some(text.to_uppercase()),
        ("trim", [text]) => Some(text.trim().to_owned()),
        // Where these put it makes no difference here.
        ("quote" | "squote" | "toString" | "int" | "int64", [text]) | ("nindent" | "indent", [_, text]) => {
            Some(text.clone())
        }
        _ => None,
    }
}

fn printf(format: &str, values: &[String]) -> Option<String> {
    let mut out = String::new();
    let mut values = values.iter();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let verb = after.chars().next()?;
        match verb {
            's' | 'v' | 'd' => out.push_str(values.next()?),
            '%' => out.push('%'),
            _ => return None,
        }
        rest = after.get(verb.len_utf8()..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// The inside of a text in quotes.
fn quoted(term: &str) -> Option<&str> {
    let term = term.trim();
    let inside = |mark: char| term.strip_prefix(mark)?.strip_suffix(mark).filter(|t| !t.contains(mark));
    inside('"').or_else(|| inside('`'))
}

/// Splits at a sign outside of quotes and parentheses.
fn split(text: &str, at: char) -> Vec<&str> {
    let (mut out, mut start, mut depth) = (Vec::new(), 0, 0usize);
    let mut quote = None;
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, c) if c == at && depth == 0 => {
                out.extend(text.get(start..i));
                start = i + c.len_utf8();
            }
            _ => {}
        }
    }
    out.extend(text.get(start..));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, SourceFile};

    const HELPERS: &str = r#"
{{/* The name of the chart. */}}
{{- define "shop.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "shop.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "shop.selectorLabels" -}}
app.kubernetes.io/name: {{ include "shop.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "shop.turns" -}}
{{ include "shop.turns" . }}
{{- end }}

{{- define "shop.each" -}}
{{- range .Values.list }}{{ . }}{{ end }}
{{- end }}
"#;

    fn expand(values: &str, text: &str) -> Option<String> {
        let file = SourceFile { id: FileId(0), path: "values.yaml".into(), text: values.into() };
        let parsed = crate::syntax::yaml::parse(&file);
        let mut helpers = Helpers::default();
        helpers.add(HELPERS);
        let own = parsed.documents.first().map(|d| &**d);
        helpers.expand(text, Chart { own, outer: None, name: Some("shop"), release: Some("shop") })
    }

    #[test]
    fn names_as_charts_make_them() {
        for (values, text, expected) in [
            ("a: 1", r#"{{ include "shop.fullname" . }}"#, "shop"),
            ("a: 1", r#"{{ include "shop.fullname" . }}-db"#, "shop-db"),
            ("nameOverride: orders", r#"{{ include "shop.fullname" . }}"#, "shop-orders"),
            ("fullnameOverride: orders", r#"http://{{ template "shop.fullname" $ }}:80/x"#, "http://orders:80/x"),
            ("a: 1", "{{ .Release.Name }}-redis", "shop-redis"),
            ("a: 1", r#"{{ printf "%s-%s" .Release.Name "cache" | quote }}"#, "shop-cache"),
            ("a: 1", "http://db.{{ .Release.Namespace }}.svc.cluster.local", "http://db"),
            ("db: { name: main }", r#"{{ .Values.db.name | default "x" }}"#, "main"),
            ("a: 1", r#"{{ .Values.db.name | default (printf "%s-db" .Chart.Name) }}"#, "shop-db"),
            (
                "a: 1",
                r#"{{ include "shop.selectorLabels" . | nindent 4 }}"#,
                "app.kubernetes.io/name: shop\napp.kubernetes.io/instance: shop",
            ),
        ] {
            assert_eq!(expand(values, text).as_deref(), Some(expected), "{values}: {text}");
        }
    }

    #[test]
    fn what_is_not_followed_is_unknown() {
        for text in [
            r#"{{ include "shop.turns" . }}"#,
            r#"{{ include "shop.each" . }}"#,
            r#"{{ include "other.name" . }}"#,
            r#"{{ include "shop.name" .Values.x }}"#,
            "{{ randAlphaNum 5 }}",
            "{{ if .Values.x }}",
            "{{ end }}",
            "{{ . }}",
            "{{ .Values.none }}-x",
        ] {
            assert_eq!(expand("a: 1", text), None, "{text}");
        }
    }

    #[test]
    fn deep_and_wide_templates_end() {
        let deep = "{{ if .Values.a }}".repeat(5_000);
        assert_eq!(expand("a: 1", &deep), None);
        assert_eq!(expand("a: 1", &format!("{{{{ {} }}}}", "(".repeat(5_000))), None);
        let wide = "{{ .Release.Name }}".repeat(10_000);
        assert_eq!(expand("a: 1", &wide), None);
    }
}
