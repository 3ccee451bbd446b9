//! Amazon CloudFront: attempts at each origin, and groups of origins.

use std::time::Duration;

use crate::facts::{Facts, RouteFact};
use crate::model::{Advice, Attempts, Conditions, GatewayName, HostRef, Layer, Methods, Mode, ModeSet, Pick, Setting};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings, terraform};

/// CloudFront.
pub struct CloudFront;

const ID: &str = "cloudfront";
const VALUES: &str = "awsdocs/amazon-cloudfront-developer-guide doc_source/distribution-web-values-specify.md";
const BEHAVIOR: &str = "awsdocs/amazon-cloudfront-developer-guide doc_source/RequestAndResponseBehaviorCustomOrigin.md";
const FAILOVER: &str = "awsdocs/amazon-cloudfront-developer-guide doc_source/high_availability_origin_failover.md";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Amazon CloudFront",
    reads: "AWS::CloudFront::Distribution in CloudFormation templates, aws_cloudfront_distribution in Terraform: custom \
            origins and origin groups",
    marks: &["AWS::CloudFront::Distribution", "aws_cloudfront_distribution"],
    defaults: &[
        DefaultFigure { what: "ConnectionAttempts absent", value: "3 attempts", source: VALUES },
        DefaultFigure { what: "ConnectionAttempts", value: "counts tries, the first one included", source: VALUES },
        DefaultFigure {
            what: "what is retried",
            value: "connections that fail, and answers that do not come; no HTTP status",
            source: BEHAVIOR,
        },
        DefaultFigure { what: "methods", value: "GET and HEAD, once sent", source: BEHAVIOR },
        DefaultFigure { what: "OriginReadTimeout absent", value: "30 s for each try", source: VALUES },
        DefaultFigure { what: "ResponseCompletionTimeout absent", value: "no limit on all tries", source: VALUES },
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
                    let items = |list: &str| config.get(list).map(|l| l.get("Items").unwrap_or(l).items());
                    let nodes = |list: &str| items(list).unwrap_or_default().iter().map(|n| &**n).collect();
                    let (origins, groups) = (nodes("Origins"), nodes("OriginGroups"));
                    Distribution { file, name: &resource.key, origins, groups }.read(facts);
                }
            }
        }
        for resource in terraform::resources(unit, "aws_cloudfront_distribution") {
            let Some(file) = resource.file(unit) else { continue };
            let origins = terraform::repeated(&resource.body, &["origin"]).collect();
            let groups = terraform::repeated(&resource.body, &["origin_group"]).collect();
            Distribution { file, name: resource.name(), origins, groups }.read(facts);
        }
    }
}

/// A distribution: what is read of it.
struct Distribution<'a> {
    file: &'a SourceFile,
    name: &'a str,
    origins: Vec<&'a Node>,
    groups: Vec<&'a Node>,
}

/// A field, in the spelling of CloudFormation or of Terraform.
fn entry<'n>(node: &'n Node, field: &str) -> Option<&'n Entry> {
    node.entry_relaxed(field).filter(|e| !e.value.is_null())
}

fn get<'n>(node: &'n Node, field: &str) -> Option<&'n Node> {
    entry(node, field).map(|e| &*e.value)
}

fn id_of(node: &Node) -> Option<&str> {
    ["Id", "OriginId"].iter().find_map(|key| get(node, key)?.as_str())
}

impl Distribution<'_> {
    fn read(&self, facts: &mut Facts) {
        let from = GatewayName::Named(format!("CloudFront {}", self.name));
        // What lies in a bucket is no request to a service.
        for origin in self.origins.iter().filter(|o| get(o, "CustomOriginConfig").is_some()) {
            self.origin(origin, &from, facts);
        }
        facts.layers.extend(self.groups.iter().filter_map(|g| self.group(&from, g)));
    }

    fn origin(&self, origin: &Node, from: &GatewayName, facts: &mut Facts) {
        let id = id_of(origin).unwrap_or("without an id");
        let opens = settings::opening(self.file, origin);
        let to: Vec<HostRef> = self.host(origin).into_iter().collect();
        if !to.is_empty() {
            facts.routes.push(RouteFact { from: from.clone(), to: to.clone(), grpc: false, limit: None, span: opens });
        }
        let name = format!("CloudFront origin {id}");
        let count = entry(origin, "ConnectionAttempts");
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
            per_try: Some(answer(origin)),
            overall: get(origin, "ResponseCompletionTimeout").map(seconds),
            advice: Advice { none: Some("set `ConnectionAttempts: 1`".to_string()), ..Advice::default() },
            scope: base::hops(vec![from.clone()], to),
            ..base::layer(ID, format!("{ID}:{}:{id}", self.name).into(), name, opens, VALUES)
        });
    }

    fn host(&self, origin: &Node) -> Option<HostRef> {
        let name = get(origin, "DomainName").filter(|n| n.tag.is_none())?;
        settings::host(name.as_str()?, name.span, None)
    }

    /// A group asks its second origin where the first one fails, or answers a listed status.
    fn group(&self, from: &GatewayName, group: &Node) -> Option<Layer> {
        let members: Vec<&Node> = match get(group, "Members") {
            Some(members) => members.get("Items").map_or(&[][..], Node::items).iter().map(|n| &**n).collect(),
            None => terraform::repeated(group, &["member"]).collect(),
        };
        let to = members.iter().filter_map(|m| {
            let id = get(m, "OriginId")?.as_str()?;
            self.host(self.origins.iter().find(|o| id_of(o) == Some(id))?)
        });
        let to = settings::distinct(to);
        let codes = get(group, "FailoverCriteria").and_then(|c| get(c, "StatusCodes"));
        let codes = codes.map_or(&[][..], |c| c.get("Items").unwrap_or(c).items());
        let opens = settings::opening(self.file, group);
        let transport = ModeSet::transport();
        let pick = Pick { modes: transport, span: opens, text: "the failover of the group".to_string() };
        let mut retries = Conditions { yes: transport, picks: vec![pick], ..Conditions::default() };
        for (code, span) in codes.iter().filter_map(|n| Some((n.as_int().and_then(|c| u16::try_from(c).ok())?, n.span)))
        {
            let modes: ModeSet = [Mode::Status(code)].into_iter().filter(|_| (400..600).contains(&code)).collect();
            retries.yes = retries.yes.union(modes);
            retries.picks.push(Pick { modes, span, text: format!("`{code}`") });
        }
        let id = id_of(group).unwrap_or("without an id");
        let name = format!("CloudFront origin group {id}");
        (members.len() > 1 && !to.is_empty()).then(|| Layer {
            reading: format!("two origins of {name}"),
            asked_for: true,
            attempts: Setting::written(Attempts::Count(2), opens),
            retries,
            elsewhere: true,
            methods: Methods::Only(vec!["GET".to_string(), "HEAD".to_string(), "OPTIONS".to_string()]),
            advice: Advice {
                statuses: Some("keep 500, 502, 503 and 504 in `FailoverCriteria`".to_string()),
                ..Advice::default()
            },
            scope: base::hops(vec![from.clone()], to),
            ..base::layer(ID, format!("{ID}:{}:group:{id}", self.name).into(), name, opens, FAILOVER)
        })
    }
}

/// How long it waits for an answer. `ConnectionTimeout` is shorter, and ends no request that is under way.
fn answer(origin: &Node) -> Setting<Duration> {
    let read = get(origin, "CustomOriginConfig").and_then(|c| get(c, "OriginReadTimeout"));
    read.map_or_else(|| Setting::default(Duration::from_secs(30), VALUES), seconds)
}

fn seconds(node: &Node) -> Setting<Duration> {
    match node.as_int().and_then(|s| u64::try_from(s).ok()) {
        Some(s) => Setting::written(Duration::from_secs(s), node.span),
        None => Setting::unknown("not a number of seconds", Some(node.span)),
    }
}
