//! gRPC service configs: files, and texts in manifests, ConfigMaps, DNS records and code.

mod codes;
mod policy;

use std::collections::BTreeSet;
use std::time::Duration;

use self::policy::Policy;
use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Budget, Layer, Scope, Setting};
use crate::select::is_test;
use crate::source::{SourceFile, Span};
use crate::syntax::literals::literals;
use crate::syntax::{Entry, Node, Scalar, Syntax, Value};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, embedded, settings};

/// gRPC.
pub struct Grpc;

const ID: &str = "grpc";
const A6: &str = "grpc/proposal A6-client-retries.md";
const GENERATOR: &str = "googleapis/gapic-generator-python gapic/schema/api.py";
const API_CORE: &str = "googleapis/python-api-core google/api_core/retry.py";
const GO: &str = "grpc/grpc-go stream.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "gRPC service config",
    reads: "`methodConfig` with `retryPolicy` or `hedgingPolicy`, and `retryThrottling`: JSON and YAML files, texts in manifests, ConfigMaps, `_grpc_config` records and texts in Rust, Go, Java and Kotlin",
    marks: &["methodConfig", "method_config"],
    defaults: &[
        DefaultFigure { what: "no retryPolicy", value: "no retries but transparent ones", source: A6 },
        DefaultFigure { what: "maxAttempts above 5", value: "5 attempts: clients cap it", source: A6 },
        DefaultFigure { what: "a field of retryPolicy absent", value: "the whole config is rejected", source: A6 },
        DefaultFigure { what: "jitter", value: "0.8 to 1.2 of the wait; it cannot be set", source: GO },
        DefaultFigure {
            what: "grpc-retry-pushback-ms",
            value: "waits as long as the server says, or gives up",
            source: A6,
        },
        DefaultFigure { what: "hedgingDelay absent", value: "all copies at once", source: A6 },
        DefaultFigure {
            what: "maxAttempts for generated clients of Google's APIs",
            value: "no limit but the timeout",
            source: GENERATOR,
        },
        DefaultFigure {
            what: "timeout for generated clients of Google's APIs absent",
            value: "120 s for all tries",
            source: API_CORE,
        },
        DefaultFigure { what: "retryThrottling absent", value: "no budget", source: A6 },
    ],
};

impl System for Grpc {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        unit.parts.iter().for_each(|part| in_texts(part.file, facts));
        for (file, root) in unit.documents() {
            for node in root.walk() {
                read(file, node, facts);
                if let Some(parsed) = text_of(file, node) {
                    parsed.documents.iter().flat_map(|d| d.walk()).for_each(|node| read(file, node, facts));
                }
            }
        }
    }
}

/// Adds the service config that a text in code is: `verbatim` is the offset at which it stands in the file byte for byte.
pub(crate) fn in_code(file: &SourceFile, text: &str, verbatim: Option<u32>, span: Span, facts: &mut Facts) {
    let scalar = Scalar { text: text.into(), plain: false, verbatim };
    let node = Node::new(span, Value::Scalar(scalar));
    if let Some(parsed) = text_of(file, &node) {
        parsed.documents.iter().flat_map(|d| d.walk()).for_each(|node| read(file, node, facts));
    }
}

/// Adds the service configs in the texts of a source of Go, Java or Kotlin.
fn in_texts(file: &SourceFile, facts: &mut Facts) {
    let is_code = matches!(Syntax::of_path(&file.path), Some(Syntax::Go | Syntax::Annotations));
    if !is_code || is_test(&file.path) {
        return;
    }
    for literal in literals(&file.text) {
        in_code(file, &literal.text, literal.verbatim, file.span(literal.range), facts);
    }
}

/// The config that stands as text in a scalar; in a DNS record, `grpc_config=` and a list of choices.
fn text_of(file: &SourceFile, node: &Node) -> Option<crate::syntax::Parsed> {
    let text = &node.scalar()?.text;
    if !META.marks.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let skip = text.find("grpc_config=").map_or(0, |at| at + "grpc_config=".len());
    let rest = text.get(skip..)?.trim_start();
    rest.starts_with(['{', '[']).then(|| embedded::of_scalar_after(file, node, skip, Syntax::Json)).flatten()
}

/// The fields of a config in one of its two spellings.
fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    node.entry(key).or_else(|| node.entry(&snake(key)))
}

fn snake(key: &str) -> String {
    let mut out = String::new();
    for c in key.chars() {
        if c.is_uppercase() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Adds the layers of `node`, if it is a config that was not read before: the files in a ConfigMap are read both as
/// files of their own and as texts.
fn read(file: &SourceFile, node: &Node, facts: &mut Facts) {
    let Some(methods) = get(node, "methodConfig") else { return };
    let budget = get(node, "retryThrottling").and_then(|e| budget(&e.value));
    for config in methods.value.items().iter().take(settings::MAX_LIST) {
        let Some(policy) = Policy::new(config) else { continue };
        for (service, span, methods) in services(config).into_iter().take(MAX_SERVICES) {
            let layer = layer(file, config, &policy, service.as_deref(), span, &methods, budget.clone());
            if !facts.layers.iter().any(|l| l.id == layer.id && l.opens == layer.opens) {
                facts.layers.push(layer);
            }
        }
    }
}

/// A policy that names more services names all that there are.
const MAX_SERVICES: usize = 64;

/// The services that a policy is for, each with its methods; none is written for "all".
fn services(config: &Node) -> Vec<(Option<String>, Span, Vec<String>)> {
    let mut out: Vec<(Option<String>, Span, Vec<String>)> = Vec::new();
    let names = get(config, "name").map_or(&[][..], |e| e.value.items());
    for name in names.iter().take(settings::MAX_LIST) {
        let text = |key| name.get(key).and_then(Node::as_str).filter(|t| !t.is_empty()).map(str::to_string);
        let service = text("service");
        let method = text("method");
        if service.is_none() && method.is_some() {
            continue;
        }
        match out.iter_mut().find(|(known, ..)| *known == service) {
            Some((_, _, methods)) => methods.extend(method),
            None => out.push((service, name.span, method.into_iter().collect())),
        }
    }
    out
}

fn budget(throttling: &Node) -> Option<Budget> {
    let ratio = get(throttling, "tokenRatio")?;
    Some(Budget { ratio: base::number(ratio) })
}

fn layer(
    file: &SourceFile,
    config: &Node,
    policy: &Policy<'_>,
    service: Option<&str>,
    span: Span,
    methods: &[String],
    budget: Option<Budget>,
) -> Layer {
    let of = match (service, methods) {
        (None, _) => "every service".to_string(),
        (Some(service), []) => settings::shown(service).into_owned(),
        (Some(service), [one]) => format!("{}/{}", settings::shown(service), settings::shown(one)),
        (Some(service), several) => format!("{} methods of {}", several.len(), settings::shown(service)),
    };
    // The methods of one service are alternatives: one call has one of them.
    let id = format!("{ID}:{}", service.unwrap_or("*"));
    let to = service.and_then(|s| base::named(s.rsplit('.').next().unwrap_or(s), span));
    let name = format!("gRPC {} for {of}", policy.kind());
    let opens = settings::opening(file, config);
    let base = base::client(ID, id.into(), name, opens, None, Setting::unknown("", None));
    let scope = Scope::Client { to, grpc: true };
    let layer = Layer { scope, budget, advice: advice(), ..policy.fill(config, base) };
    if is_generated(file, service) { until_timeout(layer) } else { layer }
}

/// Whether clients are generated from a config: those of Google's APIs, which lie beside the APIs' definitions.
fn is_generated(file: &SourceFile, service: Option<&str>) -> bool {
    file.path.ends_with("_grpc_service_config.json") && service.is_some_and(|s| s.starts_with("google."))
}

/// Generated clients leave the count out and go on until the timeout has passed.
fn until_timeout(mut layer: Layer) -> Layer {
    let deadline = layer.overall.clone().unwrap_or_else(|| Setting::default(Duration::from_secs(120), API_CORE));
    if let Some(n) = layer.attempts.value().and_then(|a| a.count()) {
        layer.labels.push((layer.place, format!("generated clients do not look at it: {n} is no limit of theirs")));
    }
    layer.attempts = match layer.wait.nominal(0) {
        Some(_) => Attempts::within(&deadline, &layer.wait, 1.0),
        None => layer.attempts,
    };
    layer.overall = Some(deadline);
    layer.jitter = Setting::unknown("generated clients draw their waits, in a way of their own", None);
    layer
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take the policy out"),
        statuses: some("list in `retryableStatusCodes` only what can pass, such as UNAVAILABLE"),
        ..Advice::default()
    }
}

/// Codes that are listed, each once.
type Seen = BTreeSet<u8>;
