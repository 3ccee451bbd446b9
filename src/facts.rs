//! What one unit says, before anything is linked. Plain data: Send, no syntax tree, what a test of one file asserts.

mod alerts;
mod attached;
mod packages;
mod schema;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::model::{
    Alarm, Attempts, Budget, Callers, ComponentName, Conditions, GatewayName, HostRef, IncompleteRecord, Inert, Layer,
    Purge, Queue, QueueName, Redrive, Rerun, Setting, Store, Unresolved, Wait,
};
use crate::rust::ir;
use crate::source::{FileId, Span, Unread};
use crate::syntax::Entry;

pub use alerts::{AlertRoute, AlertRoutesFact, AlertRuleFact, LabelTest, RecordingFact, RoutedAlarmFact};
pub use attached::{AttachedPolicyFact, GatewayFact, ObjectRef, RetryBlock, RouteRuleFact};
pub use packages::{Dependency, LockFact, PackageFact, WorkspaceFact};
pub use schema::{ColumnFact, ExpiryFact, SchemaChange, SchemaFact, TableFact, UniqueFact};
pub use settings::{
    AddressFact, AddressOf, ApplicationDocument, ApplicationFact, ApplicationNameFact, ApplicationSetting,
    ConfigMapFact, ConfigUse, ConfigUseFact, EnvFileFact, EnvFileUseFact, MountedMapFact, Platform, SettingsFact,
};

/// The facts of one unit, or of all units together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The paths of all files, as shown, for what is joined by where it lies. Empty in the facts of one unit.
    pub paths: BTreeMap<FileId, Arc<str>>,
    /// Layers that settings declare.
    pub layers: Vec<Layer>,
    /// Deployments, Compose services, gateways.
    pub components: Vec<ComponentFact>,
    /// Names that stand for components: Kubernetes Services.
    pub services: Vec<ServiceFact>,
    /// Hops that settings declare: gateway routes and ingress backends, with or without a layer.
    pub routes: Vec<RouteFact>,
    /// Names that settings give to groups of hosts: clusters, upstreams, hosts with a policy of their own.
    pub upstreams: Vec<UpstreamFact>,
    /// Rules of Gateway API routes.
    pub route_rules: Vec<RouteRuleFact>,
    /// Gateways and their classes.
    pub gateways: Vec<GatewayFact>,
    /// Policies attached to Gateways, routes and Services.
    pub attached: Vec<AttachedPolicyFact>,
    /// Objects that hand requests on to another object of their system.
    pub delegations: Vec<DelegationFact>,
    /// Settings of a system that hold wherever it runs.
    pub switches: Vec<SwitchFact>,
    /// Limits on all tries that one object sets for the requests of others; joining puts them on the layers.
    pub limits: Vec<LimitFact>,
    /// Changes to the policies that a mesh makes by itself.
    pub patches: Vec<PatchFact>,
    /// Routes that apply a policy which is defined elsewhere.
    pub policy_uses: Vec<PolicyUseFact>,
    /// Retry defaults that hold for a whole mesh.
    pub mesh_defaults: Vec<MeshDefaultFact>,
    /// Names that gateways give themselves.
    pub gateway_names: Vec<GatewayNameFact>,
    /// Kubernetes ConfigMaps, written out or generated.
    pub config_maps: Vec<ConfigMapFact>,
    /// What components take from ConfigMaps.
    pub config_uses: Vec<ConfigUseFact>,
    /// Kustomizations; joining turns them into names.
    pub kustomizations: Vec<KustomizationFact>,
    /// Dockerfiles.
    pub dockerfiles: Vec<DockerfileFact>,
    /// Rust packages.
    pub packages: Vec<PackageFact>,
    /// Cargo workspaces.
    pub workspaces: Vec<WorkspaceFact>,
    /// Cargo.lock files; joining hands their versions to the packages.
    pub locks: Vec<LockFact>,
    /// Rust files.
    pub modules: Vec<ir::Module>,
    /// Settings files that code may read at run time.
    pub settings: Vec<SettingsFact>,
    /// Settings of applications that have profiles, and that the environment can override.
    pub applications: Vec<ApplicationFact>,
    /// Annotations in Java and Kotlin that retry.
    pub annotations: Vec<AnnotationFact>,
    /// What applications call themselves.
    pub application_names: Vec<ApplicationNameFact>,
    /// Whom the settings and the clients of applications name.
    pub addresses: Vec<AddressFact>,
    /// Files of environment variables.
    pub env_files: Vec<EnvFileFact>,
    /// What components take from them.
    pub env_file_uses: Vec<EnvFileUseFact>,
    /// ConfigMaps whose entries components mount as files.
    pub mounted_maps: Vec<MountedMapFact>,
    /// Purges.
    pub purges: Vec<Purge>,
    /// What bounds some of them; joining puts it into `purges`.
    pub expiries: Vec<ExpiryFact>,
    /// Statements that make or change tables; joining turns them into `stores`.
    pub schemas: Vec<SchemaFact>,
    /// Tables that remember requests or messages.
    pub stores: Vec<Store>,
    /// Tables in which dead letters are kept; joining fills it in.
    pub dead_letter_tables: Vec<TableFact>,
    /// Queues, subscriptions and consumers.
    pub queues: Vec<Queue>,
    /// Components that take messages from a queue, as settings tell.
    pub consumers: Vec<ConsumerFact>,
    /// Alerting rules in PromQL; joining turns them into `alarms`.
    pub alert_rules: Vec<AlertRuleFact>,
    /// Recording rules.
    pub recordings: Vec<RecordingFact>,
    /// Ways of alerts to receivers.
    pub alert_routes: Vec<AlertRoutesFact>,
    /// Alarms whose alerts go on such ways; joining turns them into `alarms`.
    pub routed_alarms: Vec<RoutedAlarmFact>,
    /// Alarms, whatever they watch.
    pub alarms: Vec<Alarm>,
    /// Places that make dead-letter records which lack something.
    pub incomplete_records: Vec<IncompleteRecord>,
    /// Retry settings without effect.
    pub inert: Vec<Inert>,
    /// Dead letters that settings or scripts send back.
    pub redrives: Vec<Redrive>,
    /// What is run again from its start, as far as settings alone tell.
    pub reruns: Vec<Rerun>,
    /// Programs that are run again when they fail: whether that does something twice is for their code to tell.
    pub program_reruns: Vec<ProgramRerunFact>,
    /// References of this unit that lead nowhere.
    pub unresolved: Vec<Unresolved>,
    /// Parts of the unit that could not be read.
    pub unread: Vec<Unread>,
}

impl Facts {
    /// Adds the facts of another unit. Call it in the order of the units: the result is then the same for every thread count.
    pub fn append(&mut self, mut other: Facts) {
        self.paths.append(&mut other.paths);
        self.layers.append(&mut other.layers);
        self.components.append(&mut other.components);
        self.services.append(&mut other.services);
        self.routes.append(&mut other.routes);
        self.upstreams.append(&mut other.upstreams);
        self.route_rules.append(&mut other.route_rules);
        self.gateways.append(&mut other.gateways);
        self.attached.append(&mut other.attached);
        self.delegations.append(&mut other.delegations);
        self.switches.append(&mut other.switches);
        self.limits.append(&mut other.limits);
        self.patches.append(&mut other.patches);
        self.policy_uses.append(&mut other.policy_uses);
        self.mesh_defaults.append(&mut other.mesh_defaults);
        self.gateway_names.append(&mut other.gateway_names);
        self.config_maps.append(&mut other.config_maps);
        self.config_uses.append(&mut other.config_uses);
        self.kustomizations.append(&mut other.kustomizations);
        self.dockerfiles.append(&mut other.dockerfiles);
        self.packages.append(&mut other.packages);
        self.workspaces.append(&mut other.workspaces);
        self.locks.append(&mut other.locks);
        self.modules.append(&mut other.modules);
        self.settings.append(&mut other.settings);
        self.applications.append(&mut other.applications);
        self.annotations.append(&mut other.annotations);
        self.application_names.append(&mut other.application_names);
        self.addresses.append(&mut other.addresses);
        self.env_files.append(&mut other.env_files);
        self.env_file_uses.append(&mut other.env_file_uses);
        self.mounted_maps.append(&mut other.mounted_maps);
        self.purges.append(&mut other.purges);
        self.expiries.append(&mut other.expiries);
        self.schemas.append(&mut other.schemas);
        self.stores.append(&mut other.stores);
        self.dead_letter_tables.append(&mut other.dead_letter_tables);
        self.queues.append(&mut other.queues);
        self.consumers.append(&mut other.consumers);
        self.alert_rules.append(&mut other.alert_rules);
        self.recordings.append(&mut other.recordings);
        self.alert_routes.append(&mut other.alert_routes);
        self.routed_alarms.append(&mut other.routed_alarms);
        self.alarms.append(&mut other.alarms);
        self.incomplete_records.append(&mut other.incomplete_records);
        self.inert.append(&mut other.inert);
        self.redrives.append(&mut other.redrives);
        self.reruns.append(&mut other.reruns);
        self.program_reruns.append(&mut other.program_reruns);
        self.unresolved.append(&mut other.unresolved);
        self.unread.append(&mut other.unread);
    }
}

/// A component that takes messages from a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerFact {
    /// The queue.
    pub queue: QueueName,
    /// The component.
    pub component: ComponentName,
}

/// A program that is run again from its start when it fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRerunFact {
    /// For people, at the beginning of a sentence: "Job payouts".
    pub job: String,
    /// Its retry limit, or what opens it.
    pub place: Span,
    /// How often it is run in all, if known.
    pub attempts: Option<u64>,
    /// What runs it.
    pub component: ComponentName,
}

/// Something that runs: a Deployment, a StatefulSet, a Job, a Compose service.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentFact {
    /// Its name.
    pub name: String,
    /// Its namespace (Kubernetes) or project.
    pub namespace: Option<String>,
    /// What runs it.
    pub kind: ComponentFactKind,
    /// Names by which it is called without a Service in between (Compose: name, aliases, container name, hostname).
    pub hosts: Vec<String>,
    /// The labels of its pods.
    pub labels: Vec<(String, String)>,
    /// Image names without registry and tag kept as written, one for each container: `registry/shop/orders:1.2`.
    pub images: Vec<String>,
    /// The folder it is built from, relative like file paths ("" = the working directory), if written.
    pub build: Option<String>,
    /// Environment values.
    pub env: Vec<EnvFact>,
    /// Files of the repository that are mounted into it, as shown.
    pub mounts: Vec<String>,
    /// Its name's place.
    pub span: Span,
}

/// What runs a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentFactKind {
    /// A long-running service.
    Service,
    /// Runs to its end.
    Job,
}

/// An environment value set in a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvFact {
    /// The variable.
    pub name: String,
    /// The value.
    pub value: String,
    /// The value's place.
    pub span: Span,
}

/// A Kubernetes Service: a host name and the labels of the pods behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceFact {
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: Option<String>,
    /// The selector.
    pub selector: Vec<(String, String)>,
    /// `externalName`, if it is one of those.
    pub external: Option<String>,
    /// Whether one of its ports is named or typed for gRPC.
    pub grpc: bool,
    /// Its ports.
    pub ports: Vec<PortFact>,
    /// The name's place.
    pub span: Span,
}

/// A port of a Kubernetes Service, with what tells a mesh its protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortFact {
    /// The number, if it is one.
    pub number: Option<u16>,
    /// The name.
    pub name: Option<String>,
    /// `appProtocol`, or what an annotation of the mesh says in its place.
    pub protocol: Option<String>,
    /// Its place.
    pub span: Span,
}

/// A hop that settings declare.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteFact {
    /// The gateway's name as its system tells it (see [`GatewayName`]).
    pub from: GatewayName,
    /// The upstreams: alternatives.
    pub to: Vec<HostRef>,
    /// Whether it takes gRPC requests only.
    pub grpc: bool,
    /// How long the gateway waits for an answer, of a route that nothing repeats; else its layer says so.
    pub limit: Option<Setting<Duration>>,
    /// Where the route is written.
    pub span: Span,
}

/// A name that a system's settings give to a group of hosts. [`crate::systems::join`] puts the hosts in its place in
/// the layers and routes of that system, and then removes it.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamFact {
    /// The system.
    pub system: &'static str,
    /// The name, lower case.
    pub name: String,
    /// The namespace in which a short name is looked up.
    pub namespace: Option<String>,
    /// The hosts: alternatives. Empty: the name is the host.
    pub to: Vec<HostRef>,
    /// A retry budget for all requests to it.
    pub budget: Option<Budget>,
    /// The name's place.
    pub span: Span,
}

/// An object that hands requests on to another object of its system: an Istio delegate, a Contour include.
#[derive(Debug, Clone, PartialEq)]
pub struct DelegationFact {
    /// The system.
    pub system: &'static str,
    /// The object that gets the requests, with its namespace: "pay/ledger".
    pub object: String,
    /// Whose requests these are.
    pub callers: Callers,
    /// The names that sidecars call.
    pub hosts: Vec<HostRef>,
    /// The layer that holds where the other object says nothing of retries itself.
    pub policy: Option<Box<Layer>>,
}

/// A setting of a system that holds wherever it runs, and that other files of it depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchFact {
    /// The system.
    pub system: &'static str,
    /// Whether it is on.
    pub on: bool,
    /// Its place.
    pub span: Span,
}

/// A limit on all tries of a request that one object of a system sets for what others of it describe.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitFact {
    /// The system.
    pub system: &'static str,
    /// Whose requests it is for; `None`: everybody's.
    pub from: Option<Callers>,
    /// The hosts to which requests have it; none: all.
    pub to: Vec<HostRef>,
    /// The limit; `None` lifts it.
    pub limit: Option<Setting<Duration>>,
    /// Its place.
    pub span: Span,
}

/// A change to the policies that a mesh makes by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct PatchFact {
    /// The system.
    pub system: &'static str,
    /// The host whose routes it changes; `None`: those of every host.
    pub host: Option<HostRef>,
    /// Whether it reaches the routes of sidecars.
    pub sidecars: bool,
    /// Whether it reaches the routes of gateways.
    pub gateways: bool,
    /// What it makes of the mesh's default policy; parts that it leaves alone are defaults.
    pub policy: Box<Layer>,
    /// Whether it replaces what is retried; else `policy.retries` is added to it.
    pub conditions: bool,
}

/// A route that applies a policy which is defined elsewhere. [`crate::systems::join`] puts the policy's layer on it.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyUseFact {
    /// The system.
    pub system: &'static str,
    /// The policy, as the id of its layer names it.
    pub policy: String,
    /// The gateway that has the route; of a policy that only stands for others, none.
    pub from: Option<GatewayName>,
    /// The route's upstreams.
    pub to: Vec<HostRef>,
    /// The policies that it stands for.
    pub others: Vec<String>,
    /// Where the use is written.
    pub span: Span,
}

/// A retry policy that holds wherever a route of the mesh has none.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshDefaultFact {
    /// The system.
    pub system: &'static str,
    /// Tries in all.
    pub attempts: Setting<Attempts>,
    /// The wait.
    pub wait: Wait,
    /// Where the wait is set.
    pub wait_place: Option<Span>,
    /// What is retried.
    pub retries: Conditions,
    /// Limit on one try.
    pub per_try: Option<Setting<Duration>>,
    /// What says so: "`attempts: 5` in the mesh's defaultHttpRetryPolicy".
    pub reading: String,
    /// Where it is written.
    pub span: Span,
}

/// The name that a gateway gives itself in its settings; it counts where no component is known to read the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayNameFact {
    /// The system.
    pub system: &'static str,
    /// The file.
    pub file: FileId,
    /// Its path as shown.
    pub path: String,
    /// The name.
    pub name: String,
}

/// A kustomization: what it deploys, and under which names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KustomizationFact {
    /// Its folder, as shown.
    pub folder: String,
    /// `namePrefix`
    pub prefix: String,
    /// `nameSuffix`
    pub suffix: String,
    /// `namespace`
    pub namespace: Option<String>,
    /// `images` with a new name: the name that they have in the files, and the new one.
    pub images: Vec<(String, String)>,
    /// The files and folders that it lists, as shown.
    pub resources: Vec<String>,
}

/// A Dockerfile: what becomes of it in its last stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DockerfileFact {
    /// Its folder, as shown.
    pub folder: String,
    /// What its own name says besides: `orders.Dockerfile` → `orders`.
    pub name: Option<String>,
    /// The environment that it sets.
    pub env: Vec<EnvFact>,
    /// The programs that it builds or runs.
    pub programs: Vec<String>,
    /// The whole of it.
    pub span: Span,
}

/// An annotation in Java or Kotlin whose values may stand in the application's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationFact {
    /// The path of its file, as shown.
    pub path: String,
    /// Its name, without its package.
    pub name: String,
    /// What the file imports.
    pub imports: Vec<String>,
    /// The class it stands in or before.
    pub class: Option<String>,
    /// The method it stands before.
    pub method: Option<String>,
    /// Its members; the first is its name.
    pub members: Vec<Entry>,
    /// What the annotation of a client on the same class names: a URL, a service. What comes first decides.
    pub client: Vec<Entry>,
    /// The whole of it.
    pub span: Span,
}
