//! Spring Cloud Gateway: the Retry filter of routes and of all routes, in its short and its full form.

mod filter;
mod status;

use self::filter::{Filter, Server};
use crate::facts::{Facts, RouteFact};
use crate::model::{Callers, GatewayName, HostRef, Layer, Scope};
use crate::source::{SourceFile, Span};
use crate::syntax::{Node, relaxed};
use crate::systems::clients::spring::{self, Document, Text};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration};

/// Spring Cloud Gateway.
pub struct SpringCloudGateway;

const ID: &str = "spring-cloud-gateway";
const FACTORY: &str =
    "spring-cloud/spring-cloud-gateway spring-cloud-gateway-server-webflux RetryGatewayFilterFactory.java";
const FUNCTIONS: &str =
    "spring-cloud/spring-cloud-gateway spring-cloud-gateway-server-webmvc RetryFilterFunctions.java";
const SPRING_RETRY: &str = "spring-projects/spring-retry ExponentialBackOffPolicy.java: DEFAULT_MAX_INTERVAL";
const FRAMEWORK: &str =
    "spring-cloud/spring-cloud-gateway spring-cloud-gateway-server-webmvc FrameworkRetryFilterFunctions.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Spring Cloud Gateway",
    reads: "spring.cloud.gateway routes and default filters in application*.yml, .yaml and .properties: the Retry filter, \
            short and full",
    marks: &["gateway:", "cloud.gateway", "\"gateway\""],
    defaults: &[
        DefaultFigure { what: "no Retry filter", value: "1 attempt", source: FACTORY },
        DefaultFigure { what: "Retry without retries", value: "4 attempts (3 retries)", source: FACTORY },
        DefaultFigure { what: "Retry without series", value: "SERVER_ERROR: every 5xx", source: FACTORY },
        DefaultFigure { what: "Retry without methods", value: "GET", source: FACTORY },
        DefaultFigure {
            what: "Retry without exceptions",
            value: "IOException and TimeoutException: refused connections and timeouts",
            source: FACTORY,
        },
        DefaultFigure { what: "Retry without backoff", value: "no wait", source: FACTORY },
        DefaultFigure { what: "backoff.firstBackoff absent", value: "5 ms", source: FACTORY },
        DefaultFigure { what: "backoff.factor absent", value: "2", source: FACTORY },
        DefaultFigure { what: "backoff.maxBackoff absent", value: "no cap", source: FACTORY },
        DefaultFigure { what: "Retry without jitter", value: "no jitter", source: FACTORY },
        DefaultFigure { what: "WebMVC: retries: 3", value: "3 attempts: the count is of tries", source: FUNCTIONS },
        DefaultFigure {
            what: "WebMVC: methods",
            value: "hold for statuses only; an exception is retried whatever the method",
            source: FUNCTIONS,
        },
        DefaultFigure { what: "WebMVC: backoff.maxBackoff absent", value: "30 s", source: SPRING_RETRY },
        DefaultFigure {
            what: "WebMVC with use-framework-retry-filter: retries: 3",
            value: "4 attempts: the count is of retries; without backoff 4 at most, 1 s apart",
            source: FRAMEWORK,
        },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: FACTORY },
    ],
};

/// Where routes and filters stand below `spring.cloud.gateway`.
const PLACES: [(&[&str], Server); 4] = [
    (&[], Server::WebFlux),
    (&["server", "webflux"], Server::WebFlux),
    (&["mvc"], Server::WebMvc),
    (&["server", "webmvc"], Server::WebMvc),
];

impl System for SpringCloudGateway {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let documents: Vec<(&SourceFile, &Node)> =
            unit.documents().filter(|(file, root)| !is_test(&file.path) && !root.entries().is_empty()).collect();
        let name = documents.iter().find_map(|(_, root)| spring::text(root, "spring.application.name"));
        let name = name.filter(|name| !name.contains("${"));
        let mut ids = Ids::default();
        for (file, root) in documents {
            let profile = Document::new(&file.path, root).profile;
            let mut reader = Reader { file, name: name.as_deref(), profile: profile.as_deref(), ids: &mut ids };
            for (below, server) in PLACES {
                reader.read(root, below, server, facts);
            }
        }
    }
}

/// Settings of tests do not run in production.
fn is_test(path: &str) -> bool {
    path.split('/').zip(path.split('/').skip(1)).any(|pair| pair == ("src", "test"))
}

struct Reader<'a> {
    file: &'a SourceFile,
    name: Option<&'a str>,
    profile: Option<&'a str>,
    ids: &'a mut Ids,
}

impl Reader<'_> {
    fn read(&mut self, root: &Node, below: &[&str], server: Server, facts: &mut Facts) {
        let prefix: Vec<&str> = ["spring", "cloud", "gateway"].iter().chain(below).copied().collect();
        let list = |key: &str| -> Option<&Node> {
            let path: Vec<&str> = prefix.iter().copied().chain([key]).collect();
            let leaves = spring::leaves(root, &path);
            leaves.into_iter().rev().find(|l| l.path.len() == path.len()).map(|l| &*l.entry.value)
        };
        let path: Vec<&str> = prefix.iter().copied().chain(["use-framework-retry-filter"]).collect();
        let switch = spring::leaves(root, &path).into_iter().rev().find(|l| l.path.len() == path.len());
        let by_framework = switch.is_some_and(|l| l.entry.value.as_bool() == Some(true));
        let server = if by_framework && server == Server::WebMvc { Server::Framework } else { server };
        let defaults = retries(list("default-filters"), server);
        let answered = |parts: &[&str]| {
            let path: Vec<&str> = prefix.iter().chain(parts).copied().collect();
            let leaf = spring::leaves(root, &path).into_iter().rev().find(|l| l.path.len() == path.len())?;
            Some(spring::setting(leaf.entry, "a duration", duration::spring))
        };
        let for_all = answered(&["httpclient", "response-timeout"]);
        let mut all = Vec::new();
        for route in list("routes").map_or(&[][..], Node::items) {
            let to: Vec<HostRef> = upstream(route).into_iter().collect();
            let opens = settings::opening(self.file, route);
            let filters = retries(route.get("filters"), server);
            let own = route.at(&["metadata", "response-timeout"]);
            let own = own.and_then(|n| settings::limit(n, |n| duration::millis(n.as_f64()?)));
            let answer = own.or_else(|| for_all.clone());
            let limit = answer.clone().filter(|_| filters.is_empty() && defaults.is_empty());
            facts.routes.push(RouteFact { from: self.gateway(), to: to.clone(), grpc: false, limit, span: opens });
            all.extend(to.iter().cloned());
            let title = route.get("id").and_then(Node::as_str).unwrap_or("without an id");
            for filter in filters {
                let layer = self.layer(&format!("route {title}"), &filter, to.clone());
                facts.inert.extend(filter.inert(&layer.name));
                // The filter stands around the call, which waits so long for an answer each time.
                facts.layers.push(Layer { per_try: answer.clone(), ..layer });
            }
        }
        for filter in defaults {
            let layer = self.layer("default filters", &filter, settings::distinct(all.clone()));
            facts.inert.extend(filter.inert(&layer.name));
            facts.layers.push(Layer { per_try: for_all.clone(), ..layer });
        }
    }

    fn layer(&mut self, title: &str, filter: &Filter<'_>, to: Vec<HostRef>) -> Layer {
        let under = self.profile.map(|p| format!(" under profile {p}")).unwrap_or_default();
        let name = format!("Spring Cloud Gateway {title}{under}");
        let owner = self.name.map(|name| format!("{name}:")).unwrap_or_default();
        let id = self.ids.next(format!("{ID}:{owner}{title}"));
        let from = Callers { gateways: vec![self.gateway()], mesh: false };
        filter.layer(self.file, id, name, Scope::Hops { from, to, fallback: false })
    }

    /// The application is the gateway; without a name it is called as its folder.
    fn gateway(&self) -> GatewayName {
        let folder = || self.file.path.split_once("/src/main/resources/").map(|(root, _)| root);
        let folder = || folder().and_then(|root| root.rsplit('/').next()).filter(|name| !name.is_empty());
        match self.name.or_else(folder) {
            Some(name) => GatewayName::Named(name.to_string()),
            None => GatewayName::OfFile { file: self.file.id, system: ID },
        }
    }
}

/// The Retry filters of a list.
fn retries(filters: Option<&Node>, server: Server) -> Vec<Filter<'_>> {
    let items = filters.map_or(&[][..], Node::items).iter();
    items.filter_map(|item| Filter::read(item, server)).collect()
}

/// `lb://service` or `http://host`; a placeholder counts by its default.
fn upstream(route: &Node) -> Option<HostRef> {
    let entry = route.entries().iter().rev().find(|e| relaxed(&e.key) == "uri")?;
    match spring::value(entry) {
        Text::Known(text, _) => settings::host(text, entry.value.span, None),
        Text::Placeholder(_) => None,
    }
}

/// The place of a word in a scalar.
fn part(node: &Node, at: usize, len: usize) -> Span {
    settings::within(node, at..at + len)
}
