//! From the tree of a `retrylint.toml` to a [`Config`]; everything that is wrong is collected, nothing is guessed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use super::keys::{Key, Kind, keys_of};
use super::problem::Problem;
use super::{Config, PathLevels, RuleLevel, ServiceConfig, globs};
use crate::rules::Severity;
use crate::source::Span;
use crate::suggest::closest;
use crate::syntax::{Entry, Node, Parsed, Value};
use crate::systems::Version;

/// The names that a configuration may use.
#[derive(Debug, Clone)]
pub struct Names {
    /// Rules.
    pub rules: Vec<&'static str>,
    /// Systems.
    pub systems: Vec<&'static str>,
}

impl Names {
    /// The names of all rules and systems.
    pub fn all() -> Self {
        Self {
            rules: crate::rules::all().iter().map(|rule| rule.meta().id).collect(),
            systems: crate::system_metas().map(|meta| meta.id).collect(),
        }
    }
}

/// Reads a configuration. The error holds everything that is wrong with it, in the order of the file.
pub fn read(parsed: &Parsed, names: &Names) -> Result<Config, Vec<Problem>> {
    let mut reader = Reader { names, problems: parsed.errors.iter().map(syntax_problem).collect() };
    let mut config = Config::default();
    // Where the syntax is broken the tree is a remnant: what it lacks was perhaps written.
    if let (true, Some(root)) = (reader.problems.is_empty(), parsed.documents.first()) {
        reader.top(root, &mut config);
    }
    reader.problems.sort_by_key(|p| (p.range.start, p.range.end));
    if reader.problems.is_empty() { Ok(config) } else { Err(reader.problems) }
}

fn syntax_problem(error: &crate::syntax::SyntaxError) -> Problem {
    Problem { range: error.span.range(), message: error.message.clone(), label: "not TOML".to_owned(), help: None }
}

pub(super) struct Reader<'a> {
    names: &'a Names,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn top(&mut self, root: &Node, config: &mut Config) {
        for (key, entry) in self.entries(root, "") {
            let value = &*entry.value;
            match key.name {
                "max-amplification" => set(&mut config.max_amplification, self.count(value, key)),
                "fail-on" => set(&mut config.fail_on, self.fail_on(value, key)),
                "notes" => set(&mut config.notes, self.flag(value, key)),
                "strict" => set(&mut config.strict, self.flag(value, key)),
                "include-tests" => set(&mut config.include_tests, self.flag(value, key)),
                "include-generated" => set(&mut config.include_generated, self.flag(value, key)),
                "exclude" => config.exclude = self.globs(value, key),
                "baseline" => config.baseline = self.text(value, key).map(PathBuf::from),
                "rules" => config.levels = self.levels(value, key),
                "override" => config.overrides = self.tables(entry, key, Self::path_levels),
                "service" => {
                    config.services = self.tables(entry, key, Self::service);
                    self.twice(&config.services);
                }
                "helper" => config.helpers = self.tables(entry, key, Self::helper),
                "system" => config.own_systems = self.tables(entry, key, Self::own_system),
                "redelivery" => config.redelivery_window = self.redelivery(value, key),
                "systems" => self.versions(value, key, config),
                _ => {}
            }
        }
    }

    fn redelivery(&mut self, node: &Node, key: &Key) -> Option<(Duration, Span)> {
        if !matches!(node.value, Value::Map(_)) {
            self.wrong(node, key);
            return None;
        }
        let mut window = None;
        for (key, entry) in self.entries(node, "redelivery") {
            let value = &*entry.value;
            let read = quoted(value).and_then(span_of_time);
            window = self.or_wrong(read, value, key).map(|read| (read, value.span));
        }
        window
    }

    fn path_levels(&mut self, entry: &Entry, node: &Node) -> Option<PathLevels> {
        let mut read = PathLevels { paths: Vec::new(), levels: Vec::new() };
        for (key, entry) in self.entries(node, "override") {
            match key.name {
                "paths" => read.paths = self.globs(&entry.value, key),
                "rules" => read.levels = self.levels(&entry.value, key),
                _ => {}
            }
        }
        self.required(entry, node, "override").then_some(read)
    }

    fn service(&mut self, entry: &Entry, node: &Node) -> Option<ServiceConfig> {
        let mut read =
            ServiceConfig { name: String::new(), paths: vec![], hosts: vec![], calls: vec![], span: Some(node.span) };
        for (key, entry) in self.entries(node, "service") {
            let value = &*entry.value;
            match key.name {
                "name" => {
                    read.span = Some(value.span);
                    set(&mut read.name, self.text(value, key));
                }
                "paths" => read.paths = self.globs(value, key),
                "hosts" => read.hosts = self.texts(value, key).into_iter().map(|(text, _)| text).collect(),
                "calls" => read.calls = self.texts(value, key).into_iter().map(|(text, _)| text).collect(),
                _ => {}
            }
        }
        self.required(entry, node, "service").then_some(read)
    }

    /// Whether a name is that of a known system.
    pub(super) fn knows_system(&self, name: &str) -> bool {
        self.names.systems.contains(&name)
    }

    fn twice(&mut self, services: &[ServiceConfig]) {
        let mut seen = BTreeSet::new();
        for service in services.iter().filter(|s| !s.name.is_empty()) {
            if !seen.insert(&*service.name) {
                let range = service.span.map_or(0..0, |s| s.range());
                self.problem(range, format!("two services named `{}`", service.name), "the second one", None);
            }
        }
    }

    /// The entries of a table that are known; the others are problems.
    pub(super) fn entries<'n>(&mut self, node: &'n Node, table: &'static str) -> Vec<(&'static Key, &'n Entry)> {
        let mut known = Vec::new();
        for entry in node.entries() {
            match keys_of(table).find(|key| key.name == &*entry.key) {
                Some(key) => known.push((key, entry)),
                None => self.unknown("key", entry, keys_of(table).map(|key| key.name)),
            }
        }
        known
    }

    fn unknown(&mut self, what: &str, entry: &Entry, known: impl IntoIterator<Item = &'static str>) {
        let known: Vec<_> = known.into_iter().collect();
        let help = match closest(&entry.key, known.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None if what == "rule" => "`retrylint rules` lists all rules".to_owned(),
            None if what == "system" => "`retrylint systems` lists all systems".to_owned(),
            None => format!("known here: {}", known.join(", ")),
        };
        let message = format!("unknown {what} `{}`", entry.key);
        self.problem(entry.key_span.range(), message, "nothing has this name", Some(help));
    }

    /// Whether every key of the table without a default is there; what is missing is a problem.
    pub(super) fn required(&mut self, entry: &Entry, node: &Node, table: &'static str) -> bool {
        let missing: Vec<_> =
            keys_of(table).filter(|key| key.default.is_empty() && node.get(key.name).is_none()).collect();
        for key in &missing {
            let message = format!("`[[{table}]]` without `{}`", key.name);
            let help = format!("add `{} = …`: {}", key.name, key.kind.words());
            // The table's own span, where it has one; its header names the place in any case.
            let range = if node.span.range().is_empty() { entry.key_span.range() } else { node.span.range() };
            self.problem(range, message, "this one", Some(help));
        }
        missing.is_empty()
    }

    fn tables<T>(
        &mut self,
        entry: &Entry,
        key: &Key,
        mut read: impl FnMut(&mut Self, &Entry, &Node) -> Option<T>,
    ) -> Vec<T> {
        let Value::List(items) = &entry.value.value else {
            let help = format!("write `[[{}]]`: there can be several", key.name);
            self.problem(entry.key_span.range(), format!("`{}` is not a list of tables", key.name), "", Some(help));
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            match item.value {
                Value::Map(_) => tables.extend(read(self, entry, item)),
                _ => self.wrong(item, key),
            }
        }
        tables
    }

    pub(super) fn count(&mut self, node: &Node, key: &Key) -> Option<u64> {
        let number = unquoted(node).and_then(|_| node.as_int()).and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
        self.or_wrong(number, node, key)
    }

    pub(super) fn flag(&mut self, node: &Node, key: &Key) -> Option<bool> {
        let flag = unquoted(node).and_then(|_| node.as_bool());
        self.or_wrong(flag, node, key)
    }

    pub(super) fn text(&mut self, node: &Node, key: &Key) -> Option<String> {
        let text = quoted(node).filter(|text| !text.trim().is_empty()).map(str::to_owned);
        self.or_wrong(text, node, key)
    }

    fn texts(&mut self, node: &Node, key: &Key) -> Vec<(String, Range<usize>)> {
        let Value::List(items) = &node.value else {
            self.wrong(node, key);
            return Vec::new();
        };
        items.iter().filter_map(|item| Some((self.text(item, key)?, item.span.range()))).collect()
    }

    pub(super) fn globs(&mut self, node: &Node, key: &Key) -> Vec<String> {
        let mut globs = Vec::new();
        for (glob, range) in self.texts(node, key) {
            if let Some(trouble) = globs::trouble(&glob) {
                self.problem(range, format!("`{glob}` is not a glob"), trouble, None);
            } else {
                globs.push(glob);
            }
        }
        globs
    }

    fn fail_on(&mut self, node: &Node, key: &Key) -> Option<Option<Severity>> {
        let level = quoted(node).and_then(|text| if text == "never" { Some(None) } else { severity(text).map(Some) });
        self.or_wrong(level, node, key)
    }

    fn levels(&mut self, node: &Node, key: &Key) -> Vec<RuleLevel> {
        let Value::Map(entries) = &node.value else {
            self.wrong(node, key);
            return Vec::new();
        };
        let mut levels = Vec::new();
        for entry in entries {
            if !self.names.rules.contains(&&*entry.key) {
                self.unknown("rule", entry, self.names.rules.clone());
                continue;
            }
            match quoted(&entry.value)
                .and_then(|text| if text == "off" { Some(None) } else { severity(text).map(Some) })
            {
                Some(level) => levels.push(RuleLevel { rule: entry.key.to_string(), level }),
                None => {
                    let message = format!("`{}` has no such level", entry.key);
                    let label = "expected \"error\", \"warning\", \"note\" or \"off\"";
                    let word = entry.value.as_str().unwrap_or("");
                    let help =
                        closest(word, ["error", "warning", "note", "off"]).map(|w| format!("did you mean \"{w}\"?"));
                    self.problem(entry.value.span.range(), message, label, help);
                }
            }
        }
        levels
    }

    fn versions(&mut self, node: &Node, key: &Key, config: &mut Config) {
        let Value::Map(entries) = &node.value else {
            self.wrong(node, key);
            return;
        };
        for entry in entries {
            if !self.names.systems.contains(&&*entry.key) {
                self.unknown("system", entry, self.names.systems.clone());
                continue;
            }
            match quoted(&entry.value).and_then(version) {
                Some(version) => drop(config.versions.0.insert(entry.key.to_string(), version)),
                None => {
                    let message = format!("`{}` needs a version", entry.key);
                    let written = entry.value.as_str().filter(|text| version(text).is_some()).unwrap_or("1.23");
                    let help = format!("write it as a text: `{} = \"{written}\"`", entry.key);
                    self.problem(entry.value.span.range(), message, "expected \"major.minor\"", Some(help));
                }
            }
        }
    }

    pub(super) fn or_wrong<T>(&mut self, value: Option<T>, node: &Node, key: &Key) -> Option<T> {
        if value.is_none() {
            self.wrong(node, key);
        }
        value
    }

    pub(super) fn wrong(&mut self, node: &Node, key: &Key) {
        let label = format!("expected {}", key.kind.words());
        let help = match (key.kind, node.as_str()) {
            (Kind::FailOn, Some(word)) => {
                closest(word, ["error", "warning", "note", "never"]).map(|w| format!("did you mean \"{w}\"?"))
            }
            _ => None,
        };
        self.problem(node.span.range(), format!("wrong value for `{}`", key.name), label, help);
    }

    pub(super) fn problem(
        &mut self,
        range: Range<usize>,
        message: String,
        label: impl Into<String>,
        help: Option<String>,
    ) {
        self.problems.push(Problem { range, message, label: label.into(), help });
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

pub(super) fn quoted(node: &Node) -> Option<&str> {
    node.scalar().filter(|s| !s.plain).map(|s| &*s.text)
}

pub(super) fn unquoted(node: &Node) -> Option<&str> {
    node.scalar().filter(|s| s.plain).map(|s| &*s.text)
}

fn severity(text: &str) -> Option<Severity> {
    [Severity::Error, Severity::Warning, Severity::Note].into_iter().find(|s| s.name() == text)
}

/// `30s`, `5m`, `12h`, `7d`, `2w`.
fn span_of_time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let seconds: u64 = match unit.trim() {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(seconds).filter(|n| *n > 0).map(Duration::from_secs)
}

/// `1.23`, `v1.23`, `1.23.4`.
fn version(text: &str) -> Option<Version> {
    let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
    let version = Version { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? };
    parts.all(|part| !part.is_empty()).then_some(version)
}
