//! Settings of .NET applications: `appsettings.json`, the file of an environment over it, and variables over both.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::applications::{self, Shape, View};
use super::spring;
use crate::facts::{ApplicationDocument, ApplicationFact, ApplicationSetting, EnvFact, Facts, Platform};
use crate::model::Layer;
use crate::source::{FileId, Span};
use crate::syntax::{Entry, Node, Scalar, Value};
use crate::systems::{Part, Unit};

/// No real application has so many settings.
const MAX_SETTINGS: usize = 20_000;

/// The environment of `appsettings.Production.json`: empty where the file always counts, `None` for other files.
fn environment(name: &str) -> Option<&str> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let stem = name.get(..name.len().checked_sub(5)?).filter(|_| name.to_ascii_lowercase().ends_with(".json"))?;
    let own = "appsettings";
    let rest = stem.get(own.len()..).filter(|_| stem.to_ascii_lowercase().starts_with(own))?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('.') }
}

/// Whether a part of a unit is such a file.
pub(super) fn is_of(part: &Part<'_>) -> bool {
    environment(part.name).is_some()
}

/// The files of one folder that are read together.
pub(super) fn unit_of(path: &str) -> Option<String> {
    environment(path)?;
    Some(format!("appsettings:{}", path.rsplit_once('/').map_or("", |(folder, _)| folder)))
}

/// Settings of tests do not run in production: `Orders.Tests`, `test/Orders`.
fn is_test(path: &str) -> bool {
    path.split('/').map(str::to_ascii_lowercase).any(|part| {
        matches!(part.as_str(), "test" | "tests") || [".test", ".tests"].iter().any(|end| part.ends_with(end))
    })
}

/// Notes the application that a unit is, once, whichever systems look at it.
pub(super) fn note(unit: &Unit<'_>, facts: &mut Facts) {
    let mut read: Vec<ApplicationDocument> = Vec::new();
    let mut begins: Option<(&Part<'_>, Span)> = None;
    let mut left = MAX_SETTINGS;
    for part in unit.parts.iter().filter(|part| !is_test(&part.file.path)) {
        let Some(environment) = environment(part.name) else { continue };
        for root in &part.parsed.documents {
            begins.get_or_insert((part, root.span));
            let leaves = spring::leaves(root, &[]).into_iter().take(left);
            let settings: Vec<ApplicationSetting> =
                leaves.map(|l| ApplicationSetting { path: of_colons(&l.path), entry: l.entry.clone() }).collect();
            left -= settings.len();
            let profile = (!environment.is_empty()).then(|| environment.to_owned());
            read.push(ApplicationDocument { profile, settings });
        }
    }
    if let Some((part, span)) = begins
        && !applications::is_noted(Platform::DotNet, span, facts)
    {
        let path = part.file.path.to_string();
        facts.applications.push(ApplicationFact {
            path,
            name: None,
            platform: Platform::DotNet,
            documents: read,
            span,
        });
    }
}

/// `"Orders:Retry"` is two parts of a key.
fn of_colons(path: &[(String, Span)]) -> Vec<(String, Span)> {
    path.iter().flat_map(|(part, span)| part.split(':').map(|p| (p.to_owned(), *span))).collect()
}

/// What a variable sets: `Orders__Retry__MaxRetryAttempts`.
pub(super) fn of_variable(variable: &EnvFact) -> Option<ApplicationSetting> {
    let parts: Vec<&str> = variable.name.split("__").collect();
    if parts.len() < 2 || parts.len() > 16 || parts.iter().any(|part| part.is_empty()) {
        return None;
    }
    let scalar = Scalar { text: variable.value.as_str().into(), plain: false, verbatim: None };
    let value = Arc::new(Node::new(variable.span, Value::Scalar(scalar)));
    let last = parts.last()?;
    Some(ApplicationSetting {
        path: parts.iter().map(|part| ((*part).to_owned(), variable.span)).collect(),
        entry: Entry { key: (*last).into(), key_span: variable.span, value },
    })
}

/// Makes the layers of every .NET application with `read`, which gets its settings as one tree, and the folder of the
/// application.
pub(super) fn add_layers(facts: &mut Facts, read: impl Fn(&Node, &str) -> Vec<Layer>) {
    let shape = Shape { maps: &[], keys: &[] };
    applications::add_layers_of(Platform::DotNet, facts, &shape, |view, _| {
        let (root, beaten) = Branch::of(view);
        let Some(file) = view.settings.first().map(|s| s.entry.key_span.file) else { return Vec::new() };
        let root = root.node(file);
        let folder = view.path.rsplit('/').nth(1).unwrap_or_default();
        let label = |layer: Layer| {
            let beaten = beaten.iter().filter(|(winner, _)| *winner == layer.place);
            let labels = layer.labels.iter().cloned().chain(beaten.map(|(_, label)| label.clone())).collect();
            Layer { labels, ..layer }
        };
        read(&root, folder).into_iter().map(label).collect()
    });
}

/// Settings put together again, later ones over earlier ones. Keys come in any case.
#[derive(Default)]
struct Branch {
    key: Arc<str>,
    /// Where a block was opened first, or the value that counts is written.
    key_span: Option<Span>,
    value: Option<Entry>,
    children: Vec<Branch>,
    by_name: BTreeMap<String, usize>,
}

/// For the place of a value, a label on the one that it beats.
type Beaten = Vec<(Span, (Span, String))>;

impl Branch {
    fn of(view: &View<'_>) -> (Self, Beaten) {
        let mut root = Self::default();
        let mut beaten = Vec::new();
        for setting in &view.settings {
            let branch = setting.path.iter().fold(&mut root, |branch, (key, span)| branch.child(key, *span));
            let label = branch.value.as_ref().and_then(|before| applications::beaten(&[before, &setting.entry]));
            beaten.extend(label.map(|label| (setting.entry.value.span, label)));
            branch.key_span = setting.path.last().map(|(_, span)| *span);
            branch.value = Some(setting.entry.clone());
        }
        (root, beaten)
    }

    fn child(&mut self, key: &str, span: Span) -> &mut Self {
        let at = *self.by_name.entry(key.to_ascii_lowercase()).or_insert(self.children.len());
        if at == self.children.len() {
            self.children.push(Self { key: key.into(), key_span: Some(span), ..Self::default() });
        }
        &mut self.children[at] // `at` is the place of one that was there, or of the one just added.
    }

    /// The tree; as deep as keys are long.
    fn node(&self, file: FileId) -> Arc<Node> {
        if let (Some(entry), true) = (&self.value, self.children.is_empty()) {
            return entry.value.clone();
        }
        let start = Span::start_of(file);
        let entry = |child: &Self| Entry {
            key: child.key.clone(),
            key_span: child.key_span.unwrap_or(start),
            value: child.node(file),
        };
        let span = self.key_span.unwrap_or(start);
        Arc::new(Node::new(span, Value::Map(self.children.iter().map(entry).collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_environments() {
        assert_eq!(environment("src/Orders/appsettings.json"), Some(""));
        assert_eq!(environment("appsettings.Production.json"), Some("Production"));
        assert_eq!(environment("AppSettings.Json"), Some(""));
        for other in ["settings.json", "appsettings.yaml", "appsettings2.json", "json", "é.json"] {
            assert_eq!(environment(other), None, "{other}");
        }
        assert!(is_test("Orders.Tests/appsettings.json") && is_test("test/a.json") && !is_test("Latest/a.json"));
    }
}
