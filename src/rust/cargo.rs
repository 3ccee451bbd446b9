//! Cargo.toml: which packages there are, and the names by which their code calls other packages.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Dependency, Facts, LockFact, PackageFact, WorkspaceFact};
use crate::rust::crates;
use crate::source::SourceFile;
use crate::syntax::{Node, Parsed};

/// The tables of dependencies. What only tests or build scripts use comes last: an alias counts once.
const TABLES: [&str; 5] =
    ["dependencies", "dev-dependencies", "dev_dependencies", "build-dependencies", "build_dependencies"];

/// Whether a file is a package's manifest, by its name.
pub fn is_manifest(path: &str) -> bool {
    path == "Cargo.toml" || path.ends_with("/Cargo.toml")
}

/// Adds the package and the workspace that a manifest declares.
pub fn extract(file: &SourceFile, parsed: &Parsed, facts: &mut Facts) {
    let Some(root) = parsed.documents.first() else { return };
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    if let Some(workspace) = root.entry("workspace") {
        facts.workspaces.push(WorkspaceFact {
            folder: folder.to_owned(),
            dependencies: workspace.value.get("dependencies").map(|t| table(t, folder)).unwrap_or_default(),
            span: workspace.key_span,
        });
    }
    let Some(package) = root.get("package").or_else(|| root.get("project")) else { return };
    let Some((name, span)) = package.get("name").and_then(|n| Some((n.as_str()?.to_owned(), n.span))) else { return };
    let mut dependencies = dependencies(root, folder);
    dependencies.extend(own_library(root, &name, folder));
    let bins = root.get("bin").map(Node::items).unwrap_or_default();
    let binaries =
        bins.iter().filter_map(|bin| bin.get("name")?.as_str()).filter(|bin| *bin != name).map(str::to_owned);
    facts.packages.push(PackageFact {
        binaries: binaries.collect(),
        folder: folder.to_owned(),
        dependencies,
        locked: BTreeMap::new(),
        span,
        name,
    });
}

/// The versions in a Cargo.lock. Cargo writes it, always in the same form, so its lines tell enough: a long one is
/// read in no time.
pub fn lock(file: &SourceFile) -> LockFact {
    let value = |line: &str, key: &str| {
        let rest = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
        Some(rest.trim().trim_matches('"').to_owned())
    };
    let mut versions = Vec::new();
    let mut name = None;
    for line in file.text.lines().map(str::trim) {
        if line.starts_with("[[") {
            name = None;
        } else if let Some(found) = value(line, "name") {
            name = Some(found).filter(|n| crates::VERSIONED.contains(&n.as_str()));
        } else if let Some(version) = value(line, "version")
            && let Some(name) = name.take()
        {
            versions.push((name, version));
        }
    }
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    LockFact { folder: folder.to_owned(), versions }
}

/// Fills in what dependencies inherit from their workspace, and the names of libraries that are not their package's.
/// Needs the facts of all manifests.
pub fn inherit(facts: &mut Facts) {
    // Of several of one name the first counts.
    let by_alias = |w: &'_ WorkspaceFact| -> BTreeMap<String, Dependency> {
        w.dependencies.iter().rev().map(|d| (d.alias.clone(), d.clone())).collect()
    };
    let workspaces: BTreeMap<&str, BTreeMap<String, Dependency>> =
        facts.workspaces.iter().map(|w| (&*w.folder, by_alias(w))).collect();
    for package in &mut facts.packages {
        let Some(inherited) = above(&package.folder).find_map(|folder| workspaces.get(folder)) else { continue };
        for dependency in &mut package.dependencies {
            let open = dependency.version.is_none() && dependency.path.is_none();
            if let Some(inherited) = inherited.get(&dependency.alias).filter(|_| open) {
                *dependency = inherited.clone();
            }
        }
    }
    let locks: BTreeMap<&str, &LockFact> = facts.locks.iter().rev().map(|lock| (&*lock.folder, lock)).collect();
    for package in &mut facts.packages {
        let lock = above(&package.folder).find_map(|folder| locks.get(folder));
        for (name, version) in lock.iter().flat_map(|lock| &lock.versions) {
            let newest = package.locked.get(name).and_then(|v| Release::exactly(v));
            // Of several that are in use, the one that its own requirement allows.
            let wanted = package.dependencies.iter().find(|d| d.package == *name).and_then(|d| d.version.as_deref());
            let Some(this) = Release::exactly(version) else { continue };
            let allowed = wanted.and_then(Release::newest_of).is_none_or(|most| this <= most);
            if allowed && newest.is_none_or(|newest| this > newest) {
                package.locked.insert(name.clone(), version.clone());
            }
        }
    }
    let libraries: BTreeMap<(String, Option<String>), String> =
        facts.packages.iter().rev().filter_map(library_of).collect();
    for package in &mut facts.packages {
        for dependency in package.dependencies.iter_mut().filter(|d| d.alias == in_code(&d.package)) {
            if let Some(alias) = libraries.get(&(dependency.package.clone(), dependency.path.clone())) {
                dependency.alias.clone_from(alias);
            }
        }
    }
}

/// A version of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub u64, pub u64, pub u64);

impl Release {
    /// What Cargo.lock says: `1.13.2`.
    pub fn exactly(version: &str) -> Option<Self> {
        let (parts, _) = version.split_once(['-', '+']).unwrap_or((version, ""));
        let mut parts = parts.split('.').map(|p| p.trim().parse().ok());
        Some(Self(parts.next()??, parts.next()??, parts.next()??))
    }

    /// The newest version that a requirement allows. `None`: any newer one, too.
    pub fn newest_of(requirement: &str) -> Option<Self> {
        let text = requirement.trim();
        let operator = text.find(|c: char| c.is_ascii_digit()).and_then(|at| text.get(..at)).map(str::trim)?;
        let numbers: Vec<u64> = text
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .split(['.', '-', '+', ','])
            .map_while(|p| p.trim().parse().ok())
            .take(3)
            .collect();
        const ANY: u64 = u64::MAX;
        match (operator, numbers.as_slice()) {
            ("=", [a, rest @ ..]) => {
                Some(Self(*a, rest.first().copied().unwrap_or(ANY), rest.get(1).copied().unwrap_or(ANY)))
            }
            ("~", [a, b, ..]) | ("" | "^", [a @ 0, b, ..]) => Some(Self(*a, *b, ANY)),
            ("" | "^" | "~", [a, ..]) => Some(Self(*a, ANY, ANY)),
            _ => None,
        }
    }
}

impl PackageFact {
    /// The version of a package that this one is built with: the one in Cargo.lock, else the newest that its
    /// requirement allows. `None`: the newest of all, as far as can be told.
    pub fn release_of(&self, package: &str) -> Option<Release> {
        if let Some(locked) = self.locked.get(package) {
            return Release::exactly(locked);
        }
        let dependency = self.dependencies.iter().find(|d| d.package == package)?;
        Release::newest_of(dependency.version.as_deref()?)
    }
}

/// A folder and those above it, the nearest first; the working directory last.
fn above(folder: &str) -> impl Iterator<Item = &str> {
    let parents = folder.rmatch_indices('/').filter_map(|(at, _)| folder.get(..at));
    std::iter::once(folder).chain(parents).chain([""])
}

/// `[lib] name`, where it is not the package's: a dependency of the package on itself, by that name.
fn own_library(root: &Node, package: &str, folder: &str) -> Option<Dependency> {
    let alias = root.at(&["lib", "name"])?.as_str().filter(|lib| *lib != in_code(package))?;
    let (package, path) = (package.to_owned(), Some(folder.to_owned()));
    Some(Dependency { alias: alias.to_owned(), package, version: None, path })
}

/// The package and its folder, and the name of its library, if that is another one.
fn library_of(package: &PackageFact) -> Option<((String, Option<String>), String)> {
    let is_own = |d: &&Dependency| d.package == package.name && d.path.as_ref() == Some(&package.folder);
    let own = package.dependencies.iter().find(is_own)?;
    Some(((own.package.clone(), own.path.clone()), own.alias.clone()))
}

fn dependencies(root: &Node, folder: &str) -> Vec<Dependency> {
    let targets = root.get("target").map(Node::entries).unwrap_or_default();
    let mut found: Vec<Dependency> = Vec::new();
    let mut aliases = BTreeSet::new();
    for name in TABLES {
        let own = root.get(name).into_iter();
        for tables in own.chain(targets.iter().filter_map(|target| target.value.get(name))) {
            for dependency in table(tables, folder) {
                if aliases.insert(dependency.alias.clone()) {
                    found.push(dependency);
                }
            }
        }
    }
    found
}

fn table(table: &Node, folder: &str) -> Vec<Dependency> {
    let dependency = |key: &str, value: &Node| Dependency {
        alias: in_code(key),
        package: value.get("package").and_then(Node::as_str).unwrap_or(key).to_owned(),
        version: value.as_str().or_else(|| value.get("version")?.as_str()).map(str::to_owned),
        path: value.get("path").and_then(Node::as_str).map(|path| join(folder, path)),
    };
    table.entries().iter().map(|entry| dependency(&entry.key, &entry.value)).collect()
}

fn in_code(package: &str) -> String {
    package.replace('-', "_")
}

/// `path` seen from `folder`, as files are shown. What leads out of the working directory keeps its `..`.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = if path.starts_with('/') { vec![""] } else { Vec::new() };
    for part in folder.split('/').filter(|_| !path.starts_with('/')).chain(path.split(['/', '\\'])) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, ".." | "")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::source::FileId;
    use crate::syntax::toml;

    fn facts(manifests: &[(&str, &str)]) -> Facts {
        let mut facts = Facts::default();
        for (n, (path, text)) in manifests.iter().enumerate() {
            let file = SourceFile { id: FileId(n as u32), path: Arc::from(*path), text: Arc::from(*text) };
            extract(&file, &toml::parse(&file), &mut facts);
        }
        inherit(&mut facts);
        facts
    }

    fn dependencies(package: &PackageFact) -> Vec<String> {
        let shown = |d: &Dependency| {
            let version = d.version.as_deref().unwrap_or("-");
            format!("{}={} {version} {}", d.alias, d.package, d.path.as_deref().unwrap_or("-"))
        };
        package.dependencies.iter().map(shown).collect()
    }

    #[test]
    fn a_package_with_all_kinds_of_dependencies() {
        let facts = facts(&[(
            "services/orders/Cargo.toml",
            r#"
            [package]
            name = "orders-service"
            [[bin]]
            name = "orders-service"
            [[bin]]
            name = "orders-worker"
            path = "src/worker.rs"
            [dependencies]
            backon = "1.6"
            http-client = { package = "reqwest", version = "0.12", features = ["json"] }
            shared = { path = "../../libs/shared" }
            git-one = { git = "https://example.com/x" }
            [dependencies.tokio]
            version = "1"
            [target.'cfg(unix)'.dependencies]
            nix = "0.29"
            [dev-dependencies]
            backon = "1"
            wiremock = "0.6"
            "#,
        )]);
        let [package] = facts.packages.as_slice() else { panic!("{facts:?}") };
        assert_eq!((package.name.as_str(), package.folder.as_str()), ("orders-service", "services/orders"));
        assert_eq!(package.binaries, ["orders-worker"]);
        assert_eq!(
            dependencies(package),
            [
                "backon=backon 1.6 -",
                "http_client=reqwest 0.12 -",
                "shared=shared - libs/shared",
                "git_one=git-one - -",
                "tokio=tokio 1 -",
                "nix=nix 0.29 -",
                "wiremock=wiremock 0.6 -",
            ]
        );
    }

    #[test]
    fn dependencies_are_inherited_from_the_nearest_workspace() {
        let facts = facts(&[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"a\"]\n[workspace.dependencies]\nhttp = { package = \"reqwest\", version = \"0.12\" }\n\
                 shared = { path = \"libs/shared\" }\nother = \"2\"",
            ),
            (
                "a/Cargo.toml",
                "[package]\nname = \"a\"\n[dependencies]\nhttp = { workspace = true }\nshared.workspace = true\nother = \"1\"",
            ),
            ("ab/Cargo.toml", "[workspace]\n[package]\nname = \"ab\"\n[dependencies]\nhttp = { workspace = true }"),
        ]);
        assert_eq!(facts.workspaces.len(), 2);
        assert_eq!(
            dependencies(&facts.packages[0]),
            ["http=reqwest 0.12 -", "shared=shared - libs/shared", "other=other 1 -"]
        );
        assert_eq!(dependencies(&facts.packages[1]), ["http=http - -"]);
    }

    #[test]
    fn a_library_has_its_own_name_in_code() {
        let facts = facts(&[
            ("sdk/Cargo.toml", "[package]\nname = \"orders-sdk\"\n[lib]\nname = \"orders\""),
            ("app/Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\norders-sdk = { path = \"../sdk\" }"),
            ("same/Cargo.toml", "[package]\nname = \"the-same\"\n[lib]\nname = \"the_same\""),
        ]);
        assert_eq!(dependencies(&facts.packages[0]), ["orders=orders-sdk - sdk"]);
        assert_eq!(dependencies(&facts.packages[1]), ["orders=orders-sdk - sdk"]);
        assert!(facts.packages[2].dependencies.is_empty());
    }

    #[test]
    fn a_lock_says_which_version_is_built_with() {
        let manifest =
            "[package]\nname = \"a\"\n[dependencies]\nkube = \"0.93\"\naws-config = \"1\"\nreqwest = \"=0.12.9\"";
        let mut facts = facts(&[("svc/Cargo.toml", manifest)]);
        let newest = |facts: &Facts, name: &str| facts.packages[0].release_of(name);
        assert_eq!(newest(&facts, "kube"), Some(Release(0, 93, u64::MAX)));
        assert_eq!(newest(&facts, "aws-config"), Some(Release(1, u64::MAX, u64::MAX)));
        assert_eq!(newest(&facts, "reqwest"), Some(Release(0, 12, 9)));
        assert_eq!(newest(&facts, "object_store"), None);
        let text = "version = 4\n\n[[package]]\nname = \"kube\"\nversion = \"0.93.1\"\n\n[[package]]\nname = \"kube\"\n\
                    version = \"2.0.1\"\n\n[[package]]\nname = \"unheard-of\"\nversion = \"1.0.0\"\n\n[[package]]\n\
                    name = \"object_store\"\nversion = \"0.11.2\"\ndependencies = [\n \"version\",\n]\n";
        let file = SourceFile { id: FileId(9), path: Arc::from("Cargo.lock"), text: Arc::from(text) };
        facts.locks.push(lock(&file));
        inherit(&mut facts);
        assert_eq!(newest(&facts, "kube"), Some(Release(0, 93, 1)));
        assert_eq!(newest(&facts, "object_store"), Some(Release(0, 11, 2)));
        assert_eq!(newest(&facts, "unheard-of"), None);
    }

    #[test]
    fn requirements_allow_versions() {
        let newest = Release::newest_of;
        assert_eq!(newest("1.2"), Some(Release(1, u64::MAX, u64::MAX)));
        assert_eq!(newest("^0.4.1"), Some(Release(0, 4, u64::MAX)));
        assert_eq!(newest("~1.2.3"), Some(Release(1, 2, u64::MAX)));
        assert_eq!(newest("= 1.2.3"), Some(Release(1, 2, 3)));
        assert_eq!([newest(">=1"), newest("*"), newest(""), newest("x")], [None; 4]);
        assert_eq!(Release::exactly("0.12.0-alpha.1"), Some(Release(0, 12, 0)));
        assert_eq!(Release::exactly("1.2"), None);
    }

    #[test]
    fn the_first_table_with_an_alias_counts() {
        let facts = facts(&[(
            "Cargo.toml",
            "[package]\nname = \"a\"\n[build-dependencies]\nx = \"3\"\n[dev-dependencies]\nx = \"2\"\ny = \"2\"\n\
             [target.'cfg(unix)'.dependencies]\nx = \"1\"",
        )]);
        assert_eq!(dependencies(&facts.packages[0]), ["x=x 1 -", "y=y 2 -"]);
    }

    #[test]
    fn the_nearest_workspace_is_one_of_the_folders_above() {
        let package = |name: &str| format!("[package]\nname = \"{name}\"\n[dependencies]\nx = {{ workspace = true }}");
        let workspace = |version: &str| format!("[workspace]\n[workspace.dependencies]\nx = \"{version}\"");
        let facts = facts(&[
            ("Cargo.toml", &workspace("1")),
            ("a/b/Cargo.toml", &workspace("2")),
            ("a/b/c/d/Cargo.toml", &package("near")),
            ("a/bc/Cargo.toml", &package("far")),
        ]);
        assert_eq!(dependencies(&facts.packages[0]), ["x=x 2 -"]);
        assert_eq!(dependencies(&facts.packages[1]), ["x=x 1 -"]);
    }

    #[test]
    fn many_dependencies_take_as_long_as_they_are() {
        let list: String = (0..100_000).map(|i| format!("d{i} = {{ workspace = true }}\n")).collect();
        let versions: String = (0..100_000).map(|i| format!("d{i} = \"{i}\"\n")).collect();
        let text = format!("[package]\nname = \"a\"\n[dependencies]\n{list}[workspace.dependencies]\n{versions}");
        let start = std::time::Instant::now();
        let facts = facts(&[("Cargo.toml", &text)]);
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(facts.packages[0].dependencies.last().and_then(|d| d.version.clone()), Some("99999".to_string()));
        assert!(seconds < 60.0, "{seconds} s");
    }

    #[test]
    fn manifests_that_are_odd_or_broken() {
        assert!(facts(&[("Cargo.toml", "")]).packages.is_empty());
        assert!(facts(&[("Cargo.toml", "[package]\nversion = \"1\"\ndependencies = 3")]).packages.is_empty());
        let facts = facts(&[("Cargo.toml", "[package]\nname = \"x\"\nbin = 3\n[dependencies]\na = 3\nb = []")]);
        assert_eq!(dependencies(&facts.packages[0]), ["a=a 3 -", "b=b - -"]);
        assert_eq!(join("a/b", "../../../c"), "../c");
        assert_eq!(join("", "./x/"), "x");
        assert_eq!(join("a", "/abs"), "/abs");
    }
}
