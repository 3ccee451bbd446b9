//! The fourth stage: units to facts, in parallel. A unit's facts depend on the unit alone.

mod flatten;

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::config::Config;
use crate::facts::Facts;
use crate::rust::cargo;
use crate::rust::lower::lower;
use crate::rust::stores::texts;
use crate::source::generated::is_lock;
use crate::source::{SourceFile, Span, Unread};
use crate::syntax::{self, Parsed, Syntax, SyntaxError};
use crate::systems::clients::configured::Configured;
use crate::systems::{self, Part, Unit, charts, overlays, sql};

/// Larger Rust files are generated: their trees would take some 300 bytes of memory for each byte of text.
const MAX_RUST_BYTES: usize = 8 << 20;

/// The facts of all files, in their order, joined by each system.
pub fn extract(files: &[SourceFile], config: &Config) -> Facts {
    let units = systems::units(&files.iter().map(|file| &*file.path).collect::<Vec<_>>());
    let own = Configured::new(config);
    let of_units: Vec<Facts> = units
        .par_iter()
        .map(|unit| unit.iter().filter_map(|&n| files.get(n)).collect::<Vec<_>>())
        .map(|unit| extract_unit(&unit, config, &own))
        .collect();
    let paths = files.iter().map(|file| (file.id, file.path.clone())).collect();
    let mut facts = Facts { paths, ..Facts::default() };
    for unit in of_units {
        facts.append(unit);
    }
    for (at, parsed) in overlays::patched(files) {
        if let Some(file) = files.get(at) {
            let unit = Unit { parts: vec![Part::new(file, &parsed)] };
            add_new(&mut facts, systems::extract(&unit, &config.versions));
        }
    }
    cargo::inherit(&mut facts);
    systems::join(&mut facts);
    facts
}

/// Adds what an overlay makes of an object: of what the base says too, nothing comes twice.
fn add_new(facts: &mut Facts, other: Facts) {
    let known: BTreeSet<_> = facts.layers.iter().map(|l| (l.id.clone(), l.place, l.opens)).collect();
    facts.layers.extend(other.layers.into_iter().filter(|l| !known.contains(&(l.id.clone(), l.place, l.opens))));
    add_unknown(&mut facts.routes, other.routes);
    add_unknown(&mut facts.route_rules, other.route_rules);
    add_unknown(&mut facts.attached, other.attached);
    add_unknown(&mut facts.delegations, other.delegations);
    add_unknown(&mut facts.inert, other.inert);
    add_unknown(&mut facts.unresolved, other.unresolved);
}

fn add_unknown<T: PartialEq>(known: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !known.contains(&item) {
            known.push(item);
        }
    }
}

fn extract_unit(files: &[&SourceFile], config: &Config, own: &Configured<'_>) -> Facts {
    let syntax = |file: &SourceFile| Syntax::of_path(&file.path);
    match files {
        [file] if syntax(file) == Some(Syntax::Rust) => extract_rust(file, config),
        [file] if syntax(file) == Some(Syntax::Sql) => extract_sql(file),
        [file] if is_lock(&file.path) => Facts { locks: vec![cargo::lock(file)], ..Facts::default() },
        _ => extract_settings(files, config, own),
    }
}

fn extract_rust(file: &SourceFile, config: &Config) -> Facts {
    if file.text.len() > MAX_RUST_BYTES {
        let message = format!("a Rust file larger than {} MiB", MAX_RUST_BYTES >> 20);
        let error = SyntaxError { span: Span::start_of(file.id), message };
        return Facts { unread: vec![unread(file, &error)], ..Facts::default() };
    }
    match lower(file, config.include_tests) {
        Ok(module) => {
            let mut facts = Facts::default();
            texts::extract(file, &module, &mut facts);
            facts.modules.push(module);
            facts
        }
        Err(error) => Facts { unread: vec![unread(file, &error)], ..Facts::default() },
    }
}

fn extract_sql(file: &SourceFile) -> Facts {
    let mut facts = Facts::default();
    sql::extract(file, &mut facts);
    facts
}

fn extract_settings(files: &[&SourceFile], config: &Config, own: &Configured<'_>) -> Facts {
    let mut parsed: Vec<(&SourceFile, Parsed)> =
        files.iter().filter_map(|file| Some((*file, syntax::parse(Syntax::of_path(&file.path)?, file)))).collect();
    charts::resolve(&mut parsed);
    let unit = Unit { parts: parsed.iter().map(|(file, parsed)| Part::new(file, parsed)).collect() };
    let mut facts = systems::extract(&unit, &config.versions);
    own.extract(&unit, &mut facts);
    for (file, parsed) in &parsed {
        if cargo::is_manifest(&file.path) {
            cargo::extract(file, parsed, &mut facts);
        }
        facts.settings.extend(flatten::flatten(file, parsed));
        // Of the files of a chart those that concern nothing are there for their values alone.
        if files.len() == 1 || systems::is_marked(&file.text) {
            facts.unread.extend(parsed.errors.iter().map(|error| unread(file, error)));
        }
    }
    if files.iter().any(|file| file.text.contains("{{")) {
        // What both branches of a template say is one layer.
        let mut seen = BTreeSet::new();
        facts.layers.retain(|l| seen.insert((l.id.clone(), l.place, l.opens)));
    }
    facts
}

fn unread(file: &SourceFile, error: &SyntaxError) -> Unread {
    Unread { path: file.path.clone(), span: Some(error.span), reason: error.message.clone() }
}
