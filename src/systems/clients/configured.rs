//! Formats of the project's own, as `[[system]]` in retrylint.toml describes them.

use std::time::Duration;

use super::{base, spring};
use crate::config::own::{KeyPath, KeyStep, SystemConfig};
use crate::config::{Config, Globs};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, ModeSet, Setting, Wait};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node};
use crate::systems::settings::{self, Ids, shown};
use crate::systems::{Unit, duration};

/// The formats of a configuration, ready to be asked.
pub struct Configured<'c> {
    formats: Vec<(Globs, &'c SystemConfig)>,
}

/// Where a default of such a format comes from.
const SOURCE: &str = "`[[system]]` in retrylint.toml";

/// Layers of one file.
const MAX_LAYERS: usize = 10_000;

impl<'c> Configured<'c> {
    /// Those of `config`.
    pub fn new(config: &'c Config) -> Self {
        Self { formats: config.own_systems.iter().map(|s| (config.globs(&s.files), s)).collect() }
    }

    /// Whether a file is of one of the formats.
    pub fn reads(&self, path: &str) -> bool {
        self.formats.iter().any(|(globs, _)| globs.matches(path))
    }

    /// Adds the layers of a unit.
    pub fn extract(&self, unit: &Unit<'_>, facts: &mut Facts) {
        for (globs, system) in &self.formats {
            for (file, root) in unit.documents().filter(|(file, _)| globs.matches(&file.path)) {
                let mut ids = Ids::default();
                let found = find(root, &system.layers);
                for found in found.into_iter().take(MAX_LAYERS) {
                    facts.layers.push(layer(system, file, &found, &mut ids));
                }
            }
        }
    }
}

/// A place that a chain of keys leads to.
struct Found<'n> {
    /// What `*` stood for, or the last key.
    title: String,
    node: &'n Node,
    opens: Option<Span>,
}

fn find<'n>(root: &'n Node, path: &KeyPath) -> Vec<Found<'n>> {
    let mut found = vec![Found { title: String::new(), node: root, opens: None }];
    for step in &path.0 {
        let mut next = Vec::new();
        for place in found {
            match step {
                KeyStep::Key(key) => next.extend(place.node.entry(key).map(|e| Found {
                    title: if place.title.is_empty() { e.key.to_string() } else { place.title.clone() },
                    node: &e.value,
                    opens: Some(e.key_span),
                })),
                KeyStep::Any => {
                    next.extend(place.node.entries().iter().map(|e| Found {
                        title: e.key.to_string(),
                        node: &e.value,
                        opens: Some(e.key_span),
                    }));
                    next.extend(place.node.items().iter().map(|n| Found {
                        title: named(n).unwrap_or_default().to_owned(),
                        node: n,
                        opens: None,
                    }));
                }
            }
            if next.len() > MAX_LAYERS {
                break;
            }
        }
        found = next;
    }
    found
}

/// How an item of a list calls itself.
fn named(item: &Node) -> Option<&str> {
    item.get_any(&["name", "id", "service", "host", "url"])?.as_str()
}

fn layer(system: &SystemConfig, file: &SourceFile, found: &Found<'_>, ids: &mut Ids) -> Layer {
    let opens = found.opens.unwrap_or_else(|| settings::opening(file, found.node));
    let field = |path: &Option<KeyPath>| path.as_ref().and_then(|path| below(found.node, path));
    let title = if found.title.is_empty() { "without a name".into() } else { shown(&found.title) };
    let name = format!("{} {title}", system.name);
    let to = match field(&system.target) {
        Some(target) => base::first_host(Some(target)),
        None if system.target.is_none() => base::named(&found.title, opens),
        None => None,
    };
    let id = ids.next(format!("{}:{}", system.name, found.title));
    let attempts = match system.defaults.attempts {
        Some(n) => Setting::default(Attempts::Count(n.max(1)), SOURCE),
        None => Setting::unknown("neither written nor among the defaults in retrylint.toml", Some(opens)),
    };
    let mut layer = base::client(system.name, id, name, opens, to, attempts);
    layer.asked_for = true;
    if let (Some(count), Some((_, is_retries))) = (field(&system.count.as_ref().map(|(p, _)| p.clone())), &system.count)
    {
        let attempts = if *is_retries { settings::retries(count) } else { base::tries(count) };
        base::counted(&mut layer, count, attempts);
    }
    let time = |entry: &Entry| time(entry, system.unit);
    let base = value(field(&system.base), time, system.defaults.base);
    let factor = value(field(&system.factor), base::number, system.defaults.factor);
    let cap = match field(&system.cap) {
        Some(entry) => time(entry).map(Some),
        None => Setting::default(system.defaults.cap, SOURCE),
    };
    let grows = system.factor.is_some() || system.defaults.factor.is_some();
    layer.wait = match base.value() {
        None if system.base.is_none() && system.defaults.base.is_none() => {
            Wait::Unknown { why: "retrylint.toml says nothing of it".to_owned() }
        }
        Some(d) if d.is_zero() => Wait::None,
        _ if grows => Wait::Exponential { base, factor, cap },
        _ => Wait::Fixed(base),
    };
    layer.wait_place = field(&system.base).or(field(&system.cap)).map(|e| e.key_span);
    layer.jitter = jitter(field(&system.jitter), system.defaults.jitter);
    layer.retries = conditions(system, field(&system.statuses));
    layer.advice = advice(system);
    layer
}

/// The entry at the end of a chain of keys.
fn below<'n>(node: &'n Node, path: &KeyPath) -> Option<&'n Entry> {
    let (last, before) = path.0.split_last()?;
    let key = |step: &KeyStep| match step {
        KeyStep::Key(key) => Some(key.clone()),
        KeyStep::Any => None,
    };
    let node = before.iter().try_fold(node, |node, step| node.get(&key(step)?))?;
    node.entry(&key(last)?).filter(|e| !e.value.is_null())
}

fn value<T>(entry: Option<&Entry>, read: impl Fn(&Entry) -> Setting<T>, default: Option<T>) -> Setting<T> {
    match (entry, default) {
        (Some(entry), _) => read(entry),
        (None, Some(value)) => Setting::default(value, SOURCE),
        (None, None) => Setting::unknown("neither written nor among the defaults in retrylint.toml", None),
    }
}

/// A number in the unit of the format, or with a unit of its own.
fn time(entry: &Entry, unit: Duration) -> Setting<Duration> {
    spring::setting(entry, "a duration", |text| match text.parse::<f64>() {
        Ok(n) => duration::millis(n * unit.as_secs_f64() * 1e3),
        Err(_) => duration::go(text).or_else(|| duration::iso(text)),
    })
}

/// A flag, a word, or how much of the wait is random.
fn jitter(entry: Option<&Entry>, default: Option<bool>) -> Setting<Jitter> {
    let of_flag = |on: bool| if on { Jitter::Full } else { Jitter::None };
    let Some(entry) = entry else {
        return match default {
            Some(on) => Setting::default(of_flag(on), SOURCE),
            None => Setting::unknown("neither written nor among the defaults in retrylint.toml", None),
        };
    };
    spring::setting(entry, "a kind of jitter", |text| match text.to_lowercase().as_str() {
        "true" | "full" | "yes" | "on" => Some(Jitter::Full),
        "false" | "none" | "no" | "off" => Some(Jitter::None),
        number => number.parse::<f64>().ok().filter(|f| (0.0..=1.0).contains(f)).map(base::around),
    })
}

fn conditions(system: &SystemConfig, statuses: Option<&Entry>) -> Conditions {
    let transport =
        |conditions: Conditions| Conditions { yes: conditions.yes.union(ModeSet::transport()), ..conditions };
    match (statuses, &system.defaults.statuses) {
        (Some(entry), _) => transport(base::statuses(entry)),
        (None, Some(list)) => {
            transport(Conditions { yes: ModeSet::statuses(list.iter().copied()), ..Conditions::default() })
        }
        (None, None) => base::unknown_conditions(),
    }
}

/// What can be written in such a format.
fn advice(system: &SystemConfig) -> Advice {
    let set = |path: &Option<KeyPath>, what: &str| path.as_ref().map(|path| format!("{what} `{}`", spelled(path)));
    let count = system
        .count
        .as_ref()
        .map(|(path, is_retries)| format!("set `{}` to {}", spelled(path), if *is_retries { 0 } else { 1 }));
    Advice {
        none: count,
        wait: set(&system.base, "set"),
        grow: set(&system.factor, "set"),
        cap: set(&system.cap, "set"),
        jitter: set(&system.jitter, "set"),
        statuses: set(&system.statuses, "list only what can pass in"),
        ..Advice::default()
    }
}

fn spelled(path: &KeyPath) -> String {
    let steps: Vec<&str> = path
        .0
        .iter()
        .map(|step| match step {
            KeyStep::Key(key) => key.as_str(),
            KeyStep::Any => "*",
        })
        .collect();
    steps.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{CONFIG_FILE_ID, CONFIG_NAME, Names, parse};
    use crate::source::FileId;
    use crate::syntax::toml;
    use crate::systems::Part;

    fn layers(config: &str, text: &str) -> Vec<Layer> {
        let source = SourceFile { id: CONFIG_FILE_ID, path: CONFIG_NAME.into(), text: config.into() };
        let config = parse(&source, &Names::all()).unwrap();
        let file = SourceFile { id: FileId(0), path: "conf/clients.toml".into(), text: text.into() };
        let parsed = toml::parse(&file);
        let mut facts = Facts::default();
        Configured::new(&config).extract(&Unit { parts: vec![Part::new(&file, &parsed)] }, &mut facts);
        facts.layers
    }

    const FORMAT: &str = r#"
[[system]]
name = "house-http"
files = ["conf/*.toml"]
layers = "clients.*"
target = "url"
retries = "retry.max"
base = "retry.wait"
cap = "retry.longest"
factor = "retry.growth"
jitter = "retry.spread"
statuses = "retry.on"
unit = "ms"
default-retries = 2
default-base = "100ms"
default-factor = 2
default-jitter = false
"#;

    #[test]
    fn a_format_is_read_as_it_is_described() {
        let all = layers(
            FORMAT,
            "[clients.tax]\nurl = \"http://tax:80\"\nretry = { max = 4, wait = 250, longest = \"5s\", growth = 3, \
             spread = 0.2, on = [503, 404] }\n[clients.mail]\nurl = \"http://mail\"\n",
        );
        let [tax, mail] = all.as_slice() else { panic!("{all:#?}") };
        assert_eq!((tax.system, tax.name.as_str(), &*tax.id), ("house-http", "house-http tax", "house-http:tax"));
        assert_eq!(tax.attempts.value(), Some(&Attempts::Count(5)));
        assert_eq!(tax.wait.nominal(2), Some(Duration::from_millis(2250)));
        assert_eq!(tax.wait.nominal(9), Some(Duration::from_secs(5)));
        assert_eq!(tax.jitter.value(), Some(&Jitter::Partial { low: 0.8, high: 1.2 }));
        assert_eq!(tax.retries.yes.names(), ["refused", "timeout", "404", "503"]);
        assert_eq!(tax.retries.picks.len(), 2);
        assert!(matches!(&mail.attempts, Setting::Default { value: Attempts::Count(3), .. }));
        assert_eq!(mail.wait.nominal(1), Some(Duration::from_millis(200)));
        assert_eq!(mail.jitter.value(), Some(&Jitter::None));
        assert!(mail.retries.yes.is_empty() && !mail.retries.unknown.is_empty());
    }

    #[test]
    fn what_is_not_described_is_unknown() {
        let format = "[[system]]\nname = \"own\"\nfiles = [\"conf/*\"]\nlayers = \"list.*\"\nattempts = \"tries\"\n";
        let all = layers(format, "list = [{ name = \"stock\", tries = 3 }, { name = \"x\", tries = \"many\" }]\n");
        assert_eq!(all[0].attempts.value(), Some(&Attempts::Count(3)));
        assert!(matches!(&all[0].wait, Wait::Unknown { .. }) && all[0].jitter.value().is_none());
        assert!(all[1].attempts.value().is_none());
        assert_eq!(layers(format, "other = 1\n").len(), 0);
    }
}
