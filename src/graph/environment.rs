//! Hops that the environment of a component tells: it is given the address of another one.
//!
//! Code that can be read says better whom it calls, and with which layers; where it cannot, this is what shows who
//! stands behind whom.

use super::code::expanded;
use super::draft::Draft;
use super::hosts::Part;
use super::names::host_of;
use crate::model::{ComponentIx, ComponentKind, Hop, HostRef, Reason};
use crate::source::Span;

/// Adds a hop for each address of another component, where none is known between the two.
pub(super) fn add_hops(draft: &mut Draft<'_>) {
    let components: Vec<ComponentIx> = draft.hosts.iter().filter(|(_, p)| p.declared).map(|(ix, _)| ix).collect();
    for from in components {
        for address in addresses(draft, from) {
            let found = draft.hosts.known(&address.host);
            let is_job = draft.hosts.part(from).is_some_and(|p| p.kind == ComponentKind::Job);
            let declared = |ix: &ComponentIx| draft.hosts.part(*ix).is_some_and(|p| p.declared);
            let others: Vec<ComponentIx> =
                found.components.into_iter().filter(declared).filter(|to| *to != from).collect();
            for to in others {
                if draft.has_hop(from, to) {
                    continue;
                }
                let text = format!("`{}` is set to `{}`", address.variable, address.value);
                let reasons = [Reason::new(address.host.span, text), draft.hosts.why(&address.host, to)];
                let hop = draft.hop_because((from, to), Some(address.host.span), reasons);
                draft.add_hop(Hop { grpc: found.grpc, on_request: !is_job, ..hop });
            }
        }
    }
}

/// An address in the environment.
struct Address {
    variable: String,
    value: String,
    host: HostRef,
}

fn addresses(draft: &Draft<'_>, from: ComponentIx) -> Vec<Address> {
    let Some(part) = draft.hosts.part(from) else { return Vec::new() };
    part.env
        .iter()
        .filter(|e| is_called(&e.name))
        .flat_map(|e| {
            let value = expanded(&e.value, part);
            let hosts = hosts(&e.name, &value, part, e.span);
            hosts.into_iter().map(move |host| Address { variable: e.name.clone(), value: value.clone(), host })
        })
        .collect()
}

/// Addresses that a component is told and does not call: its own, and those of whoever may call it.
const NOT_CALLED: [&str; 18] = [
    "ORIGIN",
    "ORIGINS",
    "CORS",
    "CALLBACK",
    "REDIRECT",
    "PUBLIC",
    "EXTERNAL",
    "ADVERTISE",
    "ADVERTISED",
    "LISTEN",
    "LISTENERS",
    "BIND",
    "SELF",
    "ISSUER",
    "PROXY",
    "ALLOWED",
    "TRUSTED",
    "FORWARDED",
];

fn is_called(variable: &str) -> bool {
    !words(variable).any(|word| NOT_CALLED.contains(&word.as_str()))
}

/// The words of a variable's name, upper case.
fn words(variable: &str) -> impl Iterator<Item = String> + '_ {
    variable.split(|c: char| !c.is_alphanumeric()).map(str::to_uppercase)
}

/// Names of variables whose value is a host, even where it has neither scheme nor port.
const OF_HOSTS: [&str; 10] =
    ["HOST", "HOSTNAME", "HOSTS", "ADDR", "ADDRESS", "ENDPOINT", "SERVER", "SERVERS", "URL", "URI"];

/// The hosts that a value names: a URL, a host with a port, a list of these; a bare name where the variable says that
/// it is one.
fn hosts(variable: &str, value: &str, part: &Part, span: Span) -> Vec<HostRef> {
    let named = variable == "-h" || words(variable).last().is_some_and(|last| OF_HOSTS.contains(&last.as_str()));
    let address = |text: &str| {
        let text = text.trim().strip_prefix("jdbc:").unwrap_or(text.trim());
        let has_port = text.rsplit_once(':').is_some_and(|(name, port)| {
            let port = port.split('/').next().unwrap_or_default();
            !name.is_empty() && !port.is_empty() && port.chars().all(|c| c.is_ascii_digit())
        });
        // Nothing but the name of a Service in a cluster looks like this.
        let in_cluster = text.ends_with(".svc") || text.ends_with(".svc.cluster.local");
        let is_address = text.contains("://") || has_port || named || in_cluster;
        let name = host_of(text).filter(|name| is_address && !name.contains('{'))?;
        Some(HostRef { name, port: None, namespace: part.namespace.clone(), span })
    };
    let mut hosts: Vec<HostRef> = value.split(',').filter_map(address).collect();
    hosts.dedup_by(|a, b| a.name == b.name);
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn names(variable: &str, value: &str) -> Vec<String> {
        let part = Part::new("shop", ComponentKind::Service, None);
        hosts(variable, value, &part, Span::start_of(FileId(0))).into_iter().map(|h| h.name).collect()
    }

    #[test]
    fn addresses_are_told_from_other_values() {
        for (variable, value, expected) in [
            ("CART_SERVICE_ADDR", "cartservice:7070", &["cartservice"][..]),
            ("REDIS_URL", "redis://user:pw@redis:6379/0", &["redis"]),
            ("SPRING_DATASOURCE_URL", "jdbc:postgresql://db:5432/shop", &["db"]),
            ("KAFKA_BROKERS", "kafka-0:9092,kafka-1:9092", &["kafka-0", "kafka-1"]),
            ("ZIPKIN", "zipkin.jaeger.svc.cluster.local", &["zipkin.jaeger.svc.cluster.local"]),
            ("CATALOGUE_HOST", "catalogue", &["catalogue"]),
            ("-h", "edge", &["edge"]),
            ("DB_NAME", "orders", &[]),
            ("OTEL_SERVICE_NAME", "orders", &[]),
            ("GREETING", "hello: world", &[]),
            ("RATIO", "0.5", &[]),
        ] {
            assert_eq!(names(variable, value), expected, "{variable}={value}");
        }
    }

    #[test]
    fn addresses_of_callers_are_not_called() {
        for variable in
            ["CORS_ALLOWED_ORIGINS", "PUBLIC_URL", "OAUTH_REDIRECT_URI", "HTTP_PROXY", "KAFKA_ADVERTISED_LISTENERS"]
        {
            assert!(!is_called(variable), "{variable}");
        }
        assert!(is_called("ORDERS_URL"));
    }
}
