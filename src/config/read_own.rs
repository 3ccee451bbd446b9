//! Reads `[[helper]]` and `[[system]]`.

use std::time::Duration;

use super::keys::Key;
use super::own::{HelperConfig, HelperCount, HelperWait, KeyPath, SystemConfig, SystemDefaults};
use super::reader::{Reader, quoted, unquoted};
use crate::syntax::{Entry, Node};
use crate::systems::duration;

impl Reader<'_> {
    pub(super) fn helper(&mut self, entry: &Entry, node: &Node) -> Option<HelperConfig> {
        let mut read = HelperConfig {
            path: Vec::new(),
            is_macro: false,
            count: HelperCount::Unknown,
            call: None,
            wait: None,
            factor: None,
            cap: None,
            jitter: None,
            span: node.span,
        };
        let mut counts = Vec::new();
        let mut waits = Vec::new();
        for (key, entry) in self.entries(node, "helper") {
            let value = &*entry.value;
            match key.name {
                "name" => {
                    read.span = value.span;
                    if let Some(name) = self.text(value, key) {
                        read.is_macro = name.ends_with('!');
                        read.path = name.trim_end_matches('!').split("::").map(str::to_owned).collect();
                        self.is_path(value, &read.path);
                    }
                }
                "attempts" => {
                    counts.push(entry);
                    if let Some(n) = self.count(value, key) {
                        read.count = HelperCount::Fixed(n, value.span);
                    }
                }
                "retries" => {
                    counts.push(entry);
                    if let Some(n) = self.number(value, key) {
                        read.count = HelperCount::Fixed((n as u64).saturating_add(1), value.span);
                    }
                }
                "attempts-argument" => {
                    counts.push(entry);
                    read.count = self.argument(value, key).map_or(HelperCount::Unknown, HelperCount::Attempts);
                }
                "retries-argument" => {
                    counts.push(entry);
                    read.count = self.argument(value, key).map_or(HelperCount::Unknown, HelperCount::Retries);
                }
                "call-argument" => read.call = self.argument(value, key),
                "wait" => {
                    waits.push(entry);
                    read.wait = self.wait(value, key).map(|d| HelperWait::Fixed(d, value.span));
                }
                "wait-argument" => {
                    waits.push(entry);
                    read.wait = self.argument(value, key).map(HelperWait::Argument);
                }
                "factor" => read.factor = self.number(value, key),
                "cap" => read.cap = self.wait(value, key),
                "jitter" => read.jitter = self.flag(value, key),
                _ => {}
            }
        }
        self.only_one(&counts, "its count");
        self.only_one(&waits, "its wait");
        self.required(entry, node, "helper").then_some(read)
    }

    pub(super) fn own_system(&mut self, entry: &Entry, node: &Node) -> Option<SystemConfig> {
        let mut read = SystemConfig {
            name: "",
            files: Vec::new(),
            layers: KeyPath(Vec::new()),
            target: None,
            count: None,
            base: None,
            factor: None,
            cap: None,
            jitter: None,
            statuses: None,
            unit: Duration::from_secs(1),
            defaults: SystemDefaults::default(),
            span: node.span,
        };
        let mut counts = Vec::new();
        let mut defaults = Vec::new();
        for (key, entry) in self.entries(node, "system") {
            let value = &*entry.value;
            match key.name {
                "name" => {
                    read.span = value.span;
                    if let Some(name) = self.text(value, key) {
                        self.is_new(value, &name);
                        // One string for each format of the configuration, which is read once.
                        read.name = name.leak();
                    }
                }
                "files" => read.files = self.globs(value, key),
                "layers" => read.layers = self.key_path(value, key, false).unwrap_or(KeyPath(Vec::new())),
                "target" => read.target = self.key_path(value, key, true),
                "attempts" | "retries" => {
                    counts.push(entry);
                    read.count = self.key_path(value, key, true).map(|path| (path, key.name == "retries"));
                }
                "base" => read.base = self.key_path(value, key, true),
                "factor" => read.factor = self.key_path(value, key, true),
                "cap" => read.cap = self.key_path(value, key, true),
                "jitter" => read.jitter = self.key_path(value, key, true),
                "statuses" => read.statuses = self.key_path(value, key, true),
                "unit" => read.unit = self.unit(value, key).unwrap_or(read.unit),
                "default-attempts" => {
                    defaults.push(entry);
                    read.defaults.attempts = self.count(value, key);
                }
                "default-retries" => {
                    defaults.push(entry);
                    read.defaults.attempts = self.number(value, key).map(|n| (n as u64).saturating_add(1));
                }
                "default-base" => read.defaults.base = self.wait(value, key),
                "default-factor" => read.defaults.factor = self.number(value, key),
                "default-cap" => read.defaults.cap = self.wait(value, key),
                "default-jitter" => read.defaults.jitter = self.flag(value, key),
                "default-statuses" => read.defaults.statuses = Some(self.statuses(value, key)),
                _ => {}
            }
        }
        self.only_one(&counts, "its count");
        self.only_one(&defaults, "its default count");
        self.required(entry, node, "system").then_some(read)
    }

    /// Several keys that say the same thing in different ways.
    fn only_one(&mut self, entries: &[&Entry], what: &str) {
        if let [first, second, ..] = entries {
            let message = format!("`{}` and `{}` both say {what}", first.key, second.key);
            self.problem(second.key_span, message, "the second one", Some("keep one of them".to_owned()));
        }
    }

    /// Whether a name could be that of a function: words between `::`.
    fn is_path(&mut self, node: &Node, path: &[String]) {
        let is_word = |word: &String| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !path.iter().all(is_word) {
            let help = "write the name alone, its type or module before it, or `!` behind that of a macro".to_owned();
            self.problem(node.span, "not the name of a function".to_owned(), "", Some(help));
        }
    }

    /// A format bears no name that a known system has.
    fn is_new(&mut self, node: &Node, name: &str) {
        if self.knows_system(name) {
            let message = format!("`{name}` is a system that retrylint knows");
            self.problem(node.span, message, "taken", Some("give the format another name".to_owned()));
        }
    }

    /// The place of an argument: from 1 in the file, from 0 in the code.
    fn argument(&mut self, node: &Node, key: &Key) -> Option<usize> {
        self.count(node, key).and_then(|n| usize::try_from(n - 1).ok())
    }

    fn key_path(&mut self, node: &Node, key: &Key, single: bool) -> Option<KeyPath> {
        let text = self.text(node, key)?;
        match KeyPath::parse(&text) {
            Ok(path) if !single || path.is_single() => Some(path),
            Ok(_) => {
                let help = "`*` stands in `layers` only: everything else is found from the layer".to_owned();
                self.problem(node.span, format!("`{text}` leads to several places"), "", Some(help));
                None
            }
            Err(trouble) => {
                self.problem(node.span, format!("`{text}` is no chain of keys"), trouble, None);
                None
            }
        }
    }

    fn number(&mut self, node: &Node, key: &Key) -> Option<f64> {
        let number = unquoted(node).and_then(|_| node.as_f64()).filter(|n| *n >= 0.0);
        self.or_wrong(number, node, key)
    }

    fn wait(&mut self, node: &Node, key: &Key) -> Option<Duration> {
        let wait = quoted(node).and_then(duration::go);
        self.or_wrong(wait, node, key)
    }

    fn unit(&mut self, node: &Node, key: &Key) -> Option<Duration> {
        let unit = quoted(node).and_then(|text| match text {
            "us" => Some(Duration::from_micros(1)),
            "ms" => Some(Duration::from_millis(1)),
            "s" => Some(Duration::from_secs(1)),
            "m" => Some(Duration::from_secs(60)),
            _ => None,
        });
        self.or_wrong(unit, node, key)
    }

    fn statuses(&mut self, node: &Node, key: &Key) -> Vec<u16> {
        if node.scalar().is_some() || !node.entries().is_empty() {
            self.wrong(node, key);
            return Vec::new();
        }
        let mut out = Vec::new();
        for item in node.items() {
            let status = unquoted(item).and_then(|t| t.parse::<u16>().ok()).filter(|s| (400..600).contains(s));
            out.extend(self.or_wrong(status, item, key));
        }
        out
    }
}
