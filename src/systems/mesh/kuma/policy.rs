//! What both kinds of policy share: words, waits, limits.

use super::{CONFIGURER, ID, TIMEOUT, advice};
use crate::facts::Facts;
use crate::model::{Callers, Conditions, HostRef, Inert, Layer, LayerKind, Methods, Pick, Scope, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::{self, Count, Identity, Policy, go};
use crate::systems::retry_on::{self, Around};
use crate::systems::settings;

/// The words of an HTTP policy that names none.
pub(super) const HTTP: [&str; 3] = ["gateway-error", "connect-failure", "refused-stream"];
/// Those of a gRPC policy.
pub(super) const GRPC: [&str; 7] =
    ["cancelled", "connect-failure", "gateway-error", "refused-stream", "reset", "resource-exhausted", "unavailable"];

/// What an HTTP policy retries that names no conditions.
pub(super) fn default_http(span: Span) -> Conditions {
    // The default policy limits each try; joining takes that away where the limit on all tries is shorter.
    let around = Around { timeouts: true, ..Around::default() };
    let on = retry_on::read(&HTTP.map(|word| (word, span)), &[], around);
    let pick = Pick { modes: on.conditions.yes, span, text: "Kuma's default conditions".to_string() };
    Conditions { picks: vec![pick], ..on.conditions }
}

/// What a list of conditions says.
#[derive(Default)]
pub(super) struct Words<'n> {
    pub words: Vec<(&'n str, Span)>,
    pub codes: Vec<(u16, Span)>,
    pub methods: Vec<String>,
    pub inert: Vec<Inert>,
}

/// One policy on its way to a layer.
pub(super) struct Draft<'a> {
    pub id: String,
    pub name: String,
    pub from: Callers,
    pub to: Vec<HostRef>,
    pub key: &'a Entry,
    pub words: Words<'a>,
}

/// Makes the layer of a policy.
pub(super) fn layer(draft: Draft<'_>, facts: &mut Facts) -> Layer {
    let Draft { id, name, from, to, key, words } = draft;
    let node = &*key.value;
    let field = |name: &str| node.entry(name).filter(|e| !e.value.is_null());
    let mut inert = words.inert;
    // Joining knows the limit on all tries.
    let per_try = field("perTryTimeout").and_then(|e| settings::limit(&e.value, go));
    let around = Around { timeouts: per_try.is_some(), headers: false, numbers: false };
    let on = retry_on::read(&words.words, &words.codes, around);
    let count = Count::of(field("numRetries"), key, envoy_based::one_retry());
    let mut policy = Policy::new(count, key, field("retryOn"), on, &mut inert);
    if let Some(block) = field("backOff") {
        let interval = |name: &str| block.value.get(name);
        policy.wait = envoy_based::wait(block, interval("baseInterval"), interval("maxInterval"), go);
        match &mut policy.wait.0 {
            // Kuma fills it in for gRPC alone.
            Wait::Exponential { base, .. } if &*key.key == "grpc" && interval("baseInterval").is_none() => {
                *base = Setting::default(std::time::Duration::from_millis(25), CONFIGURER);
            }
            _ => inert.extend(envoy_based::without_base(block, "baseInterval", "maxInterval")),
        }
    }
    policy.per_try = per_try;
    inert.extend(field("retriableResponseHeaders").map(|e| {
        let why = "Kuma never gives Envoy the condition that switches such a list on";
        Inert::new(e.key_span, "`retriableResponseHeaders`", why)
    }));
    facts.inert.extend(inert.into_iter().map(|i| i.of(&name)));
    let identity = Identity { system: ID, kind: LayerKind::Mesh, id: id.into(), name, opens: key.key_span };
    let scope = Scope::Hops { from, to, fallback: false };
    Layer {
        overall: Some(default_overall()),
        methods: methods(words.methods, node),
        retry_after: retry_after(node),
        advice: advice(),
        ..envoy_based::layer(identity, scope, policy)
    }
}

/// The limit on all tries where no MeshTimeout sets one.
pub(super) fn default_overall() -> Setting<std::time::Duration> {
    Setting::default(std::time::Duration::from_secs(15), TIMEOUT)
}

/// The methods that the conditions name, and those of `retriableRequestHeaders`, of which one has to match.
fn methods(mut named: Vec<String>, node: &Node) -> Methods {
    for matcher in node.get("retriableRequestHeaders").map_or(&[][..], Node::items).iter().take(settings::MAX_LIST) {
        let text = |key: &str| matcher.get(key).and_then(Node::as_str);
        let words: Vec<&str> = match (text("name"), text("type"), text("value")) {
            (Some(":method"), Some("Exact") | None, Some(value)) => vec![value],
            (Some(":method"), Some("RegularExpression"), Some(value)) => {
                value.trim_matches(['^', '$', '(', ')']).split('|').collect()
            }
            _ => return Methods::Unknown,
        };
        if !words.iter().all(|w| !w.is_empty() && w.chars().all(|c| c.is_ascii_uppercase())) {
            return Methods::Unknown;
        }
        named.extend(words.into_iter().map(str::to_owned));
    }
    if named.is_empty() { Methods::Any } else { Methods::Only(named) }
}

fn retry_after(node: &Node) -> Setting<bool> {
    let block = node.entry("rateLimitedBackOff");
    let named = |e: &&Entry| e.value.get("resetHeaders").is_some_and(|h| !h.items().is_empty());
    block.filter(named).map_or_else(|| Setting::default(false, CONFIGURER), |e| Setting::written(true, e.key_span))
}
