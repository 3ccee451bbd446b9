//! One Retry filter: `Retry=3,BAD_GATEWAY,GET,50ms,...` or `name: Retry` with `args`.

use std::sync::Arc;
use std::time::Duration;

use super::{FACTORY, FRAMEWORK, FUNCTIONS, ID, SPRING_RETRY, part, status};
use crate::model::{
    Advice, Attempts, Conditions, Confidence, Inert, Jitter, Layer, LayerKind, Methods, ModeSet, Pick, Purpose, Scope,
    Setting, Wait,
};
use crate::source::{SourceFile, Span};
use crate::syntax::{Node, Value, relaxed};
use crate::systems::{duration, settings};

/// Which of the two servers runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    WebFlux,
    /// With Spring Retry.
    WebMvc,
    /// With what Spring Framework has for it since version 7.
    Framework,
}

/// An argument: its words, each with its place, and the place of the whole.
#[derive(Debug, Clone)]
struct Argument<'n> {
    words: Vec<(&'n str, Span)>,
    span: Span,
    /// The key, in the full form.
    key: Option<(&'n str, Span)>,
}

/// A Retry filter.
pub(super) struct Filter<'n> {
    node: &'n Node,
    server: Server,
    arguments: Vec<(&'static str, Argument<'n>)>,
    /// The key that opens the block of waits, in the full form.
    backoff: Option<Span>,
}

/// The order of the short form.
const WEBFLUX: [&str; 9] = [
    "retries",
    "statuses",
    "methods",
    "backoff.firstbackoff",
    "backoff.maxbackoff",
    "backoff.factor",
    "backoff.basedonpreviousvalue",
    "jitter.randomfactor",
    "timeout",
];
const WEBMVC: [&str; 3] = ["retries", "series", "methods"];

/// Every argument of the full form.
const ALL: [&str; 11] = [
    "retries",
    "statuses",
    "series",
    "methods",
    "exceptions",
    "backoff.firstbackoff",
    "backoff.maxbackoff",
    "backoff.factor",
    "backoff.basedonpreviousvalue",
    "jitter.randomfactor",
    "timeout",
];

impl<'n> Filter<'n> {
    /// The filter that an item of a list is; `None` for another one.
    pub(super) fn read(item: &'n Node, server: Server) -> Option<Self> {
        let mut filter = Self { node: item, server, arguments: Vec::new(), backoff: None };
        if let Some(text) = item.as_str() {
            let (name, rest) = text.split_once('=').unwrap_or((text, ""));
            if name.trim() != "Retry" {
                return None;
            }
            filter.short(rest, text.len() - rest.len());
            return Some(filter);
        }
        if item.get("name").and_then(Node::as_str) != Some("Retry") {
            return None;
        }
        if let Some(args) = item.get("args") {
            filter.full(args, "");
        }
        Some(filter)
    }

    fn short(&mut self, text: &'n str, mut at: usize) {
        let order: &[&'static str] = if self.server == Server::WebFlux { &WEBFLUX } else { &WEBMVC };
        for (name, raw) in order.iter().zip(text.split(',')) {
            let word = raw.trim();
            let span = part(self.node, at + (raw.len() - raw.trim_start().len()), word.len());
            at += raw.len() + 1;
            if !word.is_empty() {
                self.arguments.push((*name, Argument { words: vec![(word, span)], span, key: None }));
            }
        }
    }

    /// Keys can be nested or dotted, in any spelling.
    fn full(&mut self, args: &'n Node, prefix: &str) {
        for entry in args.entries() {
            let name: Vec<String> = entry.key.split('.').map(relaxed).collect();
            let name = format!("{prefix}{}", name.join("."));
            if name.starts_with("backoff") {
                self.backoff.get_or_insert(entry.key_span);
            }
            if let Value::Map(_) = entry.value.value {
                if prefix.is_empty() {
                    self.full(&entry.value, &format!("{name}."));
                }
                continue;
            }
            let Some(known) = ALL.iter().find(|known| **known == name) else { continue };
            let words = match &entry.value.value {
                Value::List(items) => items.iter().filter_map(|n| Some((n.as_str()?.trim(), n.span))).collect(),
                _ => settings::list(&entry.value),
            };
            let argument = Argument { words, span: entry.value.span, key: Some((&entry.key, entry.key_span)) };
            self.arguments.retain(|(name, _)| name != known);
            self.arguments.push((*known, argument));
        }
    }

    fn get(&self, name: &str) -> Option<&Argument<'n>> {
        self.arguments.iter().find(|(n, _)| *n == name).map(|(_, argument)| argument)
    }

    /// The first word of an argument, read.
    fn setting<T>(&self, name: &str, kind: &str, read: impl Fn(&str) -> Option<T>) -> Option<Setting<T>> {
        let argument = self.get(name)?;
        let (word, span) = argument.words.first().copied().unwrap_or(("", argument.span));
        Some(match read(word) {
            Some(value) => Setting::written(value, span),
            None if word.contains("${") => Setting::unknown(format!("comes from the placeholder {word}"), Some(span)),
            None => Setting::unknown(format!("`{word}` is not {kind}"), Some(span)),
        })
    }

    /// The layer that the filter is.
    pub(super) fn layer(&self, file: &SourceFile, id: Arc<str>, name: String, scope: Scope) -> Layer {
        let opens = if self.node.scalar().is_some() { self.node.span } else { settings::opening(file, self.node) };
        let (attempts, place, reading) = self.count(&name, opens);
        let (wait, wait_place) = self.wait();
        Layer {
            id,
            system: ID,
            kind: LayerKind::Gateway,
            reading,
            place,
            opens,
            component: None,
            scope,
            attempts,
            asked_for: true,
            jitter: self.jitter(&wait),
            wait,
            wait_place,
            retries: self.conditions(opens),
            retry_after: Setting::default(false, FACTORY),
            methods: self.methods(),
            per_try: None,
            // WebMVC has no limit on all tries.
            overall: match self.server {
                Server::WebFlux => self.setting("timeout", "a duration", duration::spring),
                Server::WebMvc | Server::Framework => None,
            },
            budget: None,
            labels: Vec::new(),
            advice: self.advice(),
            copies: false,
            elsewhere: false,
            purpose: Purpose::Request,
            confidence: Confidence::High,
            name,
        }
    }

    /// Arguments that do nothing where they stand.
    pub(super) fn inert(&self, name: &str) -> Vec<Inert> {
        let only_in_webflux = match self.server {
            Server::WebFlux => &[][..],
            Server::WebMvc | Server::Framework => &["statuses", "jitter.randomfactor", "timeout"],
        };
        let mut found: Vec<(&str, &str)> = only_in_webflux
            .iter()
            .map(|key| (*key, "the WebMVC server has no such argument and passes over it"))
            .collect();
        if self.server == Server::WebFlux && self.wait().0 == Wait::None {
            found.push(("jitter.randomfactor", "without `backoff` there is no wait that it could spread"));
        }
        let written = |key: &str| self.get(key).and_then(|a| Some((a.key?, a.span)));
        let inert = |(key, why): (&str, &str)| {
            let ((shown, at), _) = written(key)?;
            Some(Inert::new(at, format!("`{}`", settings::shown(shown)), why).of(name))
        };
        found.into_iter().filter_map(inert).collect()
    }

    /// WebFlux counts retries, WebMVC by Spring Retry tries, and by Spring Framework retries, of which there are three at most
    /// where no wait is set.
    fn count(&self, name: &str, opens: Span) -> (Setting<Attempts>, Span, String) {
        let extra = u64::from(self.server != Server::WebMvc);
        let is_short = self.server == Server::Framework && self.wait().1.is_none();
        let most = if is_short { 4 } else { u64::MAX };
        match self.setting("retries", "a number", |t| t.parse::<u64>().ok()) {
            Some(count) => {
                let place = count.span().unwrap_or(opens);
                let word = self.get("retries").and_then(|a| a.words.first()).map_or("", |(word, _)| *word);
                let quoted = match self.get("retries").and_then(|a| a.key) {
                    Some((key, _)) => format!("`{key}: {word}`"),
                    None => format!("the {word} of `Retry={word}`"),
                };
                let attempts = count.map(|n| Attempts::Count(n.saturating_add(extra).clamp(1, most)));
                (attempts, place, format!("{quoted} on {name}"))
            }
            None => {
                let source = if self.server == Server::WebFlux { FACTORY } else { FUNCTIONS };
                let attempts = Setting::default(Attempts::Count(3 + extra), source);
                (attempts, opens, format!("the Retry filter on {name}, without `retries`"))
            }
        }
    }

    fn conditions(&self, opens: Span) -> Conditions {
        let mut out = Conditions::default();
        let mut add = |modes: ModeSet, span: Span, text: String| {
            out.yes = out.yes.union(modes);
            if !modes.is_empty() {
                out.picks.push(Pick { modes, span, text });
            }
        };
        // WebMVC has no statuses.
        if let Some(statuses) = self.get("statuses").filter(|_| self.server == Server::WebFlux) {
            for (word, span) in &statuses.words {
                add(status::status(word).unwrap_or_default(), *span, format!("`{word}`"));
            }
        }
        match self.get("series") {
            Some(series) => {
                for (word, span) in &series.words {
                    add(status::series(word).unwrap_or_default(), *span, format!("`{word}`"));
                }
            }
            None => add(ModeSet::statuses(500..=599), opens, "the default series SERVER_ERROR".to_string()),
        }
        let mut unknown = ModeSet::EMPTY;
        match self.get("exceptions") {
            Some(exceptions) => {
                for (class, span) in &exceptions.words {
                    match status::exception(class) {
                        Some(modes) => add(modes, *span, format!("`{class}`")),
                        None => unknown = ModeSet::transport(),
                    }
                }
            }
            None => add(ModeSet::transport(), opens, "the default exceptions".to_string()),
        }
        out.unknown = unknown.difference(out.yes);
        out
    }

    /// In WebMVC methods hold for statuses alone: an exception is retried whatever the method.
    fn methods(&self) -> Methods {
        let named = match self.get("methods") {
            Some(argument) => {
                let post = argument.words.iter().find(|(w, _)| matches!(w.to_uppercase().as_str(), "POST" | "PATCH"));
                let methods: Vec<String> = argument.words.iter().map(|(w, _)| w.to_uppercase()).collect();
                match post {
                    Some((_, span)) => return Methods::Written { methods, span: *span },
                    None => methods,
                }
            }
            None => vec!["GET".to_string()],
        };
        if self.server == Server::WebFlux { Methods::Only(named) } else { Methods::Any }
    }

    fn wait(&self) -> (Wait, Option<Span>) {
        let first = self.setting("backoff.firstbackoff", "a duration", duration::spring);
        let place = self.backoff.or_else(|| self.get("backoff.firstbackoff").map(|a| a.span));
        if place.is_none() {
            let wait = match self.server {
                Server::Framework => Wait::Fixed(Setting::default(Duration::from_secs(1), FRAMEWORK)),
                Server::WebFlux | Server::WebMvc => Wait::None,
            };
            return (wait, None);
        }
        let no_cap = match self.server {
            Server::WebFlux => Setting::default(None, FACTORY),
            Server::WebMvc => Setting::default(Some(Duration::from_secs(30)), SPRING_RETRY),
            Server::Framework => Setting::unknown("not documented", None),
        };
        let cap = self.setting("backoff.maxbackoff", "a duration", duration::spring);
        let wait = Wait::Exponential {
            base: first.unwrap_or(Setting::default(Duration::from_millis(5), FACTORY)),
            factor: self
                .setting("backoff.factor", "a number", |t| t.parse::<f64>().ok().filter(|n| n.is_finite()))
                .unwrap_or(Setting::default(2.0, FACTORY)),
            cap: cap.map_or(no_cap, |cap| cap.map(Some)),
        };
        (wait, place)
    }

    /// A share of the wait, up and down; without waits it spreads nothing.
    fn jitter(&self, wait: &Wait) -> Setting<Jitter> {
        let number = |t: &str| t.parse::<f64>().ok().filter(|n| (0.0..=1.0).contains(n));
        match self.setting("jitter.randomfactor", "a share between 0 and 1", number) {
            Some(factor) if *wait != Wait::None => factor.map(|f| match f {
                0.0 => Jitter::None,
                f => Jitter::Partial { low: 1.0 - f, high: 1.0 + f },
            }),
            _ => Setting::default(Jitter::None, FACTORY),
        }
    }

    fn advice(&self) -> Advice {
        let some = |s: &str| Some(s.to_string());
        let waits = "set `backoff: {firstBackoff: 50ms, maxBackoff: 1s, factor: 2}`";
        Advice {
            none: some("take the Retry filter out"),
            wait: some(waits),
            grow: some(waits),
            cap: some("set `maxBackoff` under `backoff`"),
            jitter: (self.server == Server::WebFlux)
                .then(|| "set `jitter: {randomFactor: 0.5}` (4.1.7 and later)".into()),
            statuses: some(
                "list in `statuses` only what can pass, such as `BAD_GATEWAY,SERVICE_UNAVAILABLE`, with `series` empty",
            ),
            ..Advice::default()
        }
    }
}
