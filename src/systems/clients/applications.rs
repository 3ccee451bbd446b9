//! Applications that read their settings from files with profiles, and from the environment over them: Spring Boot,
//! Micronaut, Quarkus.
//!
//! Files say what they say unit by unit; which component runs the application, and with what environment, is known once
//! all units are read. So the layers are made when everything is joined.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::spring::{self, Document};
use super::{appsettings, profiles};
use crate::facts::{ApplicationDocument, ApplicationFact, ApplicationSetting, ComponentFact, EnvFact, Facts, Platform};
use crate::model::{Inert, Layer};
use crate::source::{SourceFile, Span};
use crate::syntax::{self, Entry, Node, Scalar, Syntax, Value, relaxed};
use crate::systems::settings::shown;
use crate::systems::{Unit, embedded};

/// No real application has more profiles; each one costs a reading of all its documents.
const MAX_PROFILES: usize = 100;

/// Nor so many settings.
const MAX_SETTINGS: usize = 20_000;

/// The bytes of settings that somebody writes into a variable; they are read for each profile.
const MAX_JSON: usize = 16 * 1024;

/// Layers of all profiles of one application.
const MAX_LAYERS: usize = 20_000;

/// Notes the application that a unit is, once, whichever systems look at it.
pub(in crate::systems) fn note(unit: &Unit<'_>, facts: &mut Facts) {
    // What else is in a ConfigMap is no settings of the application.
    let any = unit.parts.iter().any(|part| unit_of(part.name).is_some());
    let parts = unit.parts.iter().filter(|part| !any || unit_of(part.name).is_some());
    let documents = parts.flat_map(|part| part.parsed.documents.iter().map(move |root| (part, &**root)));
    let documents: Vec<_> =
        documents.filter(|(part, root)| !is_test(&part.file.path) && !root.entries().is_empty()).collect();
    let Some((part, first)) = documents.first() else { return };
    if is_noted(Platform::Jvm, first.span, facts) {
        return;
    }
    let mut left = MAX_SETTINGS;
    let mut read: Vec<ApplicationDocument> = Vec::new();
    let mut names = Vec::new();
    for (part, root) in &documents {
        let document = Document::new(part.name, root);
        if document.profile.is_none() {
            names.extend(name(&document));
        }
        let leaves = spring::leaves(root, &[]).into_iter().take(left);
        let settings = leaves.map(|l| ApplicationSetting { path: l.path, entry: l.entry.clone() });
        let (own, marked): (Vec<ApplicationSetting>, Vec<_>) = settings.partition(|s| of_mark(s).is_none());
        left -= own.len() + marked.len();
        read.push(ApplicationDocument { profile: document.profile, settings: own });
        read.extend(marked.into_iter().filter_map(|setting| {
            let profile = of_mark(&setting)?;
            let path = setting.path.into_iter().skip(1).collect();
            let settings = vec![ApplicationSetting { path, entry: setting.entry }];
            Some(ApplicationDocument { profile: Some(profile), settings })
        }));
    }
    facts.applications.push(ApplicationFact {
        path: part.file.path.to_string(),
        name: names.into_iter().next(),
        platform: Platform::Jvm,
        documents: read,
        span: first.span,
    });
}

/// Whether the settings that begin there are known.
pub(super) fn is_noted(platform: Platform, span: Span, facts: &Facts) -> bool {
    facts.applications.iter().any(|a| a.platform == platform && a.span == span)
}

/// The profiles that Quarkus has at the head of a key: `%prod.key`, `%{prod,staging}.key`.
fn of_mark(setting: &ApplicationSetting) -> Option<String> {
    let names = setting.path.first()?.0.strip_prefix('%')?.trim_matches(['{', '}']);
    Some(names.replace(',', "|"))
}

/// The files of one folder that are read together.
pub(in crate::systems) fn unit_of(path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.')?;
    let mine = stem == "application" || stem.starts_with("application-");
    (mine && matches!(ending, "yml" | "yaml" | "properties")).then(|| format!("application:{folder}"))
}

/// Settings of tests do not run in production.
fn is_test(path: &str) -> bool {
    path.split('/').zip(path.split('/').skip(1)).any(|pair| pair == ("src", "test"))
}

fn name(document: &Document<'_>) -> Option<String> {
    let keys = ["spring.application.name", "micronaut.application.name", "quarkus.application.name"];
    keys.iter().find_map(|key| spring::text(document.root, key)).filter(|name| !name.contains("${"))
}

/// The keys of a system that the environment can set.
pub(in crate::systems) struct Shape {
    /// Mappings from names to blocks: where they stand, and the fields of a block.
    pub maps: &'static [(&'static str, &'static [&'static str])],
    /// Other keys.
    pub keys: &'static [&'static str],
}

/// The settings of one application under one profile, or without any.
pub(in crate::systems) struct View<'a> {
    /// Settings, later ones over earlier ones.
    pub settings: Vec<Cow<'a, ApplicationSetting>>,
    /// The application, as ids and its component bear its name.
    pub name: Option<&'a str>,
    /// The path of its main file.
    pub path: &'a str,
    /// The environment it runs with, also what is no setting of the system's shape.
    pub env: Vec<&'a EnvFact>,
    index: BTreeMap<String, Vec<usize>>,
}

impl<'a> View<'a> {
    fn new(application: &'a ApplicationFact, active: &[&str], env: &[&'a EnvFact], shape: &Shape) -> Self {
        let mine = |d: &&ApplicationDocument| d.profile.as_deref().is_none_or(|p| profiles::holds(p, active));
        // A profile's own values beat those of every document that always counts, and those of profiles before it.
        let mut documents: Vec<&ApplicationDocument> = application.documents.iter().filter(mine).collect();
        documents.sort_by_key(|d| d.profile.as_deref().map(|p| profiles::place(p, active)));
        let mut settings: Vec<Cow<'a, ApplicationSetting>> =
            documents.into_iter().flat_map(|d| &d.settings).map(Cow::Borrowed).collect();
        for variable in env {
            let setting = match application.platform {
                Platform::Jvm => of_variable(variable, shape, &settings),
                Platform::DotNet => appsettings::of_variable(variable),
            };
            settings.extend(setting.map(Cow::Owned));
        }
        let json = env.iter().filter(|e| e.name == "SPRING_APPLICATION_JSON" && application.platform == Platform::Jvm);
        settings.extend(json.flat_map(|variable| of_json(variable)).map(Cow::Owned));
        let mut index: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, setting) in settings.iter().enumerate() {
            index.entry(key_of(&setting.path)).or_default().push(at);
        }
        Self { settings, name: application.name.as_deref(), path: &application.path, env: env.to_vec(), index }
    }

    /// The setting that counts for a key: `spring.rabbitmq.listener.simple.retry.enabled`.
    pub(in crate::systems) fn get(&self, key: &str) -> Option<&Entry> {
        self.all(key).last().map(|s| &s.entry)
    }

    fn all(&self, key: &str) -> Vec<&ApplicationSetting> {
        let parts: Vec<String> = key.split('.').map(relaxed).collect();
        let found = self.index.get(&parts.join("."));
        found.into_iter().flatten().filter_map(|&at| self.settings.get(at)).map(|s| &**s).collect()
    }

    /// The names of the blocks below a key, in the order of the files, each with the place where it stands first.
    pub(in crate::systems) fn names(&self, below: &str) -> Vec<(String, Span)> {
        let wanted: Vec<String> = below.split('.').map(relaxed).collect();
        let mut seen = BTreeSet::new();
        let mut out = Vec::new();
        for setting in &self.settings {
            let fits = setting.path.len() > wanted.len() + 1
                && setting.path.iter().zip(&wanted).all(|((part, _), wanted)| relaxed(part) == *wanted);
            if let (true, Some((name, span))) = (fits, setting.path.get(wanted.len()))
                && seen.insert(name.clone())
            {
                out.push((name.clone(), *span));
            }
        }
        out
    }

    /// A label on the value that the one of `key` beats, if there is one.
    pub(in crate::systems) fn beaten(&self, key: &str) -> Option<(Span, String)> {
        beaten(&self.all(key).iter().map(|s| &s.entry).collect::<Vec<_>>())
    }
}

/// A label on the value that the last of several beats.
pub(in crate::systems) fn beaten(entries: &[&Entry]) -> Option<(Span, String)> {
    let [.., before, last] = entries else { return None };
    let value = shown(last.value.as_str().unwrap_or_default());
    (before.value.span != last.value.span)
        .then(|| (before.value.span, format!("beaten by `{}: {value}`", shown(&last.key))))
}

fn key_of(path: &[(String, Span)]) -> String {
    let parts: Vec<String> = path.iter().map(|(part, _)| relaxed(part)).collect();
    parts.join(".")
}

/// What a variable sets: dots have become `_`, dashes are gone or `_` as well, and all is in capitals. Names keep the
/// spelling of the files, where they stand there.
fn of_variable(variable: &EnvFact, shape: &Shape, known: &[Cow<'_, ApplicationSetting>]) -> Option<ApplicationSetting> {
    let name = relaxed(&variable.name);
    let key = shape.keys.iter().find(|key| squeezed(key) == name).map(|key| key.to_string());
    let key = key.or_else(|| {
        shape.maps.iter().find_map(|(below, fields)| {
            let rest = name.strip_prefix(&squeezed(below))?;
            let field = fields.iter().filter(|f| rest.ends_with(&squeezed(f))).max_by_key(|f| f.len())?;
            let block = rest.strip_suffix(&squeezed(field))?;
            let depth = below.split('.').count();
            let spelled = known.iter().filter_map(|s| s.path.get(depth)).find(|(part, _)| relaxed(part) == block);
            let block = spelled.map_or(block, |(part, _)| part);
            (!block.is_empty() && !block.contains('.')).then(|| format!("{below}.{block}.{field}"))
        })
    })?;
    let path = key.split('.').map(|part| (part.to_string(), variable.span)).collect();
    Some(ApplicationSetting { path, entry: entry_of(variable) })
}

/// The settings that stand as JSON in a variable, which is stronger than all others. Each has the variable's place.
fn of_json(variable: &EnvFact) -> Vec<ApplicationSetting> {
    let text = Some(variable.value.as_str()).filter(|t| t.len() <= MAX_JSON).unwrap_or_default();
    let file = SourceFile { id: variable.span.file, path: "application.json".into(), text: text.into() };
    let parsed = syntax::parse(Syntax::Json, &file);
    let documents = parsed.documents.iter().filter(|_| parsed.errors.is_empty());
    let documents: Vec<Node> = documents.map(|root| embedded::placed_at(root, variable.span)).collect();
    let leaves = documents.iter().flat_map(|root| spring::leaves(root, &[]));
    leaves.map(|l| ApplicationSetting { path: l.path, entry: l.entry.clone() }).collect()
}

/// A variable as if it stood in a file of settings.
pub(super) fn entry_of(variable: &EnvFact) -> Entry {
    let scalar = Scalar { text: variable.value.as_str().into(), plain: false, verbatim: None };
    let value = Node::new(variable.span, Value::Scalar(scalar)).into();
    Entry { key: variable.name.as_str().into(), key_span: variable.span, value }
}

fn squeezed(key: &str) -> String {
    relaxed(&key.replace('.', ""))
}

/// The settings of the application whose code lies in a file, without those of the environment.
pub(in crate::systems) fn of_code<'f>(path: &str, facts: &'f Facts) -> Option<View<'f>> {
    let root = path.find("src/main/").and_then(|at| path.get(..at))?;
    let resources = format!("{root}src/main/resources/");
    let application = facts.applications.iter().find(|a| a.path.starts_with(&resources))?;
    Some(View::new(application, &[], &[], &Shape { maps: &[], keys: &[] }))
}

/// Makes the layers of every application with `read`, without a profile and under each one, and adds those that differ;
/// `read` also tells which settings have no effect.
pub(in crate::systems) fn add_layers(
    facts: &mut Facts,
    shape: &Shape,
    read: impl Fn(&View<'_>, &mut Vec<Inert>) -> Vec<Layer>,
) {
    add_layers_of(Platform::Jvm, facts, shape, read);
}

/// As [`add_layers`], for applications on `platform`. Where the environment says which profiles are active, those alone
/// are read.
pub(in crate::systems) fn add_layers_of(
    platform: Platform,
    facts: &mut Facts,
    shape: &Shape,
    read: impl Fn(&View<'_>, &mut Vec<Inert>) -> Vec<Layer>,
) {
    let mut layers = Vec::new();
    let mut inert: Vec<Inert> = Vec::new();
    for running in running(platform, facts, shape) {
        let placed = |layer: Layer| Layer { component: layer.component.or(running.component()), ..layer };
        let base: Vec<Layer> = read(&running.always(), &mut inert).into_iter().map(placed).take(MAX_LAYERS).collect();
        let most = MAX_LAYERS / base.len().max(1);
        let mut under = Vec::new();
        for profile in running.profiles().into_iter().take(most) {
            let mut more = Vec::new();
            let all = read(&running.under(profile), &mut more).into_iter().map(placed);
            let new = all.filter(|layer| !base.iter().any(|known| is_same(known, layer)));
            under.extend(new.map(|layer| renamed(layer, platform, profile)).take(MAX_LAYERS));
            more.retain(|one| !inert.contains(one));
            inert.append(&mut more);
        }
        layers.extend(base);
        layers.extend(under);
    }
    facts.layers.extend(layers);
    facts.inert.extend(inert);
}

/// The applications on a platform, with the environments of what runs them.
pub(in crate::systems) fn running<'f>(
    platform: Platform,
    facts: &'f Facts,
    shape: &'f Shape,
) -> impl Iterator<Item = Running<'f>> {
    facts.applications.iter().filter(move |a| a.platform == platform).map(move |application| {
        let owner = owner(application, facts, shape);
        let env: Vec<&EnvFact> = owner.iter().flat_map(|(_, env)| env.iter().copied()).collect();
        let name = owner.map(|(name, _)| name).or(application.name.as_deref());
        let active = profiles::active(platform, &env);
        Running { application, name, env, active, shape }
    })
}

/// An application, and what runs it.
pub(in crate::systems) struct Running<'f> {
    application: &'f ApplicationFact,
    name: Option<&'f str>,
    env: Vec<&'f EnvFact>,
    active: Option<Vec<&'f str>>,
    shape: &'f Shape,
}

impl<'f> Running<'f> {
    /// The component that it is, if its settings or its deployment tell.
    pub(in crate::systems) fn component(&self) -> Option<String> {
        self.name.map(str::to_owned)
    }

    /// The settings without a profile; where the environment says which are active, under those.
    pub(in crate::systems) fn always(&self) -> View<'f> {
        View::new(self.application, self.active.as_deref().unwrap_or_default(), &self.env, self.shape)
    }

    /// The profiles that may be active; none where the environment says which are.
    pub(in crate::systems) fn profiles(&self) -> Vec<&'f str> {
        let written = self.application.documents.iter().filter_map(|d| d.profile.as_deref());
        let names: BTreeSet<&str> = match self.active {
            Some(_) => BTreeSet::new(),
            None => written.flat_map(profiles::names).collect(),
        };
        names.into_iter().take(MAX_PROFILES).collect()
    }

    /// The settings under one profile.
    pub(in crate::systems) fn under(&self, profile: &str) -> View<'f> {
        View::new(self.application, &[profile], &self.env, self.shape)
    }
}

/// Whether a layer says the same as another, whatever else is said about it.
fn is_same(a: &Layer, b: &Layer) -> bool {
    a.id == b.id && Layer { labels: a.labels.clone(), ..b.clone() } == *a
}

fn renamed(layer: Layer, platform: Platform, profile: &str) -> Layer {
    let kind = match platform {
        Platform::Jvm => "profile",
        Platform::DotNet => "environment",
    };
    let name = format!("{} under {kind} {}", layer.name, shown(profile));
    Layer { reading: layer.reading.replacen(&layer.name, &name, 1), name, ..layer }
}

/// The component that runs an application, with its environment: by what it mounts, by its name, by the folder that it is
/// built from. `None` where nothing tells, or several are as likely.
fn owner<'f>(application: &ApplicationFact, facts: &'f Facts, shape: &Shape) -> Option<(&'f str, Vec<&'f EnvFact>)> {
    let mounting = facts.mounted_maps.iter().filter(|m| m.map.contains(application.span));
    let mounting: BTreeSet<&str> = mounting.map(|m| m.component.as_str()).collect();
    let path = application.path.as_str();
    let named = |c: &ComponentFact, name: &str| {
        let image = c.images.iter().map(|i| image_name(i)).any(|i| relaxed(i) == relaxed(name));
        image || relaxed(&c.name) == relaxed(name) || c.hosts.iter().any(|h| relaxed(h) == relaxed(name))
    };
    let builds = |c: &ComponentFact| c.build.as_deref().filter(|b| lies_in(path, b)).map(str::len);
    let nearest = facts.components.iter().filter_map(builds).max();
    let root = path.find("src/main/").and_then(|at| path.get(..at)).unwrap_or("").trim_end_matches('/');
    let folder = root.rsplit('/').next().unwrap_or_default();
    let only_one = facts.applications.iter().filter(|a| a.platform == application.platform).count() == 1;
    let tiers: [&dyn Fn(&ComponentFact) -> bool; 6] = [
        &|c| mounting.contains(c.name.as_str()),
        &|c| mounting.is_empty() && c.mounts.iter().any(|m| lies_in(path, m)),
        &|c| application.name.as_deref().is_some_and(|name| named(c, name)),
        &|c| nearest.is_some() && builds(c) == nearest,
        &|c| !folder.is_empty() && named(c, folder),
        &|c| only_one && application.name.is_none() && c.env.iter().any(|e| of_variable(e, shape, &[]).is_some()),
    ];
    for tier in tiers {
        let found: Vec<&ComponentFact> = facts.components.iter().filter(|c| tier(c)).collect();
        let names: BTreeSet<&str> = found.iter().map(|c| c.name.as_str()).collect();
        if let (Some(name), 1) = (names.first(), names.len()) {
            return Some((name, found.iter().flat_map(|c| &c.env).collect()));
        }
    }
    None
}

fn image_name(image: &str) -> &str {
    let last = image.split('@').next().unwrap_or(image).rsplit('/').next().unwrap_or(image);
    last.split(':').next().unwrap_or(last)
}

fn lies_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
