//! Globs of the configuration: those of .gitignore, relative to the folder of `retrylint.toml`.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::shown;

/// The two folders that paths of the configuration and shown paths start from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bases {
    /// The folder of the configuration file: absolute, links resolved. Empty = the working directory.
    pub config: PathBuf,
    /// The working directory: absolute, links resolved.
    pub cwd: PathBuf,
}

/// Several globs, as in a .gitignore: a name alone matches at any depth, a `/` at the start or within anchors it at
/// the folder of the configuration file, a folder takes in all that is below it, and `!` takes back.
#[derive(Debug, Clone)]
pub struct Globs {
    matcher: Gitignore,
    bases: Bases,
}

impl Globs {
    /// Globs that match nothing.
    pub fn none() -> Self {
        Self { matcher: Gitignore::empty(), bases: Bases::default() }
    }

    /// Globs from the configuration. What is no glob matches nothing; the reader has refused it before.
    pub fn new(globs: &[String], bases: &Bases) -> Self {
        let mut builder = GitignoreBuilder::new("");
        for glob in globs {
            let _ = builder.add_line(None, glob);
        }
        Self { matcher: builder.build().unwrap_or_else(|_| Gitignore::empty()), bases: bases.clone() }
    }

    /// Whether they match a file by its shown path.
    pub fn matches(&self, path: &str) -> bool {
        let absolute = self.bases.cwd.join(path);
        let plain = if absolute.is_absolute() { PathBuf::from(shown::lexical(&absolute)) } else { absolute };
        self.matches_real(&plain, false)
    }

    /// Whether they match a file or folder by its real path.
    pub fn matches_real(&self, path: &Path, is_folder: bool) -> bool {
        if self.matcher.is_empty() {
            return false;
        }
        let below = path.strip_prefix(&self.bases.config).unwrap_or(path);
        // Nothing outside of the folder of the configuration file is matched by its globs.
        !below.has_root()
            && !below.starts_with("..")
            && !below.as_os_str().is_empty()
            && self.matcher.matched_path_or_any_parents(below, is_folder).is_ignore()
    }
}

/// What is wrong with a glob, if anything. Stricter than .gitignore, which takes an unclosed `[` as a character.
pub fn trouble(glob: &str) -> Option<String> {
    if glob.trim().is_empty() {
        return Some("it is empty".to_owned());
    }
    let pattern = glob.trim_start_matches('!');
    globset::Glob::new(pattern).err().map(|error| error.kind().to_string())
}

/// A glob of a file in a folder below the one that all start from, as seen from there.
pub(crate) fn below(prefix: &str, glob: &str) -> String {
    if prefix.is_empty() {
        return glob.to_owned();
    }
    let (not, pattern) = glob.strip_prefix('!').map_or(("", glob), |pattern| ("!", pattern));
    // A `/` anywhere but at the end anchors it.
    let is_anchored = pattern.trim_end_matches('/').contains('/');
    let between = if is_anchored { "/" } else { "/**/" };
    format!("{not}/{}{between}{}", escaped(prefix), pattern.trim_start_matches('/'))
}

/// A name as a glob that matches it alone.
fn escaped(name: &str) -> String {
    let escape = |c: char| if "*?[]\\{}!#".contains(c) { format!("\\{c}") } else { c.to_string() };
    name.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str], config: &str, cwd: &str) -> Globs {
        let bases = Bases { config: config.into(), cwd: cwd.into() };
        Globs::new(&patterns.iter().map(|&p| p.to_owned()).collect::<Vec<_>>(), &bases)
    }

    #[test]
    fn a_folder_takes_in_all_below_it() {
        for pattern in ["legacy", "legacy/", "/legacy", "legacy/**"] {
            let globs = globs(&[pattern], "/shop", "/shop");
            assert!(globs.matches("legacy/a/b.yaml"), "{pattern}");
            assert!(!globs.matches("src/legacy.rs"), "{pattern}");
        }
    }

    #[test]
    fn a_name_alone_matches_at_any_depth_and_a_slash_anchors() {
        assert!(globs(&["*.gen.yaml"], "/shop", "/shop").matches("deploy/x.gen.yaml"));
        assert!(!globs(&["/x.yaml"], "/shop", "/shop").matches("deploy/x.yaml"));
        assert!(!globs(&["a/*.yaml"], "/shop", "/shop").matches("b/a/x.yaml"));
    }

    #[test]
    fn a_later_glob_takes_back() {
        let globs = globs(&["deploy/*", "!deploy/kong.yaml"], "/shop", "/shop");
        assert!(globs.matches("deploy/envoy.yaml"));
        assert!(!globs.matches("deploy/kong.yaml"));
    }

    #[test]
    fn globs_start_at_the_configuration_wherever_the_run_starts() {
        assert!(globs(&["/services/orders"], "/shop", "/shop/services").matches("orders/src/main.rs"));
        assert!(globs(&["/services/orders"], "/shop", "/shop/deploy").matches("../services/orders/src/main.rs"));
        assert!(globs(&["/orders"], "/shop/services", "/shop").matches("services/orders/src/main.rs"));
        assert!(!globs(&["orders"], "/shop/services", "/shop").matches("orders/src/main.rs"));
    }

    #[test]
    fn without_a_configuration_file_they_start_at_the_working_directory() {
        assert!(globs(&["a"], "", "").matches("a/b.yaml"));
        assert!(!globs(&["b"], "", "").matches("../b/c.yaml"));
    }

    #[test]
    fn globs_of_a_file_in_a_folder_hold_below_it_only() {
        for (glob, hit, miss) in [
            ("legacy", "teams/a/x/legacy/b.yaml", "legacy/b.yaml"),
            ("/legacy", "teams/a/legacy/b.yaml", "teams/a/x/legacy/b.yaml"),
            ("x/*.yaml", "teams/a/x/b.yaml", "x/b.yaml"),
            ("legacy/", "teams/a/legacy/b.yaml", "teams/legacy/b.yaml"),
        ] {
            let globs = globs(&[&below("teams/a", glob)], "/shop", "/shop");
            assert!(globs.matches(hit) && !globs.matches(miss), "{glob}");
        }
        let odd = globs(&[&below("a [1]", "b")], "/shop", "/shop");
        assert!(odd.matches("a [1]/b") && !odd.matches("a 1/b"));
        assert_eq!(below("a", "!b"), "!/a/**/b");
        assert_eq!(below("", "b"), "b");
    }

    #[test]
    fn a_broken_glob_is_told() {
        assert!(trouble("a[").is_some());
        assert!(trouble(" ").is_some());
        assert_eq!(trouble("a/**/b"), None);
    }
}
