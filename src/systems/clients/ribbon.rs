//! Ribbon and Zuul 1 of Spring Cloud Netflix: retries of load-balanced clients and of the gateway on top of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::spring::{self, Leaf, Text};
use crate::facts::Facts;
use crate::model::{
    Advice, Attempts, Conditions, Confidence, HostRef, Inert, Layer, LayerKind, Methods, Mode, ModeSet, Pick, Scope,
    Setting,
};
use crate::source::Span;
use crate::syntax::{Entry, relaxed};
use crate::systems::gateways::base;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, settings};

/// Ribbon.
pub struct Ribbon;

const ID: &str = "ribbon";
const CONFIGURATION: &str = "spring-cloud/spring-cloud-netflix 2.2.x RibbonClientConfiguration.java";
const POLICY: &str = "spring-cloud/spring-cloud-netflix 2.2.x RibbonLoadBalancedRetryPolicy.java";
const FACTORY: &str = "spring-cloud/spring-cloud-netflix 2.2.x RibbonLoadBalancedRetryFactory.java";
const ZUUL: &str = "spring-cloud/spring-cloud-netflix 2.2.x ZuulProperties.java";
const KEYS: &str = "Netflix/ribbon CommonClientConfigKey.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Ribbon and Zuul 1",
    reads: "`<service>.ribbon.*`, `ribbon.*`, `zuul.*` and Hystrix timeouts in application*.yml, .yaml and .properties",
    marks: &["ribbon", "zuul"],
    defaults: &[
        DefaultFigure {
            what: "MaxAutoRetries and MaxAutoRetriesNextServer",
            value: "count retries and multiply: (1 + first) × (1 + second) attempts",
            source: POLICY,
        },
        DefaultFigure { what: "MaxAutoRetries absent", value: "0", source: KEYS },
        DefaultFigure { what: "MaxAutoRetriesNextServer absent", value: "1: 2 attempts in all", source: KEYS },
        DefaultFigure { what: "zuul.retryable absent", value: "false: 1 attempt through Zuul", source: ZUUL },
        DefaultFigure { what: "OkToRetryOnAllOperations absent", value: "false: GET only", source: KEYS },
        DefaultFigure { what: "retryableStatusCodes absent", value: "none: exceptions only", source: POLICY },
        DefaultFigure { what: "the wait", value: "none; only code can set one", source: FACTORY },
        DefaultFigure { what: "ReadTimeout absent", value: "1 s for each try", source: CONFIGURATION },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: POLICY },
    ],
};

impl System for Ribbon {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let documents: Vec<_> = unit.documents().filter(|(file, _)| !file.path.contains("src/test/")).collect();
        let name = documents.iter().find_map(|(_, root)| spring::text(root, "spring.application.name"));
        let mut settings = Settings::default();
        for (_, root) in &documents {
            spring::leaves(root, &[]).into_iter().for_each(|leaf| settings.add(leaf));
        }
        facts.inert.extend(settings.misspelt.iter().map(|(entry, spelled)| {
            let why = format!("Ribbon tells capital letters from small ones and looks for `{spelled}`");
            let found = Inert::new(entry.key_span, settings::quote(entry), why).of("Ribbon");
            found.instead(format!("Write `{spelled}`"))
        }));
        for service in settings.services() {
            settings.read(&service, name.as_deref().filter(|n| !n.contains("${")), facts);
        }
    }
}

/// The keys of Ribbon that concern retries.
const KEPT: [&str; 5] =
    ["maxautoretries", "maxautoretriesnextserver", "oktoretryonalloperations", "retryablestatuscodes", "readtimeout"];

/// The same as Ribbon spells them.
const SPELLED: [&str; 5] =
    ["MaxAutoRetries", "MaxAutoRetriesNextServer", "OkToRetryOnAllOperations", "retryableStatusCodes", "ReadTimeout"];

/// What the files of an application say.
#[derive(Default)]
struct Settings<'n> {
    /// By service ("" for all), then by key in lower case.
    ribbon: BTreeMap<String, BTreeMap<String, &'n Entry>>,
    /// Routes of Zuul: the service, and whether it may be retried.
    routes: BTreeMap<String, Route>,
    retryable: bool,
    /// Keys in another case than Ribbon's, with what it looks for.
    misspelt: Vec<(&'n Entry, &'static str)>,
    /// Limits on all tries, by service.
    hystrix: BTreeMap<String, &'n Entry>,
}

#[derive(Default)]
struct Route {
    service: Option<(String, Span)>,
    retryable: bool,
    span: Option<Span>,
}

impl<'n> Settings<'n> {
    fn add(&mut self, leaf: Leaf<'n>) {
        let names: Vec<&str> = leaf.path.iter().map(|(name, _)| name.as_str()).collect();
        let is_true = leaf.entry.value.as_bool() == Some(true);
        match names.as_slice() {
            ["ribbon", key] => self.keep("", key, leaf.entry),
            [service, "ribbon", key] => self.keep(service, key, leaf.entry),
            ["zuul", "retryable"] => self.retryable = is_true,
            ["zuul", "routes", route] => self.route(route, &leaf).span = leaf.path.last().map(|(_, span)| *span),
            ["zuul", "routes", route, key] => {
                let text = leaf.entry.value.as_str().unwrap_or_default().to_string();
                let span = leaf.entry.value.span;
                let route = self.route(route, &leaf);
                match relaxed(key).as_str() {
                    "serviceid" => route.service = Some((text, span)),
                    "retryable" => route.retryable = is_true,
                    _ => {}
                }
            }
            ["hystrix", "command", service, ..] if relaxed(names.last().unwrap_or(&"")) == "timeoutinmilliseconds" => {
                self.hystrix.insert((*service).to_string(), leaf.entry);
            }
            _ => {}
        }
    }

    fn keep(&mut self, service: &str, key: &str, entry: &'n Entry) {
        let written = key;
        let key = relaxed(key);
        let Some(at) = KEPT.iter().position(|kept| *kept == key) else { return };
        // Ribbon looks its keys up as they are spelled.
        let spelled = SPELLED.get(at).copied().unwrap_or_default();
        if written != spelled && spelled.eq_ignore_ascii_case(written) {
            self.misspelt.push((entry, spelled));
        } else if !entry.value.is_null() {
            self.ribbon.entry(service.to_string()).or_default().insert(key, entry);
        }
    }

    fn route(&mut self, name: &str, leaf: &Leaf<'n>) -> &mut Route {
        let span = leaf.path.get(2).map(|(_, span)| *span);
        let route = self.routes.entry(name.to_string()).or_default();
        route.span = route.span.or(span);
        route
    }

    fn get(&self, service: &str, key: &str) -> Option<&'n Entry> {
        [service, ""].iter().find_map(|of| self.ribbon.get(*of)?.get(key).copied())
    }

    /// A route's service is named by it, or is called as it.
    fn route_of(&self, service: &str) -> Option<&Route> {
        let is_it = |(name, route): &(&String, &Route)| match &route.service {
            Some((named, _)) => named == service,
            None => *name == service,
        };
        self.routes.iter().find(is_it).map(|(_, route)| route)
    }

    /// The services about which something is to be said; "" for all others.
    fn services(&self) -> BTreeSet<String> {
        let counted = |keys: &&BTreeMap<String, &Entry>| keys.keys().any(|k| k != "readtimeout");
        let mut out: BTreeSet<String> =
            self.ribbon.iter().filter(|(_, k)| counted(k)).map(|(s, _)| s.clone()).collect();
        let routed = self.routes.iter().filter(|(_, r)| r.retryable || self.retryable);
        out.extend(routed.map(|(name, r)| r.service.as_ref().map_or(name.clone(), |(s, _)| s.clone())));
        // What is said of all of them holds for those that are named.
        if out.len() > 1 {
            out.remove("");
        }
        out
    }

    fn read(&self, service: &str, application: Option<&str>, facts: &mut Facts) {
        let (same, next) = (self.get(service, "maxautoretries"), self.get(service, "maxautoretriesnextserver"));
        let route = self.route_of(service);
        let opens = same.or(next).map(|e| e.key_span);
        let opens =
            opens.or_else(|| self.ribbon.get(service).and_then(|keys| keys.values().next()).map(|e| e.key_span));
        let Some(opens) = opens.or_else(|| route.and_then(|r| r.span)) else { return };
        let title = if service.is_empty() { "all clients" } else { service };
        let name = format!("Ribbon client {title}");
        if route.is_some_and(|r| !r.retryable) && !self.retryable {
            let told = same.or(next).map(|e| {
                let why = "Zuul retries a route only where `zuul.retryable`, or the route's own, is true";
                let inert = Inert::new(e.value.span, settings::quote(e), why).of(&name);
                inert.instead("Set `zuul.retryable: true`, or take it out").confidence(Confidence::Medium)
            });
            facts.inert.extend(told);
            return;
        }
        let (attempts, place, reading) = count(same, next, &name, opens);
        let host = route.and_then(|r| r.service.as_ref()).map_or(opens, |(_, span)| *span);
        let to = (!service.is_empty()).then(|| HostRef {
            name: service.to_lowercase(),
            port: None,
            namespace: None,
            span: host,
        });
        let id: Arc<str> = format!("{ID}:{}:{title}", application.unwrap_or("application")).into();
        facts.layers.push(Layer {
            kind: LayerKind::Client,
            reading,
            place,
            component: application.map(str::to_string),
            scope: Scope::Client { to, grpc: false },
            asked_for: same.is_some() || next.is_some() || route.is_some(),
            attempts,
            retries: conditions(self.get(service, "retryablestatuscodes"), opens),
            methods: methods(self.get(service, "oktoretryonalloperations")),
            per_try: Some(match self.get(service, "readtimeout") {
                Some(e) => spring::setting(e, "a number of milliseconds", millis),
                None => Setting::default(Duration::from_secs(1), CONFIGURATION),
            }),
            overall: self.hystrix.get(service).map(|e| spring::setting(e, "a number of milliseconds", millis)),
            labels: other(same, next),
            advice: advice(),
            confidence: Confidence::Medium,
            ..base::layer(ID, id, name, opens, FACTORY)
        });
    }
}

fn millis(text: &str) -> Option<Duration> {
    duration::millis(text.parse().ok()?)
}

/// Retries on one server, times servers.
fn count(same: Option<&Entry>, next: Option<&Entry>, name: &str, opens: Span) -> (Setting<Attempts>, Span, String) {
    let number = |entry: Option<&Entry>, default: u64| match entry {
        None => Some(default),
        Some(e) => match spring::value(e) {
            Text::Known(text, _) => text.parse().ok(),
            Text::Placeholder(_) => None,
        },
    };
    let product = number(same, 0).zip(number(next, 1));
    let product = product.map(|(a, b)| a.saturating_add(1).saturating_mul(b.saturating_add(1)));
    match (same.or(next), product) {
        (None, _) => {
            let reading = format!("{name}, which sets neither `MaxAutoRetries` nor `MaxAutoRetriesNextServer`");
            (Setting::default(Attempts::Count(2), KEYS), opens, reading)
        }
        (Some(e), Some(n)) => {
            let reading = format!("{} on {name}", settings::quote(e));
            (Setting::written(Attempts::Count(n), e.value.span), e.value.span, reading)
        }
        (Some(e), None) => {
            let reading = format!("{} on {name}", settings::quote(e));
            (Setting::unknown("is not a whole number here", Some(e.value.span)), e.value.span, reading)
        }
    }
}

/// The other of the two counts.
fn other(same: Option<&Entry>, next: Option<&Entry>) -> Vec<(Span, String)> {
    let both = same.and(next);
    both.map(|e| (e.value.span, format!("{}, which multiplies", settings::quote(e)))).into_iter().collect()
}

/// Exceptions: a refused connection for every method, and for those that may be retried a timeout.
fn conditions(statuses: Option<&Entry>, opens: Span) -> Conditions {
    let modes = ModeSet::transport();
    let pick = Pick { modes, span: opens, text: "exceptions".to_string() };
    let mut out = Conditions { yes: modes, picks: vec![pick], ..Conditions::default() };
    for (text, span) in statuses.map_or_else(Vec::new, |e| {
        let items = e.value.items().iter().take(settings::MAX_LIST);
        if e.value.items().is_empty() {
            settings::list(&e.value)
        } else {
            items.flat_map(|n| settings::list(n)).collect()
        }
    }) {
        let Ok(status) = text.parse() else { continue };
        let modes: ModeSet = [Mode::Status(status)].into_iter().filter(|_| (400..600).contains(&status)).collect();
        out.yes = out.yes.union(modes);
        out.picks.push(Pick { modes, span, text: format!("`{text}`") });
    }
    out
}

fn methods(all: Option<&Entry>) -> Methods {
    match all.filter(|e| e.value.as_bool() == Some(true)) {
        Some(e) => base::all_methods(e.value.span),
        None => Methods::Only(vec!["GET".to_string()]),
    }
}

/// A wait can only be set in code.
fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `MaxAutoRetries: 0` and `MaxAutoRetriesNextServer: 0`"),
        limit: some("set `MaxAutoRetries: 0` and `MaxAutoRetriesNextServer: 1`"),
        statuses: some("list 502 and 503 in `retryableStatusCodes`"),
        ..Advice::default()
    }
}
