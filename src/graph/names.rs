//! Host names as they are written: URLs, ports, the forms of a Kubernetes Service's name.

/// The host in `scheme://user@host:port/path`, `host:port` or `host`, lower case; `{}` stands for what only the run
/// knows. `None` where nothing of the host is known.
pub(super) fn host_of(url: &str) -> Option<String> {
    let url = url.trim();
    let rest = match url.split_once("://") {
        // `dns:///orders:50051` names no resolver; the host follows.
        Some((_, rest)) => rest.trim_start_matches('/'),
        None if url.starts_with('/') || url.starts_with("unix:") => return None,
        None => url,
    };
    let authority = rest.split(['/', '?', '#', ',']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if is_port(port) && !name.ends_with(':') => name,
        _ => authority,
    };
    let name = name.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    let name = match name.as_str() {
        "localhost" | "127.0.0.1" => invoked(rest).unwrap_or(name),
        _ => name,
    };
    let known = name.replace("{}", "").chars().any(char::is_alphanumeric);
    let usual = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '{' | '}');
    (known && name.chars().all(usual)).then_some(name)
}

/// The application that a sidecar of Dapr's on this machine is asked to call: `localhost:3500/v1.0/invoke/orders/method/x`.
fn invoked(rest: &str) -> Option<String> {
    let path = rest.split_once('/').map(|(_, path)| path)?;
    let app = path.strip_prefix("v1.0/invoke/")?.split('/').next()?;
    Some(app.to_lowercase()).filter(|app| !app.is_empty())
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.contains("{}") || text.chars().all(|c| c.is_ascii_digit())
}

/// A name by which Kubernetes knows a Service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServiceName<'a> {
    /// The Service.
    pub(super) name: &'a str,
    /// Its namespace, where the name tells it.
    pub(super) namespace: Option<&'a str>,
    /// Whether nothing else is written this way; `orders.shop` can be a host of the Internet as well.
    pub(super) sure: bool,
}

impl<'a> ServiceName<'a> {
    /// `orders`, `orders.shop`, `orders.shop.svc`, `orders.shop.svc.cluster.local`; with a pod's name before it, too.
    pub(super) fn parse(host: &'a str) -> Option<Self> {
        if host.parse::<std::net::IpAddr>().is_ok() {
            return None;
        }
        let labels: Vec<&str> = host.split('.').collect();
        if let Some(svc) = labels.iter().skip(2).position(|l| *l == "svc") {
            // `svc` stands after the namespace, so there are two labels at least before it.
            let [name, namespace] = [svc, svc + 1].map(|i| labels.get(i).copied());
            return Some(Self { name: name?, namespace, sure: true });
        }
        match labels.as_slice() {
            [name] => Some(Self { name, namespace: None, sure: true }),
            [name, namespace] => Some(Self { name, namespace: Some(namespace), sure: false }),
            _ => None,
        }
    }
}

/// Names as people spell them in different places: `order_service` and `Order-Service` are one.
pub(super) fn spelled(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// Other names of the service that a client is called after: without dashes, with and without what says that it is a
/// service or its client.
pub(super) fn alike(name: &str) -> Vec<String> {
    let name = spelled(name);
    let endings = ["-service", "service", "-client", "client", "-svc", "-api"];
    let short = endings.iter().find_map(|end| name.strip_suffix(end)).filter(|s| !s.is_empty()).unwrap_or(&name);
    let joined = short.replace('-', "");
    let mut all: Vec<String> = [short, &joined].map(str::to_owned).to_vec();
    for stem in [short, &joined] {
        all.extend(["-service", "service", "-svc", "-api"].map(|end| format!("{stem}{end}")));
    }
    all.retain(|other| *other != name);
    all
}

/// `registry/shop/orders:1.2@sha256:...` → `orders`.
pub(super) fn image_name(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    last.split(':').next().unwrap_or_default()
}

/// `services/orders` → `orders`.
pub(super) fn last_folder(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or_default()
}

/// Whether a file or folder is `folder` or lies in it; "" is the folder of everything.
pub(super) fn lies_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_urls_and_addresses() {
        for (url, host) in [
            ("http://orders:8080/x?y#z", "orders"),
            ("HTTPS://User:pw@Orders.Example.com./", "orders.example.com"),
            ("orders:8080", "orders"),
            ("orders", "orders"),
            ("http://orders:{}/x/{}", "orders"),
            ("http://orders-{}:80", "orders-{}"),
            ("dns:///orders:50051", "orders"),
            ("http://[::1]:8080", "::1"),
            ("http://10.0.0.7/x", "10.0.0.7"),
            ("kafka-0:9092,kafka-1:9092", "kafka-0"),
            ("http://localhost:3500/v1.0/invoke/Stock/method/a", "stock"),
            ("http://localhost:3500/v1.0/state/stock", "localhost"),
        ] {
            assert_eq!(host_of(url).as_deref(), Some(host), "{url}");
        }
        for url in ["http://{}:8080/x", "{}/orders", "/orders/{}", "", "unix:/run/x.sock", "no host at all", "http://"]
        {
            assert_eq!(host_of(url), None, "{url}");
        }
    }

    #[test]
    fn all_forms_of_a_services_name() {
        let parts = |host| ServiceName::parse(host).map(|s| (s.name, s.namespace, s.sure));
        assert_eq!(parts("orders"), Some(("orders", None, true)));
        assert_eq!(parts("orders.shop"), Some(("orders", Some("shop"), false)));
        assert_eq!(parts("orders.shop.svc"), Some(("orders", Some("shop"), true)));
        assert_eq!(parts("orders.shop.svc.cluster.local"), Some(("orders", Some("shop"), true)));
        assert_eq!(parts("db-0.db.shop.svc.cluster.local"), Some(("db", Some("shop"), true)));
        assert_eq!(parts("api.example.com"), None);
        assert_eq!(parts("10.0.0.7"), None);
    }

    #[test]
    fn services_that_clients_are_called_after() {
        for (client, service) in [
            ("cart-service", "cartservice"),
            ("inventory", "inventory-service"),
            ("payments-client", "payments"),
            ("price_service", "price"),
        ] {
            assert!(alike(client).iter().any(|s| s == service), "{client}");
        }
        assert!(!alike("stock").contains(&"stock".to_owned()));
    }

    #[test]
    fn image_names() {
        for image in ["orders", "orders:1.2", "localhost:5000/shop/orders:1.2", "ghcr.io/shop/orders@sha256:0a"] {
            assert_eq!(image_name(image), "orders");
        }
    }

    #[test]
    fn folders_hold_what_lies_in_them() {
        assert!(lies_in("a/b", "a") && lies_in("a", "a") && lies_in("a/b", ""));
        assert!(!lies_in("ab", "a"));
    }
}
