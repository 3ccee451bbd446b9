//! What the Services of Kubernetes carry, as a mesh sees it: a policy for HTTP does nothing on a port that carries something else.

use super::upstreams;
use crate::facts::{PortFact, ServiceFact};
use crate::model::HostRef;

/// The ports of all Services that a host can mean: one, where the host names it, else all. Empty where no Service is known.
pub(super) fn ports<'s>(host: &HostRef, services: &'s [ServiceFact]) -> Vec<&'s PortFact> {
    let named = services.iter().filter(|s| {
        let of_name = (s.name.as_str(), s.namespace.as_deref());
        upstreams::same_name(of_name, (&host.name, host.namespace.as_deref()))
    });
    let ports = named.flat_map(|s| &s.ports);
    ports.filter(|port| host.port.is_none() || port.number.is_none() || port.number == host.port).collect()
}

/// Whether Istio passes a port on as bytes. It goes by `appProtocol`, else by the beginning of the name, else it looks at
/// what is sent; ports of servers that speak first, and of well-known protocols of databases and queues, are no HTTP
/// (<https://istio.io/latest/docs/ops/configuration/traffic-management/protocol-selection/>).
pub(super) fn is_bytes_to_istio(port: &PortFact) -> bool {
    let prefix = |name: &str| name.split('-').next().unwrap_or_default().to_owned();
    let protocol = port.protocol.clone().or_else(|| port.name.as_deref().map(prefix));
    match protocol.as_deref() {
        Some("http" | "http2" | "grpc" | "kubernetes.io/h2c" | "kubernetes.io/ws") => false,
        Some("https" | "tls" | "tcp" | "udp" | "mongo" | "mysql" | "redis" | "kubernetes.io/wss") => true,
        _ => port.number.is_some_and(|n| OTHERS.contains(&n)),
    }
}

/// SMTP, DNS, Kafka, MySQL, PostgreSQL, AMQP, Redis, Cassandra, memcached, MongoDB.
const OTHERS: [u16; 10] = [25, 53, 9092, 3306, 5432, 5672, 6379, 9042, 11211, 27017];

/// Whether Kuma gives a port no route, and so no retries: it goes by `appProtocol` or an annotation, takes everything
/// else for TCP, and sets retries for HTTP/1 and gRPC alone
/// (kumahq/kuma pkg/plugins/policies/meshretry/plugin/xds/configurer.go).
pub(super) fn is_bytes_to_kuma(port: &PortFact) -> bool {
    !matches!(port.protocol.as_deref(), Some("http" | "grpc"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};

    fn port(number: u16, name: Option<&str>, protocol: Option<&str>) -> PortFact {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        PortFact { number: Some(number), name: owned(name), protocol: owned(protocol), span: Span::start_of(FileId(0)) }
    }

    #[test]
    fn istio_goes_by_protocol_name_and_number() {
        for (port, bytes) in [
            (port(6379, Some("tcp-redis"), None), true),
            (port(3306, Some("mysql"), None), true),
            (port(3306, None, None), true),
            (port(80, None, Some("tcp")), true),
            (port(80, None, None), false),
            (port(3306, Some("http"), None), false),
            (port(3306, Some("tcp"), Some("http")), false),
            (port(80, Some("grpc-api"), None), false),
            (port(80, Some("tcpdump"), None), false),
        ] {
            assert_eq!(is_bytes_to_istio(&port), bytes, "{port:?}");
        }
    }

    #[test]
    fn kuma_goes_by_protocol_alone() {
        assert!(is_bytes_to_kuma(&port(80, Some("http"), None)));
        assert!(is_bytes_to_kuma(&port(80, None, Some("http2"))));
        assert!(!is_bytes_to_kuma(&port(80, None, Some("http"))));
    }
}
