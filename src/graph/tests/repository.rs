//! Facts made by hand.

use super::super::link;
use super::*;
use crate::config::Config;
use crate::facts::{ComponentFact, ComponentFactKind, Dependency, EnvFact, Facts, PackageFact, ServiceFact};
use crate::model::{Callers, GatewayName, HostRef, Model, Scope};
use crate::rust::reading::{CodeCall, CodeLayerUse, CodeReading, Root, Target, UrlPart};
use crate::source::{FileId, Span};

/// Facts in the making.
pub(super) struct Repository {
    pub(super) draft: Draft,
    pub(super) facts: Facts,
    pub(super) reading: CodeReading,
    pub(super) config: Config,
}

impl Repository {
    pub(super) fn new() -> Self {
        let draft = Draft::new();
        Self { draft, facts: Facts::default(), reading: CodeReading::default(), config: Config::default() }
    }

    pub(super) fn file(&mut self, path: &str) -> Span {
        let file = self.draft.file(path, "0123456789");
        Span::new(file, 0, 4)
    }

    pub(super) fn component(&mut self, name: &str, namespace: Option<&str>) -> &mut ComponentFact {
        let span = self.file(&format!("deploy/{name}.yaml"));
        self.facts.components.push(ComponentFact {
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            kind: ComponentFactKind::Service,
            hosts: Vec::new(),
            labels: vec![("app".to_owned(), name.to_owned())],
            images: Vec::new(),
            build: None,
            env: Vec::new(),
            mounts: Vec::new(),
            span,
        });
        self.facts.components.last_mut().unwrap()
    }

    pub(super) fn env(&mut self, component: &str, name: &str, value: &str) {
        let span = self.file("deploy/env.yaml");
        let fact = EnvFact { name: name.to_owned(), value: value.to_owned(), span };
        let component = self.facts.components.iter_mut().find(|c| c.name == component).unwrap();
        component.env.push(fact);
    }

    pub(super) fn service(&mut self, name: &str, namespace: Option<&str>, selects: &str) -> &mut ServiceFact {
        let span = self.file("deploy/service.yaml");
        self.facts.services.push(ServiceFact {
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            selector: vec![("app".to_owned(), selects.to_owned())],
            external: None,
            grpc: false,
            ports: Vec::new(),
            span,
        });
        self.facts.services.last_mut().unwrap()
    }

    pub(super) fn package(&mut self, name: &str, folder: &str) -> usize {
        let span = self.file(&format!("{folder}/Cargo.toml"));
        let (name, folder) = (name.to_owned(), folder.to_owned());
        let dependencies: Vec<Dependency> = Vec::new();
        self.facts.packages.push(PackageFact {
            name,
            folder,
            binaries: Vec::new(),
            dependencies,
            locked: Default::default(),
            span,
        });
        self.facts.packages.len() - 1
    }

    pub(super) fn new_layer(&mut self, file: &str, system: &'static str, kind: LayerKind, scope: Scope) -> Layer {
        let span = self.file(file);
        self.draft.layer(file, span);
        let layer = self.draft.model.layers.pop().unwrap();
        Layer { id: file.into(), system, kind, scope, ..layer }
    }

    /// A layer of settings, in a file of its own.
    pub(super) fn layer(&mut self, file: &str, system: &'static str, kind: LayerKind, scope: Scope) -> &mut Layer {
        let layer = self.new_layer(file, system, kind, scope);
        self.facts.layers.push(layer);
        self.facts.layers.last_mut().unwrap()
    }

    /// A call of `url` from `package`, with that many layers of code around it.
    pub(super) fn call(&mut self, package: usize, parts: Vec<UrlPart>, layers: usize) -> &mut CodeCall {
        let folder = self.facts.packages[package].folder.clone();
        let span = self.file(&format!("{folder}/src/call{}.rs", self.reading.calls.len()));
        let first = self.reading.layers.len();
        for i in 0..layers {
            let layer = self.new_layer(&format!("{folder}/src/layer{i}.rs"), "rust", LayerKind::Code, Scope::Code);
            self.reading.layers.push(layer);
        }
        let modes = any_5xx().union(ModeSet::transport());
        let root = Root { name: "load".to_owned(), span, is_main: false };
        self.reading.calls.push(CodeCall {
            package: Some(package),
            root,
            target: Target::Url { parts, span },
            method: None,
            key: crate::model::IdempotencyKey::Unknown,
            layers: (first..first + layers).map(|layer| CodeLayerUse { layer, modes }).collect(),
            answers: Vec::new(),
            span,
            grpc: false,
            takes_messages: false,
            limit: None,
            per_item: false,
        });
        self.reading.calls.last_mut().unwrap()
    }

    pub(super) fn link(&self) -> Model {
        link(self.facts.clone(), self.reading.clone(), &self.draft.sources, &self.config)
    }

    /// `from -> to [layer, layer]`, without files' folders and endings.
    pub(super) fn hops(&self) -> Vec<String> {
        let model = self.link();
        let line = |hop: &Hop| {
            let layers: Vec<&str> = hop.layers.iter().map(|l| &*model.layer(l.layer).id).collect();
            let (from, to) = (&model.component(hop.from).name, &model.component(hop.to).name);
            format!("{from} -> {to} [{}]", layers.join(", "))
        };
        let mut lines: Vec<String> = model.hops.iter().map(line).collect();
        lines.sort();
        lines
    }
}

pub(super) fn text(url: &str) -> Vec<UrlPart> {
    vec![UrlPart::Text(url.to_owned())]
}

pub(super) fn variable(name: &str, default: Option<&str>) -> UrlPart {
    let span = Span::start_of(FileId(0));
    UrlPart::Env { name: name.to_owned(), default: default.map(str::to_owned), span }
}

pub(super) fn host(name: &str, namespace: Option<&str>) -> HostRef {
    let namespace = namespace.map(str::to_owned);
    HostRef { name: name.to_owned(), port: None, namespace, span: Span::start_of(FileId(0)) }
}

pub(super) fn mesh(to: &[&str]) -> Scope {
    let from = Callers { gateways: Vec::new(), mesh: true };
    Scope::Hops { from, to: to.iter().map(|h| host(h, None)).collect(), fallback: false }
}

pub(super) fn gateway(name: &str, to: &[&str]) -> Scope {
    let from = Callers { gateways: vec![GatewayName::Named(name.to_owned())], mesh: false };
    Scope::Hops { from, to: to.iter().map(|h| host(h, None)).collect(), fallback: false }
}
