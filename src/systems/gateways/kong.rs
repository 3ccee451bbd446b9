//! Kong Gateway: declarative configuration, as DB-less Kong and decK read it.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::facts::{EnvFact, EnvFileFact, Facts, RouteFact, UpstreamFact};
use crate::model::{
    Advice, Attempts, Callers, Conditions, Confidence, GatewayName, HostRef, Jitter, Layer, LayerKind, Methods,
    ModeSet, Purpose, Scope, Setting, Wait,
};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
use crate::systems::next_upstream::{self, NextUpstream};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, upstreams};

/// Kong.
pub struct Kong;

const ID: &str = "kong";
const SERVICES: &str = "Kong/kong kong/db/schema/entities/services.lua";
const CALLOUT: &str = "developer.konghq.com/plugins/request-callout/examples/retry-failed-requests";
const NGINX: &str = "Kong/kong kong/templates/nginx_kong.lua";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Kong",
    reads: "declarative configuration with `_format_version` (YAML, JSON): services, upstreams, routes; what kong.conf and \
            the environment make of nginx's conditions",
    marks: &["_format_version", CONF_MARK],
    defaults: &[
        DefaultFigure { what: "services[].retries absent", value: "6 attempts (5 retries), at once", source: SERVICES },
        DefaultFigure { what: "services[].retries: 0", value: "1 attempt", source: SERVICES },
        DefaultFigure { what: "services[].read_timeout absent", value: "60 s for each try", source: SERVICES },
        DefaultFigure {
            what: "limit on all tries together",
            value: "none; there is no such setting",
            source: SERVICES,
        },
        DefaultFigure {
            what: "what is retried",
            value: "refused connections and timeouts, no HTTP status (nginx's `error timeout`)",
            source: NGINX,
        },
        DefaultFigure {
            what: "POST, PATCH, LOCK",
            value: "not sent again once sent",
            source: "nginx ngx_http_proxy_module, proxy_next_upstream",
        },
    ],
};

impl System for Kong {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        facts.env_files.extend(unit.documents().filter_map(|(file, root)| conf(file, root)));
        for (file, root) in unit.documents().filter(|(_, root)| root.get("_format_version").is_some()) {
            Reader { file, root, routed: routed(root), ids: Ids::default() }.read(facts);
        }
    }

    fn join(&self, facts: &mut Facts) {
        upstreams::resolve(facts, ID);
        widen(facts, ID);
    }
}

/// What its own configuration begins with where it puts a directive into the template.
const CONF_MARK: &str = "nginx_proxy_proxy_next_upstream";

/// The name of that file.
const CONF: &str = "kong.conf";

/// The settings of a `kong.conf` that concern retries, named as in the environment.
fn conf(file: &SourceFile, root: &Node) -> Option<EnvFileFact> {
    let name = file.path.rsplit('/').next()?;
    let values: Vec<EnvFact> = root.entries().iter().filter(|e| e.key.starts_with(CONF_MARK)).map(setting).collect();
    (name.starts_with(CONF) && !values.is_empty()).then(|| EnvFileFact { path: file.path.to_string(), values })
}

fn setting(entry: &Entry) -> EnvFact {
    let value = entry.value.as_str().unwrap_or_default();
    let value = value.split(" #").next().unwrap_or_default().trim();
    EnvFact { name: format!("KONG_{}", entry.key.to_uppercase()), value: value.to_string(), span: entry.value.span }
}

/// What Kong's environment, or its own configuration, makes of nginx's conditions, for the layers of a system:
/// `KONG_NGINX_PROXY_…` puts a directive into the template.
pub(super) fn widen(facts: &mut Facts, system: &str) {
    let confs = || facts.env_files.iter().filter(|f| f.path.rsplit('/').next().is_some_and(|n| n.starts_with(CONF)));
    let all = || facts.components.iter().flat_map(|c| &c.env).chain(confs().flat_map(|f| &f.values));
    let env = |name: &str| all().find(|e| e.name == name).cloned();
    let list = env("KONG_NGINX_PROXY_PROXY_NEXT_UPSTREAM");
    let words: Vec<(&str, Span)> =
        list.iter().flat_map(|e| e.value.split_whitespace().map(move |word| (word, e.span))).collect();
    let next = NextUpstream::read(&words);
    let most =
        env("KONG_NGINX_PROXY_PROXY_NEXT_UPSTREAM_TRIES").and_then(|e| Some((e.value.trim().parse().ok()?, e.span)));
    let most = most.filter(|(n, _): &(u64, Span)| *n > 0);
    for layer in facts.layers.iter_mut().filter(|l| l.system == system) {
        if let Some(next) = &next {
            layer.retries.clone_from(&next.conditions);
            if next.off.is_some() || next.non_idempotent.is_some() {
                layer.methods = next_upstream::methods(next.non_idempotent);
            }
            layer.attempts = match next.off {
                Some(span) => Setting::written(Attempts::Count(1), span),
                None => layer.attempts.clone(),
            };
        }
        if let Some((most, span)) = most
            && layer.attempts.value().and_then(|a| a.count()).is_some_and(|n| n > most)
        {
            layer.attempts = Setting::written(Attempts::Count(most), span);
            layer.labels.push((span, format!("at most {most} tries, whatever the service says")));
        }
    }
}

/// How often a service tries, and what says so.
struct Count {
    attempts: Setting<Attempts>,
    place: Span,
    reading: String,
    labels: Vec<(Span, String)>,
}

fn routed(root: &Node) -> BTreeSet<&str> {
    let routes = root.get("routes").map_or(&[][..], Node::items).iter();
    let services = routes.filter_map(|route| route.get("service"));
    services.filter_map(|to| to.get_any(&["name", "id"]).unwrap_or(to).as_str()).collect()
}

struct Reader<'a> {
    file: &'a SourceFile,
    root: &'a Node,
    /// Names and ids of services that the list of routes refers to.
    routed: BTreeSet<&'a str>,
    ids: Ids,
}

impl<'a> Reader<'a> {
    fn read(&mut self, facts: &mut Facts) {
        for upstream in self.list("upstreams") {
            facts.upstreams.extend(upstream_fact(upstream));
        }
        let plugins = self.root.walk().filter(|n| n.get("name").and_then(Node::as_str) == Some("request-callout"));
        for config in plugins.filter_map(|n| n.get("config")) {
            for callout in config.get("callouts").map_or(&[][..], Node::items) {
                let layer = self.callout(callout);
                facts.layers.extend(layer);
            }
        }
        for service in self.list("services") {
            if service.get("enabled").and_then(Node::as_bool) == Some(false) {
                continue;
            }
            let to: Vec<HostRef> = host_of(service).into_iter().collect();
            let opens = settings::opening(self.file, service);
            if self.has_routes(service) {
                facts.routes.push(RouteFact {
                    from: self.gateway(),
                    to: to.clone(),
                    grpc: is_grpc(service),
                    limit: None,
                    span: opens,
                });
            }
            facts.layers.push(self.layer(service, to, opens));
        }
    }

    /// A request that a plugin makes by the way, and repeats where it is told to.
    fn callout(&mut self, callout: &Node) -> Option<Layer> {
        let request = callout.get("request")?;
        let error = request.get("error")?;
        let switch = error.entry("on_error").filter(|e| e.value.as_str() == Some("retry"))?;
        let count = error.entry("retries").filter(|e| !e.value.is_null());
        let title = callout.get("name").and_then(Node::as_str).unwrap_or("without a name");
        let name = format!("Kong request-callout {}", settings::shown(title));
        let url = request.get("url");
        let to: Vec<HostRef> = url.and_then(|n| settings::host(n.as_str()?, n.span, None)).into_iter().collect();
        let mut retries = Conditions::default();
        for node in error.get("http_statuses").map_or(&[][..], Node::items).iter().take(settings::MAX_LIST) {
            let Some(status) = node.as_int().and_then(|n| u16::try_from(n).ok()) else { continue };
            let modes = ModeSet::statuses([status]);
            retries.yes = retries.yes.union(modes);
            retries.picks.push(crate::model::Pick { modes, span: node.span, text: format!("`{status}`") });
        }
        // Of what is no answer the documentation says nothing.
        retries.unknown = ModeSet::transport();
        let method = request.get("method").and_then(|n| Some((n.as_str()?.to_uppercase(), n.span)));
        Some(Layer {
            reading: count.map_or_else(|| name.clone(), |e| format!("{} on {name}", settings::quote(e))),
            place: count.map_or(switch.key_span, |e| e.value.span),
            asked_for: true,
            attempts: count.map_or_else(
                || Setting::unknown("`retries` is not written, and its default not documented", Some(switch.key_span)),
                settings::retries,
            ),
            wait: Wait::Unknown { why: "the documentation does not say".to_string() },
            jitter: Setting::unknown("the documentation does not say", None),
            retry_after: Setting::unknown("the documentation does not say", None),
            retries,
            methods: match method {
                Some((method, span)) => Methods::Written { methods: vec![method], span },
                None => Methods::Only(vec!["GET".to_string()]),
            },
            scope: base::hops(vec![self.gateway()], to),
            ..base::layer(ID, self.ids.next(format!("{ID}:callout:{title}")), name, switch.key_span, CALLOUT)
        })
    }

    fn list(&self, key: &str) -> impl Iterator<Item = &'a Node> + use<'a> {
        self.root.get(key).map_or(&[][..], Node::items).iter().map(|n| &**n)
    }

    fn gateway(&self) -> GatewayName {
        GatewayName::OfFile { file: self.file.id, system: ID }
    }

    /// Whether a route leads to the service, nested in it or in the list of routes.
    fn has_routes(&self, service: &Node) -> bool {
        let nested = service.get("routes").is_some_and(|r| !r.items().is_empty());
        nested
            || ["name", "id"]
                .iter()
                .any(|k| service.get(k).and_then(Node::as_str).is_some_and(|n| self.routed.contains(n)))
    }

    fn layer(&mut self, service: &Node, to: Vec<HostRef>, opens: Span) -> Layer {
        let title = service.get_any(&["name", "id", "host", "url"]).and_then(Node::as_str).unwrap_or("without a name");
        let name = format!("Kong service {title}");
        let Count { attempts, place, reading, labels } = self.count(service, &name, opens);
        Layer {
            id: self.ids.next(format!("{ID}:service:{title}")),
            system: ID,
            kind: LayerKind::Gateway,
            reading,
            place,
            opens,
            component: None,
            scope: Scope::Hops { from: Callers { gateways: vec![self.gateway()], mesh: false }, to, fallback: false },
            asked_for: !attempts.is_default(),
            attempts,
            wait: Wait::None,
            wait_place: None,
            jitter: Setting::default(Jitter::None, NGINX),
            retries: conditions(opens),
            retry_after: Setting::default(false, NGINX),
            methods: self.methods(service),
            per_try: Some(self.per_try(service)),
            overall: None,
            budget: None,
            labels,
            advice: advice(),
            copies: false,
            elsewhere: false,
            purpose: Purpose::Request,
            confidence: Confidence::High,
            name,
        }
    }

    /// The service's own count, else that of decK's defaults in the file, else Kong's.
    fn count(&self, service: &Node, name: &str, opens: Span) -> Count {
        if let Some(entry) = service.entry("retries").filter(|e| !e.value.is_null()) {
            let reading = format!("{} on {name}", settings::quote(entry));
            return Count { attempts: settings::retries(entry), place: entry.value.span, reading, labels: Vec::new() };
        }
        match self.shared("retries") {
            Some(entry) => {
                let quoted = settings::quote(entry);
                let label = format!("{quoted}, the default that this file sets for its services");
                Count {
                    attempts: settings::retries(entry),
                    place: opens,
                    reading: format!("{name}, with {quoted} from `_info.defaults.service`"),
                    labels: vec![(entry.value.span, label)],
                }
            }
            None => Count {
                attempts: Setting::default(Attempts::Count(6), SERVICES),
                place: opens,
                reading: format!("{name}, which sets no `retries`"),
                labels: Vec::new(),
            },
        }
    }

    /// What decK writes into every service of this file that says nothing itself.
    fn shared(&self, key: &str) -> Option<&'a Entry> {
        self.root.at(&["_info", "defaults", "service"])?.entry(key).filter(|e| !e.value.is_null())
    }

    fn per_try(&self, service: &Node) -> Setting<Duration> {
        let own = service.get("read_timeout").filter(|n| !n.is_null());
        match own.or(self.shared("read_timeout").map(|e| &*e.value)) {
            Some(node) => match node.as_f64().and_then(duration::millis) {
                Some(d) => Setting::written(d, node.span),
                None => Setting::unknown("`read_timeout` is not a number here", Some(node.span)),
            },
            None => Setting::default(Duration::from_secs(60), SERVICES),
        }
    }

    /// What may have been processed and is sent again. POST, PATCH and LOCK are repeated only when nothing was sent.
    fn methods(&self, service: &Node) -> Methods {
        let routes = service.get("routes").map_or(&[][..], Node::items);
        let named: Option<Vec<Vec<String>>> = routes
            .iter()
            .map(|route| {
                let methods = route.get("methods")?.items();
                Some(methods.iter().filter_map(|m| m.as_str()).map(str::to_uppercase).collect())
            })
            .collect();
        let safe = |m: &String| !matches!(m.as_str(), "POST" | "PATCH" | "LOCK");
        let all = || ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].map(String::from).to_vec();
        let mut methods: Vec<String> = match named {
            Some(named) if !named.is_empty() => named.into_iter().flatten().filter(safe).collect(),
            _ => all(),
        };
        methods.sort();
        methods.dedup();
        Methods::Only(methods)
    }
}

/// The protocol is written, or the scheme of the URL.
fn is_grpc(service: &Node) -> bool {
    let protocol = service.get("protocol").and_then(Node::as_str);
    let scheme = || service.get("url")?.as_str()?.split_once("://").map(|(scheme, _)| scheme);
    protocol.or_else(scheme).is_some_and(|p| matches!(p, "grpc" | "grpcs"))
}

/// nginx moves on after what it calls `error` and `timeout`; Kong never widens that.
pub(super) fn conditions(opens: Span) -> Conditions {
    let modes = ModeSet::transport();
    let pick = crate::model::Pick { modes, span: opens, text: "Kong's fixed conditions".to_string() };
    Conditions { yes: modes, picks: vec![pick], ..Conditions::default() }
}

/// `url` is the short form of protocol, host, port and path.
pub(super) fn host_of(service: &Node) -> Option<HostRef> {
    if let Some(node) = service.get("url").filter(|n| !n.is_null()) {
        return settings::host(node.as_str()?, node.span, None);
    }
    let node = service.get("host")?;
    let mut host = settings::host(node.as_str()?, node.span, None)?;
    host.port = service.get("port").and_then(Node::as_int).and_then(|n| u16::try_from(n).ok()).or(host.port);
    Some(host)
}

fn upstream_fact(upstream: &Node) -> Option<UpstreamFact> {
    let name = upstream.get("name")?;
    let targets = upstream.get("targets").map_or(&[][..], Node::items);
    let to = targets.iter().filter_map(|t| {
        let target = t.get("target").unwrap_or(t);
        let weight = t.get("weight").and_then(Node::as_int);
        (weight != Some(0)).then(|| settings::host(target.as_str()?, target.span, None)).flatten()
    });
    Some(UpstreamFact {
        system: ID,
        name: name.as_str()?.to_lowercase(),
        namespace: None,
        to: to.filter(|host| !settings::is_address(&host.name)).collect(),
        budget: None,
        span: name.span,
    })
}

/// Kong has no setting for a wait, for statuses or for Retry-After.
fn advice() -> Advice {
    Advice { none: Some("set `retries: 0` on the service".to_string()), ..Advice::default() }
}
