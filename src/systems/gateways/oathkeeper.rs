//! Ory Oathkeeper: what its handlers do when the services that they ask fail. Requests to the upstream are sent once.

use std::time::Duration;

use crate::facts::Facts;
use crate::model::{
    Advice, Attempts, Conditions, GatewayName, HostRef, Layer, Methods, ModeSet, Pick, STATUSES, Setting, Wait,
};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node};
use crate::systems::gateways::base;
use crate::systems::settings::Ids;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, settings};

/// Oathkeeper.
pub struct Oathkeeper;

const ID: &str = "oathkeeper";
const CLIENT: &str = "ory/oathkeeper 2026-07 oryx/httpx/resilient_client.go";
const LIBRARY: &str = "hashicorp/go-retryablehttp v0.7.8 client.go";
const HYDRATOR: &str = "ory/oathkeeper 2026-07 pipeline/mutate/mutator_hydrator.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Ory Oathkeeper",
    reads: "`oathkeeper.yml` and access rules: handlers that ask other services, and their `retry`",
    marks: &["authorizers", "mutators"],
    defaults: &[
        DefaultFigure {
            what: "remote, remote_json, oauth2_introspection, oauth2_client_credentials",
            value: "5 attempts, whatever is written; there is no count",
            source: CLIENT,
        },
        DefaultFigure { what: "hydrator without retry", value: "1 attempt", source: HYDRATOR },
        DefaultFigure { what: "hydrator with retry", value: "5 attempts", source: HYDRATOR },
        DefaultFigure { what: "give_up_after absent", value: "1 s between the tries, each time", source: CLIENT },
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
                    facts.layers.extend(handler(file, entry, &mut ids));
                }
            }
        }
    }
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
        _ => return None,
    })
}

fn handler(file: &SourceFile, entry: &Entry, ids: &mut Ids) -> Option<Layer> {
    let (path, always) = target(&entry.key)?;
    if entry.value.get("enabled").and_then(Node::as_bool) != Some(true) {
        return None;
    }
    let config = entry.value.get("config")?;
    let url = config.at(path)?;
    let retry = if always { config.entry("retry") } else { config.get("api")?.entry("retry") };
    if !always && retry.is_none() {
        return None;
    }
    let to: Vec<HostRef> = settings::host(url.as_str()?, url.span, None).into_iter().collect();
    let opens = retry.map_or(entry.key_span, |e| e.key_span);
    let name = format!("Oathkeeper {}", entry.key);
    let (wait_key, default) =
        if always { ("give_up_after", Duration::from_secs(1)) } else { ("max_delay", Duration::from_millis(100)) };
    let wait = retry.and_then(|e| e.value.entry(wait_key));
    let modes =
        ModeSet::statuses(STATUSES.filter(|c| *c == 429 || (*c >= 500 && *c != 501))).union(ModeSet::transport());
    let pick = Pick { modes, span: opens, text: "its fixed conditions".to_string() };
    let per_try = retry.filter(|_| !always).and_then(|e| e.value.get("give_up_after"));
    Some(Layer {
        reading: format!("{name}, whose client always tries five times"),
        attempts: Setting::default(Attempts::Count(5), CLIENT),
        asked_for: retry.is_some(),
        wait: Wait::Fixed(match wait.map(|e| (e.value.as_str().and_then(duration::go), e.value.span)) {
            None => Setting::default(default, CLIENT),
            Some((Some(d), span)) => Setting::written(d, span),
            Some((None, span)) => Setting::unknown("not a duration", Some(span)),
        }),
        wait_place: wait.map(|e| e.key_span),
        retries: Conditions { yes: modes, picks: vec![pick], ..Conditions::default() },
        retry_after: Setting::default(true, LIBRARY),
        methods: if entry.key.starts_with("remote") || !always { post(entry) } else { Methods::Any },
        per_try: per_try.and_then(|n| settings::limit(n, |n| duration::go(n.as_str()?))),
        // Nothing can be set that would mend it.
        advice: Advice::default(),
        scope: base::hops(vec![GatewayName::OfFile { file: file.id, system: ID }], to),
        ..base::layer(ID, ids.next(format!("{ID}:{}", entry.key)), name, opens, CLIENT)
    })
}

/// These ask with a POST.
fn post(entry: &Entry) -> Methods {
    Methods::Written { methods: vec!["POST".to_string()], span: entry.key_span }
}
