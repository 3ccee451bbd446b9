//! A first `retrylint.toml`: it changes nothing, and says what could be set and why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::config::{Config, schema};
use crate::model::{ComponentKind, Layer};
use crate::rules::{Severity, phrase};
use crate::run::Run;
use crate::source::shown;
use crate::systems::SystemMeta;

/// So many names are listed.
const LISTED: usize = 20;

/// Where the file is to stand.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// Its folder, as shown.
    folder: String,
    /// The configuration above it, seen from there: it holds so far.
    above: Option<String>,
}

impl Place {
    /// A folder; `cwd` is absolute, its links resolved, and `above` the configuration that holds there so far.
    pub fn new(folder: &Path, cwd: &Path, above: &Config) -> Self {
        let real = cwd.join(folder);
        let real = real.canonicalize().unwrap_or(real);
        let seen = |file: &PathBuf| shown::relative(&file.canonicalize().unwrap_or_else(|_| file.clone()), &real);
        Self { folder: shown::relative(&real, cwd), above: above.file.as_ref().map(seen) }
    }
}

/// The text, for what a run found and what it would find if all systems were in their oldest versions.
pub fn text(run: &Run, oldest: &Run, place: &Place) -> String {
    let mut out = format!(
        "#:schema {}\n\
         # retrylint {}: what holds is written, what could be is behind a `#`. `retrylint config` shows all that holds,\n\
         # and `retrylint config --schema > retrylint.schema.json` writes what an editor completes it by.\n",
        schema::address(),
        env!("CARGO_PKG_VERSION")
    );
    out += &match &place.above {
        Some(file) => format!(
            "\n# What the file above says holds here, too; keys of this file win over it.\nextend = {}\n",
            quoted(file)
        ),
        None => "\n# The attempts that one request may cause at the end of a call path.\n\
                 max-amplification = 10\n\n\
                 # The lowest level that makes the run fail: \"error\", \"warning\", \"note\" or \"never\".\n\
                 fail-on = \"error\"\n"
            .to_owned(),
    };
    out += &baseline(run);
    out += &excluded(run, &place.folder);
    out += &rules(run);
    out += &systems(run, oldest);
    out += &services(run);
    out
}

fn baseline(run: &Run) -> String {
    if run.findings.is_empty() {
        return String::new();
    }
    let count = |level, one, many| phrase::count(run.count(level) as u64, one, many);
    format!(
        "\n# Found now: {}, {}, {}. To fail on new ones only, run `retrylint baseline`, and take the sign away here:\n\
         # baseline = \"retrylint-baseline.json\"\n",
        count(Severity::Error, "error", "errors"),
        count(Severity::Warning, "warning", "warnings"),
        count(Severity::Note, "note", "notes")
    )
}

fn excluded(run: &Run, folder: &str) -> String {
    let files: BTreeSet<&str> = run.unread.iter().map(|unread| &*unread.path).collect();
    if files.is_empty() {
        return "\n# Files and folders that are not read.\n# exclude = [\"/legacy\"]\n".to_owned();
    }
    let below = |file: &str| file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/').to_owned();
    let globs: Vec<String> = files.iter().take(LISTED).map(|file| quoted(&format!("/{}", below(file)))).collect();
    format!(
        "\n# Files that could not be read, or not all of them; `retrylint check` says why. To leave them out:\n\
         # exclude = [{}]\n",
        globs.join(", ")
    )
}

fn rules(run: &Run) -> String {
    let mut out = "\n# A rule's level: \"error\", \"warning\", \"note\" or \"off\".\n[rules]\n".to_owned();
    let mut fired: BTreeMap<&str, (usize, Severity)> = BTreeMap::new();
    for finding in &run.findings {
        fired.entry(finding.rule.id).or_insert((0, finding.rule.level)).0 += 1;
    }
    for (rule, (count, level)) in fired {
        let findings = if count == 1 { "finding" } else { "findings" };
        let _ = writeln!(out, "# {rule} = \"{}\"  # {count} {findings}", level.name());
    }
    out
}

fn systems(run: &Run, oldest: &Run) -> String {
    let of = |run: &Run, id: &str| -> Vec<Layer> {
        run.model.layers.iter().filter(|layer| layer.system == id).cloned().collect()
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for layer in &run.model.layers {
        *counts.entry(layer.system).or_default() += 1;
    }
    let mut out =
        "\n# The version of a system whose defaults depend on it; without one, the newest is assumed.\n".to_owned();
    let name = |id: &str| crate::system_metas().find(|meta: &&SystemMeta| meta.id == id).map(|meta| meta.name);
    if !counts.is_empty() {
        let layers = |n: usize| if n == 1 { "1 layer".to_owned() } else { format!("{n} layers") };
        let found = counts.iter().map(|(id, n)| format!("{} ({})", name(id).unwrap_or(id), layers(*n)));
        out += &listed("# Found here: ", found);
    }
    out += "[systems]\n";
    for id in counts.keys().filter(|id| of(run, id) != of(oldest, id)) {
        let _ = writeln!(out, "# {id} = \"MAJOR.MINOR\"  # what is found here depends on it");
    }
    out
}

fn services(run: &Run) -> String {
    let of = |kinds: &[ComponentKind]| {
        run.model.components.iter().filter(|c| kinds.contains(&c.kind)).map(|c| safe(&c.name)).collect::<Vec<_>>()
    };
    let own = of(&[ComponentKind::Gateway, ComponentKind::Service, ComponentKind::Job]);
    let mut hosts = of(&[ComponentKind::Host]);
    // What stands for a host that nothing names is none.
    hosts.retain(|host| !host.contains(' '));
    let mut out = "\n".to_owned();
    if !own.is_empty() {
        out += &listed("# Services found here: ", own.iter().cloned());
    }
    if !hosts.is_empty() {
        out += &listed("# Called, and not found here: ", hosts.iter().cloned());
    }
    let host = hosts.first().map_or("orders.example", String::as_str);
    let name = host.split(['.', ':']).next().unwrap_or(host);
    let _ = write!(
        out,
        "# Where the files do not show a service, where its sources are, or by which names it is called:\n\
         # [[service]]\n\
         # name = {}\n\
         # paths = [{}]\n\
         # hosts = [{}]\n",
        quoted(name),
        quoted(&format!("/services/{name}")),
        quoted(host)
    );
    out
}

/// Names in lines that are not too long.
fn listed(head: &str, names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(LISTED);
    let mut words: Vec<String> = names.into_iter().take(LISTED).collect();
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    let mut out = String::new();
    let mut line = head.to_owned();
    let last = words.len().saturating_sub(1);
    for (at, word) in words.iter().enumerate() {
        let word = format!("{word}{}", if at == last { "." } else { ", " });
        if line.chars().count() + word.chars().count() > 110 {
            out += line.trim_end();
            out.push('\n');
            line = "#   ".to_owned();
        }
        line += &word;
    }
    out + line.trim_end() + "\n"
}

/// A name that stays in its line.
fn safe(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
