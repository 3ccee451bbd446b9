//! `@Retryable` in Java and Kotlin: Spring Retry, Spring Framework 7 and Micronaut. Each has the name, and a meaning of its
//! own for its numbers; values may stand in the application's settings.

use std::time::Duration;

use super::applications::{self, View};
use super::resilience4j::exceptions;
use super::spring::Text;
use super::{base, spring};
use crate::facts::{AnnotationFact, Facts};
use crate::model::{Advice, Attempts, Confidence, HostRef, Jitter, Layer, Setting, Wait};
use crate::source::Span;
use crate::syntax::{Entry, Node, Syntax};
use crate::systems::settings::{self, shown};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, duration};

/// `@Retryable`.
pub struct Annotated;

const ID: &str = "retryable";
const SPRING: &str = "spring-projects/spring-retry src/main/java/org/springframework/retry/annotation/Retryable.java";
const BACKOFF: &str = "spring-projects/spring-retry src/main/java/org/springframework/retry/annotation/Backoff.java";
const FRAMEWORK: &str = "spring-projects/spring-framework spring-context resilience/annotation/Retryable.java";
const MICRONAUT: &str = "micronaut-projects/micronaut-core retry/annotation/Retryable.java";
const BREAKER: &str = "micronaut-projects/micronaut-core retry/annotation/CircuitBreaker.java";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "@Retryable (Spring Retry, Spring Framework 7, Micronaut)",
    reads: "`@Retryable` and Micronaut's `@CircuitBreaker` in Java and Kotlin, with placeholders from the application's settings",
    // The settings of an application count for the placeholders in its code.
    marks: &["@Retryable", "@CircuitBreaker", "retry"],
    defaults: &[
        DefaultFigure { what: "Spring Retry: maxAttempts absent", value: "3 attempts", source: SPRING },
        DefaultFigure { what: "Spring Retry: backoff absent", value: "1 s, the same each time", source: BACKOFF },
        DefaultFigure {
            what: "Spring Retry: maxDelay absent, with a multiplier",
            value: "at most 30 s",
            source: BACKOFF,
        },
        DefaultFigure { what: "Spring Framework 7: maxRetries absent", value: "4 attempts", source: FRAMEWORK },
        DefaultFigure {
            what: "Spring Framework 7: delay absent",
            value: "1 s, the same each time, no cap",
            source: FRAMEWORK,
        },
        DefaultFigure { what: "Micronaut: attempts absent", value: "4 attempts", source: MICRONAUT },
        DefaultFigure {
            what: "Micronaut: delay, multiplier absent",
            value: "1 s, the same each time",
            source: MICRONAUT,
        },
        DefaultFigure {
            what: "Micronaut: @CircuitBreaker",
            value: "4 attempts, 500 ms, 5 s for all waits",
            source: BREAKER,
        },
        DefaultFigure { what: "exceptions absent", value: "every exception", source: SPRING },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: SPRING },
    ],
};

/// Without one of these a source says nothing here.
pub(crate) const MARKS: &[&str] = &["@Retryable", "@CircuitBreaker"];

/// Whose annotation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Library {
    SpringRetry,
    Framework,
    Micronaut,
    MicronautBreaker,
}

impl System for Annotated {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        if unit.documents().next().is_some_and(|(file, _)| applications::unit_of(&file.path).is_some()) {
            applications::note(unit, facts);
        }
        let is_code = |path: &str| Syntax::of_path(path) == Some(Syntax::Annotations);
        for (file, root) in unit.documents().filter(|(file, _)| is_code(&file.path)) {
            let text = |key: &str, node: &Node| node.get(key).and_then(Node::as_str).map(str::to_owned);
            let imports = root.get("imports").map_or(&[][..], Node::items);
            let imports: Vec<String> = imports.iter().filter_map(|n| n.as_str()).map(str::to_owned).collect();
            let all = root.get("annotations").map_or(&[][..], Node::items);
            for node in all {
                let Some(name) = text("@", node) else { continue };
                if library(&name, &imports).is_none() {
                    continue;
                }
                let class = text("@class", node);
                // A client of HTTP says whom it calls.
                let client = all.iter().find(|other| {
                    let name = text("@", other).unwrap_or_default();
                    matches!(name.as_str(), "Client" | "FeignClient" | "RegisterRestClient")
                        && other.get("@class").and_then(Node::as_str) == class.as_deref()
                });
                let member = |key: &str| client?.entry(key).filter(|e| e.value.as_str().is_some_and(|t| !t.is_empty()));
                let client =
                    ["url", "value", "name", "id", "configKey"].into_iter().filter_map(member).cloned().collect();
                facts.annotations.push(AnnotationFact {
                    path: file.path.to_string(),
                    name,
                    imports: imports.clone(),
                    class,
                    method: text("@method", node),
                    members: node.entries().to_vec(),
                    client,
                    span: node.span,
                });
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        let layers: Vec<Layer> = facts.annotations.iter().filter_map(|fact| layer(fact, facts)).collect();
        facts.layers.extend(layers);
    }
}

fn library(name: &str, imports: &[String]) -> Option<Library> {
    let from = |package: &str| {
        imports
            .iter()
            .any(|i| i.rsplit_once('.').is_some_and(|(p, last)| p == package && (last == name || last.is_empty())))
    };
    match name {
        "Retryable" if from("org.springframework.retry.annotation") => Some(Library::SpringRetry),
        "Retryable" if from("org.springframework.resilience.annotation") => Some(Library::Framework),
        "Retryable" if from("io.micronaut.retry.annotation") => Some(Library::Micronaut),
        "CircuitBreaker" if from("io.micronaut.retry.annotation") => Some(Library::MicronautBreaker),
        _ => None,
    }
}

/// The members of an annotation, with what the settings say for their placeholders.
struct Members<'a> {
    entries: &'a [Entry],
    view: Option<&'a View<'a>>,
}

impl Members<'_> {
    /// The value of the first of these members; of a placeholder, what the settings say.
    fn get(&self, names: &[&str]) -> Option<Entry> {
        let entry = names.iter().find_map(|name| self.entries.iter().find(|e| &*e.key == *name))?;
        let text = entry.value.as_str().unwrap_or_default();
        let key = text.strip_prefix("${").and_then(|t| t.strip_suffix('}')).map(|t| t.split(':').next().unwrap_or(t));
        let written = key.and_then(|key| self.view?.get(key));
        Some(Entry { value: written.map_or_else(|| entry.value.clone(), |e| e.value.clone()), ..entry.clone() })
    }

    fn classes(&self, names: &[&str]) -> Vec<(&str, Span)> {
        let entry = names.iter().find_map(|name| self.entries.iter().find(|e| &*e.key == *name));
        let Some(entry) = entry else { return Vec::new() };
        match entry.value.items() {
            [] => entry.value.as_str().map(|c| (c, entry.value.span)).into_iter().collect(),
            items => items.iter().filter_map(|n| Some((n.as_str()?, n.span))).collect(),
        }
    }
}

fn layer(fact: &AnnotationFact, facts: &Facts) -> Option<Layer> {
    let library = library(&fact.name, &fact.imports)?;
    let view = applications::of_code(&fact.path, facts);
    let members = Members { entries: &fact.members, view: view.as_ref() };
    let of = match (&fact.class, &fact.method) {
        (Some(class), Some(method)) => format!("{class}.{method}"),
        (Some(class), None) => class.clone(),
        _ => "a method".to_owned(),
    };
    let name = format!("@{} on {}", fact.name, shown(&of));
    let opens = fact.members.first().map_or(fact.span, |e| e.key_span);
    let (count, default, source): (_, u64, _) = match library {
        Library::SpringRetry => (members.get(&["maxAttempts", "maxAttemptsExpression"]), 3, SPRING),
        Library::Framework => (members.get(&["maxRetries", "maxRetriesString"]), 4, FRAMEWORK),
        Library::Micronaut => (members.get(&["attempts"]), 4, MICRONAUT),
        Library::MicronautBreaker => (members.get(&["attempts"]), 4, BREAKER),
    };
    let attempts = Setting::default(Attempts::Count(default), source);
    let mut layer = base::client(ID, format!("{ID}:{of}").into(), name, opens, host(fact, view.as_ref()), attempts);
    layer.asked_for = true;
    if let Some(count) = count {
        let attempts = if library == Library::SpringRetry { base::tries(&count) } else { base::retries(&count, None) };
        base::counted(&mut layer, &count, attempts);
        if layer.place.file != opens.file {
            layer.labels.push((count.key_span, format!("`{}` takes it from the settings", count.key)));
        }
    }
    timing(&mut layer, library, &members);
    let (listed, ignored) = match library {
        Library::SpringRetry => {
            (members.classes(&["retryFor", "include", "value"]), members.classes(&["noRetryFor", "exclude"]))
        }
        _ => (members.classes(&["includes", "value"]), members.classes(&["excludes"])),
    };
    layer.retries = exceptions::of_classes(&listed, &ignored, opens);
    layer.retry_after = Setting::default(false, SPRING);
    layer.confidence = Confidence::Medium;
    layer.advice = advice(library);
    Some(layer)
}

/// The client that the class is, if its name or another annotation says so.
fn host(fact: &AnnotationFact, view: Option<&View<'_>>) -> Option<HostRef> {
    for member in &fact.client {
        let entry = Members { entries: std::slice::from_ref(member), view }.get(&[&*member.key])?;
        let span = entry.value.span;
        match spring::value(&entry) {
            // A URL that is empty in the end leaves it to the name.
            Text::Known("", _) => {}
            Text::Known(text, _) if &*member.key == "url" || text.contains("://") => {
                return settings::host(text, span, None);
            }
            Text::Known(text, _) => return base::named(text.trim_start_matches('/'), span),
            Text::Placeholder(_) => return None,
        }
    }
    if !fact.client.is_empty() {
        return None;
    }
    let class = fact.class.as_deref()?.strip_suffix("Client").filter(|c| !c.is_empty())?;
    base::named(class, fact.span)
}

fn timing(layer: &mut Layer, library: Library, members: &Members<'_>) {
    let nested = members.entries.iter().find(|e| &*e.key == "backoff");
    let inner = Members { entries: nested.map_or(&[][..], |e| e.value.entries()), view: members.view };
    let of = if library == Library::SpringRetry { &inner } else { members };
    let names: &[&str] = match library {
        Library::SpringRetry => &["delay", "value", "delayExpression"],
        _ => &["delay", "delayString"],
    };
    let delay = of.get(names);
    let (first, source) = match library {
        Library::SpringRetry => (1000, BACKOFF),
        Library::Framework => (1000, FRAMEWORK),
        Library::Micronaut => (1000, MICRONAUT),
        Library::MicronautBreaker => (500, BREAKER),
    };
    let time = |e: &Entry| spring::setting(e, "a duration", duration::spring);
    let first = base::or_default(delay.as_ref(), time, Duration::from_millis(first), source);
    let multiplier = of.get(&["multiplier", "multiplierExpression", "multiplierString"]);
    let longest = of.get(&["maxDelay", "maxDelayExpression", "maxDelayString"]);
    let factor = base::or_default(multiplier.as_ref(), base::number, 1.0, source);
    let grows = factor.value().is_none_or(|f| *f > 1.0);
    let cap = match (library, &longest) {
        (Library::SpringRetry, None) => Setting::default(Some(Duration::from_secs(30)), BACKOFF),
        (Library::SpringRetry | Library::Framework, Some(e)) => time(e).map(Some),
        _ => Setting::default(None, source),
    };
    layer.wait = match grows {
        true => base::exponential(first, factor, cap),
        false if first.value().is_some_and(Duration::is_zero) => Wait::None,
        false => Wait::Fixed(first),
    };
    layer.wait_place = delay.or(multiplier).map(|e| e.key_span).filter(|s| s.file == layer.opens.file);
    let random = of.get(&["random", "randomExpression"]).filter(|e| e.value.as_bool() == Some(true));
    let jitter = of.get(&["jitter", "jitterString"]);
    layer.jitter = match (library, random, jitter) {
        (Library::SpringRetry, Some(e), _) => Setting::written(Jitter::Partial { low: 1.0, high: 2.0 }, e.value.span),
        (Library::Framework, _, Some(e)) => {
            time(&e).map(|d| if d.is_zero() { Jitter::None } else { Jitter::Partial { low: 0.5, high: 1.5 } })
        }
        (Library::Micronaut | Library::MicronautBreaker, _, Some(e)) => base::number(&e).map(base::around),
        _ => Setting::default(Jitter::None, source),
    };
    // Micronaut's largest delay is that of all waits together.
    layer.overall = match (library, longest) {
        (Library::Micronaut, Some(e)) | (Library::MicronautBreaker, Some(e)) => Some(time(&e)),
        (Library::MicronautBreaker, None) => Some(Setting::default(Duration::from_secs(5), BREAKER)),
        _ => None,
    };
}

fn advice(library: Library) -> Advice {
    let text = |spring: &str, framework: &str, micronaut: &str| {
        Some(match library {
            Library::SpringRetry => spring.to_owned(),
            Library::Framework => framework.to_owned(),
            Library::Micronaut | Library::MicronautBreaker => micronaut.to_owned(),
        })
    };
    Advice {
        none: text("take the annotation out", "set `maxRetries = 0`", "take the annotation out"),
        wait: text("set `backoff = @Backoff(delay = 500)`", "set `delay`", "set `delay`"),
        grow: text(
            "set `backoff = @Backoff(delay = 500, multiplier = 2, maxDelay = 10000, random = true)`",
            "set `multiplier = 2` and `maxDelay`",
            "set `multiplier = \"2.0\"`",
        ),
        cap: text("set `maxDelay`", "set `maxDelay`", "set `maxDelay`, which bounds all waits together"),
        jitter: text("set `random = true` in `@Backoff`", "set `jitter`", "set `jitter = \"0.5\"`"),
        statuses: text(
            "list in `retryFor` only what can pass, such as `IOException`",
            "list in `includes` only what can pass, such as `IOException`",
            "list in `includes` only what can pass, such as `IOException`",
        ),
        ..Advice::default()
    }
}
