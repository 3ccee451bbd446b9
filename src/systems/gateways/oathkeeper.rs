//! Ory Oathkeeper: what its handlers do when the services that they ask fail. Requests to the upstream are sent once.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{
    Advice, Attempts, Conditions, GatewayName, HostRef, Layer, Methods, ModeSet, Pick, STATUSES, Setting, Wait,
};
use crate::source::{SourceFile, Span};
use crate::syntax::Node;
use crate::systems::gateways::base;
use crate::systems::settings::Ids;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, settings};

/// Oathkeeper.
pub struct Oathkeeper;

const ID: &str = "oathkeeper";
const CLIENT: &str = "ory/oathkeeper 2026-07 oryx/httpx/resilient_client.go";
const LIBRARY: &str = "hashicorp/go-retryablehttp v0.7.8 client.go";
const HYDRATOR: &str = "ory/oathkeeper 2026-07 pipeline/mutate/mutator_hydrator.go";
const KETO: &str = "ory/oathkeeper 2026-07 pipeline/authz/keto_engine_acp_ory.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Ory Oathkeeper",
    reads: "`oathkeeper.yml` and access rules: handlers that ask other services, and their `retry`",
    marks: &["authorizer", "mutators"],
    defaults: &[
        DefaultFigure {
            what: "remote, remote_json, oauth2_introspection, oauth2_client_credentials",
            value: "5 attempts, whatever is written; there is no count",
            source: CLIENT,
        },
        DefaultFigure { what: "hydrator without retry", value: "1 attempt", source: HYDRATOR },
        DefaultFigure { what: "hydrator with retry", value: "5 attempts", source: HYDRATOR },
        DefaultFigure { what: "keto_engine_acp_ory", value: "6 attempts, 100 ms between the tries", source: KETO },
        DefaultFigure { what: "give_up_after absent", value: "1 s between the tries, each time", source: CLIENT },
        DefaultFigure {
            what: "give_up_after absent, oauth2_client_credentials",
            value: "1 s before the second try, then 2 s",
            source: CLIENT,
        },
        DefaultFigure { what: "max_delay absent, of a hydrator", value: "100 ms between the tries", source: HYDRATOR },
        DefaultFigure {
            what: "what is retried",
            value: "errors of the connection, 429, and 5xx but 501; any method",
            source: LIBRARY,
        },
        DefaultFigure {
            what: "Retry-After",
            value: "honoured on 429 and 503, without an upper bound",
            source: LIBRARY,
        },
    ],
};

impl System for Oathkeeper {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents().filter(|(_, root)| is_oathkeeper(root)) {
            let mut ids = Ids::default();
            for section in ["authenticators", "authorizers", "mutators"] {
                let Some(handlers) = root.get(section) else { continue };
                let handlers = handlers.get("handlers").unwrap_or(handlers);
                for entry in handlers.entries() {
                    let enabled = entry.value.get("enabled").and_then(Node::as_bool) == Some(true);
                    let config = entry.value.get("config").filter(|_| enabled);
                    facts.layers.extend(config.and_then(|c| handler(file, (&entry.key, entry.key_span), c, &mut ids)));
                }
            }
        }
        for (file, root) in unit.documents() {
            let mut ids = Ids::default();
            for rule in root.items().iter().filter(|rule| is_rule(rule)) {
                let lists = ["authenticators", "mutators"].into_iter().filter_map(|key| rule.get(key));
                let handlers = lists.flat_map(Node::items).map(|n| &**n).chain(rule.get("authorizer"));
                for of_rule in handlers {
                    let named = of_rule.get("handler").and_then(|n| Some((n.as_str()?, n.span)));
                    let found = named.zip(of_rule.get("config"));
                    facts.layers.extend(found.and_then(|(kind, config)| handler(file, kind, config, &mut ids)));
                }
            }
        }
    }
}

/// An access rule, whose handlers may have settings of their own.
fn is_rule(rule: &Node) -> bool {
    rule.get("match").is_some() && rule.get_any(&["authenticators", "authorizer"]).is_some()
}

fn is_oathkeeper(root: &Node) -> bool {
    let sections = ["authenticators", "authorizers", "mutators"];
    sections.iter().filter(|s| root.get(s).is_some_and(|n| !n.entries().is_empty())).count() > 1
}

/// The handlers with a client that retries, and where they say whom they ask.
fn target(kind: &str) -> Option<(&'static [&'static str], bool)> {
    Some(match kind {
        "remote" | "remote_json" => (&["remote"], true),
        "oauth2_introspection" => (&["introspection_url"], true),
        "oauth2_client_credentials" => (&["token_url"], true),
        "hydrator" => (&["api", "url"], false),
        "keto_engine_acp_ory" => (&["base_url"], true),
        _ => return None,
    })
}

fn handler(file: &SourceFile, (kind, at): (&str, Span), config: &Node, ids: &mut Ids) -> Option<Layer> {
    let (path, always) = target(kind)?;
    let is_keto = kind == "keto_engine_acp_ory";
    let url = config.at(path)?;
    let retry = if always { config.entry("retry") } else { config.get("api")?.entry("retry") };
    if !always && retry.is_none() {
        return None;
    }
    let to: Vec<HostRef> = settings::host(url.as_str()?, url.span, None).into_iter().collect();
    let opens = retry.map_or(at, |e| e.key_span);
    let name = format!("Oathkeeper {kind}");
    let (wait_key, default) = match kind {
        "hydrator" | "keto_engine_acp_ory" => ("max_delay", Duration::from_millis(100)),
        "oauth2_client_credentials" => ("give_up_after", Duration::from_secs(2)),
        _ => ("give_up_after", Duration::from_secs(1)),
    };
    let wait = retry.and_then(|e| e.value.entry(wait_key));
    let modes =
        ModeSet::statuses(STATUSES.filter(|c| *c == 429 || (*c >= 500 && *c != 501))).union(ModeSet::transport());
    let pick = Pick { modes, span: opens, text: "its fixed conditions".to_string() };
    let per_try = retry.filter(|_| !always).and_then(|e| e.value.get("give_up_after"));
    Some(Layer {
        reading: format!("{name}, whose client always tries {} times", if is_keto { "six" } else { "five" }),
        attempts: if is_keto {
            Setting::default(Attempts::Count(6), KETO)
        } else {
            Setting::default(Attempts::Count(5), CLIENT)
        },
        asked_for: retry.is_some(),
        wait: doubling(match wait.map(|e| (e.value.as_str().and_then(duration::go), e.value.span)) {
            None => Setting::default(default, CLIENT),
            Some((Some(d), span)) => Setting::written(d, span),
            Some((None, span)) => Setting::unknown("not a duration", Some(span)),
        }),
        wait_place: wait.map(|e| e.key_span),
        retries: Conditions { yes: modes, picks: vec![pick], ..Conditions::default() },
        retry_after: Setting::default(true, LIBRARY),
        methods: if kind.starts_with("remote") || is_keto || !always { post(at) } else { Methods::Any },
        per_try: per_try.and_then(|n| settings::limit(n, |n| duration::go(n.as_str()?))),
        // Nothing can be set that would mend it.
        advice: Advice::default(),
        scope: base::hops(vec![GatewayName::OfFile { file: file.id, system: ID }], to),
        ..base::layer(ID, ids.next(format!("{ID}:{kind}")), name, opens, CLIENT)
    })
}

/// The wait doubles from 1 s up to its longest: where that is no longer, it is the same each time.
fn doubling(longest: Setting<Duration>) -> Wait {
    let second = Duration::from_secs(1);
    match longest.value() {
        Some(d) if *d > second => Wait::Exponential {
            base: Setting::default(second, CLIENT),
            factor: Setting::default(2.0, LIBRARY),
            cap: longest.map(Some),
        },
        _ => Wait::Fixed(longest),
    }
}

/// These ask with a POST.
fn post(span: Span) -> Methods {
    Methods::Written { methods: vec!["POST".to_string()], span }
}
