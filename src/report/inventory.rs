//! Every layer with all its settings: as a table, as CSV, as JSON. What nobody wrote is marked as a default, what is not
//! known as unknown.

use std::io::{self, Write};

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::data::{Data, JitterData, LayerData, Location, Origin, SettingData};
use super::text::{Ink, Style};
use crate::rules::phrase;
use crate::run::Run;

/// A form of the inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InventoryForm {
    /// For people.
    Table,
    /// For spreadsheets.
    Csv,
    /// For programs.
    Json,
}

/// Writes the inventory.
///
/// # Errors
/// Those of `out`.
pub fn write(run: &Run, form: InventoryForm, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let layers = Data::new(run).layers;
    match form {
        InventoryForm::Table => table(&layers, style, out),
        InventoryForm::Csv => csv(&layers, out),
        InventoryForm::Json => {
            serde_json::to_writer_pretty(&mut *out, &InventoryJson { schema_version: 1, layers })?;
            writeln!(out)
        }
    }
}

/// Version 1: within it fields may be added; none is renamed, removed or changes its meaning.
#[derive(Serialize)]
struct InventoryJson<'r> {
    schema_version: u32,
    layers: Vec<LayerData<'r>>,
}

const HEAD: [&str; 10] =
    ["COMPONENT", "LAYER", "ATTEMPTS", "WAIT", "JITTER", "EACH TRY", "ALL TRIES", "RETRIES", "RETRY-AFTER", "PLACE"];

fn table(layers: &[LayerData<'_>], style: Style, out: &mut dyn Write) -> io::Result<()> {
    if layers.is_empty() {
        return writeln!(out, "Nothing here tries anything again.");
    }
    let mut rows: Vec<[String; 10]> = layers.iter().map(row).collect();
    rows.sort();
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|n| {
            let cells = rows.iter().filter_map(|row| row.get(n)).map(|cell| cell.width());
            cells.chain(HEAD.get(n).map(|head| head.width())).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| {
            let room = width.saturating_sub(cell.width());
            format!("{cell}{}", " ".repeat(room))
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    writeln!(out, "{}", style.paint(Ink::Strong, line(&HEAD.map(str::to_owned))))?;
    for row in &rows {
        writeln!(out, "{}", line(row))?;
    }
    writeln!(out, "\n(d): a default, nobody wrote it; ?: not known")
}

fn row(layer: &LayerData<'_>) -> [String; 10] {
    let limit = |setting: &Option<SettingData<f64>>| match setting {
        Some(setting) => marked(setting, |seconds| in_words(*seconds)),
        None => "-".to_owned(),
    };
    [
        layer.component.clone().unwrap_or_else(|| "-".to_owned()),
        layer.name.to_owned(),
        attempts(layer),
        layer.wait.clone(),
        marked(&layer.jitter, |jitter| jitter.name().to_owned()),
        limit(&layer.per_try),
        limit(&layer.overall),
        failures(layer),
        marked(&layer.retry_after, |used| if *used { "used" } else { "ignored" }.to_owned()),
        place(&layer.location),
    ]
}

/// "4", "about 12 in 30 s (d)", "without limit", "?".
fn attempts(layer: &LayerData<'_>) -> String {
    let count = match (layer.unbounded, layer.attempts.value, layer.within) {
        (true, ..) => "without limit".to_owned(),
        (_, Some(about), Some(seconds)) => format!("about {about} in {}", in_words(seconds)),
        (_, Some(count), None) => count.to_string(),
        (_, None, _) => return "?".to_owned(),
    };
    format!("{count}{}", mark(layer.attempts.origin))
}

fn failures(layer: &LayerData<'_>) -> String {
    let perhaps = layer.perhaps_on.iter().map(|name| format!("{name}?"));
    let all: Vec<String> = layer.retries_on.iter().cloned().chain(perhaps).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(" ") }
}

fn marked<T>(setting: &SettingData<T>, words: impl Fn(&T) -> String) -> String {
    setting.value.as_ref().map_or_else(|| "?".to_owned(), |value| words(value) + mark(setting.origin))
}

fn mark(origin: Origin) -> &'static str {
    match origin {
        Origin::Default => " (d)",
        Origin::Written | Origin::Unknown => "",
    }
}

fn in_words(seconds: f64) -> String {
    std::time::Duration::try_from_secs_f64(seconds).map_or_else(|_| "?".to_owned(), phrase::duration)
}

fn place(location: &Location) -> String {
    format!("{}:{}:{}", location.file, location.line, location.column)
}

const COLUMNS: [&str; 27] = [
    "id",
    "name",
    "system",
    "kind",
    "component",
    "target",
    "attempts",
    "attempts_origin",
    "unbounded",
    "within_seconds",
    "backoff",
    "wait",
    "jitter",
    "jitter_origin",
    "per_try_seconds",
    "per_try_origin",
    "overall_seconds",
    "overall_origin",
    "retries_on",
    "perhaps_on",
    "retry_after",
    "retry_after_origin",
    "methods",
    "budget",
    "budget_origin",
    "file",
    "line",
];

fn csv(layers: &[LayerData<'_>], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for layer in layers {
        writer.write_record(record(layer))?;
    }
    writer.flush()
}

fn record(layer: &LayerData<'_>) -> [String; 27] {
    let number = |n: Option<f64>| n.map_or_else(String::new, |n| n.to_string());
    let limit = |setting: &Option<SettingData<f64>>| match setting {
        Some(setting) => (number(setting.value), origin(setting.origin)),
        None => (String::new(), String::new()),
    };
    let (per_try, per_try_origin) = limit(&layer.per_try);
    let (overall, overall_origin) = limit(&layer.overall);
    let (budget, budget_origin) = limit(&layer.budget);
    [
        layer.id.to_owned(),
        layer.name.to_owned(),
        layer.system.to_owned(),
        layer.kind.to_owned(),
        layer.component.clone().unwrap_or_default(),
        layer.target.clone().unwrap_or_default(),
        layer.attempts.value.map_or_else(String::new, |n| n.to_string()),
        origin(layer.attempts.origin),
        layer.unbounded.to_string(),
        number(layer.within),
        layer.backoff.to_owned(),
        layer.wait.clone(),
        layer.jitter.value.map_or_else(String::new, |j: JitterData| j.name().to_owned()),
        origin(layer.jitter.origin),
        per_try,
        per_try_origin,
        overall,
        overall_origin,
        layer.retries_on.join(" "),
        layer.perhaps_on.join(" "),
        layer.retry_after.value.map_or_else(String::new, |used| used.to_string()),
        origin(layer.retry_after.origin),
        layer.methods.map_or_else(String::new, |methods| methods.join(" ")),
        budget,
        budget_origin,
        layer.location.file.clone(),
        layer.location.line.to_string(),
    ]
}

fn origin(origin: Origin) -> String {
    match origin {
        Origin::Written => "written",
        Origin::Default => "default",
        Origin::Unknown => "unknown",
    }
    .to_owned()
}
