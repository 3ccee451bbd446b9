//! A settings file as the code that reads it sees it: chains of keys, each with its value.

use std::sync::Arc;

use crate::facts::SettingsFact;
use crate::rust::cargo;
use crate::source::{SourceFile, Span};
use crate::syntax::{Node, Parsed, Syntax, Value};

/// A file with more values is data, not settings.
const MAX_VALUES: usize = 10_000;

/// So is one whose chains of keys are longer than this, all together.
const MAX_BYTES: usize = 4 << 20;

/// The values of a file, if programs may read it for their settings: a manifest of a package is none.
pub(super) fn flatten(file: &SourceFile, parsed: &Parsed) -> Option<SettingsFact> {
    let syntax = Syntax::of_path(&file.path);
    let is_other =
        matches!(syntax, Some(Syntax::Annotations | Syntax::Variables | Syntax::Blocks | Syntax::Tags | Syntax::Eskip))
            || file.path.ends_with(".tf");
    if is_other || syntax.is_some_and(Syntax::has_directives) || cargo::is_manifest(&file.path) {
        return None;
    }
    let mut flat = Flat::default();
    for document in &parsed.documents {
        flat.add(document, &mut Vec::new());
    }
    let is_settings = !flat.values.is_empty() && !flat.is_full();
    is_settings.then(|| SettingsFact { path: file.path.to_string(), values: flat.values })
}

#[derive(Default)]
struct Flat {
    values: Vec<(String, String, Span)>,
    bytes: usize,
}

impl Flat {
    fn is_full(&self) -> bool {
        self.values.len() > MAX_VALUES || self.bytes > MAX_BYTES
    }

    /// Adds the scalars of `node`; stops when there are too many. Trees are at most 256 deep.
    fn add(&mut self, node: &Node, keys: &mut Vec<Arc<str>>) {
        match &node.value {
            _ if self.is_full() => {}
            Value::Scalar(scalar) if !keys.is_empty() => {
                let key = keys.join(".");
                self.bytes += key.len() + scalar.text.len();
                self.values.push((key, scalar.text.to_string(), node.span));
            }
            Value::Scalar(_) => {}
            Value::List(items) => {
                let items = items.iter().enumerate().map(|(n, item)| (Arc::from(n.to_string()), item));
                items.for_each(|(n, item)| self.below(n, item, keys));
            }
            Value::Map(entries) => entries.iter().for_each(|e| self.below(e.key.clone(), &e.value, keys)),
        }
    }

    fn below(&mut self, key: Arc<str>, node: &Node, keys: &mut Vec<Arc<str>>) {
        keys.push(key);
        self.add(node, keys);
        keys.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::syntax::parse;

    fn flat(path: &str, text: &str) -> Option<Vec<(String, String)>> {
        let file = SourceFile { id: FileId(0), path: path.into(), text: text.into() };
        let fact = flatten(&file, &parse(Syntax::of_path(path)?, &file))?;
        Some(fact.values.into_iter().map(|(key, value, _)| (key, value)).collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        Some(pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect())
    }

    #[test]
    fn keys_chain_through_tables_and_lists() {
        let toml = "retries = 3\n[upstream.tax]\nurl = \"http://tax\"\ncodes = [502, 503]\n";
        let expected = [
            ("retries", "3"),
            ("upstream.tax.url", "http://tax"),
            ("upstream.tax.codes.0", "502"),
            ("upstream.tax.codes.1", "503"),
        ];
        assert_eq!(flat("settings.toml", toml), pairs(&expected));
    }

    #[test]
    fn all_documents_count() {
        assert_eq!(flat("a.yaml", "a: 1\n---\nb: 2\n"), pairs(&[("a", "1"), ("b", "2")]));
    }

    #[test]
    fn manifests_data_and_files_without_keys_are_no_settings() {
        assert_eq!(flat("x/Cargo.toml", "[package]\nname = \"x\"\n"), None);
        assert_eq!(flat("a.yaml", "just a text\n"), None);
        assert_eq!(flat("a.yaml", &"- a: 1\n".repeat(MAX_VALUES + 1)), None);
        assert!(flat("a.yaml", &"- a: 1\n".repeat(MAX_VALUES)).is_some());
    }
}
