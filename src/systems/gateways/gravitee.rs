//! Gravitee: the policy `retry` in API definitions.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use crate::facts::{Facts, RouteFact};
use crate::model::{
    Advice, Attempts, Conditions, GatewayName, HostRef, Inert, Layer, Methods, ModeSet, Pick, STATUSES, Setting, Wait,
};
use crate::source::SourceFile;
use crate::syntax::Node;
use crate::systems::gateways::base;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, status_tests};

/// Gravitee.
pub struct Gravitee;

const ID: &str = "gravitee";
const POLICY: &str = "gravitee-io/gravitee-policy-retry 5.0.0 src/main/java/io/gravitee/policy/retry/RetryPolicy.java";
const CLIENT: &str =
    "gravitee-io/gravitee-api-management model/src/main/java/io/gravitee/definition/model/HttpClientOptions.java";
const SCHEMA: &str = "gravitee-io/gravitee-policy-retry 5.0.0 src/main/resources/schemas/schema-form.json";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Gravitee",
    reads: "API definitions (JSON): steps with the policy `retry`, endpoints",
    marks: &["\"gravitee\"", "definitionVersion"],
    defaults: &[
        DefaultFigure { what: "no step with the policy retry", value: "1 attempt", source: POLICY },
        DefaultFigure { what: "maxRetries", value: "counts retries: one attempt more", source: POLICY },
        DefaultFigure { what: "maxRetries absent", value: "2 attempts (1 retry)", source: SCHEMA },
        DefaultFigure { what: "delay absent", value: "no wait", source: SCHEMA },
        DefaultFigure { what: "timeout absent", value: "1 s for each try", source: SCHEMA },
        DefaultFigure {
            what: "what is retried",
            value: "what the condition says, and every error and timeout; any method",
            source: POLICY,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: POLICY },
        DefaultFigure {
            what: "http.readTimeout of an endpoint absent, version 2",
            value: "10 s for an answer",
            source: CLIENT,
        },
    ],
};

impl System for Gravitee {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            // An export has the definition one level down.
            let root = root.get("api").unwrap_or(root);
            if root.get_any(&["gravitee", "definitionVersion"]).is_some() {
                read(file, root, facts);
            }
        }
    }
}

fn read(file: &SourceFile, root: &Node, facts: &mut Facts) {
    let title = root.get("name").and_then(Node::as_str).unwrap_or("without a name");
    let from = GatewayName::OfFile { file: file.id, system: ID };
    let endpoints = endpoints(root);
    let span = root.entry("name").map_or(root.span, |e| e.key_span);
    for Endpoint { to, limit } in &endpoints {
        let (from, to, limit) = (from.clone(), vec![to.clone()], limit.clone());
        facts.routes.push(RouteFact { from, to, grpc: false, limit, span });
    }
    let to = settings::distinct(endpoints.into_iter().map(|e| e.to));
    let mut ids = Ids::default();
    let is_on = |n: &Node| n.get("enabled").and_then(Node::as_bool) != Some(false);
    let is_retry = |n: &&Node| n.get("policy").and_then(Node::as_str) == Some("retry") && is_on(n);
    for step in root.walk().filter(is_retry) {
        let Some(configuration) = step.get("configuration") else { continue };
        let name = format!("Gravitee retry of {}", settings::shown(title));
        let flow = flow(root, step);
        if flow.is_some_and(|flow| is_of_response(flow, step)) {
            let place = step.entry("policy").map_or(step.span, |e| e.value.span);
            let why = "the policy works on requests only, and here it stands among what is done with responses";
            let found =
                Inert::new(place, "the policy `retry`", why).of(&format!("Gravitee API {}", settings::shown(title)));
            facts.inert.push(found.instead("Move the step to `request` (version 2: `pre`)"));
            continue;
        }
        let id = ids.next(format!("{ID}:{title}"));
        let opens = settings::opening(file, step);
        let count = configuration.entry("maxRetries").filter(|e| !e.value.is_null());
        facts.layers.push(Layer {
            reading: match count {
                Some(e) => format!("{} on {name}", settings::quote(e)),
                None => format!("{name}, which sets no `maxRetries`"),
            },
            place: count.map_or(opens, |e| e.value.span),
            asked_for: true,
            attempts: match count {
                // Zero is taken for one.
                Some(e) if e.value.as_int() == Some(0) => Setting::written(Attempts::Count(2), e.value.span),
                count => count.map_or(Setting::default(Attempts::Count(2), SCHEMA), settings::retries),
            },
            wait: wait(configuration),
            wait_place: configuration.entry("delay").map(|e| e.key_span),
            retries: conditions(configuration),
            methods: flow.and_then(methods).map_or(Methods::Any, Methods::Only),
            per_try: Some(match configuration.get("timeout").filter(|n| n.as_int() != Some(0)) {
                Some(n) => millis(n)
                    .map_or_else(|| Setting::unknown("not a number", Some(n.span)), |d| Setting::written(d, n.span)),
                None => Setting::default(Duration::from_secs(1), SCHEMA),
            }),
            advice: advice(),
            scope: base::hops(vec![from.clone()], to.clone()),
            ..base::layer(ID, id, name, opens, POLICY)
        });
    }
}

/// The innermost flow that a step stands in.
fn flow<'n>(root: &'n Node, step: &Node) -> Option<&'n Node> {
    let is_flow = |n: &&Node| n.get_any(&["request", "response", "pre", "post"]).is_some();
    root.walk().filter(is_flow).filter(|n| n.span.contains(step.span)).last()
}

fn is_of_response(flow: &Node, step: &Node) -> bool {
    let lists = ["response", "post"].into_iter().filter_map(|key| flow.get(key));
    lists.flat_map(Node::items).any(|n| n.span == step.span)
}

/// The methods that a flow is for: its own (version 2), or those of its selectors.
fn methods(flow: &Node) -> Option<Vec<String>> {
    let list = |node: &Node| -> Option<Vec<String>> {
        let named = node.get("methods")?.items().iter().filter_map(|n| n.as_str()).map(str::to_uppercase);
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then_some(named)
    };
    match flow.get("selectors") {
        Some(selectors) => {
            let http = selectors.items().iter().filter(|s| s.get("type").and_then(Node::as_str) == Some("HTTP"));
            http.map(|s| list(s)).collect::<Option<Vec<_>>>().filter(|l| !l.is_empty()).map(|l| l.concat())
        }
        None => list(flow),
    }
}

fn millis(node: &Node) -> Option<Duration> {
    duration::millis(node.as_f64()?)
}

/// An endpoint, and how long the gateway waits for an answer of it.
struct Endpoint {
    to: HostRef,
    limit: Option<Setting<Duration>>,
}

fn items(node: Option<&Node>) -> impl Iterator<Item = &Node> {
    node.map_or(&[][..], Node::items).iter().take(settings::MAX_LIST).map(|n| &**n)
}

fn endpoints(root: &Node) -> Vec<Endpoint> {
    let groups = items(root.get("endpointGroups")).chain(items(root.at(&["proxy", "groups"])));
    let in_groups = groups.flat_map(|group| items(group.get("endpoints")).map(move |e| (Some(group), e)));
    let all = in_groups.chain(items(root.at(&["proxy", "endpoints"])).map(|e| (None, e)));
    let mut endpoints: Vec<Endpoint> = Vec::new();
    for (group, endpoint) in all {
        let v4 = endpoint.at(&["configuration", "target"]);
        let Some(target) = v4.or_else(|| endpoint.get("target")) else { continue };
        let host = target.as_str().and_then(|text| settings::host(text, target.span, None));
        let Some(to) = host.filter(|host| endpoints.iter().all(|e| e.to.name != host.name)) else { continue };
        endpoints.push(Endpoint { to, limit: limit(group, endpoint, v4.is_some()) });
    }
    endpoints
}

/// `readTimeout` of the client: of the endpoint, else of its group.
fn limit(group: Option<&Node>, endpoint: &Node, is_v4: bool) -> Option<Setting<Duration>> {
    let of = |node: &Node, keys: &[&str]| {
        let http = keys.iter().find_map(|key| node.at(&[key, "http"])).or_else(|| node.get("http"))?;
        Some(settings::limit(http.get("readTimeout")?, millis))
    };
    let own = of(endpoint, &["sharedConfigurationOverride"]);
    let own = own.or_else(|| of(group?, &["sharedConfiguration"]));
    let default = || (!is_v4).then(|| Setting::default(Duration::from_secs(10), CLIENT));
    own.unwrap_or_else(default)
}

fn wait(configuration: &Node) -> Wait {
    match configuration.get("delay").map(|n| (millis(n), n.span)) {
        None => Wait::None,
        Some((Some(d), _)) if d.is_zero() => Wait::None,
        Some((Some(d), span)) => Wait::Fixed(Setting::written(d, span)),
        Some((None, span)) => Wait::Fixed(Setting::unknown("not a number of milliseconds", Some(span))),
    }
}

static STATUS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"#response\.status\s*(==|!=|>=|<=|>|<)\s*'?([0-9]{3})").ok());

fn conditions(configuration: &Node) -> Conditions {
    let transport = ModeSet::transport();
    let Some((text, span)) = configuration.get("condition").and_then(|n| Some((n.as_str()?, n.span))) else {
        return Conditions { yes: transport, ..Conditions::default() };
    };
    let plain = text.replace(" or ", "||").replace(" and ", "&&");
    let (yes, unknown) =
        match plain.trim().trim_start_matches("{#").trim_start_matches('{').trim_end_matches('}').trim() {
            "true" => (ModeSet::statuses(STATUSES), ModeSet::EMPTY),
            _ => status_tests::alternatives(&plain, of_test),
        };
    let yes = yes.union(transport);
    let pick = Pick { modes: yes, span, text: format!("`{}`", settings::shown(text)) };
    Conditions { yes, unknown: unknown.difference(yes), picks: vec![pick], ..Conditions::default() }
}

fn of_test(test: &str) -> Option<ModeSet> {
    let found = STATUS.as_ref()?.captures(test)?;
    let number: u16 = found.get(2)?.as_str().parse().ok()?;
    Some(status_tests::compared(found.get(1)?.as_str(), &[number]))
}

/// There is no setting for a wait that grows, for jitter or for Retry-After.
fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take the step out"),
        limit: some("set `maxRetries` to 1 or 2"),
        wait: some("set `delay`, such as 200"),
        statuses: some("test for 502, 503 and 504 in `condition`"),
        ..Advice::default()
    }
}
