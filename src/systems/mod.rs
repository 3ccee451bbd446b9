//! The systems that retrylint reads from settings: one file each.
//!
//! To add one: its file here, its line in [`all`], its folder in `fixtures/`.

pub mod alerts;
pub mod charts;
pub mod clients;
mod delegates;
pub mod deploy;
pub mod duration;
mod embedded;
mod env_files;
mod envoy_based;
pub mod gateways;
mod ingresses;
pub mod jobs;
pub mod mesh;
mod next_upstream;
mod objects;
pub mod overlays;
mod protocols;
pub mod queues;
pub mod record;
pub(crate) mod repeats;
mod retry_on;
mod settings;
pub mod sql;
mod status_tests;
mod terraform;
mod upstreams;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::facts::Facts;
use crate::source::SourceFile;
use crate::syntax::Parsed;

/// What `retrylint systems` prints, and what the text filter and the reports need to know of a system.
#[derive(Debug)]
pub struct SystemMeta {
    /// The id: "kong".
    pub id: &'static str,
    /// The name: "Kong".
    pub name: &'static str,
    /// What is read of it: "declarative configuration (YAML, JSON)".
    pub reads: &'static str,
    /// Literals of which a file must hold at least one to concern this system.
    pub marks: &'static [&'static str],
    /// What holds where nobody wrote anything.
    pub defaults: &'static [DefaultFigure],
}

/// One documented default.
#[derive(Debug)]
pub struct DefaultFigure {
    /// The setting: "services[].retries absent".
    pub what: &'static str,
    /// What it means: "6 attempts (5 retries), at once".
    pub value: &'static str,
    /// Where the figure is documented.
    pub source: &'static str,
}

/// What is read together: one file, or files that their format itself joins. The first part is the main one.
#[derive(Debug)]
pub struct Unit<'a> {
    /// The files with their trees.
    pub parts: Vec<Part<'a>>,
}

/// One file of a unit.
#[derive(Debug)]
pub struct Part<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// What it is called: its path, or the key under which it stands in a ConfigMap.
    pub name: &'a str,
    /// Its trees.
    pub parsed: &'a Parsed,
    /// The text that the trees are of: that of the file, or the part of it that stands there as a file of its own.
    pub text: &'a str,
}

impl<'a> Part<'a> {
    /// A whole file.
    pub fn new(file: &'a SourceFile, parsed: &'a Parsed) -> Self {
        Self { file, name: &file.path, parsed, text: &file.text }
    }
}

impl<'a> Unit<'a> {
    /// Every document of every part, with its file.
    pub fn documents(&self) -> impl Iterator<Item = (&'a SourceFile, &'a crate::syntax::Node)> + '_ {
        self.parts.iter().flat_map(|p| p.parsed.documents.iter().map(move |d| (p.file, &**d)))
    }
}

/// The versions that `[systems]` in retrylint.toml states, for defaults that depend on one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions(pub std::collections::BTreeMap<String, Version>);

/// A version: major and minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major.
    pub major: u32,
    /// Minor.
    pub minor: u32,
}

impl Versions {
    /// Whether `system` is stated to be older than `major.minor`. Nothing stated means the newest.
    pub fn is_before(&self, system: &str, major: u32, minor: u32) -> bool {
        self.0.get(system).is_some_and(|v| *v < Version { major, minor })
    }
}

/// A system whose settings are read from files. A pure function of the unit: no I/O, no state.
pub trait System: Sync {
    /// What it is.
    fn meta(&self) -> &'static SystemMeta;
    /// Adds what the unit says of this system. Finds nothing in units of other systems.
    fn extract(&self, unit: &Unit<'_>, versions: &Versions, facts: &mut Facts);
    /// Joins objects of this system that refer to each other across units, over the facts of all units.
    fn join(&self, facts: &mut Facts) {
        let _ = facts;
    }
    /// What its clients call in code to take a message out of a queue.
    fn receives(&self) -> &'static [&'static str] {
        &[]
    }
    /// The key under which this system reads several files as one unit (base settings and profiles), from a path alone.
    fn unit_of(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }
}

/// The facts of one unit, from every system; what stands as text in its ConfigMaps is read as files of its own.
pub fn extract(unit: &Unit<'_>, versions: &Versions) -> Facts {
    let mut facts = Facts::default();
    env_files::note(unit, &mut facts);
    let is_read = |text: &str| all().iter().any(|s| has_mark(s.meta(), text));
    let inner = embedded::in_config_maps(unit.documents(), &is_read);
    let inner = inner.iter().map(|files| Unit { parts: files.iter().map(embedded::Inner::part).collect() });
    let made: Vec<(&Part<'_>, Parsed)> = unit.parts.iter().map(|part| (part, terraform::documents(part))).collect();
    let made = made.iter().filter(|(_, parsed)| !parsed.documents.is_empty());
    let made = made.map(|(part, parsed)| Unit { parts: vec![Part { parsed, ..**part }] });
    for unit in inner.chain(made).chain([Unit { parts: unit.parts.iter().map(|p| Part { ..*p }).collect() }]) {
        let marked = marked(&unit);
        for (_, system) in all().iter().enumerate().filter(|(i, _)| marked.contains(i)) {
            system.extract(&unit, versions, &mut facts);
        }
    }
    facts
}

/// The marks of all systems, and whose each of them is.
static MARKS: LazyLock<(Option<AhoCorasick>, Vec<usize>)> = LazyLock::new(|| {
    let all = all().iter().enumerate().flat_map(|(i, s)| s.meta().marks.iter().map(move |mark| (i, mark)));
    let (owners, marks): (Vec<usize>, Vec<&&str>) = all.unzip();
    (AhoCorasick::new(marks).ok(), owners)
});

/// The systems of which a file of the unit holds a mark, in one pass over each text.
fn marked(unit: &Unit<'_>) -> BTreeSet<usize> {
    let (finder, owners) = &*MARKS;
    let Some(finder) = finder else { return (0..all().len()).collect() };
    let mut out = BTreeSet::new();
    for part in &unit.parts {
        let found = finder.find_overlapping_iter(part.text).filter_map(|m| owners.get(m.pattern().as_usize()));
        out.extend(found);
    }
    out
}

/// Whether a text holds a mark of any system.
pub fn is_marked(text: &str) -> bool {
    all().iter().any(|system| has_mark(system.meta(), text))
}

fn has_mark(meta: &SystemMeta, text: &str) -> bool {
    meta.marks.iter().any(|mark| text.contains(mark))
}

/// What clients of queues call in code to take a message.
pub fn receives() -> impl Iterator<Item = &'static str> {
    all().iter().flat_map(|s| s.receives()).copied()
}

/// Joins the facts of all units, system by system. Deployment systems are listed last and joined first:
/// others ask which component reads a file.
pub fn join(facts: &mut Facts) {
    for system in all().iter().rev() {
        system.join(facts);
    }
}

/// Which of `paths` are read together: indices into it, the main file of a unit first, units in the order of their
/// first file.
pub fn units(paths: &[&str]) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    let mut known = std::collections::BTreeMap::new();
    let roots = charts::roots(paths);
    for (i, path) in paths.iter().enumerate() {
        let of_chart = charts::unit_of(path, &roots).map(|key| ("chart", key));
        let of_system = || all().iter().find_map(|s| Some((s.meta().id, s.unit_of(path)?)));
        match of_chart.or_else(of_system) {
            None => units.push(vec![i]),
            Some(key) => {
                let at = *known.entry(key).or_insert(units.len());
                match units.get_mut(at) {
                    Some(unit) => unit.push(i),
                    None => units.push(vec![i]),
                }
            }
        }
    }
    for unit in &mut units {
        unit.sort_by_key(|&i| paths.get(i).map_or(0, |p| p.len()));
    }
    units
}

/// Every system, in the order in which they are listed.
pub fn all() -> &'static [&'static dyn System] {
    &[
        &gateways::kong::Kong,
        &gateways::envoy::Envoy,
        &gateways::ingress_nginx::IngressNginx,
        &gateways::spring_cloud_gateway::SpringCloudGateway,
        &gateways::envoy_gateway::EnvoyGateway,
        &gateways::kgateway::Kgateway,
        &gateways::contour::Contour,
        &gateways::emissary::Emissary,
        &gateways::gloo::Gloo,
        &gateways::traefik::Traefik,
        &gateways::nginx::Nginx,
        &gateways::haproxy::HaProxy,
        &gateways::nginx_ingress::NginxIngress,
        &gateways::apisix::Apisix,
        &gateways::krakend::KrakenD,
        &gateways::caddy::Caddy,
        &gateways::kong_ingress::KongIngress,
        &gateways::haproxy_ingress::HaProxyIngress,
        &gateways::azure_apim::AzureApim,
        &gateways::google_url_map::GoogleUrlMap,
        &gateways::cloudfront::CloudFront,
        &gateways::gravitee::Gravitee,
        &gateways::oathkeeper::Oathkeeper,
        &gateways::yarp::Yarp,
        &gateways::ocelot::Ocelot,
        &gateways::tyk::Tyk,
        &gateways::skipper::Skipper,
        &gateways::wso2::Wso2,
        &clients::ribbon::Ribbon,
        &mesh::istio::Istio,
        &mesh::linkerd::Linkerd,
        &mesh::consul::Consul,
        &mesh::kuma::Kuma,
        &mesh::osm::OpenServiceMesh,
        &mesh::app_mesh::AppMesh,
        &mesh::cilium::Cilium,
        &mesh::dapr::Dapr,
        &gateways::gateway_api::GatewayApi,
        &clients::resilience4j::Resilience4j,
        &clients::openfeign::OpenFeign,
        &clients::load_balancer::LoadBalancer,
        &clients::spring_messaging::SpringMessaging,
        &clients::fault_tolerance::FaultTolerance,
        &clients::annotated::Annotated,
        &clients::grpc::Grpc,
        &clients::otel_collector::OtelCollector,
        &clients::remote_write::RemoteWrite,
        &clients::vector::Vector,
        &clients::fluent_bit::FluentBit,
        &clients::promtail::Promtail,
        &clients::query_frontend::QueryFrontend,
        &clients::telegraf::Telegraf,
        &clients::beats::Beats,
        &clients::fluentd::Fluentd,
        &clients::logstash::Logstash,
        &clients::alloy::Alloy,
        &clients::dotnet::DotNet,
        &clients::azure_sdk::AzureSdk,
        &clients::azure_functions::AzureFunctions,
        &clients::aws::Aws,
        &clients::terraform_aws::TerraformAws,
        &clients::airflow::Airflow,
        &clients::dbt::Dbt,
        &clients::build_tools::Cargo,
        &clients::build_tools::Npm,
        &clients::build_tools::Yarn,
        &clients::build_tools::Pip,
        &clients::build_tools::Uv,
        &clients::build_tools::Gradle,
        &clients::build_tools::Maven,
        &queues::cloudformation::CloudFormation,
        &queues::cloudformation::terraform::TerraformMessaging,
        &jobs::step_functions::StepFunctions,
        &jobs::kubernetes_jobs::KubernetesJobs,
        &queues::kafka_connect::KafkaConnect,
        &queues::rabbitmq::RabbitMq,
        &jobs::argo_workflows::ArgoWorkflows,
        &queues::cloudflare::CloudflareQueues,
        &queues::pubsub::PubSub,
        &queues::knative::Knative,
        &queues::redrives::Redrives,
        &queues::spring_cloud_stream::SpringCloudStream,
        &queues::spring_boot::SpringBootListeners,
        &queues::nats::JetStream,
        &queues::service_bus::ServiceBus,
        &queues::cloud_tasks::CloudTasks,
        &queues::argo_events::ArgoEvents,
        &queues::redpanda_connect::RedpandaConnect,
        &queues::kafka_topics::KafkaTopics,
        &queues::redis::Redis,
        &jobs::tekton::Tekton,
        &jobs::sidekiq::Sidekiq,
        &jobs::solid_queue::SolidQueue,
        &jobs::celery::Celery,
        &jobs::dag_factory::DagFactory,
        &jobs::temporal::Temporal,
        &alerts::prometheus::Prometheus,
        &alerts::alertmanager::Alertmanager,
        &alerts::grafana::Grafana,
        &sql::Sql,
        &deploy::spring_cloud::SpringCloud,
        &deploy::kubernetes::Kubernetes,
        &deploy::compose::Compose,
        &deploy::dockerfile::Dockerfile,
    ]
}
