//! Dapr: Resiliency policies, the retries that sidecars make without any, and where messages go that keep failing.

mod policy;
mod pubsub;
mod targets;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::facts::{Facts, UpstreamFact};
use crate::model::{
    Attempts, Callers, Conditions, HostRef, Jitter, Layer, LayerKind, Methods, Mode, ModeSet, Pick, Scope, Setting,
    Wait,
};
use crate::source::Span;
use crate::syntax::Node;
use crate::systems::envoy_based::{self, Count, Identity, Policy};
use crate::systems::objects::{self, Object};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// Dapr.
pub struct Dapr;

const ID: &str = "dapr";
/// What sidecars do by themselves is one more layer around what policies make them do.
const BUILT_IN: &str = "dapr-built-in";
const RESILIENCY: &str = "dapr/dapr pkg/resiliency/resiliency.go";
const BREAKER: &str = "dapr/dapr pkg/resiliency/breaker/circuitbreaker.go";
const TYPES: &str = "dapr/dapr pkg/apis/resiliency/v1alpha1/types.go";
const KIT: &str = "dapr/kit retry/retry.go";
const BACKOFF: &str = "cenkalti/backoff exponential.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Dapr",
    reads: "Resiliency: retries and timeouts of apps, actors and components; which apps there are from `dapr.io/app-id`; \
            dead-letter topics of Subscriptions and of Google Pub/Sub components",
    marks: &["dapr.io/"],
    defaults: &[
        DefaultFigure {
            what: "no Resiliency for an app",
            value: "4 attempts (3 retries), 1 s apart, where the sidecar of the app cannot be reached",
            source: RESILIENCY,
        },
        DefaultFigure { what: "retries.*.maxRetries absent", value: "no limit", source: TYPES },
        DefaultFigure {
            what: "retries.*.maxRetries absent, exponential",
            value: "no limit, for 15 minutes",
            source: BACKOFF,
        },
        DefaultFigure { what: "retries.*.policy absent", value: "constant", source: KIT },
        DefaultFigure { what: "retries.*.duration absent", value: "5 s, the same each time", source: KIT },
        DefaultFigure {
            what: "wait of an exponential policy",
            value: "500 ms, by half as much again each time",
            source: KIT,
        },
        DefaultFigure { what: "retries.*.maxInterval absent", value: "60 s", source: KIT },
        DefaultFigure { what: "jitter, constant", value: "none", source: KIT },
        DefaultFigure { what: "jitter, exponential", value: "half of the wait, up and down", source: BACKOFF },
        DefaultFigure { what: "retries.*.matching absent", value: "every error", source: TYPES },
        DefaultFigure { what: "timeout of a target absent", value: "none", source: RESILIENCY },
        DefaultFigure {
            what: "circuitBreakers.*.trip absent",
            value: "open after more than 5 failures in a row, which ends the retries",
            source: BREAKER,
        },
        DefaultFigure {
            what: "maxDeliveryAttempts absent, with a deadLetterTopic, on Google Pub/Sub",
            value: "5 attempts",
            source: pubsub::COMPONENT,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: RESILIENCY },
    ],
};

impl System for Dapr {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, root) in unit.documents() {
            for object in objects::of(root) {
                if object.kind == "Resiliency" && object.version.starts_with("dapr.io/") {
                    targets::read(&object, facts);
                } else if object.version.starts_with("dapr.io/") {
                    pubsub::component(&object, facts);
                    pubsub::subscription(&object, facts);
                } else {
                    facts.upstreams.extend(app(&object));
                }
            }
        }
    }

    /// Sidecars retry by themselves where no policy names the app.
    fn join(&self, facts: &mut Facts) {
        pubsub::join(facts);
        let (apps, rest): (Vec<_>, _) =
            std::mem::take(&mut facts.upstreams).into_iter().partition(|u: &UpstreamFact| u.system == ID);
        facts.upstreams = rest;
        let named: BTreeSet<String> = facts
            .layers
            .iter()
            .filter(|l| l.system == ID && l.id.starts_with(targets::APPS))
            .filter_map(|l| l.id.rsplit(':').next().map(str::to_string))
            .collect();
        let mut seen = BTreeSet::new();
        let apps: Vec<HostRef> = apps
            .into_iter()
            .filter(|a| !named.contains(&a.name) && seen.insert(a.name.clone()))
            .map(|a| HostRef { name: a.name, port: None, namespace: a.namespace, span: a.span })
            .collect();
        let for_all = |l: &Layer| l.id.starts_with(targets::DEFAULTS) || l.id.starts_with(targets::REDEFINED);
        let redefined = facts.layers.iter().any(|l| l.id.starts_with(targets::REDEFINED));
        for layer in facts.layers.iter_mut().filter(|l| for_all(l)) {
            if let Scope::Hops { to, fallback, .. } = &mut layer.scope
                && !apps.is_empty()
            {
                (*to, *fallback) = (apps.clone(), true);
            }
        }
        if !redefined {
            facts.layers.extend(apps.into_iter().map(built_in));
        }
    }
}

/// An application with a sidecar.
fn app(object: &Object<'_>) -> Option<UpstreamFact> {
    let annotations = object.spec(&["template", "metadata", "annotations"])?;
    let enabled = annotations.get("dapr.io/enabled").and_then(Node::as_bool) == Some(true);
    let id = annotations.get("dapr.io/app-id").filter(|_| enabled)?;
    Some(UpstreamFact {
        system: ID,
        name: id.as_str()?.to_lowercase(),
        namespace: object.namespace.map(str::to_string),
        to: Vec::new(),
        budget: None,
        span: id.span,
    })
}

fn built_in(app: HostRef) -> Layer {
    let opens = app.span;
    let policy = Policy {
        count: Count {
            attempts: Setting::default(Attempts::Count(4), RESILIENCY),
            reading: String::new(),
            place: opens,
        },
        wait: (Wait::Fixed(Setting::default(Duration::from_secs(1), RESILIENCY)), None),
        conditions: unreachable(opens),
        per_try: None,
    };
    let name = format!("Dapr's own retries of calls to {}", app.name);
    let id = format!("{ID}:built-in:{}", app.name).into();
    let layer = base(Identity { system: BUILT_IN, kind: LayerKind::Mesh, id, name, opens }, policy);
    let from = Callers { gateways: Vec::new(), mesh: true };
    Layer {
        reading: layer.name.clone(),
        asked_for: false,
        jitter: Setting::default(Jitter::None, KIT),
        scope: Scope::Hops { from, to: vec![app], fallback: true },
        ..layer
    }
}

/// What sidecars retry by themselves: the other one cannot be reached, or refuses who asks
/// (dapr/dapr pkg/messaging/direct_messaging.go).
fn unreachable(span: Span) -> Conditions {
    let modes: ModeSet = [Mode::Refused].into_iter().collect();
    let pick = Pick { modes, span, text: "what Dapr retries by itself".to_string() };
    Conditions { yes: modes, picks: vec![pick], ..Conditions::default() }
}

/// A layer with what all of Dapr's share.
fn base(identity: Identity, policy: Policy) -> Layer {
    Layer {
        methods: Methods::Any,
        retry_after: Setting::default(false, RESILIENCY),
        ..envoy_based::layer(identity, Scope::Code, policy)
    }
}

/// A host by an app's id or a component's name.
fn host(name: &str, span: Span, namespace: Option<&str>) -> Option<HostRef> {
    settings::host(name, span, namespace)
}
