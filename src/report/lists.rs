//! The lists of all rules and all systems, as text and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::rules;

/// All rules, one a line.
///
/// # Errors
/// Those of `out`.
pub fn rules_text(out: &mut dyn Write) -> io::Result<()> {
    let metas = || rules::all().iter().map(|rule| rule.meta());
    let width = metas().map(|meta| meta.id.len()).max().unwrap_or(0);
    for meta in metas() {
        writeln!(out, "{:width$}  {:7}  {}", meta.id, meta.level.name(), meta.summary)?;
    }
    Ok(())
}

/// All rules as JSON.
///
/// # Errors
/// Those of `out`.
pub fn rules_json(out: &mut dyn Write) -> io::Result<()> {
    let rules = rules::all().iter().map(|rule| rule.meta()).map(|meta| RuleJson {
        rule: meta.id,
        severity: meta.level.name(),
        summary: meta.summary,
    });
    json(&RulesJson { rules: rules.collect() }, out)
}

/// All systems with their defaults.
///
/// # Errors
/// Those of `out`.
pub fn systems_text(out: &mut dyn Write) -> io::Result<()> {
    for (n, meta) in crate::system_metas().enumerate() {
        if n > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{} ({})", meta.name, meta.id)?;
        writeln!(out, "  reads {}", meta.reads)?;
        for default in meta.defaults {
            writeln!(out, "  {}: {}", default.what, default.value)?;
            writeln!(out, "      source: {}", default.source)?;
        }
    }
    Ok(())
}

/// All systems as JSON.
///
/// # Errors
/// Those of `out`.
pub fn systems_json(out: &mut dyn Write) -> io::Result<()> {
    let systems = crate::system_metas().map(|meta| SystemJson {
        system: meta.id,
        name: meta.name,
        reads: meta.reads,
        defaults: meta
            .defaults
            .iter()
            .map(|d| DefaultJson { setting: d.what, meaning: d.value, source: d.source })
            .collect(),
    });
    json(&SystemsJson { systems: systems.collect() }, out)
}

fn json(list: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, list)?;
    writeln!(out)
}

#[derive(Serialize)]
struct RulesJson {
    rules: Vec<RuleJson>,
}

#[derive(Serialize)]
struct RuleJson {
    rule: &'static str,
    severity: &'static str,
    summary: &'static str,
}

#[derive(Serialize)]
struct SystemsJson {
    systems: Vec<SystemJson>,
}

#[derive(Serialize)]
struct SystemJson {
    system: &'static str,
    name: &'static str,
    reads: &'static str,
    defaults: Vec<DefaultJson>,
}

#[derive(Serialize)]
struct DefaultJson {
    setting: &'static str,
    meaning: &'static str,
    source: &'static str,
}
