//! Which files of a unit include which.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::Part;

/// Folders that hold parts of a configuration, whose main file lies beside them.
const FOLDERS: [&str; 12] = [
    "conf.d",
    "sites-available",
    "sites-enabled",
    "snippets",
    "includes",
    "include",
    "conf-enabled",
    "conf-available",
    "upstreams",
    "locations",
    "vhosts",
    "templates",
];

/// The folder in which the configuration of a file lies: what is in it is read together.
pub(super) fn prefix(path: &str) -> &str {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut end = 0;
    for part in folder.split('/') {
        if FOLDERS.contains(&part) {
            return folder.get(..end).unwrap_or("").trim_end_matches('/');
        }
        end += part.len() + 1;
    }
    folder
}

/// A file with its directives.
#[derive(Clone, Copy)]
pub(super) struct ConfFile<'a> {
    pub file: &'a SourceFile,
    name: &'a str,
    pub root: &'a Node,
}

/// The files of a unit.
pub(super) struct Files<'a> {
    all: Vec<ConfFile<'a>>,
    /// What each `include` takes in.
    by_pattern: BTreeMap<&'a str, Vec<usize>>,
    /// How often files may still be included: a few small ones could include each other very often.
    left: Cell<usize>,
}

const MAX_INCLUDES: usize = 10_000;

/// More different patterns are no configuration.
const MAX_PATTERNS: usize = 1_000;

impl<'a> Files<'a> {
    pub(super) fn new<'p>(parts: impl Iterator<Item = &'p Part<'a>>) -> Self
    where
        'a: 'p,
    {
        let files = parts.flat_map(|part| {
            let (file, name, parsed) = (part.file, part.name, part.parsed);
            parsed.documents.iter().map(move |root| ConfFile { file, name, root })
        });
        let all: Vec<ConfFile<'a>> = files.collect();
        let distinct: BTreeSet<&'a str> = all.iter().flat_map(|f| patterns(f.root)).collect();
        let taken = |pattern: &str| (0..).zip(&all).filter(|(_, f)| matches(pattern, f.name)).map(|(i, _)| i).collect();
        let by_pattern = distinct.into_iter().take(MAX_PATTERNS).map(|p| (p, taken(p))).collect();
        Self { all, by_pattern, left: Cell::new(MAX_INCLUDES) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ConfFile<'a>> {
        self.all.iter()
    }

    /// The files that no other one includes.
    pub(super) fn roots(&self) -> Vec<ConfFile<'a>> {
        let included: BTreeSet<usize> = self.by_pattern.values().flatten().copied().collect();
        (0..).zip(&self.all).filter(|(i, _)| !included.contains(i)).map(|(_, f)| *f).collect()
    }

    /// The files that an `include` takes in.
    pub(super) fn included(&self, include: &Entry) -> Vec<ConfFile<'a>> {
        let found = include.value.arg(0).and_then(|pattern| self.by_pattern.get(pattern));
        let found = found.map_or(&[][..], Vec::as_slice);
        match self.left.get().checked_sub(found.len()) {
            Some(left) => {
                self.left.set(left);
                found.iter().filter_map(|&i| self.all.get(i)).copied().collect()
            }
            None => Vec::new(),
        }
    }
}

/// What the includes of a tree ask for.
fn patterns(root: &Node) -> Vec<&str> {
    root.walk().flat_map(|n| n.directives("include")).filter_map(|e| e.value.arg(0)).collect()
}

/// Whether a file is one of those that `include` names. Where the configuration is installed is not known: the last
/// folder and the name decide, or the name where that is all that is written.
fn matches(pattern: &str, path: &str) -> bool {
    let mut wanted = pattern.rsplit('/').filter(|p| !p.is_empty());
    let mut there = path.rsplit('/');
    let (Some(name), Some(file)) = (wanted.next(), there.next()) else { return false };
    // A container puts the values in at its start, and the ending goes.
    if !glob(name, file) && !glob(name, file.trim_end_matches(".template")) {
        return false;
    }
    match (wanted.next(), there.next()) {
        // A file of a ConfigMap has no folder.
        (None, _) | (_, None) => true,
        (Some("nginx" | ".." | "."), _) => true,
        (Some(folder), Some(other)) => {
            glob(folder, other) || (folder == "conf.d" && other == "templates") || same_sites(folder, other)
        }
    }
}

/// What is enabled is a link to what is available.
fn same_sites(folder: &str, other: &str) -> bool {
    matches!((folder, other), ("sites-enabled", "sites-available") | ("conf-enabled", "conf-available"))
}

/// `*` stands for any characters.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some((_, after)) = rest.split_once(before) else { return false };
            rest = after;
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_files_an_include_means() {
        for (pattern, path) in [
            ("/etc/nginx/conf.d/*.conf", "deploy/nginx/conf.d/shop.conf"),
            ("conf.d/*.conf", "conf.d/a.conf"),
            ("/etc/nginx/conf.d/*.conf", "nginx/templates/default.conf.template"),
            ("/etc/nginx/sites-enabled/*", "etc/nginx/sites-available/shop"),
            ("proxy_params", "nginx/proxy_params"),
            ("/etc/nginx/upstreams.conf", "nginx/upstreams.conf"),
            ("/etc/nginx/conf.d/*.conf", "default.conf"),
            ("snippets/retr*s.conf", "snippets/retries.conf"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("conf.d/*.conf", "snippets/a.conf"),
            ("conf.d/a.conf", "conf.d/b.conf"),
            ("/etc/nginx/mime.types", "conf.d/shop.conf"),
            ("conf.d/*.conf", "conf.d/a.conf.bak"),
            ("", "a.conf"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn where_a_configuration_lies() {
        assert_eq!(prefix("deploy/nginx/conf.d/a.conf"), "deploy/nginx");
        assert_eq!(prefix("deploy/nginx/nginx.conf"), "deploy/nginx");
        assert_eq!(prefix("conf.d/a/b.conf"), "");
        assert_eq!(prefix("nginx.conf"), "");
    }
}
