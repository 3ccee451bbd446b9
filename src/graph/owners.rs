//! Which folder belongs to which component: packages to what runs them, settings files to what reads them.

use std::collections::{BTreeMap, BTreeSet};

use super::hosts::{Hosts, Part};
use super::names::{image_name, last_folder, lies_in, spelled};
use crate::config::{Config, Globs};
use crate::facts::{MountedMapFact, PackageFact};
use crate::model::{ComponentIx, ComponentKind, Reason};
use crate::rust::reading::{CodeReading, Target, UrlPart};
use crate::source::Span;

/// The owners of packages and folders.
#[derive(Debug)]
pub(super) struct Owners {
    /// The components of each package; several run the same code.
    packages: Vec<Vec<ComponentIx>>,
    /// Why each of them is.
    reasons: BTreeMap<(usize, ComponentIx), Reason>,
    folders: Vec<String>,
    configured: Vec<(Globs, ComponentIx)>,
    /// ConfigMaps that are mounted.
    maps: Vec<MountedMapFact>,
}

impl Owners {
    /// Links packages with components: each link only where it is unique. A package that nothing runs becomes a
    /// component of its own.
    pub(super) fn new(packages: &[PackageFact], reading: &CodeReading, hosts: &mut Hosts, config: &Config) -> Self {
        let configured: Vec<(Globs, ComponentIx)> = config
            .services
            .iter()
            .filter(|s| !s.paths.is_empty())
            .filter_map(|s| Some((config.globs(&s.paths), hosts.named(&s.name)?)))
            .collect();
        let mut owners = Self {
            packages: vec![Vec::new(); packages.len()],
            reasons: BTreeMap::new(),
            folders: packages.iter().map(|p| p.folder.clone()).collect(),
            configured,
            maps: Vec::new(),
        };
        owners.link(packages, reading, hosts);
        for (package, owned) in packages.iter().zip(&mut owners.packages) {
            if owned.is_empty() {
                let part = Part::new(&package.name, ComponentKind::Service, Some(package.span));
                owned.push(hosts.add(part));
            }
        }
        owners
    }

    fn link(&mut self, packages: &[PackageFact], reading: &CodeReading, hosts: &Hosts) {
        let mut linked: BTreeSet<ComponentIx> = BTreeSet::new();
        for (at, (package, owned)) in packages.iter().zip(&mut self.packages).enumerate() {
            let manifest = beside(&package.folder, "Cargo.toml");
            owned.extend(self.configured.iter().filter(|(globs, _)| globs.matches(&manifest)).map(|(_, ix)| *ix));
            linked.extend(owned.iter().copied());
            for ix in owned.iter() {
                self.reasons.insert((at, *ix), because(package, *ix, hosts, "retrylint.toml says so"));
            }
        }
        let runs = |p: &Part| matches!(p.kind, ComponentKind::Service | ComponentKind::Job) && p.declared;
        let candidates: Vec<(ComponentIx, &Part)> = hosts.iter().filter(|(_, p)| runs(p)).collect();
        for (tier, why) in TIERS {
            for &(ix, part) in &candidates {
                if !linked.contains(&ix)
                    && let [only] = tier(part, packages).as_slice()
                    && let (Some(owned), Some(package)) = (self.packages.get_mut(*only), packages.get(*only))
                {
                    linked.insert(ix);
                    owned.push(ix);
                    self.reasons.insert((*only, ix), because(package, ix, hosts, why));
                }
            }
        }
        if let ([_], [(ix, part)], [owned]) = (packages, candidates.as_slice(), self.packages.as_mut_slice())
            && owned.is_empty()
            && may_be_own(part, reading)
        {
            owned.push(*ix);
            let why = "there is one package, and nothing else that could run it";
            self.reasons.extend(packages.first().map(|package| ((0, *ix), because(package, *ix, hosts, why))));
        }
    }

    /// Why a component runs a package; `None` where both bear one name because nothing else is known to run it.
    pub(super) fn why(&self, package: Option<usize>, ix: ComponentIx) -> Option<&Reason> {
        self.reasons.get(&(package?, ix))
    }

    /// The components of a package.
    pub(super) fn of_package(&self, package: usize) -> &[ComponentIx] {
        self.packages.get(package).map_or(&[], Vec::as_slice)
    }

    /// With the ConfigMaps that components mount.
    pub(super) fn with_maps(self, maps: Vec<MountedMapFact>) -> Self {
        Self { maps, ..self }
    }

    /// The components that the settings at a place belong to: those that mount the ConfigMap around it, or have it as a
    /// value of their environment; else those of its file.
    pub(super) fn of_place(&self, place: Span, path: &str, hosts: &mut Hosts) -> Vec<ComponentIx> {
        let around = self.maps.iter().filter(|m| m.map.contains(place));
        let mut mounting: Vec<ComponentIx> = around.flat_map(|m| hosts.all_named(&m.component)).collect();
        if mounting.is_empty() {
            let has = |p: &Part| p.env.iter().any(|e| e.span.contains(place));
            mounting = hosts.iter().filter(|(_, p)| has(p)).map(|(ix, _)| ix).collect();
        }
        mounting.sort_unstable();
        mounting.dedup();
        if mounting.is_empty() { self.of_file(path, hosts) } else { mounting }
    }

    /// The components that a settings or source file belongs to; one is made where nothing else is known.
    pub(super) fn of_file(&self, path: &str, hosts: &mut Hosts) -> Vec<ComponentIx> {
        let mounted = hosts.iter().filter(|(_, p)| p.mounts.iter().any(|m| lies_in(path, m)));
        let mounted: Vec<ComponentIx> = mounted.map(|(ix, _)| ix).collect();
        if !mounted.is_empty() {
            return mounted;
        }
        let configured = self.configured.iter().filter(|(globs, _)| globs.matches(path)).map(|(_, ix)| *ix);
        let configured: Vec<ComponentIx> = configured.collect();
        if !configured.is_empty() {
            return configured;
        }
        if let Some(root) = java_root(path) {
            return vec![of_root(root, hosts)];
        }
        self.of_folder(path, hosts)
    }

    /// The component that the settings of an application are known to belong to.
    pub(super) fn existing(&self, path: &str, hosts: &Hosts) -> Option<ComponentIx> {
        existing_of_root(java_root(path)?, hosts)
    }

    /// The components of the nearest folder that is built, or holds a package; else the one that a folder is named as.
    fn of_folder(&self, path: &str, hosts: &mut Hosts) -> Vec<ComponentIx> {
        let mut folders: BTreeMap<&str, Vec<ComponentIx>> = BTreeMap::new();
        for (folder, owned) in self.folders.iter().zip(&self.packages) {
            folders.entry(folder).or_default().extend(owned);
        }
        for (ix, part) in hosts.iter() {
            part.builds.iter().for_each(|folder| folders.entry(folder).or_default().push(ix));
        }
        let nearest =
            folders.into_iter().filter(|(folder, _)| lies_in(path, folder)).max_by_key(|(folder, _)| folder.len());
        if let Some((_, mut owned)) = nearest {
            owned.sort_unstable();
            owned.dedup();
            return owned;
        }
        let named = path.rsplit('/').skip(1).find_map(|folder| hosts.named(folder));
        vec![named.or_else(|| only_declared(hosts)).unwrap_or_else(|| made_for(path, hosts))]
    }
}

/// Which packages a component may run, the surest signs first. Only one that stands alone counts.
type Tier = fn(&Part, &[PackageFact]) -> Vec<usize>;

const TIERS: [(Tier, &str); 6] = [
    (|part, packages| which(packages, |package| part.builds.contains(&package.folder)), "it is built from that folder"),
    (
        |part, packages| {
            let inside = part.builds.iter().map(|build| which(packages, |package| lies_in(&package.folder, build)));
            inside.filter(|all| all.len() == 1).flatten().collect()
        },
        "it is the only package in the folder that is built",
    ),
    (
        |part, packages| {
            which(packages, |package| {
                let runs = |name: &String| is_called(package, name) || package.binaries.iter().any(|b| b == name);
                part.programs.iter().any(runs)
            })
        },
        "its Dockerfile builds or runs it",
    ),
    (
        |part, packages| {
            which(packages, |package| part.images.iter().any(|image| is_called(package, image_name(image))))
        },
        "its image is called so",
    ),
    (|part, packages| which(packages, |package| is_called(package, &part.name)), "both have one name"),
    (
        |part, packages| {
            let names = part.images.iter().map(|image| image_name(image)).chain([part.name.as_str()]);
            let names: BTreeSet<String> = names.map(spelled).collect();
            which(packages, |package| {
                let folder = spelled(last_folder(&package.folder));
                names.contains(&folder) || package.binaries.iter().any(|b| names.contains(&spelled(b)))
            })
        },
        "its folder or a binary of it is called so",
    ),
];

fn because(package: &PackageFact, ix: ComponentIx, hosts: &Hosts, why: &str) -> Reason {
    let name = hosts.part(ix).map_or("", |p| p.name.as_str());
    Reason::new(package.span, format!("{name} runs the package `{}`: {why}", package.name))
}

fn which(packages: &[PackageFact], test: impl Fn(&PackageFact) -> bool) -> Vec<usize> {
    packages.iter().enumerate().filter(|(_, package)| test(package)).map(|(at, _)| at).collect()
}

/// Whether a component that bears another name may still run the code of the repository: it is built here, its image is
/// not told, or it sets what the code reads. A database beside the code is none of these.
fn may_be_own(part: &Part, reading: &CodeReading) -> bool {
    let parts = reading.calls.iter().flat_map(|call| match &call.target {
        Target::Url { parts, .. } => parts.as_slice(),
        Target::Unknown { .. } => &[],
    });
    let mut read = parts.filter_map(|p| match p {
        UrlPart::Env { name, .. } => Some(name),
        UrlPart::Text(_) | UrlPart::Unknown => None,
    });
    let sets_what_is_read = read.any(|name| part.values(name).next().is_some());
    !part.builds.is_empty() || part.images.is_empty() && !part.confined || sets_what_is_read
}

fn is_called(package: &PackageFact, name: &str) -> bool {
    !name.is_empty() && spelled(&package.name) == spelled(name)
}

fn beside(folder: &str, file: &str) -> String {
    if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") }
}

/// `edge/src/main/resources/application.yml`, `edge/src/main/java/shop/Edge.java` → `edge`.
fn java_root(path: &str) -> Option<&str> {
    let at = ["resources", "java", "kotlin"].iter().find_map(|kind| path.find(&format!("src/main/{kind}/")))?;
    let before = path.get(..at)?;
    (before.is_empty() || before.ends_with('/')).then(|| before.trim_end_matches('/'))
}

/// The component that is built from a folder, or is named as it.
fn of_root(root: &str, hosts: &mut Hosts) -> ComponentIx {
    existing_of_root(root, hosts).unwrap_or_else(|| {
        let name = last_folder(root);
        let name = if name.is_empty() { "application" } else { name };
        hosts.named(name).unwrap_or_else(|| hosts.add(Part::new(name, ComponentKind::Service, None)))
    })
}

fn existing_of_root(root: &str, hosts: &Hosts) -> Option<ComponentIx> {
    let built: Vec<ComponentIx> =
        hosts.iter().filter(|(_, p)| p.builds.iter().any(|b| b == root)).map(|(ix, _)| ix).collect();
    if let [only] = built.as_slice() {
        return Some(*only);
    }
    let name = last_folder(root);
    let imaged: Vec<ComponentIx> = hosts
        .iter()
        .filter(|(_, p)| p.images.iter().any(|i| !name.is_empty() && spelled(image_name(i)) == spelled(name)))
        .map(|(ix, _)| ix)
        .collect();
    let known = match imaged.as_slice() {
        [only] => Some(*only),
        _ => hosts.named(name),
    };
    known.or_else(|| if root.is_empty() { only_declared(hosts) } else { None })
}

/// The component of the folder in which a file lies, of which nothing else is known; in the repository's root that of the
/// file alone. Made once.
fn made_for(path: &str, hosts: &mut Hosts) -> ComponentIx {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let whole = if folder.is_empty() { path } else { folder };
    let made = hosts.iter().find(|(_, p)| p.made_for.as_deref() == Some(whole));
    match made.map(|(ix, _)| ix) {
        Some(ix) => ix,
        None => {
            let made_for = Some(whole.to_owned());
            hosts.add(Part { made_for, ..Part::new(last_folder(whole), ComponentKind::Service, None) })
        }
    }
}

fn only_declared(hosts: &Hosts) -> Option<ComponentIx> {
    let mut declared = hosts.iter().filter(|(_, p)| p.declared && p.kind != ComponentKind::Gateway);
    let (first, part) = declared.next()?;
    (declared.next().is_none() && !part.confined).then_some(first)
}
