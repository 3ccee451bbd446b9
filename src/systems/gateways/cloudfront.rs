//! Amazon CloudFront: attempts at each origin, and groups of origins.

use std::time::Duration;

use crate::facts::{Facts, RouteFact};
use crate::model::{Advice, Attempts, Conditions, GatewayName, HostRef, Layer, Methods, Mode, ModeSet, Pick, Setting};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// CloudFront.
pub struct CloudFront;

const ID: &str = "cloudfront";
const VALUES: &str = "awsdocs/amazon-cloudfront-developer-guide doc_source/distribution-web-values-specify.md";
const BEHAVIOR: &str = "awsdocs/amazon-cloudfront-developer-guide doc_source/RequestAndResponseBehaviorCustomOrigin.md";
const FAILOVER: &str = "awsdocs/amazon-cloudfront-developer-guide doc_source/high_availability_origin_failover.md";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Amazon CloudFront",
    reads: "AWS::CloudFront::Distribution in CloudFormation templates: custom origins and origin groups",
    marks: &["AWS::CloudFront::Distribution"],
    defaults: &[
        DefaultFigure { what: "ConnectionAttempts absent", value: "3 attempts", source: VALUES },
        DefaultFigure { what: "ConnectionAttempts", value: "counts tries, the first one included", source: VALUES },
        DefaultFigure {
            what: "what is retried",
            value: "connections that fail, and answers that do not come; no HTTP status",
            source: BEHAVIOR,
        },
        DefaultFigure { what: "methods", value: "GET and HEAD, once sent", source: BEHAVIOR },
        DefaultFigure { what: "ConnectionTimeout absent", value: "10 s for each try", source: VALUES },
        DefaultFigure {
            what: "an origin group",
            value: "one other origin is asked: GET, HEAD, OPTIONS",
            source: FAILOVER,
        },
    ],
};

impl System for CloudFront {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            for resource in root.get("Resources").map_or(&[][..], Node::entries) {
                let kind = resource.value.get("Type").and_then(Node::as_str);
                let config = resource.value.at(&["Properties", "DistributionConfig"]);
                if let (Some("AWS::CloudFront::Distribution"), Some(config)) = (kind, config) {
                    distribution(file, resource, config, facts);
                }
            }
        }
    }
}

fn distribution(file: &SourceFile, resource: &Entry, config: &Node, facts: &mut Facts) {
    let from = GatewayName::Named(format!("CloudFront {}", resource.key));
    let origins = config.get("Origins").map_or(&[][..], |o| o.get("Items").unwrap_or(o).items());
    // What lies in a bucket is no request to a service.
    let custom: Vec<&Node> = origins.iter().map(|n| &**n).filter(|o| o.get("CustomOriginConfig").is_some()).collect();
    for origin in &custom {
        let id = origin.get("Id").and_then(Node::as_str).unwrap_or("without an id");
        let opens = settings::opening(file, origin);
        let to: Vec<HostRef> = host(origin).into_iter().collect();
        if !to.is_empty() {
            facts.routes.push(RouteFact { from: from.clone(), to: to.clone(), grpc: false, limit: None, span: opens });
        }
        let name = format!("CloudFront origin {id}");
        let count = origin.entry("ConnectionAttempts").filter(|e| !e.value.is_null());
        let attempts = match count.map(|e| (e.value.as_int(), e.value.span)) {
            None => Setting::default(Attempts::Count(3), VALUES),
            Some((Some(n), span)) => Setting::written(Attempts::Count(u64::try_from(n).unwrap_or(1).max(1)), span),
            Some((None, span)) => Setting::unknown("`ConnectionAttempts` is not a number here", Some(span)),
        };
        let modes = ModeSet::transport();
        let pick = Pick { modes, span: opens, text: "CloudFront's fixed conditions".to_string() };
        facts.layers.push(Layer {
            reading: match count {
                Some(e) => format!("{} on {name}", settings::quote(e)),
                None => format!("{name}, which sets no `ConnectionAttempts`"),
            },
            place: count.map_or(opens, |e| e.value.span),
            asked_for: count.is_some(),
            attempts,
            retries: Conditions { yes: modes, picks: vec![pick], ..Conditions::default() },
            methods: Methods::Only(vec!["GET".to_string(), "HEAD".to_string()]),
            per_try: Some(seconds(origin.get("ConnectionTimeout"))),
            advice: Advice { fewer: Some("set `ConnectionAttempts: 1`".to_string()), ..Advice::default() },
            scope: base::hops(vec![from.clone()], to),
            ..base::layer(ID, format!("{ID}:{}:{id}", resource.key).into(), name, opens, VALUES)
        });
    }
    let groups = config.at(&["OriginGroups", "Items"]).map_or(&[][..], Node::items);
    facts.layers.extend(groups.iter().filter_map(|g| group(file, resource, &from, origins, g)));
}

fn host(origin: &Node) -> Option<HostRef> {
    let name = origin.get("DomainName").filter(|n| n.tag.is_none())?;
    settings::host(name.as_str()?, name.span, None)
}

fn seconds(node: Option<&Node>) -> Setting<Duration> {
    match node.map(|n| (n.as_int().and_then(|s| u64::try_from(s).ok()), n.span)) {
        None => Setting::default(Duration::from_secs(10), VALUES),
        Some((Some(s), span)) => Setting::written(Duration::from_secs(s), span),
        Some((None, span)) => Setting::unknown("not a number of seconds", Some(span)),
    }
}

/// A group asks its second origin where the first one fails, or answers a listed status.
fn group(
    file: &SourceFile,
    resource: &Entry,
    from: &GatewayName,
    origins: &[std::sync::Arc<Node>],
    group: &Node,
) -> Option<Layer> {
    let members = group.at(&["Members", "Items"])?.items();
    let to = members.iter().filter_map(|m| {
        let id = m.get("OriginId")?.as_str()?;
        host(origins.iter().find(|o| o.get("Id").and_then(Node::as_str) == Some(id))?)
    });
    let to = settings::distinct(to);
    let codes = group.at(&["FailoverCriteria", "StatusCodes", "Items"]).map_or(&[][..], Node::items);
    let opens = settings::opening(file, group);
    let transport = ModeSet::transport();
    let pick = Pick { modes: transport, span: opens, text: "the failover of the group".to_string() };
    let mut retries = Conditions { yes: transport, picks: vec![pick], ..Conditions::default() };
    for (code, span) in codes.iter().filter_map(|n| Some((n.as_int().and_then(|c| u16::try_from(c).ok())?, n.span))) {
        let modes: ModeSet = [Mode::Status(code)].into_iter().filter(|_| (400..600).contains(&code)).collect();
        retries.yes = retries.yes.union(modes);
        retries.picks.push(Pick { modes, span, text: format!("`{code}`") });
    }
    let id = group.get("Id").and_then(Node::as_str).unwrap_or("without an id");
    let name = format!("CloudFront origin group {id}");
    (members.len() > 1 && !to.is_empty()).then(|| Layer {
        reading: format!("two origins of {name}"),
        asked_for: true,
        attempts: Setting::written(Attempts::Count(2), opens),
        retries,
        methods: Methods::Only(vec!["GET".to_string(), "HEAD".to_string(), "OPTIONS".to_string()]),
        advice: Advice {
            statuses: Some("keep 500, 502, 503 and 504 in `FailoverCriteria`".to_string()),
            ..Advice::default()
        },
        scope: base::hops(vec![from.clone()], to),
        ..base::layer(ID, format!("{ID}:{}:group:{id}", resource.key).into(), name, opens, FAILOVER)
    })
}
