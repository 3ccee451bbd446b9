//! Facts as text: one line for each of them.

use std::fmt::Write as _;
use std::time::Duration;

use retrylint::facts::{AddressFact, Facts, RouteFact};
use retrylint::model::{
    Alarm, Attempts, DeadLetter, GatewayName, HostRef, Jitter, Layer, Methods, Purpose, Queue, Redone, Scope, Setting,
    Wait,
};
use retrylint::source::{LineIndex, Sources, Span};

pub fn facts(sources: &Sources, facts: &Facts) -> String {
    let r = Renderer { sources };
    let mut out = String::new();
    for layer in &facts.layers {
        writeln!(out, "{}", r.layer(layer)).unwrap();
    }
    for route in &facts.routes {
        writeln!(out, "{}", r.route(route)).unwrap();
    }
    for c in &facts.components {
        let namespace = c.namespace.as_ref().map(|n| format!(" in {n}")).unwrap_or_default();
        writeln!(out, "component {}{namespace} ({:?}) at {}", c.name, c.kind, r.at(c.span)).unwrap();
        for (what, list) in [("hosts", &c.hosts), ("images", &c.images), ("mounts", &c.mounts)] {
            if !list.is_empty() {
                writeln!(out, "  {what}: {}", list.join(", ")).unwrap();
            }
        }
        if let Some(build) = &c.build {
            writeln!(out, "  build: {build:?}").unwrap();
        }
        if !c.labels.is_empty() {
            writeln!(out, "  labels: {}", pairs(&c.labels)).unwrap();
        }
        for e in &c.env {
            writeln!(out, "  {}={} at {}", e.name, e.value, r.at(e.span)).unwrap();
        }
    }
    for d in &facts.dockerfiles {
        let name = d.name.as_ref().map(|n| format!(" of {n}")).unwrap_or_default();
        writeln!(out, "dockerfile{name} in {:?}: programs {}", d.folder, d.programs.join(", ")).unwrap();
        for e in &d.env {
            writeln!(out, "  {}={} at {}", e.name, e.value, r.at(e.span)).unwrap();
        }
    }
    for s in &facts.services {
        let namespace = s.namespace.as_ref().map(|n| format!(" in {n}")).unwrap_or_default();
        let external = s.external.as_ref().map(|e| format!(" -> {e}")).unwrap_or_default();
        let grpc = if s.grpc { "gRPC " } else { "" };
        writeln!(out, "{grpc}service {}{namespace} [{}]{external} at {}", s.name, pairs(&s.selector), r.at(s.span))
            .unwrap();
    }
    for name in &facts.application_names {
        let served = if name.served { ", served to it" } else { "" };
        writeln!(out, "application {} in {}{served}", name.name, name.path).unwrap();
    }
    for address in &facts.addresses {
        let AddressFact { of, says, to } = address;
        writeln!(out, "address of {of:?}: {says} -> {} at {}", r.hosts(std::slice::from_ref(to)), r.at(to.span))
            .unwrap();
    }
    for queue in &facts.queues {
        writeln!(out, "{}", r.queue(queue)).unwrap();
    }
    for alarm in &facts.alarms {
        writeln!(out, "{}", r.alarm(alarm)).unwrap();
    }
    for record in &facts.incomplete_records {
        let missing: Vec<&str> = record.missing.iter().map(|m| m.name()).collect();
        let minor = if record.minor { " (minor)" } else { "" };
        writeln!(
            out,
            "{}{minor} lack {} at {} says {}",
            record.name,
            missing.join(", "),
            r.at(record.place),
            record.reading
        )
        .unwrap();
    }
    for i in &facts.inert {
        let because = i.because.as_ref().map(|(s, t)| format!(" | {} {t}", r.at(*s))).unwrap_or_default();
        writeln!(out, "inert {} of {} at {}: {}{because}", i.setting, i.owner, r.at(i.place), i.why).unwrap();
    }
    for p in &facts.purges {
        writeln!(out, "purge of {} by {:?} ({:?}) at {}", p.table, p.bound, p.age.map(|(a, _)| ms(a)), r.at(p.place))
            .unwrap();
    }
    for redrive in &facts.redrives {
        writeln!(out, "redrive by {} lacks {:?} at {}", redrive.name, redrive.lacks, r.at(redrive.place)).unwrap();
    }
    for rerun in &facts.reruns {
        let what = match &rerun.what {
            Redone::Items { items, .. } => format!("items {}", r.at(*items)),
            Redone::Steps { span, what } => format!("{what} {}", r.at(*span)),
            Redone::FromStart { span } => format!("from the start {}", r.at(*span)),
        };
        writeln!(out, "rerun of {} ({:?} attempts) repeats {what} at {}", rerun.job, rerun.attempts, r.at(rerun.place))
            .unwrap();
    }
    for run in &facts.program_reruns {
        let component = &run.component.name;
        writeln!(out, "{} ({:?} attempts) runs {component} again at {}", run.job, run.attempts, r.at(run.place))
            .unwrap();
    }
    for u in &facts.unresolved {
        writeln!(out, "unresolved {}: {} at {}", u.what, u.reason, r.at(u.span)).unwrap();
    }
    out
}

fn pairs(pairs: &[(String, String)]) -> String {
    pairs.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(", ")
}

struct Renderer<'a> {
    sources: &'a Sources,
}

impl Renderer<'_> {
    fn layer(&self, l: &Layer) -> String {
        let mut parts = vec![format!("{} [{}]", l.name, l.id)];
        let count = |a: &Attempts| match a {
            Attempts::Count(n) => format!("{n} attempts"),
            other => format!("{other:?}"),
        };
        parts.push(format!(
            "{} ({})",
            self.setting(&l.attempts, count),
            if l.asked_for { "asked for" } else { "implicit" }
        ));
        parts.push(self.wait(&l.wait));
        parts.push(self.setting(&l.jitter, |j| match j {
            Jitter::None => "no jitter".to_string(),
            Jitter::Full => "full jitter".to_string(),
            other => format!("{other:?}"),
        }));
        parts.push(format!("yes {}", l.retries.yes.names().join(" ")));
        if !l.retries.unknown.is_empty() {
            parts.push(format!("perhaps {}", l.retries.unknown.names().join(" ")));
        }
        if let Some(span) = l.retries.any_error {
            parts.push(format!("any error {}", self.at(span)));
        }
        let picks =
            l.retries.picks.iter().map(|p| format!("{}={}@{}", p.text, p.modes.names().join("/"), self.at(p.span)));
        parts.push(format!("picks {}", picks.collect::<Vec<_>>().join("; ")));
        if l.retry_after.value() != Some(&false) {
            parts.push(self.setting(&l.retry_after, |r| format!("Retry-After {r}")));
        }
        match &l.methods {
            Methods::Any => {}
            Methods::Only(m) | Methods::Written { methods: m, .. } => parts.push(format!("methods {}", m.join(","))),
            Methods::Unknown => parts.push("methods ?".to_string()),
        }
        for (what, limit) in [("per try", &l.per_try), ("overall", &l.overall)] {
            if let Some(limit) = limit {
                parts.push(format!("{what} {}", self.setting(limit, |d| ms(*d))));
            }
        }
        if let Some(budget) = &l.budget {
            parts.push(format!("budget {}", self.setting(&budget.ratio, f64::to_string)));
        }
        parts.push(self.scope(l));
        parts.push(format!("place {}", self.at(l.place)));
        if l.opens != l.place {
            parts.push(format!("opens {}", self.at(l.opens)));
        }
        if let Some(span) = l.wait_place {
            parts.push(format!("wait {}", self.at(span)));
        }
        for (span, text) in &l.labels {
            parts.push(format!("label {} {text}", self.at(*span)));
        }
        parts.push(format!("says {}", l.reading));
        parts.join(" | ")
    }

    fn scope(&self, l: &Layer) -> String {
        match &l.scope {
            Scope::Hops { from, to, fallback } => {
                let mut callers: Vec<String> = from.gateways.iter().map(|g| self.gateway(g)).collect();
                if from.mesh {
                    callers.push("sidecars".to_string());
                }
                let fallback = if *fallback { " (fallback)" } else { "" };
                format!("{} -> {}{fallback}", callers.join("+"), self.hosts(to))
            }
            Scope::Client { to, .. } => {
                let component = l.component.as_deref().unwrap_or("?");
                let kind = if l.purpose == Purpose::Background { "background, " } else { "" };
                format!(
                    "{kind}client of {component} -> {}",
                    to.as_ref().map_or("?".to_string(), |h| self.hosts(std::slice::from_ref(h)))
                )
            }
            Scope::Consumers { queue, components, group } => {
                let queue = queue.as_ref().map_or(String::new(), |q| format!(" of {} {:?}", q.service, q.queue));
                format!(
                    "repeats consumers{queue} [{}] in group {group:?}",
                    components.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ")
                )
            }
            Scope::Code => "code".to_string(),
        }
    }

    fn route(&self, route: &RouteFact) -> String {
        let grpc = if route.grpc { "gRPC " } else { "" };
        let limit =
            route.limit.as_ref().map(|l| format!(" within {}", self.setting(l, |d| ms(*d)))).unwrap_or_default();
        let (from, to) = (self.gateway(&route.from), self.hosts(&route.to));
        format!("{grpc}route {from} -> {to}{limit} at {}", self.at(route.span))
    }

    fn queue(&self, q: &Queue) -> String {
        let mut parts = vec![format!("queue {} [{}] of {}", q.name, q.id, q.service), format!("{:?}", q.names)];
        parts.push(match &q.dead_letter {
            DeadLetter::To { target, place } => format!("dead letters to {target:?} {}", self.at(*place)),
            other => format!("dead letters {other:?}"),
        });
        if q.holds_dead_letters {
            parts.push("holds dead letters".to_string());
        }
        if q.minor {
            parts.push("minor".to_string());
        }
        if let Some(retention) = &q.retention {
            let from = if q.ages_from_first_send { " from the first send" } else { "" };
            parts.push(format!("kept {}{from}", self.setting(retention, |d| ms(*d))));
        }
        if let Some(redelivers) = &q.redelivers {
            parts.push(format!("comes back within {}", self.setting(redelivers, |d| ms(*d))));
        }
        parts.push(format!("place {}", self.at(q.place)));
        parts.push(format!("else {}", q.otherwise));
        parts.join(" | ")
    }

    fn alarm(&self, a: &Alarm) -> String {
        format!(
            "{} | {:?} | {:?} | notifies {:?} | place {} | threshold {}",
            a.name,
            a.watches,
            a.fires,
            a.notifies,
            self.at(a.place),
            self.at(a.threshold_place)
        )
    }

    fn gateway(&self, gateway: &GatewayName) -> String {
        match gateway {
            GatewayName::Named(name) => format!("gateway {name}"),
            GatewayName::Labelled(labels) => format!("sidecars of {}", pairs(labels)),
            GatewayName::Delegating { object, .. } => format!("whoever delegates to {object}"),
            GatewayName::OfFile { file, system } => format!("{system} of {}", self.sources.get(*file).unwrap().path),
        }
    }

    fn hosts(&self, hosts: &[HostRef]) -> String {
        let one = |h: &HostRef| {
            let namespace = h.namespace.as_ref().map(|n| format!(" ({n})")).unwrap_or_default();
            let port = h.port.map(|p| format!(":{p}")).unwrap_or_default();
            format!("{}{port}{namespace}", h.name)
        };
        if hosts.is_empty() { "?".to_string() } else { hosts.iter().map(one).collect::<Vec<_>>().join(" or ") }
    }

    fn wait(&self, wait: &Wait) -> String {
        let cap = |c: &Setting<Option<Duration>>| {
            self.setting(c, |c| c.map_or("no cap".to_string(), |c| format!("cap {}", ms(c))))
        };
        match wait {
            Wait::None => "at once".to_string(),
            Wait::Fixed(d) => format!("fixed {}", self.setting(d, |d| ms(*d))),
            Wait::Exponential { base, factor, cap: c } => format!(
                "exponential {} × {} {}",
                self.setting(base, |d| ms(*d)),
                self.setting(factor, f64::to_string),
                cap(c)
            ),
            other => format!("{other:?}"),
        }
    }

    fn setting<T>(&self, setting: &Setting<T>, show: impl Fn(&T) -> String) -> String {
        match setting {
            Setting::Written { value, span } => format!("{} {}", show(value), self.at(*span)),
            Setting::Default { value, .. } => format!("{} (default)", show(value)),
            Setting::Unknown { why, span } => format!("? {why} {}", span.map_or(String::new(), |s| self.at(s))),
        }
    }

    /// file:line:column «text»
    fn at(&self, span: Span) -> String {
        let file = self.sources.get(span.file).unwrap();
        let position = LineIndex::new(&file.text).position(&file.text, span.start);
        let text = self.sources.text(span).replace('\n', "⏎");
        let short: String = text.chars().take(48).collect();
        let dots = if short.len() < text.len() { "…" } else { "" };
        format!("{}:{}:{}«{short}{dots}»", file.path, position.line, position.column)
    }
}

fn ms(d: Duration) -> String {
    if d.as_millis().is_multiple_of(1000) {
        format!("{}s", d.as_secs())
    } else {
        format!("{}ms", d.as_secs_f64() * 1e3)
    }
}
