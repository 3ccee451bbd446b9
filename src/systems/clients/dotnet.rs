//! .NET: Microsoft.Extensions.Http.Resilience and Polly, as `appsettings.json` configures them.

use std::time::Duration;

use super::{appsettings, base, spring};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, Methods, ModeSet, Pick, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node, relaxed};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration, settings};

/// .NET.
pub struct DotNet;

const ID: &str = "dotnet-resilience";
const POLLY: &str = "App-vNext/Polly src/Polly.Core/Retry/RetryStrategyOptions.TResult.cs";
const HTTP: &str = "dotnet/extensions Microsoft.Extensions.Http.Resilience/Polly/HttpRetryStrategyOptions.cs";
const STANDARD: &str =
    "dotnet/extensions Microsoft.Extensions.Http.Resilience/Resilience/HttpStandardResilienceOptions.cs";
const HEDGING: &str = "App-vNext/Polly src/Polly.Core/Hedging/HedgingConstants.cs";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: ".NET resilience and Polly",
    reads: "sections of appsettings*.json with `Retry` or `Hedging` beside timeouts and a circuit breaker, and Polly's retry options; `Section__Key` in the environment",
    marks: &["MaxRetryAttempts", "AttemptTimeout", "TotalRequestTimeout", "MaxHedgedAttempts", "CircuitBreaker"],
    defaults: &[
        DefaultFigure { what: "MaxRetryAttempts absent", value: "4 attempts", source: POLLY },
        DefaultFigure { what: "MaxRetryAttempts: 2147483647", value: "no limit", source: POLLY },
        DefaultFigure { what: "Delay absent", value: "2 s", source: POLLY },
        DefaultFigure { what: "BackoffType absent", value: "Exponential; Constant for Polly alone", source: HTTP },
        DefaultFigure { what: "UseJitter absent", value: "true; false for Polly alone", source: HTTP },
        DefaultFigure { what: "MaxDelay absent", value: "no cap", source: POLLY },
        DefaultFigure {
            what: "what is retried",
            value: "408, 429, 5xx and failed connections; any exception for Polly alone",
            source: HTTP,
        },
        DefaultFigure { what: "ShouldRetryAfterHeader absent", value: "Retry-After is heeded", source: HTTP },
        DefaultFigure { what: "TotalRequestTimeout absent", value: "30 s for all tries", source: STANDARD },
        DefaultFigure { what: "AttemptTimeout absent", value: "10 s for each try", source: STANDARD },
        DefaultFigure { what: "MaxHedgedAttempts absent", value: "2 copies, 2 s apart", source: HEDGING },
    ],
};

impl System for DotNet {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        appsettings::note(unit, facts);
        for part in unit.parts.iter().filter(|part| !appsettings::is_of(part)) {
            for root in &part.parsed.documents {
                facts.layers.extend(read(root, ""));
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        appsettings::add_layers(facts, read);
    }

    fn unit_of(&self, path: &str) -> Option<String> {
        appsettings::unit_of(path)
    }
}

/// Keys come in any case.
fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    node.entries().iter().rev().find(|e| e.key.eq_ignore_ascii_case(key)).filter(|e| !e.value.is_null())
}

/// The layers below a node; those of several applications are told apart by the folders of these.
fn read(root: &Node, folder: &str) -> Vec<Layer> {
    let mut out = Vec::new();
    section(root, &mut Vec::new(), &mut out);
    if !folder.is_empty() {
        out.iter_mut().for_each(|layer| layer.id = layer.id.replacen(ID, &format!("{ID}:{folder}"), 1).into());
    }
    out
}

/// A handler's options, options of a strategy alone, or what is below them.
fn section<'n>(node: &'n Node, path: &mut Vec<&'n Entry>, out: &mut Vec<Layer>) {
    let own =
        ["TotalRequestTimeout", "AttemptTimeout", "Retry", "CircuitBreaker", "RateLimiter", "Hedging", "Endpoint"];
    let known = own.iter().filter(|key| get(node, key).is_some_and(|e| !e.value.entries().is_empty())).count();
    let retry = get(node, "Retry").filter(|e| fields(&e.value) > 0 && is_strategy(&e.value));
    let hedging = get(node, "Hedging").filter(|e| !e.value.entries().is_empty());
    let own_block = path.last().copied();
    if let (true, Some(retry)) = (known >= 2, retry) {
        out.push(handler(node, retry, path));
    } else if let (true, Some(hedging)) = (known >= 2, hedging) {
        out.push(hedged(node, hedging, path));
    } else if let Some(block) = own_block.filter(|block| is_retry(block)) {
        out.push(polly(block, path));
    } else {
        for entry in node.entries() {
            path.push(entry);
            section(&entry.value, path, out);
            path.pop();
        }
        for item in node.items() {
            section(item, path, out);
        }
    }
}

/// What a retry strategy has; only the one for HTTP has the last.
const FIELDS: [&str; 6] =
    ["MaxRetryAttempts", "Delay", "BackoffType", "UseJitter", "MaxDelay", "ShouldRetryAfterHeader"];

/// How many fields of a retry strategy are there.
fn fields(node: &Node) -> usize {
    FIELDS.iter().filter(|key| get(node, key).is_some()).count()
}

/// Whether every field is one of a retry strategy: classes of a program's own share some of the names, and mean what they
/// like by them.
fn is_strategy(node: &Node) -> bool {
    let own =
        |key: &str| key.eq_ignore_ascii_case("Name") || FIELDS.iter().any(|field| key.eq_ignore_ascii_case(field));
    node.entries().iter().all(|e| own(&e.key))
}

/// Whether a section without anything around it is a retry strategy: other things have a delay as well, and a count alone
/// can be of a program's own kind where nothing calls it one of Polly's.
fn is_retry(block: &Entry) -> bool {
    let key = relaxed(&block.key);
    let is_called = key.contains("retry") || key.contains("polly");
    let has_count = get(&block.value, "MaxRetryAttempts").is_some();
    has_count && is_strategy(&block.value) && (is_called || fields(&block.value) > 1)
}

/// The section's name, which is often that of the client.
fn title<'n>(path: &[&'n Entry]) -> (&'n str, Option<Span>) {
    let of_kind = |e: &&&Entry| {
        let key = relaxed(&e.key);
        !["retry", "resilience", "httpresilience", "standardresilience", "options", "hedging", "polly"]
            .contains(&key.as_str())
    };
    path.iter().rev().find(of_kind).or(path.last()).map_or(("?", None), |e| (&e.key, Some(e.key_span)))
}

fn base_layer(kind: &str, path: &[&Entry], opens: Span) -> Layer {
    let (title, span) = title(path);
    let chain: Vec<&str> = path.iter().map(|e| &*e.key).collect();
    let name = format!(".NET {kind} {}", settings::shown(title));
    let to = span.and_then(|span| base::named(title, span));
    let attempts = Setting::default(Attempts::Count(4), POLLY);
    base::client(ID, format!("{ID}:{}", chain.join(":")).into(), name, opens, to, attempts)
}

/// Retry, with the timeouts around it.
fn handler(node: &Node, retry: &Entry, path: &[&Entry]) -> Layer {
    let mut layer = base_layer("resilience handler", path, retry.key_span);
    repeat(&mut layer, &retry.value, true);
    layer.overall = Some(timeout(node, "TotalRequestTimeout", 30));
    layer.per_try = Some(timeout(node, "AttemptTimeout", 10));
    layer.retries = http(retry, layer.opens);
    layer.retry_after = match get(&retry.value, "ShouldRetryAfterHeader") {
        Some(e) => spring::setting(e, "true or false", |t| t.to_lowercase().parse().ok()),
        None => Setting::default(true, HTTP),
    };
    layer.advice.retry_after = Some("set `ShouldRetryAfterHeader` to true".to_owned());
    layer
}

fn timeout(node: &Node, key: &str, seconds: u64) -> Setting<Duration> {
    let written = get(node, key).and_then(|e| get(&e.value, "Timeout"));
    base::or_default(written, time_span, Duration::from_secs(seconds), STANDARD)
}

/// Of a number alone nothing tells what it counts.
pub(super) fn time_span(entry: &Entry) -> Setting<Duration> {
    let parse = |text: &str| duration::time_span(text).filter(|_| text.contains(':'));
    spring::setting(entry, "a time span", parse)
}

fn http(retry: &Entry, opens: Span) -> Conditions {
    let modes = base::and_transport((500..=599).chain([408, 429]));
    let mut out = base::by_default(modes, opens);
    if let Some(e) = get(&retry.value, "ShouldRetryAfterHeader") {
        let picked = ModeSet::statuses([429, 503]);
        out.picks.insert(0, Pick { modes: picked, span: e.value.span, text: format!("`{}`", e.key) });
    }
    out
}

/// A strategy without a handler around it: what it is for is decided in code.
fn polly(block: &Entry, path: &[&Entry]) -> Layer {
    let mut layer = base_layer("retry", path, block.key_span);
    repeat(&mut layer, &block.value, false);
    layer.retries = base::unknown_conditions();
    layer.retry_after = Setting::unknown("code decides", None);
    layer
}

/// Count, waits and jitter; those that nobody wrote are others for HTTP than for Polly alone.
fn repeat(layer: &mut Layer, node: &Node, is_http: bool) {
    layer.asked_for = true;
    let field = |key| get(node, key);
    if let Some(count) = field("MaxRetryAttempts") {
        let attempts = base::whole(count).map(|n| match n {
            2_147_483_647.. => Attempts::Unbounded,
            n => Attempts::Count(n.saturating_add(1)),
        });
        base::counted(layer, count, attempts);
    }
    let source = if is_http { HTTP } else { POLLY };
    let delay = base::or_default(field("Delay"), time_span, Duration::from_secs(2), POLLY);
    let cap = match field("MaxDelay") {
        Some(e) => time_span(e).map(Some),
        None => Setting::default(None, POLLY),
    };
    let kind = field("BackoffType").and_then(|e| e.value.as_str()).map(str::to_lowercase);
    let default = if is_http { "exponential" } else { "constant" };
    layer.wait = match (kind.as_deref().unwrap_or(default), delay.value()) {
        (_, Some(d)) if d.is_zero() => Wait::None,
        ("constant", _) => Wait::Fixed(delay),
        ("linear", _) => Wait::Linear { step: delay, cap },
        ("exponential", _) => Wait::Exponential { base: delay, factor: Setting::default(2.0, POLLY), cap },
        (other, _) => Wait::Unknown { why: format!("`{}` is no kind of backoff", settings::shown(other)) },
    };
    let exponential = matches!(layer.wait, Wait::Exponential { .. });
    let spread = move |on: bool| match (on, exponential) {
        (false, _) => Jitter::None,
        (true, true) => Jitter::Decorrelated,
        (true, false) => Jitter::Partial { low: 0.75, high: 1.25 },
    };
    layer.jitter = match field("UseJitter") {
        Some(e) => spring::setting(e, "true or false", |t| t.to_lowercase().parse().ok()).map(spread),
        None => Setting::default(spread(is_http), source),
    };
    layer.wait_place = ["Delay", "BackoffType", "UseJitter"].iter().find_map(|key| field(key)).map(|e| e.key_span);
    layer.advice = advice(is_http);
}

/// Copies of a request that is slow.
fn hedged(node: &Node, hedging: &Entry, path: &[&Entry]) -> Layer {
    let mut layer = base_layer("hedging handler", path, hedging.key_span);
    layer.asked_for = true;
    layer.attempts = Setting::default(Attempts::Count(2), HEDGING);
    if let Some(count) = get(&hedging.value, "MaxHedgedAttempts") {
        base::counted(&mut layer, count, settings::retries(count));
    }
    let delay = base::or_default(get(&hedging.value, "Delay"), time_span, Duration::from_secs(2), HEDGING);
    layer.wait = Wait::Fixed(delay);
    layer.jitter = Setting::default(Jitter::None, HEDGING);
    layer.copies = true;
    layer.methods = Methods::Any;
    layer.retries = Conditions { yes: base::and_transport((500..=599).chain([408, 429])), ..Conditions::default() };
    layer.overall = Some(timeout(node, "TotalRequestTimeout", 30));
    layer.retry_after = Setting::unknown("copies do not wait for an answer", None);
    layer
}

fn advice(is_http: bool) -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take the handler out; 1 is the smallest `MaxRetryAttempts`"),
        limit: some("set `MaxRetryAttempts` to a small number"),
        wait: some("set `Delay`, such as \"00:00:01\""),
        grow: some("set `BackoffType` to \"Exponential\" and `MaxDelay`"),
        cap: some("set `MaxDelay`, such as \"00:00:30\""),
        jitter: some("set `UseJitter` to true"),
        statuses: if is_http { some("narrow `ShouldHandle` in code") } else { None },
        ..Advice::default()
    }
}
