//! How long a large system takes to be linked and multiplied: so many services in twenty tiers, each calling five of the
//! next tier, each with ten layers. Three sizes, so that the growth shows.
//!
//! `cargo bench --bench linking`

#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use retrylint::config::Config;
use retrylint::facts::{ComponentFact, ComponentFactKind, EnvFact, Facts, ServiceFact};
use retrylint::graph::link;
use retrylint::model::{
    Advice, Attempts, Callers, Conditions, Confidence, HostRef, Jitter, Layer, LayerKind, Methods, ModeSet, Purpose,
    Scope, Setting, Wait,
};
use retrylint::rust::reading::CodeReading;
use retrylint::source::{FileId, Sources, Span};

const TIERS: usize = 20;
const CALLEES: usize = 5;
const LAYERS: usize = 10;

fn main() {
    for services in [500, 1_000, 2_000] {
        let facts = system(services);
        let layers = facts.layers.len();
        let start = Instant::now();
        let model = link(facts, CodeReading::default(), &Sources::default(), &Config::default());
        let (hops, paths) = (model.hops.len(), model.paths.len());
        println!("{services} services, {layers} layers: {hops} hops, {paths} paths in {:.2?}", start.elapsed());
    }
}

fn system(services: usize) -> Facts {
    let mut facts = Facts::default();
    let tier = services / TIERS;
    for i in 0..services {
        let next = (i / tier + 1) * tier;
        let callees: Vec<usize> =
            (0..CALLEES).filter(|_| next < services).map(|k| next + (i * 31 + k * 17) % tier).collect();
        facts.components.push(component(i, &callees));
        facts.services.push(service(i));
        facts.layers.extend((0..LAYERS).map(|n| layer(i, n)));
    }
    facts
}

/// The place number `n` of a service's file.
fn place(service: usize, n: usize) -> Span {
    Span::new(FileId(u32::try_from(service).unwrap_or(0)), n * 10, n * 10 + 5)
}

fn name(service: usize) -> String {
    format!("s{service}")
}

fn component(i: usize, callees: &[usize]) -> ComponentFact {
    let env = callees.iter().zip(100..).map(|(callee, n)| EnvFact {
        name: format!("S{callee}_URL"),
        value: format!("http://{}:8080", name(*callee)),
        span: place(i, n),
    });
    ComponentFact {
        name: name(i),
        namespace: Some("shop".to_owned()),
        kind: ComponentFactKind::Service,
        hosts: Vec::new(),
        labels: vec![("app".to_owned(), name(i))],
        images: vec![format!("shop/{}:1", name(i))],
        build: None,
        env: env.collect(),
        mounts: Vec::new(),
        span: place(i, 0),
    }
}

fn service(i: usize) -> ServiceFact {
    ServiceFact {
        name: name(i),
        namespace: Some("shop".to_owned()),
        selector: vec![("app".to_owned(), name(i))],
        external: None,
        grpc: false,
        ports: Vec::new(),
        span: place(i, 1),
    }
}

/// Ten routes of a mesh to a service: alternatives.
fn layer(i: usize, n: usize) -> Layer {
    let span = place(i, 2 + n);
    let host = HostRef { name: name(i), port: None, namespace: Some("shop".to_owned()), span };
    let count = 1 + (i + n) as u64 % 3;
    Layer {
        id: Arc::from(format!("mesh:{i}:{n}")),
        system: "mesh",
        kind: LayerKind::Mesh,
        name: format!("route {n} of s{i}"),
        reading: String::new(),
        place: span,
        opens: span,
        component: None,
        scope: Scope::Hops { from: Callers { gateways: Vec::new(), mesh: true }, to: vec![host], fallback: false },
        attempts: Setting::written(Attempts::Count(count), span),
        asked_for: true,
        wait: Wait::Fixed(Setting::written(Duration::from_millis(100), span)),
        wait_place: None,
        jitter: Setting::written(Jitter::Full, span),
        retries: Conditions { yes: ModeSet::statuses([502, 503, 504]), ..Conditions::default() },
        retry_after: Setting::written(false, span),
        methods: Methods::Any,
        per_try: Some(Setting::written(Duration::from_secs(1), span)),
        overall: Some(Setting::written(Duration::from_secs(5), span)),
        budget: None,
        labels: Vec::new(),
        advice: Advice::default(),
        copies: false,
        elsewhere: false,
        purpose: Purpose::Request,
        confidence: Confidence::High,
    }
}
