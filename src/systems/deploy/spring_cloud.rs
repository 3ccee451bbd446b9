//! Spring Boot and Spring Cloud: what applications are called, and whom their settings and clients name. None of it
//! retries; it says who stands behind whom.

use crate::facts::{AddressFact, AddressOf, ApplicationNameFact, Facts, RouteFact};
use crate::model::{GatewayName, HostRef};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Syntax, relaxed};
use crate::systems::clients::spring::{self, Leaf, Text};
use crate::systems::settings::{self, shown};
use crate::systems::{DefaultFigure, Part, System, SystemMeta, Unit, Versions};

/// Spring Cloud.
pub struct SpringCloud;

const ZUUL: &str = "spring-cloud/spring-cloud-netflix 2.2.x ZuulProperties.java";

static META: SystemMeta = SystemMeta {
    id: "spring-cloud",
    name: "Spring Boot and Spring Cloud: addresses",
    reads: "application*, bootstrap* and a configuration server's files: `spring.application.name`, addresses of other \
            components, Zuul routes; `@FeignClient` in Java and Kotlin. Hops without retries",
    marks: &["spring", "eureka", "zuul", "@FeignClient"],
    defaults: &[DefaultFigure {
        what: "zuul.routes.<id> without url and serviceId",
        value: "it leads to the service that is called <id>",
        source: ZUUL,
    }],
};

/// What a source must hold to say something here.
pub(crate) const MARKS: &[&str] = &["@FeignClient"];

/// Keys that only applications of Spring have at the top.
const TOP: [&str; 6] = ["spring", "eureka", "zuul", "feign", "ribbon", "hystrix"];

/// Last parts of keys whose value is a host, even where it has neither scheme nor port.
const OF_HOSTS: [&str; 11] = [
    "host",
    "hostname",
    "hosts",
    "address",
    "addresses",
    "uri",
    "url",
    "nodes",
    "serviceid",
    "bootstrapservers",
    "defaultzone",
];

/// Words of keys whose value is an address of the application itself, or of its callers.
const NOT_CALLED: [&str; 9] =
    ["cors", "redirect", "callback", "origin", "public", "external", "issuer", "instance", "logout"];

impl System for SpringCloud {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for part in &unit.parts {
            for root in &part.parsed.documents {
                if Syntax::of_path(&part.file.path) == Some(Syntax::Annotations) {
                    clients(root, facts);
                } else if let Some(of) = Settings::of(part, root) {
                    of.read(root, facts);
                }
            }
        }
    }

    /// What a configuration server hands to every application counts for those that have a file of their own beside it.
    fn join(&self, facts: &mut Facts) {
        let folder_of = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
        let (shared, mut own): (Vec<_>, Vec<_>) =
            std::mem::take(&mut facts.addresses).into_iter().partition(|a| matches!(a.of, AddressOf::Folder(_)));
        for address in shared {
            let AddressOf::Folder(folder) = &address.of else { continue };
            let beside = facts.application_names.iter().filter(|n| n.served && folder_of(&n.path) == *folder);
            own.extend(beside.map(|n| AddressFact { of: AddressOf::Component(n.name.clone()), ..address.clone() }));
        }
        facts.addresses = own;
    }
}

/// Declarative clients: the service by its name, or its address.
fn clients(root: &Node, facts: &mut Facts) {
    for node in root.get("annotations").map_or(&[][..], Node::items) {
        if node.get("@").and_then(Node::as_str) != Some("FeignClient") {
            continue;
        }
        let named = |key: &str| node.entry(key).filter(|e| !e.value.as_str().unwrap_or_default().is_empty());
        let Some(entry) = ["url", "value", "name", "serviceId"].iter().find_map(|key| named(key)) else { continue };
        let Text::Known(text, _) = spring::value(entry) else { continue };
        if let Some(to) = settings::host(text, entry.value.span, None) {
            let says = format!("a `@FeignClient` names `{}`", shown(text));
            facts.addresses.push(AddressFact { of: AddressOf::File, says, to });
        }
    }
}

/// Whose settings a file holds.
struct Settings<'a> {
    file: &'a SourceFile,
    of: AddressOf,
    /// The application that a configuration server gives the file to.
    served: Option<&'a str>,
}

impl<'a> Settings<'a> {
    /// `None` for a file of something else, and for those of tests.
    fn of(part: &Part<'a>, root: &Node) -> Option<Self> {
        let (file, path) = (part.file, part.name);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, ending) = name.rsplit_once('.')?;
        let is_test = path.split('/').zip(path.split('/').skip(1)).any(|pair| pair == ("src", "test"));
        if is_test || !matches!(ending, "yml" | "yaml" | "properties") {
            return None;
        }
        let is = |base: &str| stem == base || stem.strip_prefix(base).is_some_and(|rest| rest.starts_with('-'));
        if is("application") || is("bootstrap") {
            // Below `src/main/resources` a program finds its own files there and in `config/` only.
            let inside = path.split_once("src/main/resources/").map(|(_, inside)| inside);
            let is_own = inside.is_none_or(|inside| matches!(inside.rsplit_once('/'), None | Some(("config", _))));
            let of = if is_own { AddressOf::File } else { AddressOf::Folder(folder.to_owned()) };
            return Some(Self { file, of, served: None });
        }
        let has = |top: &str| root.entries().iter().any(|e| e.key.split('.').next() == Some(top));
        // In a ConfigMap stand the settings of those who mount it.
        let is_file = path == &*file.path;
        (is_file && TOP.iter().any(|top| has(top))).then(|| Self {
            file,
            of: AddressOf::Component(stem.to_owned()),
            served: Some(stem),
        })
    }

    fn read(&self, root: &Node, facts: &mut Facts) {
        let own = spring::text(root, "spring.application.name").filter(|name| !name.contains("${"));
        if let Some(name) = self.served.map(str::to_owned).or_else(|| own.clone()) {
            let (path, served) = (self.file.path.to_string(), self.served.is_some());
            facts.application_names.push(ApplicationNameFact { path, name, served, span: root.span });
        }
        for leaf in spring::leaves(root, &[]) {
            let key: Vec<&str> = leaf.path.iter().map(|(part, _)| part.as_str()).collect();
            let everybodys = !matches!(self.of, AddressOf::Folder(_)) || key.first() == Some(&"eureka");
            if matches!(key.as_slice(), ["zuul", "routes", ..]) || !everybodys || !is_called(&key) {
                continue;
            }
            for to in hosts(&leaf) {
                let says = format!("`{}` is `{}`", shown(&key.join(".")), shown(&text_of(leaf.entry)));
                facts.addresses.push(AddressFact { of: self.of.clone(), says, to });
            }
        }
        if !matches!(self.of, AddressOf::Folder(_)) {
            self.zuul(root, own, facts);
        }
    }

    /// Zuul's routes: to a URL, to a service, else to the service that is called as the route.
    fn zuul(&self, root: &Node, own: Option<String>, facts: &mut Facts) {
        let leaves = spring::leaves(root, &["zuul", "routes"]);
        let mut routes: Vec<(&str, Vec<&Leaf<'_>>)> = Vec::new();
        for leaf in leaves.iter().filter(|l| l.path.len() > 2) {
            let Some((id, _)) = leaf.path.get(2) else { continue };
            match routes.iter_mut().find(|(known, _)| known == id) {
                Some((_, leaves)) => leaves.push(leaf),
                None => routes.push((id, vec![leaf])),
            }
        }
        let folder = || self.file.path.split_once("/src/main/resources/").map(|(root, _)| root);
        let folder = || folder().and_then(|root| root.rsplit('/').next()).map(str::to_owned);
        let name = self.served.map(str::to_owned).or(own).or_else(folder);
        for (id, leaves) in routes {
            let field = |name: &str| leaves.iter().find(|l| l.path.get(3).is_some_and(|(key, _)| relaxed(key) == name));
            let to = match field("url").or_else(|| field("serviceid")) {
                Some(leaf) => hosts(leaf).into_iter().next(),
                None => leaves.first().and_then(|l| settings::host(id, l.path.get(2)?.1, None)),
            };
            let span = leaves.first().and_then(|l| l.path.get(2)).map_or(root.span, |(_, span)| *span);
            let from = match &name {
                Some(name) => GatewayName::Named(name.clone()),
                None => GatewayName::OfFile { file: self.file.id, system: META.id },
            };
            facts.routes.extend(to.map(|to| RouteFact { from, to: vec![to], grpc: false, limit: None, span }));
        }
    }
}

/// Whether a key is about somebody whom the application calls.
fn is_called(key: &[&str]) -> bool {
    let words = key.iter().flat_map(|part| part.split(['-', '_'])).map(str::to_lowercase);
    let mut words = words.filter(|word| NOT_CALLED.iter().any(|not| word.contains(not)));
    words.next().is_none()
}

fn text_of(entry: &Entry) -> String {
    match entry.value.items() {
        [] => entry.value.as_str().unwrap_or_default().to_owned(),
        items => items.iter().filter_map(|n| n.as_str()).collect::<Vec<_>>().join(","),
    }
}

/// The hosts that a setting names: URLs, hosts with ports, lists of these; a bare name where the key says that it is one.
fn hosts(leaf: &Leaf<'_>) -> Vec<HostRef> {
    let named = leaf.path.last().is_some_and(|(last, _)| OF_HOSTS.contains(&relaxed(last).replace('-', "").as_str()));
    let text = text_of(leaf.entry);
    let parts = text.split(',').filter_map(|part| host(part.trim(), named, leaf.entry.value.span));
    settings::distinct(parts)
}

fn host(text: &str, named: bool, span: Span) -> Option<HostRef> {
    let text = without_placeholders(text)?;
    let text = text.strip_prefix("jdbc:").unwrap_or(&text);
    let port = |text: &str| {
        let (name, port) = text.split('/').next()?.rsplit_once(':')?;
        (!name.is_empty() && !port.is_empty() && port.chars().all(|c| c.is_ascii_digit())).then_some(())
    };
    let is_address = text.contains("://") || named || port(text).is_some();
    settings::host(text, span, None).filter(|_| is_address)
}

/// Each `${NAME:default}` by its default; `None` where one that is part of the host has none.
fn without_placeholders(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (inside, behind) = after.split_once('}')?;
        out.push_str(before);
        match inside.split_once(':') {
            Some((_, default)) => out.push_str(default),
            // Behind the host it does no harm: a port, a path.
            None if out.contains("://") && !out.ends_with('/') && !out.ends_with('@') => out.push('0'),
            None if out.split_once("://").is_some_and(|(_, host)| host.contains('/')) => out.push('0'),
            None => return None,
        }
        rest = behind;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn hosts_in_values() {
        let name = |text: &str, named: bool| host(text, named, Span::start_of(FileId(0))).map(|h| h.name);
        for (text, named, expected) in [
            ("http://auth:5000/uaa", false, Some("auth")),
            ("http://ACCOUNT-SERVICE", false, Some("account-service")),
            ("lb://orders", false, Some("orders")),
            ("jdbc:postgresql://db:5432/shop", false, Some("db")),
            ("http://${AUTH_HOST:auth}:${AUTH_PORT}/x", false, Some("auth")),
            ("http://${AUTH_HOST}:5000", false, None),
            ("${ORDERS_URL:http://orders:8080}", false, Some("orders")),
            ("kafka:9092", false, Some("kafka")),
            ("orders", true, Some("orders")),
            ("orders", false, None),
            ("", true, None),
        ] {
            assert_eq!(name(text, named).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn keys_of_those_who_are_called() {
        assert!(is_called(&["spring", "data", "mongodb", "host"]));
        assert!(!is_called(&["app", "cors", "allowed-origins"]));
        assert!(!is_called(&["eureka", "instance", "hostname"]));
        assert!(!is_called(&["app", "redirectUri"]));
    }
}
