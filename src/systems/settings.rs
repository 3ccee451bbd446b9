//! What the systems share in reading settings: counts, durations, hosts, lists in a string, and where things open.

use std::borrow::Cow;
use std::time::Duration;

use crate::model::{Attempts, HostRef, Setting};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};

/// Where an entry of a list, or a block, opens: its first key, with the value where both stand on one line; the brace,
/// where the first key stands below it; the whole `[[name]]` of a table.
pub(super) fn opening(file: &SourceFile, node: &Node) -> Span {
    let first = node.entries().iter().find(|e| node.span.contains(e.key_span));
    let line = |a: u32, b: u32| file.text.get(a as usize..b as usize).is_some_and(|t| !t.contains('\n'));
    let head = file.text.get(node.span.start as usize..).and_then(|t| t.lines().next()).unwrap_or_default();
    match first {
        Some(_) if head.starts_with('[') => {
            let length = head.rfind(']').map_or(1, |at| at + 1);
            Span::new(node.span.file, node.span.start as usize, node.span.start as usize + length)
        }
        Some(e) if !line(node.span.start, e.key_span.start) => Span { end: node.span.start + 1, ..node.span },
        Some(e) if e.value.scalar().is_some() && line(e.key_span.start, e.value.span.end) => node.span_to(e.value.span),
        Some(e) => node.span_to(e.key_span),
        None => node.span,
    }
}

impl Node {
    fn span_to(&self, last: Span) -> Span {
        Span { end: last.end, ..self.span }
    }
}

/// A count of retries, as attempts: one more. A number that is not whole, or a template, is unknown.
pub(super) fn retries(entry: &Entry) -> Setting<Attempts> {
    let span = entry.value.span;
    match entry.value.as_int() {
        Some(n) => Setting::written(Attempts::Count(u64::try_from(n).unwrap_or(0).saturating_add(1)), span),
        None => Setting::unknown(not_a_number(entry), Some(span)),
    }
}

fn not_a_number(entry: &Entry) -> String {
    match entry.value.as_str() {
        Some(text) if is_template(text) => {
            format!("comes from the placeholder {}", shown(text))
        }
        _ => format!("`{}` is not a whole number here", shown(&entry.key)),
    }
}

/// What somebody wrote, as a message shows it: values can be of any length, and of a long one the beginning tells which
/// it is.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// In characters.
const MAX_SHOWN: usize = 80;

/// The last part of a key that may be dotted: `max-attempts`.
pub(super) fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// `key: value` as it is read in a label: "`retries: 3`".
pub(super) fn quote(entry: &Entry) -> String {
    quote_as(entry, ": ")
}

/// As [`quote`], with what stands between a key and its value.
pub(super) fn quote_as(entry: &Entry, sets: &str) -> String {
    format!("`{}{sets}{}`", shown(&entry.key), shown(entry.value.as_str().unwrap_or_default()))
}

/// A written duration; zero is none (`0s` lifts a limit).
pub(super) fn limit(node: &Node, parse: impl Fn(&Node) -> Option<Duration>) -> Option<Setting<Duration>> {
    match parse(node) {
        Some(d) if d.is_zero() => None,
        Some(d) => Some(Setting::written(d, node.span)),
        None => Some(Setting::unknown(not_a_duration(node), Some(node.span))),
    }
}

fn not_a_duration(node: &Node) -> String {
    match node.as_str().filter(|text| is_template(text)) {
        Some(text) => format!("comes from the placeholder {}", shown(text)),
        None => "not a duration".to_string(),
    }
}

/// Whether a part of a text is put in later.
pub(super) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("${")
}

/// Lists of conditions are short; longer ones are cut off, since many routes can share one.
pub(super) const MAX_LIST: usize = 1000;

/// The parts of a comma list, blanks trimmed, empty ones left out, each with its own place where the text stands in
/// the file as it is; else with that of the whole.
pub(super) fn list(node: &Node) -> Vec<(&str, Span)> {
    let Some(scalar) = node.scalar().filter(|_| !node.is_null()) else { return Vec::new() };
    let mut at = 0;
    let mut parts = Vec::new();
    for raw in scalar.text.split(',').take(MAX_LIST) {
        let part = raw.trim();
        let start = at + (raw.len() - raw.trim_start().len());
        at += raw.len() + 1;
        if !part.is_empty() {
            parts.push((part, within(node, start..start + part.len())));
        }
    }
    parts
}

/// The place of a byte range of a scalar's text, where the text stands in the file as it is; else that of the scalar.
pub(super) fn within(node: &Node, range: std::ops::Range<usize>) -> Span {
    match node.scalar().and_then(|s| s.verbatim) {
        Some(offset) => Span::new(node.span.file, offset as usize + range.start, offset as usize + range.end),
        None => node.span,
    }
}

/// The host of `scheme://user@host:port/path`, `host:port` or `host`. `None` where there is none, or a template in it.
pub(super) fn host(text: &str, span: Span, namespace: Option<&str>) -> Option<HostRef> {
    let text = text.trim();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if !name.ends_with(':') && port.parse::<u16>().is_ok() => (name, port.parse().ok()),
        _ => (authority, None),
    };
    let name = name.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    let usual = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '|');
    (!name.is_empty() && name.chars().all(usual)).then(|| HostRef {
        name,
        port,
        namespace: namespace.map(str::to_string),
        span,
    })
}

/// Hosts without repetitions, the first of each kept.
pub(super) fn distinct(hosts: impl IntoIterator<Item = HostRef>) -> Vec<HostRef> {
    let mut seen = std::collections::BTreeSet::new();
    hosts.into_iter().filter(|h| seen.insert((h.name.clone(), h.port, h.namespace.clone()))).collect()
}

/// Whether a host is written as an address.
pub(super) fn is_address(name: &str) -> bool {
    name.parse::<std::net::IpAddr>().is_ok()
}

/// `path` seen from the folder of `file`, without `./` and `..`: `deploy/compose.yaml` and `../web` give `web`.
/// `None` for what leaves the working directory, absolute paths and variables.
pub(super) fn beside(file: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '~', '$']) || path.contains("://") || path.contains('$') {
        return None;
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Names made unique: a second `orders` becomes `orders#2`.
#[derive(Debug, Default)]
pub(super) struct Ids(std::collections::BTreeMap<String, u32>);

impl Ids {
    /// The id for this name.
    pub(super) fn next(&mut self, name: String) -> std::sync::Arc<str> {
        let n = self.0.entry(name.clone()).or_default();
        *n += 1;
        if *n == 1 { name.into() } else { format!("{name}#{n}").into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn hosts() {
        let at = Span::start_of(FileId(0));
        let name = |text| host(text, at, None).map(|h| (h.name, h.port));
        assert_eq!(name("http://Orders.shop:8080/v1?x"), Some(("orders.shop".into(), Some(8080))));
        assert_eq!(name("orders"), Some(("orders".into(), None)));
        assert_eq!(name("tcp://u:p@db:5432"), Some(("db".into(), Some(5432))));
        assert_eq!(name("[::1]:80"), Some(("::1".into(), Some(80))));
        assert_eq!(name("http://${HOST}:80"), None);
        assert_eq!(name("http://"), None);
    }

    #[test]
    fn long_values_are_shown_by_their_beginning() {
        let written = "é".repeat(MAX_SHOWN);
        assert_eq!(shown(&written), written);
        assert_eq!(shown(&format!("{written}{written}")), format!("{written}…"));
        for value in ["a ", "{{ a }} ", "${A} "] {
            let text = format!("retries: \"{}\"\n", value.repeat(100_000));
            let file = SourceFile { id: FileId(0), path: "a.yaml".into(), text: text.into() };
            let parsed = crate::syntax::yaml::parse(&file);
            let entry = parsed.documents[0].entry("retries").unwrap();
            let Setting::Unknown { why, .. } = retries(entry) else { panic!("a count") };
            assert!(why.len() < 200 && quote(entry).len() < 200, "{why}");
        }
    }

    #[test]
    fn paths_beside_a_file() {
        assert_eq!(beside("deploy/compose.yaml", "./envoy.yaml").as_deref(), Some("deploy/envoy.yaml"));
        assert_eq!(beside("deploy/compose.yaml", "..").as_deref(), Some(""));
        assert_eq!(beside("compose.yaml", "../web"), None);
        assert_eq!(beside("compose.yaml", "/etc/hosts"), None);
        assert_eq!(beside("compose.yaml", "${DIR}/x"), None);
    }
}
