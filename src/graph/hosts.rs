//! Who is who: the components of the model, and the host names that lead to them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::names::{ServiceName, image_name, last_folder, spelled};
use crate::facts::{ComponentFact, ComponentFactKind, DockerfileFact, EnvFact, ServiceFact};
use crate::model::{Component, ComponentIx, ComponentKind, HostRef, Reason};
use crate::source::{FileId, Span};

/// How many names may stand for one another in a row.
const MAX_ALIASES: usize = 16;

/// A name that was followed, with the namespace in which it was looked up.
type Asked = (String, Option<String>);

/// How many folders two files have in common, and whether they are one file.
type Nearness = (usize, bool);

/// A component in the making.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The name; made unique at the end.
    pub(super) name: String,
    /// The namespace or project.
    pub(super) namespace: Option<String>,
    /// What it is.
    pub(super) kind: ComponentKind,
    /// Where it is declared first, or what made it.
    pub(super) place: Option<Span>,
    /// Every place where a manifest declares it.
    pub(super) places: Vec<Span>,
    /// The folder or file of which it is made, where nothing else is known of it.
    pub(super) made_for: Option<String>,
    /// Whether the configuration says which files are its: then no other one is for want of a better owner.
    pub(super) confined: bool,
    /// Whether a manifest or the configuration declares it, not only a package, a route or a call.
    pub(super) declared: bool,
    /// Names by which it is called without a Service in between, lower case.
    pub(super) hosts: Vec<String>,
    /// The labels of its pods, for each manifest.
    pub(super) labels: Vec<Vec<(String, String)>>,
    /// Its images.
    pub(super) images: Vec<String>,
    /// The folders it is built from.
    pub(super) builds: Vec<String>,
    /// Its environment: of several values of one name each may hold.
    pub(super) env: Vec<EnvFact>,
    /// Files that are mounted into it.
    pub(super) mounts: Vec<String>,
    /// The programs that its Dockerfile builds or runs.
    pub(super) programs: Vec<String>,
}

/// What a host name leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The components: alternatives.
    pub(super) components: Vec<ComponentIx>,
    /// Whether the name stands for a port that carries gRPC.
    pub(super) grpc: bool,
}

/// All components and the names that lead to them.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    parts: Vec<Part>,
    services: Vec<ServiceFact>,
    /// By name and host, lower case; by name as [`spelled`]; by label.
    by_host: BTreeMap<String, Vec<ComponentIx>>,
    by_spelling: BTreeMap<String, Vec<ComponentIx>>,
    by_label: BTreeMap<(String, String), Vec<ComponentIx>>,
    services_by_name: BTreeMap<String, Vec<usize>>,
    /// The paths of files, as far as they are known.
    paths: BTreeMap<FileId, Arc<str>>,
}

impl Hosts {
    /// The components that manifests declare. What several files declare under one name (base and overlay, Compose
    /// and Kubernetes) is one component.
    pub(super) fn new(components: Vec<ComponentFact>, services: Vec<ServiceFact>) -> Self {
        let mut hosts = Self { services, ..Self::default() };
        for (at, service) in hosts.services.iter().enumerate() {
            hosts.services_by_name.entry(service.name.to_lowercase()).or_default().push(at);
        }
        let (named, plain): (Vec<_>, Vec<_>) = components.into_iter().partition(|c| c.namespace.is_some());
        for fact in named.into_iter().chain(plain) {
            let kind = match fact.kind {
                ComponentFactKind::Service => ComponentKind::Service,
                ComponentFactKind::Job => ComponentKind::Job,
            };
            let ix = hosts
                .declared(&fact, kind)
                .unwrap_or_else(|| hosts.add(Part { declared: true, ..Part::new(&fact.name, kind, Some(fact.span)) }));
            hosts.say_more(ix, fact);
        }
        hosts
    }

    /// With the paths of files: where two ways to deploy give a name to different components, the nearer one is meant.
    pub(super) fn with_paths(self, paths: BTreeMap<FileId, Arc<str>>) -> Self {
        Self { paths, ..self }
    }

    /// What another manifest has declared under the same name.
    fn declared(&self, fact: &ComponentFact, kind: ComponentKind) -> Option<ComponentIx> {
        let named = self.by_host.get(&fact.name.to_lowercase()).into_iter().flatten();
        let same =
            named.filter_map(|ix| Some((*ix, self.part(*ix)?))).filter(|(_, p)| p.name == fact.name && p.kind == kind);
        let same: Vec<(ComponentIx, &Part)> = same.collect();
        let exact = same.iter().find(|(_, p)| p.namespace == fact.namespace);
        match (exact, same.as_slice()) {
            (Some((ix, _)), _) => Some(*ix),
            (None, [(only, _)]) if fact.namespace.is_none() => Some(*only),
            _ => None,
        }
    }

    fn say_more(&mut self, ix: ComponentIx, fact: ComponentFact) {
        for pair in &fact.labels {
            self.by_label.entry(pair.clone()).or_default().push(ix);
        }
        self.call(ix, fact.hosts.iter().map(|h| h.to_lowercase()));
        if let Some(part) = self.part_mut(ix) {
            part.add(fact);
        }
    }

    /// Gives each component the programs of the Dockerfile that makes its image: the only one in the folder that it is
    /// built from, else the only one that is named as its image, or whose folder is.
    pub(super) fn give_programs(&mut self, dockerfiles: &[DockerfileFact]) {
        let mut by_folder: BTreeMap<&str, Vec<&DockerfileFact>> = BTreeMap::new();
        let mut by_name: BTreeMap<String, Vec<&DockerfileFact>> = BTreeMap::new();
        for dockerfile in dockerfiles {
            by_folder.entry(&dockerfile.folder).or_default().push(dockerfile);
            let name = dockerfile.name.as_deref().unwrap_or(last_folder(&dockerfile.folder));
            by_name.entry(spelled(name)).or_default().push(dockerfile);
        }
        for part in &mut self.parts {
            let built = part.builds.iter().filter_map(|folder| by_folder.get(folder.as_str()));
            let named = part.images.iter().filter_map(|image| by_name.get(&spelled(image_name(image))));
            let only = built.chain(named).find_map(|all| match all.as_slice() {
                [only] => Some(*only),
                _ => None,
            });
            part.programs.extend(only.into_iter().flat_map(|dockerfile| dockerfile.programs.iter().cloned()));
        }
    }

    /// Adds names by which a component is called.
    pub(super) fn call(&mut self, ix: ComponentIx, names: impl IntoIterator<Item = String>) {
        for name in names {
            let known = self.by_host.entry(name.clone()).or_default();
            if !known.contains(&ix) {
                known.push(ix);
            }
            if let Some(part) = self.parts.get_mut(ix.0 as usize) {
                part.hosts.push(name);
            }
        }
    }

    /// Adds a component.
    pub(super) fn add(&mut self, part: Part) -> ComponentIx {
        let ix = ComponentIx(self.parts.len() as u32);
        for host in part.hosts.iter().cloned().chain([part.name.to_lowercase()]) {
            let known = self.by_host.entry(host).or_default();
            if !known.contains(&ix) {
                known.push(ix);
            }
        }
        self.add_unheard(part)
    }

    /// Adds a component to which no host name leads.
    fn add_unheard(&mut self, part: Part) -> ComponentIx {
        let ix = ComponentIx(self.parts.len() as u32);
        self.by_spelling.entry(spelled(&part.name)).or_default().push(ix);
        self.parts.push(part);
        ix
    }

    /// A component.
    pub(super) fn part(&self, ix: ComponentIx) -> Option<&Part> {
        self.parts.get(ix.0 as usize)
    }

    /// A component, to change it.
    pub(super) fn part_mut(&mut self, ix: ComponentIx) -> Option<&mut Part> {
        self.parts.get_mut(ix.0 as usize)
    }

    /// All components.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ComponentIx, &Part)> {
        (0..).map(ComponentIx).zip(&self.parts)
    }

    /// The components with this name that are more than a host's name.
    pub(super) fn all_named(&self, name: &str) -> Vec<ComponentIx> {
        let is = |ix: &ComponentIx| {
            self.part(*ix).is_some_and(|p| !matches!(p.kind, ComponentKind::Host | ComponentKind::Outside))
        };
        self.by_spelling.get(&spelled(name)).into_iter().flatten().copied().filter(is).collect()
    }

    /// The component with this name, if it is the only one.
    pub(super) fn named(&self, name: &str) -> Option<ComponentIx> {
        match self.all_named(name).as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The leaf with exactly this name.
    pub(super) fn leaf_named(&self, name: &str) -> Option<ComponentIx> {
        let all = self.by_spelling.get(&spelled(name))?.iter();
        all.copied().find(|ix| self.part(*ix).is_some_and(|p| p.kind == ComponentKind::Host && p.name == name))
    }

    /// The component with the name, the namespace and the kind of this one.
    pub(super) fn same_as(&self, part: &Part) -> Option<ComponentIx> {
        let same = |p: &Part| (&p.name, &p.namespace, p.kind) == (&part.name, &part.namespace, part.kind);
        self.by_spelling.get(&spelled(&part.name))?.iter().copied().find(|ix| self.part(*ix).is_some_and(same))
    }

    /// The components behind a host; one that nobody knows becomes a leaf.
    pub(super) fn resolve(&mut self, host: &HostRef) -> Found {
        let found = self.find(&host.name, host.namespace.as_deref(), host.span.file, &mut BTreeSet::new());
        if !found.components.is_empty() {
            return found;
        }
        let leaf = self.leaf(&host.name, host.namespace.as_deref(), host.span);
        Found { components: vec![leaf], grpc: found.grpc }
    }

    /// The components behind a service of a provider that an SDK names: what somebody has declared in its place, else a
    /// leaf. A folder or a package is only called so.
    pub(super) fn behind_service(&mut self, host: &HostRef, caller: ComponentIx) -> Found {
        let found = self.known(host);
        if found.components.is_empty() {
            return self.resolve(host);
        }
        let stands_for_it = |ix: &ComponentIx| {
            *ix != caller && self.part(*ix).is_some_and(|p| p.declared || p.kind == ComponentKind::Host)
        };
        let components: Vec<ComponentIx> = found.components.iter().copied().filter(stands_for_it).collect();
        if !components.is_empty() {
            return Found { components, ..found };
        }
        let part = Part::new(&host.name, ComponentKind::Host, Some(host.span));
        let leaf = self.leaf_named(&host.name).unwrap_or_else(|| self.add_unheard(part));
        Found { components: vec![leaf], ..found }
    }

    /// The components behind the host of a client's settings. Where that is the client's name, the service may be spelled
    /// otherwise: `inventory-service` for `inventory` or `inventoryservice`.
    pub(super) fn behind_client(&mut self, host: &HostRef) -> Vec<ComponentIx> {
        let found = self.find(&host.name, host.namespace.as_deref(), host.span.file, &mut BTreeSet::new());
        if found.components.is_empty() && host.port.is_none() && !host.name.contains('.') {
            let alike = super::names::alike(&host.name);
            let known: BTreeSet<ComponentIx> = alike.iter().filter_map(|name| self.named(name)).collect();
            if let (Some(only), 1) = (known.first(), known.len()) {
                return vec![*only];
            }
        }
        self.resolve(host).components
    }

    fn leaf(&mut self, host: &str, namespace: Option<&str>, span: Span) -> ComponentIx {
        let external = self.external(host, namespace, MAX_ALIASES);
        let written = external.as_deref().unwrap_or(host);
        let name = ServiceName::parse(written).filter(|n| n.sure);
        let mut part = Part::new(written, ComponentKind::Host, Some(span));
        part.namespace = name.and_then(|n| n.namespace.or(namespace)).map(str::to_owned);
        part.hosts = vec![written.to_owned()];
        part.hosts.extend(name.map(|n| n.name.to_owned()));
        part.hosts.dedup();
        self.add(part)
    }

    /// What a Service of the type ExternalName stands for.
    fn external(&self, host: &str, namespace: Option<&str>, depth: usize) -> Option<String> {
        let service = self.service(host, namespace).into_iter().find(|s| s.external.is_some())?;
        let target = service.external.as_deref()?.trim_end_matches('.').to_lowercase();
        let further = (depth > 0).then(|| self.external(&target, service.namespace.as_deref(), depth - 1)).flatten();
        Some(further.unwrap_or(target))
    }

    /// `asked`: the names on the way here, each followed once, so that Services that stand for each other end.
    fn find(&self, host: &str, namespace: Option<&str>, from: FileId, asked: &mut BTreeSet<Asked>) -> Found {
        let services = self.service(host, namespace);
        let grpc = services.iter().any(|s| s.grpc);
        let selected: Vec<ComponentIx> = services.iter().flat_map(|s| self.behind(s, asked)).collect();
        // What is called so without a Service is another place where the same name leads: the alternative of another
        // way to deploy.
        let literally = |p: &Part| p.hosts.iter().any(|h| h == host);
        let mut named = self.nearest(self.called(host), namespace, literally);
        named.retain(|ix| !selected.contains(ix));
        let mut components = self.of_one_way(selected, named, from);
        if let (true, Some(name)) = (components.is_empty(), ServiceName::parse(host)) {
            let wanted = name.namespace.or(namespace);
            let fits = |p: &Part| name.sure || p.namespace.as_deref() == wanted;
            components = self.nearest(self.called(name.name), wanted, fits);
        }
        components.sort_unstable();
        components.dedup();
        Found { components, grpc }
    }

    /// Of two ways to deploy the one that lies nearer to the file that names the host; both, if neither does.
    fn of_one_way(&self, selected: Vec<ComponentIx>, named: Vec<ComponentIx>, from: FileId) -> Vec<ComponentIx> {
        let [near, other] = [&selected, &named].map(|all| all.iter().filter_map(|ix| self.shared(*ix, from)).max());
        match near.cmp(&other) {
            _ if selected.is_empty() || named.is_empty() => [selected, named].concat(),
            Ordering::Greater => selected,
            Ordering::Less => named,
            Ordering::Equal => [selected, named].concat(),
        }
    }

    /// How near the nearest of a component's manifests is to a file.
    fn shared(&self, ix: ComponentIx, file: FileId) -> Option<Nearness> {
        let part = self.part(ix)?;
        part.places.iter().chain(&part.place).map(|place| self.nearness(*place, file)).max()
    }

    fn nearness(&self, place: Span, file: FileId) -> Nearness {
        let folders = |file: FileId| {
            let path = self.paths.get(&file).map_or("", |path| path);
            path.rsplit_once('/').map_or("", |(folder, _)| folder).split('/')
        };
        let shared = folders(place.file).zip(folders(file)).take_while(|(a, b)| a == b).count();
        (shared, place.file == file)
    }

    /// Of the places where a component is declared the one nearest to a file.
    fn place_near(&self, part: &Part, file: FileId) -> Option<Span> {
        let nearest = part.places.iter().copied().rev().max_by_key(|place| self.nearness(*place, file));
        nearest.or(part.place)
    }

    /// The components of the repository behind a host: alternatives.
    pub(super) fn known(&self, host: &HostRef) -> Found {
        self.find(&host.name, host.namespace.as_deref(), host.span.file, &mut BTreeSet::new())
    }

    /// Why a host leads to a component.
    pub(super) fn why(&self, host: &HostRef, to: ComponentIx) -> Reason {
        let Some(part) = self.part(to) else { return Reason::new(None, "") };
        let name = &part.name;
        for service in self.service(&host.name, host.namespace.as_deref()) {
            let text = match &service.external {
                Some(target) => format!("the Service `{}` stands for `{target}`", service.name),
                None if self.behind(service, &mut BTreeSet::new()).contains(&to) => {
                    let labels: Vec<String> = service.selector.iter().map(|(k, v)| format!("{k}={v}")).collect();
                    format!("the Service `{}` selects the pods of {name} by {}", service.name, labels.join(", "))
                }
                None => continue,
            };
            return Reason::new(service.span, text);
        }
        let text = match part.kind {
            ComponentKind::Host if !self.all_named(&host.name).is_empty() => {
                let text = format!("an SDK means its provider's `{}`, not what is called so here", host.name);
                return Reason::new(None, text);
            }
            ComponentKind::Host => {
                let text = format!("nothing in the repository is called `{}`: a host outside of it", host.name);
                return Reason::new(None, text);
            }
            _ if part.name.eq_ignore_ascii_case(&host.name) => format!("{name} is declared here"),
            _ => format!("`{}` is a name of {name}, which is declared here", host.name),
        };
        Reason::new(self.place_near(part, host.span.file), text)
    }

    fn called(&self, name: &str) -> &[ComponentIx] {
        self.by_host.get(name).map_or(&[], Vec::as_slice)
    }

    /// The Services of a name. A short name is looked up in its own namespace; where a namespace is not known, any fits.
    fn service(&self, host: &str, namespace: Option<&str>) -> Vec<&ServiceFact> {
        let Some(name) = ServiceName::parse(host) else { return Vec::new() };
        let wanted = name.namespace.or(namespace);
        let called = self.services_by_name.get(name.name).into_iter().flatten().filter_map(|at| self.services.get(*at));
        let (exact, open): (Vec<_>, Vec<_>) =
            called.partition(|s| s.namespace.is_some() && s.namespace.as_deref() == wanted);
        if !exact.is_empty() || !name.sure {
            return exact;
        }
        open.into_iter().filter(|s| s.namespace.is_none() || wanted.is_none()).collect()
    }

    /// The components whose labels a Service selects.
    fn behind(&self, service: &ServiceFact, asked: &mut BTreeSet<Asked>) -> Vec<ComponentIx> {
        let namespace = service.namespace.as_deref();
        if let Some(external) = &service.external {
            let target = external.trim_end_matches('.').to_lowercase();
            let asked_now = (target.clone(), service.namespace.clone());
            let new = target != service.name && asked.len() < MAX_ALIASES && asked.insert(asked_now);
            return if new { self.find(&target, namespace, service.span.file, asked).components } else { Vec::new() };
        }
        let all = |labels: &Vec<(String, String)>| service.selector.iter().all(|pair| labels.contains(pair));
        let Some(first) = service.selector.first() else { return Vec::new() };
        let labelled = self.by_label.get(first).map_or(&[][..], Vec::as_slice);
        self.nearest(labelled, namespace, |p| p.labels.iter().any(all))
    }

    /// Of the components for which `test` holds, those of this namespace, else those of none; of any, where the
    /// namespace is not known.
    fn nearest(
        &self,
        among: &[ComponentIx],
        namespace: Option<&str>,
        test: impl Fn(&Part) -> bool,
    ) -> Vec<ComponentIx> {
        let all: Vec<(ComponentIx, &Part)> =
            among.iter().filter_map(|ix| Some((*ix, self.part(*ix)?))).filter(|(_, p)| test(p)).collect();
        let of = |wanted: Option<&str>| -> Vec<ComponentIx> {
            all.iter().filter(|(_, p)| p.namespace.as_deref() == wanted).map(|(ix, _)| *ix).collect()
        };
        let Some(wanted) = namespace else { return all.iter().map(|(ix, _)| *ix).collect() };
        let own = of(Some(wanted));
        if own.is_empty() { of(None) } else { own }
    }

    /// The components with unique names.
    pub(super) fn into_components(self) -> Vec<Component> {
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        self.parts.iter().for_each(|p| *times.entry(p.name.clone()).or_default() += 1);
        let inside = self.parts.iter().filter(|p| p.kind != ComponentKind::Host);
        let inside: BTreeSet<String> = inside.map(|p| p.name.clone()).collect();
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        let mut unique = |part: &Part| {
            let shared = times.get(&part.name).is_some_and(|n| *n > 1);
            let name = match &part.namespace {
                Some(namespace) if shared => match part.name.strip_prefix("callers of ") {
                    Some(host) => format!("callers of {namespace}/{host}"),
                    None => format!("{namespace}/{}", part.name),
                },
                None if part.kind == ComponentKind::Host && inside.contains(&part.name) => {
                    format!("{} (outside)", part.name)
                }
                _ => part.name.clone(),
            };
            let before = taken.entry(name.clone()).or_default();
            *before += 1;
            if *before == 1 { name } else { format!("{name} ({before})") }
        };
        self.parts.iter().map(|part| Component { name: unique(part), kind: part.kind, place: part.place }).collect()
    }
}

impl Part {
    /// A component of which only its name is known.
    pub(super) fn new(name: &str, kind: ComponentKind, place: Option<Span>) -> Self {
        Self {
            name: name.to_owned(),
            namespace: None,
            kind,
            place,
            places: Vec::new(),
            made_for: None,
            confined: false,
            declared: false,
            hosts: Vec::new(),
            labels: Vec::new(),
            images: Vec::new(),
            builds: Vec::new(),
            env: Vec::new(),
            mounts: Vec::new(),
            programs: Vec::new(),
        }
    }

    fn add(&mut self, fact: ComponentFact) {
        self.namespace = self.namespace.take().or(fact.namespace);
        self.places.push(fact.span);
        self.labels.push(fact.labels);
        self.images.extend(fact.images);
        self.builds.extend(fact.build);
        self.env.extend(fact.env);
        self.mounts.extend(fact.mounts);
    }

    /// The values of an environment variable.
    pub(super) fn values<'a>(&'a self, variable: &'a str) -> impl Iterator<Item = &'a EnvFact> {
        self.env.iter().filter(move |e| e.name == variable)
    }
}
