//! Which component a host name, a package and a URL belong to.

use super::repository::{Repository, gateway, text, variable};
use super::*;
use crate::config::ServiceConfig;
use crate::facts::{AddressFact, AddressOf, ApplicationNameFact, ComponentFact, Dependency};
use crate::model::{Answer, HostRef, Scope};
use crate::rust::reading::{Target, UrlPart};
use crate::source::{FileId, Span};

#[test]
fn all_forms_of_a_services_name_lead_to_the_workload_whose_labels_it_selects() {
    for url in
        ["http://shelf", "http://shelf.shop", "http://shelf.shop.svc:80", "http://shelf.shop.svc.cluster.local/x"]
    {
        let mut r = Repository::new();
        r.component("orders", Some("shop"));
        r.component("inventory-v2", Some("shop")).labels.push(("track".to_owned(), "stable".to_owned()));
        r.service("shelf", Some("shop"), "inventory-v2");
        let package = r.package("orders", "orders");
        r.call(package, text(url), 0);
        assert_eq!(r.hops(), ["orders -> inventory-v2 []"], "{url}");
    }
}

#[test]
fn a_short_name_is_looked_up_in_the_callers_namespace() {
    let mut r = Repository::new();
    for namespace in ["blue", "green"] {
        r.component("orders", Some(namespace));
        r.component("stock", Some(namespace));
        r.service("stock", Some(namespace), "stock");
    }
    let package = r.package("orders", "orders");
    r.call(package, text("http://stock"), 0);
    assert_eq!(r.hops(), ["blue/orders -> blue/stock []", "green/orders -> green/stock []"]);
    r.reading.calls[0].target = Target::Url { parts: text("http://stock.red"), span: Span::start_of(FileId(0)) };
    assert_eq!(r.hops(), ["blue/orders -> stock.red []", "green/orders -> stock.red []"]);
}

#[test]
fn a_service_with_two_workloads_leads_to_both() {
    let mut r = Repository::new();
    r.component("stable", None).labels = vec![("app".to_owned(), "web".to_owned())];
    r.component("canary", None).labels = vec![("app".to_owned(), "web".to_owned())];
    r.service("web", None, "web");
    r.layer("gateway.yaml", "kong", LayerKind::Gateway, gateway("edge", &["web"]));
    assert_eq!(r.hops(), ["edge -> canary [gateway.yaml]", "edge -> stable [gateway.yaml]"]);
}

#[test]
fn an_external_name_stands_for_the_host_that_it_names() {
    let mut r = Repository::new();
    r.service("ledger", None, "nobody").external = Some("Ledger.Bank.example.".to_owned());
    let package = r.package("orders", "orders");
    r.call(package, text("http://ledger:80"), 0);
    r.call(package, text("https://ledger.bank.example"), 0);
    assert_eq!(r.hops(), ["orders -> ledger.bank.example []"]);
    r.facts.services[0].external = Some("ledger".to_owned());
    assert_eq!(r.hops().len(), 2, "one that stands for itself leads nowhere");
}

#[test]
fn compose_names_and_aliases_lead_to_their_component() {
    let mut r = Repository::new();
    r.component("inventory", Some("shop")).hosts = vec!["inventory".to_owned(), "Stock".to_owned()];
    r.component("orders", Some("shop"));
    let package = r.package("orders", "orders");
    r.call(package, text("http://stock:8080"), 0);
    r.call(package, text("http://inventory:8080"), 0);
    assert_eq!(r.hops(), ["orders -> inventory []"]);
}

#[test]
fn a_workload_without_a_service_and_a_package_are_called_by_their_names() {
    let mut r = Repository::new();
    r.component("stock", None);
    let orders = r.package("orders", "orders");
    r.package("pricing", "pricing");
    r.call(orders, text("http://stock"), 0);
    r.call(orders, text("http://pricing"), 0);
    assert_eq!(r.hops(), ["orders -> pricing []", "orders -> stock []"]);
}

#[test]
fn an_unknown_host_is_a_leaf_named_as_written() {
    let mut r = Repository::new();
    let package = r.package("orders", "orders");
    r.call(package, text("https://API.Tax.example/v1"), 0);
    let model = r.link();
    let leaf = model.component(model.hops[0].to);
    assert_eq!((&*leaf.name, leaf.kind), ("api.tax.example", ComponentKind::Host));
}

#[test]
fn the_configuration_names_hosts_and_calls_that_cannot_be_seen() {
    let mut r = Repository::new();
    r.config.services = vec![ServiceConfig {
        name: "billing".to_owned(),
        paths: vec!["/money".to_owned()],
        hosts: vec!["pay.internal".to_owned()],
        calls: vec!["http://bank.example".to_owned()],
        span: None,
    }];
    let (orders, money) = (r.package("orders", "orders"), r.package("money-core", "money/core"));
    r.call(orders, text("http://pay.internal:90"), 0);
    r.call(money, text("http://vault"), 0);
    assert_eq!(r.hops(), ["billing -> bank.example []", "billing -> vault []", "orders -> billing []"]);
}

#[test]
fn what_several_manifests_say_of_one_component_is_put_together() {
    let mut r = Repository::new();
    r.component("orders", Some("shop"));
    r.env("orders", "STOCK_URL", "http://stock");
    r.component("orders", None).build = Some("services/orders".to_owned());
    let package = r.package("order-svc", "services/orders");
    r.call(package, vec![variable("STOCK_URL", None), UrlPart::Text("/x".to_owned())], 0);
    assert_eq!(r.hops(), ["orders -> stock []"]);
}

#[test]
fn a_package_is_run_by_what_is_built_from_its_folder_or_bears_its_name() {
    let links = |change: &dyn Fn(&mut ComponentFact)| {
        let mut r = Repository::new();
        change(r.component("web", None));
        r.component("other", None);
        let package = r.package("order-service", "services/orders");
        r.call(package, text("http://x"), 0);
        r.hops()
    };
    let linked = ["web -> x []"];
    assert_eq!(links(&|c| c.build = Some("services/orders".to_owned())), linked);
    assert_eq!(links(&|c| c.build = Some("services".to_owned())), linked);
    assert_eq!(links(&|c| c.images = vec!["ghcr.io/shop/order_service:1.2".to_owned()]), linked);
    assert_eq!(links(&|c| c.images = vec!["orders".to_owned()]), linked);
    assert_eq!(links(&|c| c.name = "order-service".to_owned()), ["order-service -> x []"]);
    assert_eq!(links(&|_| {}), ["order-service -> x []"], "a package that nothing runs is a component of its own");
}

#[test]
fn a_build_folder_with_two_packages_says_nothing() {
    let mut r = Repository::new();
    r.component("web", None).build = Some(String::new());
    let (one, two) = (r.package("one", "one"), r.package("two", "two"));
    r.call(one, text("http://x"), 0);
    r.call(two, text("http://x"), 0);
    assert_eq!(r.hops(), ["one -> x []", "two -> x []"]);
}

#[test]
fn the_only_package_is_run_by_the_only_component() {
    let mut r = Repository::new();
    r.component("web", None);
    let package = r.package("core", "");
    r.call(package, vec![variable("NEXT", Some("http://x"))], 0);
    assert_eq!(r.hops(), ["web -> x []"]);
    r.facts.components[0].images = vec!["postgres:17".to_owned()];
    assert_eq!(r.hops(), ["core -> x []"], "a database beside the code does not run it");
    r.env("web", "NEXT", "http://y");
    assert_eq!(r.hops(), ["web -> y []"], "it sets what the code reads");
}

#[test]
fn two_components_can_run_one_package() {
    let mut r = Repository::new();
    for name in ["api", "worker"] {
        r.component(name, None).images = vec!["orders".to_owned()];
    }
    r.env("api", "NEXT", "http://a");
    r.env("worker", "NEXT", "http://b");
    let package = r.package("orders", "orders");
    r.call(package, vec![variable("NEXT", None)], 1);
    assert_eq!(r.hops(), ["api -> a [orders/src/layer0.rs]", "worker -> b [orders/src/layer0.rs]"]);
}

#[test]
fn environment_values_fill_in_urls() {
    let mut r = Repository::new();
    r.component("orders", None);
    r.env("orders", "STOCK_HOST", "stock");
    r.env("orders", "STOCK_URL", "http://$(STOCK_HOST):8080");
    r.env("orders", "TAX_URL", "http://${TAX_HOST:-tax.example}:80");
    let package = r.package("orders", "orders");
    r.call(package, vec![variable("STOCK_URL", None), UrlPart::Text("/".to_owned()), UrlPart::Unknown], 0);
    r.call(package, vec![variable("TAX_URL", None)], 0);
    r.call(package, vec![variable("MAIL_URL", Some("http://mail"))], 0);
    assert_eq!(r.hops(), ["orders -> mail []", "orders -> stock []", "orders -> tax.example []"]);
}

#[test]
fn a_variable_that_is_set_nowhere_is_told() {
    let mut r = Repository::new();
    let package = r.package("orders", "orders");
    r.call(package, vec![variable("STOCK_URL", None)], 1);
    r.call(package, vec![variable("MAIL_URL", None)], 0);
    assert_eq!(r.hops(), ["orders -> the host behind a call in `load` [orders/src/layer0.rs]"]);
    let unresolved = r.link().unresolved;
    assert_eq!(unresolved.len(), 1, "what nothing repeats is not told: {unresolved:?}");
    assert!(unresolved[0].reason.contains("STOCK_URL"), "{unresolved:?}");
}

#[test]
fn where_nothing_runs_a_package_a_variable_has_the_value_on_which_all_agree() {
    let mut r = Repository::new();
    for name in ["a", "b"] {
        r.component(name, None);
        r.env(name, "STOCK_URL", "http://stock");
    }
    let package = r.package("orders", "orders");
    r.call(package, vec![variable("STOCK_URL", None)], 0);
    assert_eq!(r.hops(), ["orders -> stock []"]);
    r.env("b", "STOCK_URL", "http://other");
    assert!(r.hops().is_empty());
}

#[test]
fn what_main_does_is_not_caused_by_a_request_and_answers_are_kept() {
    let mut r = Repository::new();
    let package = r.package("orders", "orders");
    let call = r.call(package, text("http://x"), 0);
    call.root.is_main = true;
    call.answers = vec![(any_5xx(), Answer::Status(502))];
    let hop = r.link().hops.remove(0);
    assert!(!hop.on_request);
    assert_eq!(hop.answers, [(any_5xx(), Answer::Status(502))]);
}

#[test]
fn a_librarys_functions_start_no_chain_where_a_program_calls_them() {
    let mut r = Repository::new();
    let (program, library) = (r.package("orders", "orders"), r.package("client", "client"));
    let span = r.call(program, text("http://x"), 1).span;
    r.call(library, text("http://x"), 0).span = span;
    let path = Some("client".to_owned());
    let on = Dependency { alias: "client".to_owned(), package: "client".to_owned(), version: None, path };
    r.facts.packages[program].dependencies.push(on);
    assert_eq!(r.hops(), ["orders -> x [orders/src/layer0.rs]"]);
}

#[test]
fn a_layer_around_something_unknown_still_repeats_it() {
    let mut r = Repository::new();
    r.package("orders", "orders");
    let layer = r.new_layer("orders/src/db.rs", "backon", LayerKind::Code, Scope::Code);
    r.reading.layers.push(layer);
    assert_eq!(r.hops(), ["orders -> the host behind orders/src/db.rs [orders/src/db.rs]"]);
    assert_eq!(r.link().layers[0].component.as_deref(), Some("orders"));
}

#[test]
fn an_address_in_the_environment_is_a_hop() {
    let mut r = Repository::new();
    for name in ["web", "orders", "db"] {
        r.component(name, Some("shop"));
        r.service(name, Some("shop"), name);
    }
    r.env("web", "ORDERS_URL", "http://orders.shop.svc.cluster.local:8080");
    r.env("web", "PUBLIC_URL", "http://db:80");
    r.env("web", "WEB_HOST", "web");
    r.env("web", "MAIL_HOST", "smtp.example.com");
    r.env("orders", "DB_HOST", "db");
    assert_eq!(r.hops(), ["orders -> db []", "web -> orders []"], "neither what may call it nor what nobody declares");
}

#[test]
fn what_code_says_of_a_call_is_better_than_what_the_environment_does() {
    let mut r = Repository::new();
    r.component("orders", None);
    r.component("stock", None);
    r.env("orders", "STOCK_URL", "http://stock:80");
    let package = r.package("orders", "orders");
    r.call(package, vec![variable("STOCK_URL", None)], 1);
    assert_eq!(r.hops(), ["orders -> stock [orders/src/layer0.rs]"]);
}

#[test]
fn a_job_calls_of_itself() {
    let mut r = Repository::new();
    r.component("night", None).kind = crate::facts::ComponentFactKind::Job;
    r.component("stock", None);
    r.env("night", "STOCK_HOST", "stock");
    let model = r.link();
    assert_eq!(model.hops.iter().map(|h| h.on_request).collect::<Vec<_>>(), [false]);
}

#[test]
fn a_dockerfile_tells_which_package_a_component_runs() {
    let dockerfile = |r: &mut Repository, folder: &str, program: &str| {
        let span = r.file(&format!("{folder}/Dockerfile"));
        let programs = vec![program.to_owned()];
        r.facts.dockerfiles.push(crate::facts::DockerfileFact {
            folder: folder.to_owned(),
            name: None,
            env: Vec::new(),
            programs,
            span,
        });
    };
    let mut r = Repository::new();
    r.component("shop", None).build = Some("docker/shop".to_owned());
    r.component("desk", None).images = vec!["registry.example/desk:1".to_owned()];
    for (package, folder) in [("order-server", "crates/orders"), ("ledger", "crates/ledger")] {
        let package = r.package(package, folder);
        r.call(package, text("http://bank"), 0);
    }
    dockerfile(&mut r, "docker/shop", "order-server");
    dockerfile(&mut r, "docker/desk", "ledger");
    assert_eq!(r.hops(), ["desk -> bank []", "shop -> bank []"]);
}

#[test]
fn every_hop_knows_why_it_is_there() {
    let mut r = Repository::new();
    r.component("orders", Some("shop")).images = vec!["shop/orders:1".to_owned()];
    r.component("stock-v2", Some("shop"));
    r.service("stock", Some("shop"), "stock-v2");
    r.env("orders", "STOCK_URL", "http://stock:80");
    let package = r.package("orders", "services/orders");
    r.call(package, vec![variable("STOCK_URL", None)], 0);
    r.layer("gateway.yaml", "kong", LayerKind::Gateway, gateway("edge", &["orders", "elsewhere"]));
    let model = r.link();
    let texts = |to: &str| {
        let hop = model.hops.iter().find(|h| model.component(h.to).name == to).unwrap();
        hop.reasons.iter().map(|r| r.text.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        texts("stock-v2"),
        [
            "orders runs the package `orders`: its image is called so",
            "`load` calls `stock`",
            "`STOCK_URL` is set to `http://stock:80`",
            "the Service `stock` selects the pods of stock-v2 by app=stock-v2",
        ]
    );
    assert_eq!(texts("orders"), ["a route leads to `orders`", "orders is declared here"]);
    assert_eq!(
        texts("elsewhere"),
        ["a route leads to `elsewhere`", "nothing in the repository is called `elsewhere`: a host outside of it",]
    );
}

#[test]
fn a_name_of_compose_and_a_service_of_kubernetes_are_alternatives() {
    let mut r = Repository::new();
    r.component("payment-v2", None);
    r.service("payment", None, "payment-v2");
    r.component("payment", None).hosts = vec!["payment".to_owned()];
    let package = r.package("web", "web");
    r.call(package, text("http://payment"), 0);
    assert_eq!(r.hops(), ["web -> payment []", "web -> payment-v2 []"]);
}

fn address(r: &mut Repository, file: &str, of: AddressOf, to: &str) {
    let span = r.file(file);
    let to = HostRef { name: to.to_owned(), port: None, namespace: None, span };
    r.facts.addresses.push(AddressFact { of, says: format!("`x.uri` is `{}`", to.name), to });
}

#[test]
fn settings_of_an_application_name_whom_it_calls() {
    let mut r = Repository::new();
    for name in ["orders", "ledger", "ledger-db"] {
        r.component(name, None);
    }
    let file = "ledger/src/main/resources/application.properties";
    address(&mut r, file, AddressOf::File, "ledger-db");
    address(&mut r, file, AddressOf::File, "elsewhere.example");
    address(&mut r, "shared/orders.yml", AddressOf::Component("orders".to_owned()), "ledger");
    address(&mut r, "shared/orders.yml", AddressOf::Component("orders".to_owned()), "orders");
    address(&mut r, "shared/nobody.yml", AddressOf::Component("nobody".to_owned()), "ledger");
    assert_eq!(r.hops(), ["ledger -> ledger-db []", "orders -> ledger []"]);
}

#[test]
fn a_component_is_called_by_the_name_of_its_application_unless_another_one_is() {
    let mut r = Repository::new();
    r.component("accounts", None);
    r.component("edge", None);
    let path = "accounts/src/main/resources/bootstrap.yml".to_owned();
    let span = r.file(&path);
    let name = "ACCOUNT-SERVICE".to_owned();
    r.facts.application_names.push(ApplicationNameFact { path, name, served: false, span });
    address(&mut r, "edge/src/main/java/shop/Accounts.java", AddressOf::File, "account-service");
    assert_eq!(r.hops(), ["edge -> accounts []"]);
    r.component("account-service", None);
    assert_eq!(r.hops(), ["edge -> account-service []"]);
}

#[test]
fn of_two_ways_to_deploy_the_nearer_one_is_meant() {
    let mut r = Repository::new();
    let folder = |r: &mut Repository, name: &str, path: &str| {
        let span = r.file(path);
        r.facts.paths.insert(span.file, path.into());
        let component = r.component(name, None);
        component.span = span;
    };
    folder(&mut r, "web", "deploy/docker/compose.yaml");
    folder(&mut r, "registry", "deploy/docker/compose.yaml");
    folder(&mut r, "shop-web", "deploy/kubernetes/web.yaml");
    folder(&mut r, "shop-registry", "deploy/kubernetes/registry.yaml");
    r.facts.components[1].hosts = vec!["the-registry".to_owned()];
    r.service("the-registry", None, "shop-registry");
    for (component, path) in [("web", "deploy/docker/compose.yaml"), ("shop-web", "deploy/kubernetes/web.yaml")] {
        let span = r.file(path);
        r.facts.paths.insert(span.file, path.into());
        let value = "http://the-registry:80".to_owned();
        let component = r.facts.components.iter_mut().find(|c| c.name == component).unwrap();
        component.env.push(crate::facts::EnvFact { name: "REGISTRY_URL".to_owned(), value, span });
    }
    assert_eq!(r.hops(), ["shop-web -> shop-registry []", "web -> registry []"]);
    r.facts.paths.clear();
    assert_eq!(r.hops().len(), 4, "where it cannot be told, both are alternatives");
}

#[test]
fn a_component_that_several_manifests_describe_is_near_to_each_of_them() {
    let mut r = Repository::new();
    let declare = |r: &mut Repository, name: &str, path: &str| {
        let span = r.file(path);
        r.facts.paths.insert(span.file, path.into());
        r.component(name, None).span = span;
        span
    };
    let compose = "examples/docker/compose.yaml";
    declare(&mut r, "registry", compose);
    r.facts.components[0].hosts = vec!["registry".to_owned(), "shop-registry".to_owned()];
    declare(&mut r, "shop-registry", "examples/helm/templates/registry.yaml");
    let flat = declare(&mut r, "shop-registry", "examples/kubernetes/all.yaml");
    r.service("shop-registry", None, "shop-registry");
    let web = declare(&mut r, "shop-web", "examples/kubernetes/all.yaml");
    let value = "http://shop-registry:80".to_owned();
    r.facts.components[3].env.push(crate::facts::EnvFact { name: "REGISTRY_URL".to_owned(), value, span: web });
    assert_eq!(r.hops(), ["shop-web -> shop-registry []"]);
    r.facts.services.clear();
    r.facts.components[0].hosts.pop();
    let model = r.link();
    let declared = |r: &&crate::model::Reason| &*r.text == "shop-registry is declared here";
    let reason = model.hops.iter().flat_map(|h| &h.reasons).find(declared).unwrap();
    assert_eq!(reason.span, Some(flat), "the manifest that is nearest tells it");
}

fn client(r: &mut Repository, file: &str, to: &str) {
    let scope = Scope::Client { to: Some(super::repository::host(to, None)), grpc: false };
    r.layer(file, "house-http", LayerKind::Client, scope).id = format!("{file} {to}").into();
}

#[test]
fn a_settings_file_in_the_root_makes_one_component() {
    let mut r = Repository::new();
    client(&mut r, "clients.toml", "stock");
    client(&mut r, "clients.toml", "tax");
    let hops = ["clients.toml -> stock [clients.toml stock]", "clients.toml -> tax [clients.toml tax]"];
    assert_eq!(r.hops(), hops);
}

#[test]
fn a_configured_service_takes_in_no_file_outside_its_paths() {
    let mut r = Repository::new();
    let service = ServiceConfig {
        name: "inventory".to_owned(),
        paths: vec!["/services/inventory".to_owned()],
        hosts: vec!["inventory.internal".to_owned()],
        calls: Vec::new(),
        span: None,
    };
    r.config.services = vec![service];
    client(&mut r, "config/clients.toml", "inventory.internal");
    let outside = ["config -> inventory [config/clients.toml inventory.internal]"];
    assert_eq!(r.hops(), outside);
    client(&mut r, "services/inventory/clients.toml", "tax");
    client(&mut r, "deploy/inventory/clients.toml", "bank");
    let inside = [
        outside[0],
        "inventory -> bank [deploy/inventory/clients.toml bank]",
        "inventory -> tax [services/inventory/clients.toml tax]",
    ];
    assert_eq!(r.hops(), inside, "its own folder, and one that is called so");
    r.config.services[0].paths.clear();
    r.facts.layers.truncate(1);
    assert_eq!(
        r.hops(),
        ["inventory -> inventory [config/clients.toml inventory.internal]"],
        "it says nothing of files"
    );
}

#[test]
fn the_only_package_is_not_run_by_a_service_whose_paths_are_elsewhere() {
    let mut r = Repository::new();
    r.config.services = vec![ServiceConfig {
        name: "inventory".to_owned(),
        paths: vec!["/services/inventory".to_owned()],
        hosts: Vec::new(),
        calls: Vec::new(),
        span: None,
    }];
    let package = r.package("tools", "tools");
    r.call(package, text("http://inventory"), 1);
    assert_eq!(r.hops(), ["tools -> inventory [tools/src/layer0.rs]"]);
}

#[test]
fn a_providers_service_is_not_the_folder_or_package_that_is_called_so() {
    let mut r = Repository::new();
    let (own, other) = (r.package("s3", "s3"), r.package("store", "store"));
    r.call(own, text("s3://s3"), 1);
    r.call(other, text("s3://s3"), 1);
    r.call(other, text("http://s3:80"), 0);
    let hops =
        ["s3 -> s3 (outside) [s3/src/layer0.rs]", "store -> s3 (outside) [store/src/layer0.rs]", "store -> s3 []"];
    assert_eq!(r.hops(), hops);
    r.component("s3", None);
    assert_eq!(
        r.hops(),
        ["s3 -> s3 (outside) [s3/src/layer0.rs]", "store -> s3 []", "store -> s3 [store/src/layer0.rs]"],
        "one that is declared stands in for it, but not for itself"
    );
}

#[test]
fn a_layer_that_several_components_run_names_them_all_everywhere() {
    let mut r = Repository::new();
    for namespace in ["blue", "green"] {
        r.component("orders", Some(namespace));
    }
    let package = r.package("orders", "orders");
    r.call(package, text("http://bank"), 1);
    let model = r.link();
    assert_eq!(model.layers[0].component, None);
    let run = crate::run::Run { model, sources: r.draft.sources, ..crate::run::Run::default() };
    let data = crate::report::Data::new(&run);
    assert_eq!(data.layers[0].component.as_deref(), Some("blue/orders, green/orders"));
    let mut json = Vec::new();
    crate::report::Report::write(&crate::report::Json, &run, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["layers"][0]["component"], "blue/orders, green/orders");
}
