//! Alertmanager: on what ways alerts go, and which receivers tell nobody.

use regex::Regex;

use crate::facts::{AlertRoute, AlertRoutesFact, Facts, LabelTest};
use crate::syntax::Node;
use crate::systems::objects;
use crate::systems::{System, SystemMeta, Unit, Versions};

/// Alertmanager.
pub struct Alertmanager;

pub(super) const ID: &str = "alertmanager";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Alertmanager",
    reads: "its configuration, also in the values of charts, and AlertmanagerConfig objects: routes and receivers; which \
            alerts reach nobody",
    marks: &["receiver:", "\"receiver\""],
    defaults: &[],
};

/// Routes within routes: deeper ones are not looked into.
const MAX_DEPTH: usize = 32;

impl System for Alertmanager {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, document) in unit.documents() {
            let own: Vec<&Node> = objects::of(document)
                .iter()
                .filter(|o| o.kind == "AlertmanagerConfig")
                .filter_map(|o| o.node.get("spec"))
                .collect();
            for node in document.walk() {
                if let (Some(root), Some(receivers)) = (node.get("route"), node.get("receivers"))
                    && root.get("receiver").is_some()
                {
                    let (system, silent) = (ID, silent(receivers));
                    let is_whole = !own.iter().any(|spec| std::ptr::eq(*spec, node));
                    let root = if is_whole { read(root) } else { beside(read(root)) };
                    facts.alert_routes.push(AlertRoutesFact { system, is_whole, root, silent });
                }
            }
        }
    }
}

/// The ways of one configuration.
pub(super) fn read(root: &Node) -> AlertRoute {
    route(root, MAX_DEPTH)
}

/// The ways of an object, which hold beside those of the configuration that it is put into: an alert that does not pass
/// its first tests is not on them, and what becomes of it is for others to say.
fn beside(root: AlertRoute) -> AlertRoute {
    AlertRoute { receiver: Some(String::new()), tests: Vec::new(), goes_on: true, routes: vec![root] }
}

fn route(node: &Node, depth: usize) -> AlertRoute {
    let inner = node.get("routes").map_or(&[][..], Node::items).iter();
    AlertRoute {
        receiver: node.get("receiver").and_then(Node::as_str).map(str::to_owned),
        tests: tests(node),
        goes_on: node.get("continue").is_some_and(|n| n.as_bool() != Some(false)),
        // A way that is not looked into may end anywhere.
        routes: match depth.checked_sub(1) {
            Some(depth) => inner.map(|n| route(n, depth)).collect(),
            None => inner.map(|_| unknown()).collect(),
        },
    }
}

fn unknown() -> AlertRoute {
    AlertRoute { receiver: None, tests: Vec::new(), goes_on: true, routes: Vec::new() }
}

/// `match`, `match_re`, `matchers`, `object_matchers`
fn tests(node: &Node) -> Vec<LabelTest> {
    let entries = |key: &str| node.get(key).map_or(&[][..], Node::entries).iter();
    let test = |label: &str, pattern: String| LabelTest { label: label.to_owned(), pattern, matches: true };
    let value = |n: &Node| n.as_str().unwrap_or_default().to_owned();
    let equal = entries("match").map(|e| test(&e.key, regex::escape(&value(&e.value))));
    let like = entries("match_re").map(|e| test(&e.key, value(&e.value)));
    let written = node.get("matchers").into_iter();
    let texts = written.flat_map(|n| n.as_str().into_iter().chain(n.items().iter().filter_map(|i| i.as_str())));
    let listed = |key: &str| node.get(key).map_or(&[][..], Node::items).iter();
    let of_objects = listed("matchers").filter_map(|n| object_matcher(n));
    let of_lists = listed("object_matchers").filter_map(|n| match n.items() {
        [label, sign, value] => matcher_of(label.as_str()?, sign.as_str()?, value.as_str()?),
        _ => None,
    });
    equal.chain(like).chain(texts.flat_map(matchers)).chain(of_objects).chain(of_lists).collect()
}

/// `{name: severity, value: page, matchType: "="}`, or with `regex: true`.
fn object_matcher(node: &Node) -> Option<LabelTest> {
    let is_regex = node.get("regex").and_then(Node::as_bool) == Some(true);
    let sign = node.get("matchType").and_then(Node::as_str).unwrap_or(if is_regex { "=~" } else { "=" });
    matcher_of(node.get("name")?.as_str()?, sign, node.get("value").and_then(Node::as_str).unwrap_or_default())
}

fn matcher_of(label: &str, sign: &str, value: &str) -> Option<LabelTest> {
    let (is_regex, matches) = match sign {
        "=" => (false, true),
        "!=" => (false, false),
        "=~" => (true, true),
        "!~" => (true, false),
        _ => return None,
    };
    let pattern = if is_regex { value.to_owned() } else { regex::escape(value) };
    Some(LabelTest { label: label.to_owned(), pattern, matches })
}

/// `severity="critical"`, `{severity=~"a|b", team!=x}`: a comma in quotes parts nothing.
fn matchers(text: &str) -> Vec<LabelTest> {
    let text = text.trim().trim_start_matches('{').trim_end_matches('}');
    let mut quoted = false;
    let parts = text.split(|c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    });
    parts.filter_map(matcher).collect()
}

fn matcher(text: &str) -> Option<LabelTest> {
    let at = text.find(['=', '!'])?;
    let (label, rest) = text.split_at_checked(at)?;
    let signs = [("=~", true, true), ("!~", true, false), ("!=", false, false), ("=", false, true)];
    let (value, is_regex, matches) =
        signs.into_iter().find_map(|(sign, regex, matches)| Some((rest.strip_prefix(sign)?, regex, matches)))?;
    let value = value.trim().trim_matches('"');
    let pattern = if is_regex { value.to_owned() } else { regex::escape(value) };
    Some(LabelTest { label: label.trim().trim_matches('"').to_owned(), pattern, matches })
}

/// Receivers of which nothing but the name is written.
fn silent(receivers: &Node) -> Vec<String> {
    let is_silent = |n: &Node| {
        n.entries().iter().filter(|e| &*e.key != "name").all(|e| {
            let is_of_one_kind = e.key.ends_with("_configs") || e.key.ends_with("Configs");
            e.value.is_null() || is_of_one_kind && e.value.scalar().is_none() && e.value.items().is_empty()
        })
    };
    let names = receivers.items().iter().filter(|n| is_silent(n)).filter_map(|n| n.get("name")?.as_str());
    names.map(str::to_owned).collect()
}

/// Whether alerts with these labels reach nobody, on whatever way they go. Labels that only the series have may be
/// anything.
fn reach_nobody(routes: &AlertRoutesFact, labels: &[(String, Option<String>)]) -> bool {
    let mut ends = Vec::new();
    follow(&routes.root, labels, &mut ends);
    let is_silent = |end: &Option<&str>| {
        end.is_some_and(|name| !routes.is_whole && name.is_empty() || routes.silent.iter().any(|s| s == name))
    };
    !ends.is_empty() && ends.iter().all(is_silent)
}

/// Whether alerts of a system with these labels reach nobody, as far as all of its ways are known.
pub(super) fn reach_nobody_at_all(all: &[AlertRoutesFact], system: &str, labels: &[(String, Option<String>)]) -> bool {
    let mut own = all.iter().filter(|r| r.system == system).peekable();
    own.peek().is_some()
        && all.iter().any(|r| r.system == system && r.is_whole)
        && own.all(|routes| reach_nobody(routes, labels))
}

/// Adds where an alert may end that has come this far.
fn follow<'r>(route: &'r AlertRoute, labels: &[(String, Option<String>)], ends: &mut Vec<Option<&'r str>>) {
    let mut is_taken = false;
    for inner in &route.routes {
        let passes = passes_all(&inner.tests, labels);
        if passes == Some(false) {
            continue;
        }
        let from = ends.len();
        follow(inner, labels, ends);
        // A branch without a receiver of its own has that of the way it is on.
        let own = route.receiver.as_deref();
        ends.iter_mut().skip(from).for_each(|end| *end = end.or(own));
        is_taken |= passes == Some(true);
        if passes == Some(true) && !inner.goes_on {
            return;
        }
    }
    if !is_taken {
        ends.push(route.receiver.as_deref());
    }
}

/// Whether every label passes; `None`: it hangs on one that is not known.
fn passes_all(tests: &[LabelTest], labels: &[(String, Option<String>)]) -> Option<bool> {
    let found: Vec<Option<bool>> = tests.iter().map(|test| passes(test, labels)).collect();
    if found.contains(&Some(false)) {
        return Some(false);
    }
    (!found.contains(&None)).then_some(true)
}

/// Whether a label passes; `None`: its value is not known.
fn passes(test: &LabelTest, labels: &[(String, Option<String>)]) -> Option<bool> {
    let (_, value) = labels.iter().find(|(name, _)| *name == test.label)?;
    let regex = Regex::new(&format!("^(?s:{})$", test.pattern)).ok()?;
    Some(regex.is_match(value.as_deref()?) == test.matches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, SourceFile};

    const CONFIG: &str = "
route:
  receiver: 'null'
  routes:
    - matchers: ['severity=~\"critical|page\"', team != ops]
      receiver: pager
    - match: {severity: info}
      receiver: quiet
      continue: true
    - match_re: {alertname: Dlq.*}
      routes: [{receiver: pager, match: {namespace: prod}}]
receivers:
  - name: 'null'
  - {name: quiet, email_configs: []}
  - {name: pager, pagerduty_configs: [{service_key: x}]}
";

    fn nobody(labels: &[(&str, Option<&str>)]) -> bool {
        let file = SourceFile { id: FileId(0), path: "alertmanager.yml".into(), text: CONFIG.into() };
        let parsed = crate::syntax::yaml::parse(&file);
        let node = &parsed.documents[0];
        let routes = AlertRoutesFact {
            system: ID,
            is_whole: true,
            root: route(node.get("route").unwrap(), MAX_DEPTH),
            silent: silent(node.get("receivers").unwrap()),
        };
        let labels: Vec<_> = labels.iter().map(|(n, v)| ((*n).to_owned(), v.map(str::to_owned))).collect();
        reach_nobody(&routes, &labels)
    }

    #[test]
    fn ways() {
        let of = |severity, team, name| [("severity", severity), ("team", team), ("alertname", name)];
        let (critical, info) = (Some("critical"), Some("info"));
        assert!(nobody(&of(Some("warning"), Some("shop"), Some("Deep"))));
        assert!(nobody(&of(critical, Some("ops"), Some("Deep"))));
        assert!(nobody(&of(info, Some("shop"), Some("Deep"))), "a receiver whose list is empty");
        assert!(!nobody(&of(critical, Some("shop"), Some("Deep"))));
        assert!(!nobody(&of(None, Some("shop"), Some("Deep"))), "a severity that is worked out");
        assert!(!nobody(&of(Some("warning"), Some("shop"), Some("DlqDeep"))), "the namespace is not known");
        assert!(!nobody(&[("alertname", Some("Deep"))]), "the severity may come from the series");
    }

    #[test]
    fn tests_as_objects_and_lists() {
        let text = "a: {matchers: [{name: a, value: b}, {name: c, value: d.*, regex: true}, {name: e, value: f, matchType: '!='}], \
                    object_matchers: [[g, '=~', 'h|i'], [j, '!', k]]}";
        let file = SourceFile { id: FileId(0), path: "a.yaml".into(), text: text.into() };
        let parsed = crate::syntax::yaml::parse(&file);
        let found = tests(parsed.documents[0].get("a").unwrap());
        let shown: Vec<_> = found.iter().map(|t| (t.label.as_str(), t.pattern.as_str(), t.matches)).collect();
        assert_eq!(shown, [("a", "b", true), ("c", "d.*", true), ("e", "f", false), ("g", "h|i", true)]);
    }

    #[test]
    fn matchers_of_every_form() {
        let found = matchers("{severity=\"a,b\", team!~x|y , z = 1}");
        let shown: Vec<_> = found.iter().map(|t| (t.label.as_str(), t.pattern.as_str(), t.matches)).collect();
        assert_eq!(shown, [("severity", "a,b", true), ("team", "x|y", false), ("z", "1", true)]);
        assert_eq!(matchers(""), []);
    }
}
