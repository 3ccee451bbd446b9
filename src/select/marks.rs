//! Settings: which files hold a mark of some system, and which ones programs may read for their settings.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::syntax::Syntax;
use crate::systems;

/// All marks of all systems that are read from settings. `None`: never, unless the marks together exceed what an
/// automaton can hold; every file is then taken.
static MARKS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(systems::all().iter().flat_map(|s| s.meta().marks)).ok());

/// Words in the names of files that programs read for their settings.
const NAMES: [&str; 11] = [
    "config",
    "settings",
    "application",
    "default",
    "production",
    "development",
    "staging",
    "local",
    "base",
    "app",
    "conf",
];

/// Folders of such files.
const FOLDERS: [&str; 6] = ["config", "configs", "configuration", "conf", "settings", "etc"];

/// Whether a text holds a mark: without one it concerns no system.
pub(super) fn holds_mark(text: &str) -> bool {
    MARKS.as_ref().is_none_or(|marks| marks.is_match(text))
}

/// Whether a source holds settings as a text: a gRPC service config.
pub(super) fn holds_settings(text: &str) -> bool {
    text.contains("methodConfig")
}

/// Whether a source of Go, Java or Kotlin is one of tests.
pub fn is_test(path: &str) -> bool {
    path.ends_with("_test.go") || path.contains("src/test/")
}

/// Whether a source of Java or Kotlin holds an annotation that is read.
pub(super) fn holds_annotation(text: &str) -> bool {
    let marks = [systems::clients::annotated::MARKS, systems::deploy::spring_cloud::MARKS];
    marks.into_iter().flatten().any(|mark| text.contains(mark))
}

/// Whether a program may read its settings from a file of this path.
pub(super) fn may_be_settings(path: &str) -> bool {
    if !matches!(Syntax::of_path(path), Some(Syntax::Yaml | Syntax::Json | Syntax::Toml)) {
        return false;
    }
    let path = path.to_ascii_lowercase();
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", &path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let mut words = stem.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| NAMES.contains(&word)) || folders.split('/').any(|folder| FOLDERS.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_mark_is_passed_over() {
        assert!(holds_mark("_format_version: \"3.0\"\n"));
        assert!(holds_mark("delete from inbox"));
        assert!(!holds_mark("colours:\n  - red\n"));
        assert!(!holds_mark(""));
    }

    #[test]
    fn settings_are_told_by_their_names_and_folders() {
        for path in ["config.toml", "svc/Settings.yaml", "config/prod.json", "app.production.yml", "default.json"] {
            assert!(may_be_settings(path), "{path}");
        }
        for path in ["Cargo.toml", "package.json", "src/config.rs", "data/colours.yaml", "happy.toml", "config"] {
            assert!(!may_be_settings(path), "{path}");
        }
    }
}
