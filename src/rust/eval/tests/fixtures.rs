//! The functions of `fixtures/rust`: over each stands what is to be read there.

use std::path::Path;

use super::support::{Read, read};
use crate::model::{Attempts, Jitter, Layer, Mode, ModeSet, Purpose};
use crate::source::Span;

/// A function with what is said over it.
struct Said {
    name: String,
    file: usize,
    start: u32,
    end: u32,
    /// One text for each layer.
    layers: Vec<String>,
}

/// The files of a folder of fixtures: path and text.
pub(super) fn fixture_files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut files: Vec<(String, String)> = walkdir::WalkDir::new(folder.join("src"))
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.expect("the fixtures can be listed"))
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "rs"))
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).expect("a fixture can be read");
            (format!("src/{}", entry.file_name().to_string_lossy()), text)
        })
        .collect();
    files.sort();
    files
}

/// What is said in a file: from the comment to the next one.
fn said(file: usize, text: &str) -> Vec<Said> {
    let mut out: Vec<Said> = Vec::new();
    let mut pending: Vec<String> = Vec::new();
    let mut offset = 0u32;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if let Some(reading) = trimmed.strip_prefix("/// reading: ") {
            pending.push(reading.to_owned());
        } else if !pending.is_empty() && !trimmed.starts_with("///") && !trimmed.starts_with('#') {
            if let Some(last) = out.last_mut() {
                last.end = offset;
            }
            let layers = std::mem::take(&mut pending).into_iter().filter(|l| l != "no layer").collect();
            let name = trimmed.split('(').next().unwrap_or_default();
            let name = name.rsplit(' ').next().unwrap_or_default().to_owned();
            out.push(Said { name, file, start: offset, end: text.len() as u32, layers });
        }
        offset += line.len() as u32;
    }
    out
}

/// Where a layer is said: hand-written ones and those of a closure where they stand, a client's where it is made.
fn home(layer: &Layer) -> Span {
    if layer.system == "rust" { layer.place } else { layer.opens }
}

fn seconds(text: &str) -> f64 {
    let (digits, unit) = text.split_at(text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len()));
    let n: f64 = digits.parse().unwrap_or(f64::NAN);
    match unit {
        "ms" => n / 1000.0,
        "s" => n,
        _ => f64::NAN,
    }
}

/// What is wrong with a layer, by what is said of it.
fn faults(said: &str, layer: &Layer) -> Vec<String> {
    let mut out = Vec::new();
    for clause in said.split(';').map(str::trim) {
        let (what, value) = clause.split_once(' ').unwrap_or((clause, ""));
        let is = match what {
            "attempts" => attempts(layer, value),
            "waits" => waits(layer, value),
            "jitter" => jitter(layer, value),
            "upkeep" => {
                (layer.purpose == Purpose::Upkeep).then_some(()).ok_or_else(|| "a layer of requests".to_owned())
            }
            "retries" => retries(layer, value),
            "retry-after" => (layer.retry_after.value() == Some(&(value == "yes")))
                .then_some(())
                .ok_or_else(|| format!("{:?}", layer.retry_after.value())),
            _ => Err("not a clause".to_owned()),
        };
        if let Err(found) = is {
            out.push(format!("{clause}: found {found}"));
        }
    }
    out
}

fn attempts(layer: &Layer, value: &str) -> Result<(), String> {
    let found = match (layer.attempts.value(), layer.attempts.is_default()) {
        (Some(Attempts::Count(n)), true) => format!("{n} by default"),
        (Some(Attempts::Count(n)), false) => n.to_string(),
        (Some(Attempts::Within { deadline, .. }), _) => format!("within {}s", deadline.as_secs_f64()),
        (Some(Attempts::Unbounded), _) => "unbounded".to_owned(),
        (None, _) => "unknown".to_owned(),
    };
    if found == value { Ok(()) } else { Err(format!("{found} ({:?})", layer.attempts)) }
}

fn waits(layer: &Layer, value: &str) -> Result<(), String> {
    let expected: Vec<&str> = if value == "none" { vec![] } else { value.split(' ').collect() };
    let gaps = match layer.attempts.value().and_then(|a| a.count()) {
        Some(n) => (n.saturating_sub(1) as usize).min(8),
        None => 8,
    };
    if value == "none" {
        let none = (0..gaps).all(|i| layer.wait.nominal(i as u32).is_some_and(|d| d.is_zero()));
        return if none { Ok(()) } else { Err(format!("{:?}", layer.wait)) };
    }
    let expected: Vec<f64> = expected.into_iter().filter(|w| *w != "...").map(seconds).collect();
    let found: Vec<f64> =
        (0..gaps).map(|i| layer.wait.nominal(i as u32).map_or(f64::NAN, |d| d.as_secs_f64())).collect();
    let same =
        expected.len() == found.len() && expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-6 * a.max(1.0));
    if same { Ok(()) } else { Err(format!("{found:?} {:?}", layer.wait)) }
}

fn jitter(layer: &Layer, value: &str) -> Result<(), String> {
    let found = match layer.jitter.value() {
        Some(Jitter::None) => "none",
        Some(Jitter::Full) => "full",
        Some(Jitter::Partial { .. }) => "partial",
        Some(Jitter::Decorrelated) => "decorrelated",
        None => "unknown",
    };
    if found == value { Ok(()) } else { Err(format!("{found} {:?}", layer.jitter)) }
}

fn retries(layer: &Layer, value: &str) -> Result<(), String> {
    let grpc: ModeSet = Mode::grpc().collect();
    let is_grpc = !layer.retries.yes.intersection(grpc).is_empty();
    let faults: ModeSet = [Mode::Refused, Mode::Timeout].into_iter().collect();
    let every = if is_grpc { grpc.union(faults) } else { Mode::http().collect() };
    let mut found = layer.retries.yes.intersection(every);
    // Of a call that nothing shows to be a request, statuses are only perhaps among all errors.
    if layer.retries.any_error.is_some() {
        found = found.union(layer.retries.unknown.intersection(every));
    }
    let names = if found == every { "any".to_owned() } else { found.names().join(" ") };
    let names = if layer.retries.any_error.is_some() && names != "any" { format!("{names} any_error") } else { names };
    if names == value { Ok(()) } else { Err(format!("{names}, perhaps {:?}", layer.retries.unknown)) }
}

/// What is said and not read yet, each with the reason.
const NOT_READ: [(&str, &str); 1] =
    [("resumed", "a success that brings a part leads back to the call as well, so it is taken for a poll")];

#[test]
fn what_is_said_over_each_function_is_read_there() {
    let said = check("rust");
    assert!(said > 100, "the fixtures say something of {said} functions");
}

#[test]
fn what_is_said_of_clients_of_sdks_is_read_there() {
    let said = check("rust-sdk");
    assert!(said > 40, "the fixtures say something of {said} functions");
}

/// Compares what is said in a folder of fixtures with what is read. Of how many functions something is said.
fn check(folder: &str) -> usize {
    let files = fixture_files(folder);
    let refs: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    let result: Read = read(&refs, &[], &[]);
    let all: Vec<Said> = files.iter().enumerate().flat_map(|(i, (_, text))| said(i, text)).collect();
    let mut wrong = Vec::new();
    for said in &all {
        if NOT_READ.iter().any(|(name, _)| *name == said.name) {
            continue;
        }
        let here: Vec<&Layer> = result
            .reading
            .layers
            .iter()
            .filter(|l| {
                let home = home(l);
                home.file.0 as usize == said.file && home.start >= said.start && home.start < said.end
            })
            .collect();
        let file = files.get(said.file).map_or("", |(p, _)| p);
        if here.len() != said.layers.len() {
            let found: Vec<&str> = here.iter().map(|l| &*l.reading).collect();
            wrong.push(format!("{file} {}: {} layers said, found {found:?}", said.name, said.layers.len()));
            continue;
        }
        for (text, layer) in said.layers.iter().zip(here) {
            if layer.purpose == Purpose::Upkeep && !text.contains("upkeep") {
                wrong.push(format!("{file} {}: upkeep", said.name));
            }
            wrong.extend(faults(text, layer).into_iter().map(|f| format!("{file} {}: {f}", said.name)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    all.len()
}
