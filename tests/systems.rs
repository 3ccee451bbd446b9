//! What each system reads from its fixture folder, one line a layer, and the figures that hold by default.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "systems/defaults.rs"]
mod defaults;
#[path = "systems/envoy_defaults.rs"]
mod envoy_defaults;
#[path = "systems/figures.rs"]
mod figures;
#[path = "systems/mixtures.rs"]
mod mixtures;
#[path = "systems/proxies.rs"]
mod proxies;
#[path = "systems/readings.rs"]
mod readings;
#[path = "systems/render.rs"]
mod render;
#[path = "systems/without_effect.rs"]
mod without_effect;

use std::sync::Arc;

use retrylint::facts::Facts;
use retrylint::source::{FileId, SourceFile, Sources};
use retrylint::syntax::{self, Parsed, Syntax};
use retrylint::systems::{self, Part, Unit, Versions};

/// The facts of some files, joined.
pub fn read(files: Vec<(String, String)>, versions: &Versions) -> (Sources, Facts) {
    let mut sources = Sources::default();
    for (i, (path, text)) in files.into_iter().enumerate() {
        sources.insert(SourceFile { id: FileId(i as u32), path: path.into(), text: text.into() });
    }
    let all: Vec<SourceFile> = sources.iter().cloned().collect();
    let paths: Vec<&str> = all.iter().map(|f| &*f.path).collect();
    let mut facts = Facts::default();
    for unit in systems::units(&paths) {
        let mut parsed: Vec<(&SourceFile, Parsed)> = unit.into_iter().map(|i| (&all[i], parse(&all[i]))).collect();
        systems::charts::resolve(&mut parsed);
        let parts = parsed.iter().map(|(file, parsed)| Part::new(file, parsed)).collect();
        facts.append(systems::extract(&Unit { parts }, versions));
    }
    for (at, parsed) in systems::overlays::patched(&all) {
        let unit = Unit { parts: vec![Part::new(&all[at], &parsed)] };
        facts.layers.append(&mut systems::extract(&unit, versions).layers);
    }
    systems::join(&mut facts);
    (sources, facts)
}

fn parse(file: &SourceFile) -> Parsed {
    let parsed = Syntax::of_path(&file.path).map_or_else(Parsed::default, |syntax| syntax::parse(syntax, file));
    assert_eq!(parsed.errors, [], "{}", file.path);
    parsed
}

fn fixture(system: &str) -> String {
    let folder = format!("{}/fixtures/{system}", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<(String, String)> = walkdir::WalkDir::new(&folder)
        .into_iter()
        .map(Result::unwrap)
        .filter(|e| e.file_type().is_file())
        .map(|e| {
            let path = e.path().strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
            (path, std::fs::read_to_string(e.path()).unwrap())
        })
        .collect();
    files.sort();
    let (sources, facts) = read(files, &Versions::default());
    render::facts(&sources, &facts)
}

macro_rules! fixtures {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            // A system's id and its folder have `-` where a function has `_`.
            let folder = stringify!($name).replace('_', "-");
            insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(folder.clone(), fixture(&folder));
            });
        }
    )* };
}

fixtures! {
    kong envoy ingress_nginx spring_cloud_gateway istio linkerd resilience4j kubernetes compose cloudformation
    step_functions prometheus kubernetes_jobs kafka_connect rabbitmq cloudflare_queues argo_workflows pubsub knative
    gateway_api envoy_gateway kgateway contour emissary gloo consul kuma osm app_mesh cilium dapr helm kustomize
    traefik nginx haproxy nginx_ingress apisix krakend caddy kong_ingress haproxy_ingress ribbon azure_api_management
    google_url_map cloudfront gravitee oathkeeper yarp ocelot tyk dockerfile openfeign spring_cloud_loadbalancer
    spring_messaging microprofile_fault_tolerance retryable grpc otel_collector prometheus_remote_write vector
    fluent_bit promtail query_frontend telegraf beats dotnet_resilience azure_sdk azure_functions aws_sdk_config
    terraform_aws terraform_aws_messaging airflow dbt cargo npm yarn pip uv gradle maven fluentd logstash alloy redrive_commands spring_cloud_stream
    spring_boot_listeners nats_jetstream azure_service_bus cloud_tasks argo_events redpanda_connect kafka_topics redis
    tekton sidekiq solid_queue celery dag_factory temporal grafana alertmanager spring_cloud terraform skipper wso2
}

#[test]
fn every_system_has_a_fixture_and_marks_that_its_fixture_holds() {
    for system in systems::all() {
        let meta = system.meta();
        let folder = format!("{}/fixtures/{}", env!("CARGO_MANIFEST_DIR"), meta.id);
        let texts: Vec<Arc<str>> = walkdir::WalkDir::new(&folder)
            .into_iter()
            .map(|e| e.unwrap_or_else(|e| panic!("{}: {e}", meta.id)))
            .filter(|e| e.file_type().is_file())
            .map(|e| std::fs::read_to_string(e.path()).unwrap().into())
            .collect();
        assert!(meta.marks.iter().any(|mark| texts.iter().any(|t| t.contains(mark))), "{}", meta.id);
    }
}

#[test]
fn settings_that_are_cut_off_or_of_other_types_do_no_harm() {
    for entry in walkdir::WalkDir::new(format!("{}/fixtures", env!("CARGO_MANIFEST_DIR"))) {
        let path = entry.unwrap().into_path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_settings = |s: Syntax| !matches!(s, Syntax::Rust | Syntax::Sql | Syntax::Toml);
        if !path.is_file() || !Syntax::of_path(&name).is_some_and(is_settings) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let cut = (0..text.len()).step_by(97).filter_map(|end| text.get(..end)).map(str::to_string);
        let other = [": [", ": {", ": ", "- "].map(|mark| text.replace(mark, ": [[], {a: ~}]\n"));
        for text in cut.chain(other) {
            let file = SourceFile { id: FileId(0), path: name.as_str().into(), text: text.into() };
            let parsed = syntax::parse(Syntax::of_path(&name).unwrap(), &file);
            let unit = Unit { parts: vec![Part::new(&file, &parsed)] };
            let mut facts = systems::extract(&unit, &Versions::default());
            systems::join(&mut facts);
            for span in facts.layers.iter().flat_map(|l| [l.place, l.opens]) {
                assert!(file.text.get(span.range()).is_some(), "{name}: {span:?}");
            }
        }
    }
}
