//! Azure API Management: `<retry>` in policies.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use regex::Regex;

use crate::facts::Facts;
use crate::model::{
    Advice, Attempts, Conditions, GatewayName, HostRef, Jitter, Layer, Methods, ModeSet, Pick, STATUSES, Scope,
    Setting, Wait,
};
use crate::source::SourceFile;
use crate::syntax::xml::TEXT;
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::gateways::base;
use crate::systems::settings::Ids;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, embedded, settings, status_tests, terraform};

/// Azure API Management.
pub struct AzureApim;

const ID: &str = "azure-api-management";
/// Layers of one system on one hop would be alternatives.
const NESTED: &str = "azure-api-management-nested";
const RETRY: &str = "MicrosoftDocs/azure-docs articles/api-management/retry-policy.md";
const FORWARD: &str = "MicrosoftDocs/azure-docs articles/api-management/forward-request-policy.md";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Azure API Management",
    reads: "`<retry>` in policies: XML files, and the policies in ARM templates and Terraform",
    marks: &["<retry"],
    defaults: &[
        DefaultFigure { what: "no retry element", value: "1 attempt", source: RETRY },
        DefaultFigure { what: "count", value: "counts retries: one attempt more", source: RETRY },
        DefaultFigure { what: "interval alone", value: "the same wait each time, in seconds", source: RETRY },
        DefaultFigure {
            what: "interval with delta",
            value: "grows by delta each time, without an upper bound",
            source: RETRY,
        },
        DefaultFigure {
            what: "interval with delta and max-interval",
            value: "doubles what it adds each time, up to max-interval",
            source: RETRY,
        },
        DefaultFigure {
            what: "jitter",
            value: "±20 % where delta and max-interval are set; otherwise none",
            source: RETRY,
        },
        DefaultFigure { what: "first-fast-retry absent", value: "false: the first retry waits too", source: RETRY },
        DefaultFigure { what: "methods", value: "any: a POST is repeated", source: RETRY },
        DefaultFigure { what: "forward-request timeout absent", value: "300 s for each try", source: FORWARD },
        DefaultFigure { what: "Retry-After", value: "ignored, unless the interval reads it", source: RETRY },
    ],
};

impl System for AzureApim {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for part in &unit.parts {
            let mut ids = Ids::default();
            let is_xml = Syntax::of_path(part.name) == Some(Syntax::Xml);
            for root in &part.parsed.documents {
                if is_xml {
                    policies(part.file, root, &mut ids, facts);
                } else {
                    in_templates(part.file, root, &mut ids, facts);
                }
            }
        }
        let mut ids = Ids::default();
        for resource in terraform::resources(unit, "azurerm_api_management") {
            let policy = resource.body.get("xml_content").zip(resource.file(unit));
            if let Some((text, file)) = policy {
                let parsed = embedded::of_scalar(file, text, Syntax::Xml);
                parsed.iter().flat_map(|p| &p.documents).for_each(|root| policies(file, root, &mut ids, facts));
            }
        }
    }
}

/// Policies as texts in ARM templates.
fn in_templates(file: &SourceFile, root: &Node, ids: &mut Ids, facts: &mut Facts) {
    let is_policy = |n: &&Node| {
        let kind = n.get("type").and_then(Node::as_str);
        kind.is_some_and(|k| k.starts_with("Microsoft.ApiManagement/") && k.ends_with("policies"))
    };
    for value in root.walk().filter(is_policy).filter_map(|n| n.at(&["properties", "value"])) {
        let parsed = embedded::of_scalar(file, value, Syntax::Xml);
        parsed.iter().flat_map(|p| &p.documents).for_each(|root| policies(file, root, ids, facts));
    }
}

/// The elements below a node, parents first.
fn elements(node: &Node) -> impl Iterator<Item = &Entry> {
    node.walk().flat_map(Node::entries).filter(|e| e.value.block().is_some())
}

fn policies(file: &SourceFile, root: &Node, ids: &mut Ids, facts: &mut Facts) {
    // Where the requests of all sections go, if the policy itself says so.
    let backend = elements(root).find(|e| &*e.key == "set-backend-service");
    let backend = backend.and_then(|e| host(attribute(e, "base-url")?));
    let all: Vec<&Entry> = elements(root).filter(|e| &*e.key == "retry").collect();
    for retry in &all {
        let from = GatewayName::OfFile { file: file.id, system: ID };
        let name = format!("API Management retry in {}", file.path.rsplit('/').next().unwrap_or(&file.path));
        let id = ids.next(format!("{ID}:{}", file.path));
        let around =
            all.iter().any(|other| other.key_span != retry.key_span && other.value.span.contains(retry.key_span));
        let layer = layer(retry, id, name, from, backend.clone());
        facts.layers.extend(layer.map(|layer| if around { nested(layer) } else { layer }));
    }
}

/// A retry inside of another one stands on the same hop, and multiplies.
fn nested(mut layer: Layer) -> Layer {
    if let Scope::Hops { fallback, .. } = &mut layer.scope {
        *fallback = true;
    }
    Layer { system: NESTED, name: format!("{}, inside another", layer.name), ..layer }
}

fn attribute<'n>(element: &'n Entry, name: &str) -> Option<&'n Node> {
    element.value.block()?.entry(name)?.value.args().next()
}

fn host(node: &Node) -> Option<HostRef> {
    settings::host(node.as_str().filter(|t| !t.starts_with('@'))?, node.span, None)
}

fn layer(retry: &Entry, id: Arc<str>, name: String, from: GatewayName, backend: Option<HostRef>) -> Option<Layer> {
    let block = retry.value.block()?;
    let opens = retry.key_span;
    let count = attribute(retry, "count");
    let attempts = match count.map(|n| (n.as_int(), n.span)) {
        Some((Some(n), span)) => {
            Setting::written(Attempts::Count(u64::try_from(n).unwrap_or(0).saturating_add(1)), span)
        }
        Some((None, span)) => Setting::unknown("`count` is an expression", Some(span)),
        None => Setting::unknown("it has no `count`", Some(opens)),
    };
    let reading = match count {
        Some(n) => format!("`count=\"{}\"` on {name}", settings::shown(n.as_str().unwrap_or_default())),
        None => name.clone(),
    };
    let retries = conditions(attribute(retry, "condition"));
    // It waits for an answer that is no failure, such as until 202 is over.
    if retries.yes.is_empty() && retries.unknown.is_empty() {
        return None;
    }
    let sends = elements(block).find(|e| &*e.key == "send-request");
    let forwards = elements(block).find(|e| &*e.key == "forward-request");
    let own = sends.and_then(|e| host(text(e, "set-url")?));
    let to: Vec<HostRef> = if sends.is_some() { own } else { backend }.into_iter().collect();
    let waits = Waits::of(retry);
    let reads_header = attribute(retry, "interval").filter(|n| n.as_str().is_some_and(|t| t.contains("Retry-After")));
    let in_body = block.walk().find(|n| n.as_str().is_some_and(|t| t.contains("Retry-After")));
    Some(Layer {
        reading,
        place: count.map_or(opens, |n| n.span),
        asked_for: true,
        wait: waits.wait(attempts.value().and_then(|a| a.count())),
        wait_place: block.entry("interval").map(|e| e.key_span),
        jitter: waits.jitter(),
        attempts,
        retries,
        retry_after: match (reads_header, in_body) {
            (Some(node), _) => Setting::written(true, node.span),
            (None, Some(node)) => Setting::unknown("a policy inside reads Retry-After", Some(node.span)),
            (None, None) => Setting::default(false, RETRY),
        },
        methods: sends.map_or(Methods::Any, methods),
        per_try: per_try(forwards, sends),
        advice: advice(),
        scope: base::hops(vec![from], to),
        ..base::layer(ID, id, name, opens, RETRY)
    })
}

/// The text of an element in another one.
fn text<'n>(element: &'n Entry, name: &str) -> Option<&'n Node> {
    element.value.block()?.entry(name)?.value.block()?.entry(TEXT)?.value.args().next()
}

/// A request of its own names its method; without one it is a GET.
fn methods(send: &Entry) -> Methods {
    match text(send, "set-method").and_then(|n| Some((n.as_str()?.to_uppercase(), n.span))) {
        Some((method, _)) if method.starts_with('@') => Methods::Unknown,
        Some((method, span)) => Methods::Written { methods: vec![method], span },
        None => Methods::Only(vec!["GET".to_string()]),
    }
}

fn per_try(forward: Option<&Entry>, send: Option<&Entry>) -> Option<Setting<Duration>> {
    let element = forward.or(send)?;
    match attribute(element, "timeout") {
        Some(node) => Some(match seconds(node) {
            Some(d) => Setting::written(d, node.span),
            None => Setting::unknown("an expression", Some(node.span)),
        }),
        None => forward.map(|_| Setting::default(Duration::from_secs(300), FORWARD)),
    }
}

fn seconds(node: &Node) -> Option<Duration> {
    Some(Duration::from_secs(u64::from(node.as_str()?.trim().parse::<u32>().ok()?)))
}

/// The attributes that make the wait.
struct Waits<'n> {
    interval: Option<&'n Node>,
    delta: Option<&'n Node>,
    max: Option<&'n Node>,
    first_at_once: bool,
}

/// More retries than a policy may have.
const MAX_WAITS: u64 = 50;

impl<'n> Waits<'n> {
    fn of(retry: &'n Entry) -> Self {
        let get = |name: &str| attribute(retry, name);
        let first = get("first-fast-retry").and_then(Node::as_bool) == Some(true);
        Self { interval: get("interval"), delta: get("delta"), max: get("max-interval"), first_at_once: first }
    }

    fn wait(&self, attempts: Option<u64>) -> Wait {
        let Some(interval) = self.interval else { return Wait::Unknown { why: "it has no `interval`".to_string() } };
        let unknown = || Wait::Unknown { why: "an expression sets it".to_string() };
        let Some(first) = seconds(interval) else { return unknown() };
        let delta = self.delta.map(seconds);
        let max = self.max.map(seconds);
        if delta == Some(None) || max == Some(None) {
            return unknown();
        }
        let (delta, max) = (delta.flatten(), max.flatten());
        if delta.is_none() && !self.first_at_once {
            return if first.is_zero() { Wait::None } else { Wait::Fixed(Setting::written(first, interval.span)) };
        }
        if let (Some(delta), Some(max), false) = (delta, max, self.first_at_once)
            && delta == first
        {
            let cap = self.max.map_or(Setting::default(Some(max), RETRY), |n| Setting::written(Some(max), n.span));
            let factor = Setting::default(2.0, RETRY);
            return Wait::Exponential { base: Setting::written(first, interval.span), factor, cap };
        }
        // The first retry may go at once; the others follow the rule as if it were not there.
        let count = attempts.map_or(MAX_WAITS, |n| n.saturating_sub(1)).min(MAX_WAITS) as u32;
        let waits = (0..count).map(|n| match (delta, max) {
            _ if n == 0 && self.first_at_once => Duration::ZERO,
            (None, _) => first,
            (Some(delta), None) => first.saturating_add(delta.saturating_mul(n)),
            (Some(delta), Some(max)) => {
                let added = delta.saturating_mul(2u32.saturating_pow(n.min(30)).saturating_sub(1));
                first.saturating_add(added).min(max)
            }
        });
        Wait::Scheduled { waits: waits.collect(), capped: max.is_some() }
    }

    fn jitter(&self) -> Setting<Jitter> {
        let jitter = match (self.delta, self.max) {
            (Some(_), Some(_)) => Jitter::Partial { low: 0.8, high: 1.2 },
            _ => Jitter::None,
        };
        Setting::default(jitter, RETRY)
    }
}

static STATUS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"StatusCode\s*\)?\s*(==|!=|>=|<=|>|<)\s*([0-9]{3})").ok());

/// An expression of C#; one that is always true repeats whatever happened, success among it.
fn conditions(condition: Option<&Node>) -> Conditions {
    let Some((text, span)) = condition.and_then(|n| Some((n.as_str()?, n.span))) else {
        return Conditions { unknown: all(), ..Conditions::default() };
    };
    let inner = text.trim().trim_start_matches('@').trim_start_matches(['(', '{']).trim_end_matches([')', '}']).trim();
    if inner == "true" {
        let pick = Pick { modes: all(), span, text: "`true`".to_string() };
        return Conditions { yes: all(), picks: vec![pick], any_error: Some(span), ..Conditions::default() };
    }
    let (yes, unknown) = status_tests::alternatives(inner, of_test);
    let text = format!("`{}`", settings::shown(text));
    Conditions { yes, unknown, picks: vec![Pick { modes: yes, span, text }], ..Conditions::default() }
}

fn all() -> ModeSet {
    ModeSet::statuses(STATUSES).union(ModeSet::transport())
}

fn of_test(test: &str) -> Option<ModeSet> {
    let test = test.trim();
    // There is no response where none came.
    if test.contains("Response == null") || test.contains("LastError != null") {
        return Some(ModeSet::transport());
    }
    if test.contains("Response != null") {
        return Some(ModeSet::statuses(STATUSES));
    }
    if test.starts_with('!') {
        return None;
    }
    let found = STATUS.as_ref()?.captures(test)?;
    let number: u16 = found.get(2)?.as_str().parse().ok()?;
    Some(status_tests::compared(found.get(1)?.as_str(), &[number]))
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    let growing = || some("set `delta` and `max-interval` beside `interval`: only then the wait is random");
    Advice {
        none: some("take the element out"),
        fewer: some("lower `count`"),
        limit: some("set `count` to 2 or 3"),
        wait: some("set `interval` to 1 or more, with `delta` and `max-interval`"),
        grow: growing(),
        cap: some("set `max-interval`"),
        jitter: growing(),
        statuses: some("test for 502, 503 and 504 in `condition`"),
        retry_after: some("let `interval` be an expression that reads the header `Retry-After`"),
        ..Advice::default()
    }
}
