//! WSO2 API Manager: endpoints among which a message fails over. What is called a retry there counts how often an endpoint
//! that timed out is used again by later messages, and sends nothing twice.

use std::time::Duration;

use crate::facts::{Facts, RouteFact};
use crate::model::{Advice, Attempts, Conditions, GatewayName, HostRef, Layer, ModeSet, Pick, Setting};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, settings};

/// WSO2 API Manager.
pub struct Wso2;

const ID: &str = "wso2";
const FAILOVER: &str =
    "wso2/wso2-synapse modules/core/src/main/java/org/apache/synapse/endpoints/FailoverEndpoint.java";
const CONTEXT: &str = "wso2/wso2-synapse modules/core/src/main/java/org/apache/synapse/endpoints/EndpointContext.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "WSO2 API Manager",
    reads: "`endpointConfig` of API projects (api.yaml, api.json) and endpoints of Synapse in XML that fail over",
    marks: &["endpointConfig", "<failover"],
    defaults: &[
        DefaultFigure { what: "a single endpoint", value: "1 attempt", source: CONTEXT },
        DefaultFigure { what: "retryTimeOut", value: "sends no message again", source: CONTEXT },
        DefaultFigure {
            what: "endpoint_type: failover",
            value: "each endpoint once, at once, after transport errors; any method",
            source: FAILOVER,
        },
    ],
};

impl System for Wso2 {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            synapse(file, root, facts);
            let api = root.get("data").unwrap_or(root);
            let Some(config) = api.get("endpointConfig").filter(|c| c.get("endpoint_type").is_some()) else { continue };
            let title = api.get("name").and_then(Node::as_str).unwrap_or("without a name");
            for stage in ["production", "sandbox"] {
                read(file, title, config, stage, facts);
            }
        }
    }
}

/// An endpoint of Synapse's in XML that moves on to others.
fn synapse(file: &SourceFile, root: &Node, facts: &mut Facts) {
    let elements = |node: &Node, name: &str| -> Vec<Entry> {
        let all = node.walk().flat_map(Node::entries).filter(|e| &*e.key == name && e.value.block().is_some());
        all.take(settings::MAX_LIST).cloned().collect()
    };
    let attribute = |e: &Entry, name: &str| e.value.block()?.entry(name)?.value.args().next().cloned();
    for (at, list) in elements(root, "failover").iter().enumerate() {
        let Some(block) = list.value.block() else { continue };
        let plain = elements(block, "address").into_iter().filter_map(|e| attribute(&e, "uri"));
        let http = elements(block, "http").into_iter().filter_map(|e| attribute(&e, "uri-template"));
        let to = plain.chain(http).filter_map(|n| settings::host(n.as_str()?, n.span, None));
        let to = settings::distinct(to);
        if to.len() < 2 {
            continue;
        }
        let name = format!("WSO2 Synapse failover {}", at + 1);
        let from = GatewayName::OfFile { file: file.id, system: ID };
        let modes = ModeSet::transport();
        let pick = Pick { modes, span: list.key_span, text: "the transport errors of Synapse".to_string() };
        facts.layers.push(Layer {
            reading: format!("{} endpoints of {name}", to.len()),
            asked_for: true,
            attempts: Setting::written(Attempts::Count(to.len() as u64), list.key_span),
            retries: Conditions { yes: modes, picks: vec![pick], ..Conditions::default() },
            advice: Advice { fewer: Some("list fewer endpoints to fail over to".to_string()), ..Advice::default() },
            scope: base::hops(vec![from], to),
            ..base::layer(ID, format!("{ID}:{}:{}", file.path, at + 1).into(), name, list.key_span, FAILOVER)
        });
    }
}

fn read(file: &SourceFile, title: &str, config: &Node, stage: &str, facts: &mut Facts) {
    let Some(main) = config.entry(&format!("{stage}_endpoints")).filter(|e| !e.value.is_null()) else { return };
    let listed = |node: &'_ Node| -> Vec<HostRef> {
        let items = node.items().iter().map(|n| &**n);
        let all = items.chain(Some(node).filter(|n| !n.entries().is_empty()));
        all.filter_map(|n| n.get("url")).filter_map(|u| settings::host(u.as_str()?, u.span, None)).collect()
    };
    let others = config.entry(&format!("{stage}_failovers"));
    let mut to = listed(&main.value);
    to.extend(others.map(|e| listed(&e.value)).unwrap_or_default());
    let to = settings::distinct(to);
    if to.is_empty() {
        return;
    }
    let from = GatewayName::OfFile { file: file.id, system: ID };
    facts.routes.push(RouteFact { from: from.clone(), to: to.clone(), grpc: false, limit: None, span: main.key_span });
    let kind = config.get("endpoint_type").and_then(Node::as_str);
    let fails_over = config.get("failOver").and_then(|n| n.as_bool().or_else(|| n.as_str().map(|t| t == "True")));
    let moves = kind == Some("failover") || kind == Some("load_balance") && fails_over == Some(true);
    if moves && to.len() > 1 {
        facts.layers.push(layer(title, stage, others.unwrap_or(main), &main.value, (from, to)));
    }
}

fn layer(title: &str, stage: &str, list: &Entry, main: &Node, (from, to): (GatewayName, Vec<HostRef>)) -> Layer {
    let name = format!("WSO2 API {} ({stage})", settings::shown(title));
    let opens = list.key_span;
    let modes = ModeSet::transport();
    let pick = Pick { modes, span: opens, text: "the transport errors of Synapse".to_string() };
    let timeout = main.at(&["config", "actionDuration"]);
    Layer {
        reading: format!("{} endpoints of {name}", to.len()),
        asked_for: true,
        attempts: Setting::written(Attempts::Count(to.len() as u64), opens),
        retries: Conditions { yes: modes, picks: vec![pick], ..Conditions::default() },
        per_try: timeout.map(|n| match n.as_f64().and_then(duration::millis) {
            Some(d) => Setting::<Duration>::written(d, n.span),
            None => Setting::unknown("not a number of milliseconds", Some(n.span)),
        }),
        advice: Advice { fewer: Some("list fewer endpoints to fail over to".to_string()), ..Advice::default() },
        scope: base::hops(vec![from], to),
        ..base::layer(ID, format!("{ID}:{title}:{stage}").into(), name, opens, FAILOVER)
    }
}
