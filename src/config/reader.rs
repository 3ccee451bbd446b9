//! From the tree of a `retrylint.toml` to a [`Config`]; everything that is wrong is collected, nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use super::keys::{Key, Kind, keys_of};
use super::problem::Problem;
use super::{AllowConfig, CONFIG_FILE_ID, Config, PathLevels, RuleLevel, ServiceConfig};
use crate::rules::Severity;
use crate::source::globs;
use crate::source::{FileId, Span, shown};
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

/// Where a configuration file stands: what its globs and paths start from.
#[derive(Debug, Clone, Default)]
pub(super) struct FilePlace {
    /// Its folder: absolute, links resolved.
    pub(super) folder: PathBuf,
    /// The way to it from the folder that all globs start from.
    pub(super) prefix: String,
}

/// The places of configuration files, by their numbers.
pub(super) type FilePlaces = BTreeMap<FileId, FilePlace>;

/// Reads a configuration. The error holds everything that is wrong with it, in the order of the file.
pub(super) fn read(parsed: &Parsed, names: &Names, places: &FilePlaces) -> Result<Config, Vec<Problem>> {
    let problems: Vec<Problem> = parsed.errors.iter().map(syntax_problem).collect();
    // Where the syntax is broken the tree is a remnant: what it lacks was perhaps written.
    match parsed.documents.first() {
        Some(root) if problems.is_empty() => read_tree(root, names, places),
        _ if problems.is_empty() => Ok(Config::default()),
        _ => Err(sorted(problems)),
    }
}

/// The same of a tree, which may be put together from several files.
pub(super) fn read_tree(root: &Node, names: &Names, places: &FilePlaces) -> Result<Config, Vec<Problem>> {
    let mut reader = Reader { names, places, problems: Vec::new() };
    let mut config = Config::default();
    reader.top(root, &mut config);
    if reader.problems.is_empty() { Ok(config) } else { Err(sorted(reader.problems)) }
}

fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| problem.span);
    problems
}

fn syntax_problem(error: &crate::syntax::SyntaxError) -> Problem {
    Problem { span: error.span, message: error.message.clone(), label: "not TOML".to_owned(), help: None }
}

pub(super) struct Reader<'a> {
    names: &'a Names,
    places: &'a FilePlaces,
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
                "extend" => _ = self.files(value, key),
                "baseline" => config.baseline = self.text(value, key).map(|file| self.path_of(value, &file)),
                "rules" => config.levels = self.levels(value, key),
                "override" => config.overrides = self.tables(entry, key, Self::path_levels),
                "allow" => config.allows = self.tables(entry, key, Self::allow),
                "allow-without-reason" => set(&mut config.allow_without_reason, self.flag(value, key)),
                "allow-unused" => set(&mut config.allow_unused, self.flag(value, key)),
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

    /// The paths of files: a text, or a list of texts.
    fn files(&mut self, node: &Node, key: &Key) -> Vec<(String, Span)> {
        match &node.value {
            Value::List(_) => self.texts(node, key),
            _ => self.text(node, key).map(|text| (text, node.span)).into_iter().collect(),
        }
    }

    /// A path, seen from the folder of the file in which it is written.
    fn path_of(&self, node: &Node, path: &str) -> PathBuf {
        self.places.get(&node.span.file).map_or_else(|| path.into(), |place| shown::resolved(&place.folder.join(path)))
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

    fn allow(&mut self, entry: &Entry, node: &Node) -> Option<AllowConfig> {
        let span = if node.span.range().is_empty() { entry.key_span } else { node.span };
        let mut read = AllowConfig { rules: Vec::new(), paths: Vec::new(), reason: None, until: None, span };
        for (key, entry) in self.entries(node, "allow") {
            let value = &*entry.value;
            match key.name {
                "rules" => read.rules = self.rules(value, key),
                "paths" => read.paths = self.globs(value, key),
                "reason" => read.reason = self.text(value, key),
                "until" => {
                    // TOML has days of its own; comments write them without quotes, too.
                    let day = value.scalar().and_then(|scalar| scalar.text.parse().ok());
                    read.until = self.or_wrong(day, value, key).map(|day| (day, value.span));
                }
                _ => {}
            }
        }
        self.required(entry, node, "allow").then_some(read)
    }

    /// The names of rules, each with its place.
    fn rules(&mut self, node: &Node, key: &Key) -> Vec<(String, Span)> {
        let texts = self.texts(node, key);
        for (name, span) in &texts {
            if !self.names.rules.contains(&name.as_str()) {
                let help = match closest(name, self.names.rules.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`retrylint rules` lists all rules".to_owned(),
                };
                self.problem(*span, format!("unknown rule `{name}`"), "nothing has this name", Some(help));
            }
        }
        texts
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
                let span = service.span.unwrap_or(Span::start_of(CONFIG_FILE_ID));
                self.problem(span, format!("two services named `{}`", service.name), "the second one", None);
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
        self.problem(entry.key_span, message, "nothing has this name", Some(help));
    }

    /// Whether every key of the table without a default is there; what is missing is a problem.
    pub(super) fn required(&mut self, entry: &Entry, node: &Node, table: &'static str) -> bool {
        let missing: Vec<_> =
            keys_of(table).filter(|key| key.default.is_empty() && node.get(key.name).is_none()).collect();
        for key in &missing {
            let message = format!("`[[{table}]]` without `{}`", key.name);
            let help = format!("add `{} = …`: {}", key.name, key.kind.words());
            // The table's own span, where it has one; its header names the place in any case.
            let span = if node.span.range().is_empty() { entry.key_span } else { node.span };
            self.problem(span, message, "this one", Some(help));
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
            self.problem(entry.key_span, format!("`{}` is not a list of tables", key.name), "", Some(help));
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

    fn texts(&mut self, node: &Node, key: &Key) -> Vec<(String, Span)> {
        let Value::List(items) = &node.value else {
            self.wrong(node, key);
            return Vec::new();
        };
        items.iter().filter_map(|item| Some((self.text(item, key)?, item.span))).collect()
    }

    pub(super) fn globs(&mut self, node: &Node, key: &Key) -> Vec<String> {
        let mut globs = Vec::new();
        for (glob, span) in self.texts(node, key) {
            if let Some(trouble) = globs::trouble(&glob) {
                self.problem(span, format!("`{glob}` is not a glob"), trouble, None);
            } else {
                globs
                    .push(self.places.get(&span.file).map_or(glob.clone(), |place| globs::below(&place.prefix, &glob)));
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
                Some(level) => {
                    levels.push(RuleLevel { rule: entry.key.to_string(), level, place: Some(entry.key_span) });
                }
                None => {
                    let message = format!("`{}` has no such level", entry.key);
                    let label = "expected \"error\", \"warning\", \"note\" or \"off\"";
                    let word = entry.value.as_str().unwrap_or("");
                    let help =
                        closest(word, ["error", "warning", "note", "off"]).map(|w| format!("did you mean \"{w}\"?"));
                    self.problem(entry.value.span, message, label, help);
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
                    self.problem(entry.value.span, message, "expected \"major.minor\"", Some(help));
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
        self.problem(node.span, format!("wrong value for `{}`", key.name), label, help);
    }

    pub(super) fn problem(&mut self, span: Span, message: String, label: impl Into<String>, help: Option<String>) {
        self.problems.push(Problem { span, message, label: label.into(), help });
    }
}

/// The paths of the files that a configuration extends, with their places. What is no text is told when the file is read.
pub(super) fn extended(root: &Node) -> Vec<(&str, Span)> {
    let Some(node) = root.get("extend") else { return Vec::new() };
    node.items()
        .iter()
        .map(|item| &**item)
        .chain(node.scalar().map(|_| node))
        .filter_map(|n| Some((quoted(n)?, n.span)))
        .collect()
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
