//! What is said over the functions of `fixtures/rust` is what happens: they run against a server that fails in each
//! way, and the number of tries, the waits and the failures that are tried again are compared. That the same is read
//! from their text, the tests of the evaluation say.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tries after which the runs are cut short.
const MOST: usize = 12;

/// Milliseconds that a wait may be too long: a timer of a busy machine.
const LATE: f64 = 400.0;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rust")
}

/// What is said of a function: `attempts`, `waits`, and so on; `None` where no layer is said.
type Said = Option<BTreeMap<String, String>>;

fn said() -> BTreeMap<String, Said> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder().join("src")).expect("the fixtures can be listed") {
        let path = entry.expect("the fixtures can be listed").path();
        let Some(module) = path.file_stem().and_then(|s| s.to_str()).filter(|_| path.is_file()) else { continue };
        let text = std::fs::read_to_string(&path).expect("a fixture can be read");
        let mut reading = None;
        for line in text.lines().map(str::trim) {
            if let Some(said) = line.strip_prefix("/// reading: ") {
                reading = Some(said.to_owned());
            } else if let Some((before, _)) = line.split_once('(').filter(|_| line.contains("fn ")) {
                let name = before.rsplit(' ').next().unwrap_or_default();
                let Some(reading) = reading.take() else { continue };
                all.insert(format!("{module}::{name}"), clauses(&reading));
            }
        }
    }
    all
}

fn clauses(reading: &str) -> Said {
    if reading == "no layer" {
        return None;
    }
    let pair = |clause: &str| {
        let (what, value) = clause.trim().split_once(' ').unwrap_or((clause.trim(), ""));
        (what.to_owned(), value.to_owned())
    };
    Some(reading.split(';').map(pair).collect())
}

/// Whether a failure is among those named: `any`, `refused`, `5xx`, `400-403`, `429`.
fn names(retries: &str, mode: &str) -> bool {
    let mode = if mode == "hang" { "timeout" } else { mode };
    let number: Option<u16> = mode.parse().ok();
    retries.split(' ').any(|word| match (word, number) {
        ("any", _) => true,
        ("4xx", Some(n)) => n / 100 == 4,
        ("5xx", Some(n)) => n / 100 == 5,
        (word, Some(n)) => match word.split_once('-') {
            Some((low, high)) => low.parse().is_ok_and(|low: u16| low <= n) && high.parse().is_ok_and(|h: u16| n <= h),
            None => word == mode,
        },
        (word, None) => word == mode,
    })
}

fn milliseconds(word: &str) -> f64 {
    let split = word.find(|c: char| c.is_alphabetic()).unwrap_or(word.len());
    let (digits, unit) = word.split_at(split);
    digits.parse::<f64>().expect("a wait is a number") * if unit == "ms" { 1.0 } else { 1000.0 }
}

/// What is wrong with one run.
fn faults(said: &Said, mode: &str, tries: usize, waits: &[f64]) -> Vec<String> {
    let Some(said) = said else {
        return if tries == 1 { vec![] } else { vec![format!("{tries} tries, and no layer is said")] };
    };
    let of = |what: &str| said.get(what).map(String::as_str);
    let retried = match of("retries") {
        Some(retries) => names(retries, mode),
        None if matches!(mode, "500" | "503") => true,
        None => return Vec::new(),
    };
    if !retried {
        return if tries == 1 { vec![] } else { vec![format!("{tries} tries, and it is not said to be retried")] };
    }
    let most = of("attempts").and_then(|a| a.split(' ').next()?.parse().ok()).map_or(MOST, |n: usize| n.min(MOST));
    if tries != most {
        return vec![format!("{tries} tries instead of {most}")];
    }
    if mode == "429" && of("retry-after") == Some("yes") {
        return waits
            .iter()
            .filter(|w| **w < 1000.0)
            .map(|w| format!("{w} ms, and the server asked for 1 s"))
            .collect();
    }
    let own = if mode == "hang" { 300.0 } else { 0.0 };
    let Some(planned) = of("waits") else { return Vec::new() };
    let planned: Vec<f64> = match planned {
        "none" => vec![0.0; waits.len()],
        listed => listed.split(' ').filter(|w| *w != "...").map(milliseconds).collect(),
    };
    let bounds = |wait: f64| match of("jitter") {
        Some("full") => (0.0, wait),
        Some("partial" | "decorrelated") => (0.0, 2.0 * wait),
        _ => (wait, wait),
    };
    let right = |(wait, planned): (&f64, &f64)| {
        let (low, high) = bounds(*planned);
        (low - 2.0..=high + LATE).contains(&(wait - own))
    };
    match waits.iter().zip(&planned).all(right) {
        true => Vec::new(),
        false => vec![format!("waited {waits:?} ms instead of {planned:?}")],
    }
}

#[test]
fn what_is_said_of_a_function_is_what_it_does() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder()).args(["run", "--quiet", "--locked", "--bin", "against_server"]);
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures"));
    let output = cargo.output().expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the functions do not run:\n{errors}");
    let said = said();
    let mut wrong = Vec::new();
    let mut runs = 0;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split(' ').filter(|w| !w.is_empty());
        let (Some(function), Some(mode), Some(tries)) = (words.next(), words.next(), words.next()) else { continue };
        let Ok(tries) = tries.parse() else { continue };
        let waits: Vec<f64> = words.filter_map(|w| w.parse().ok()).collect();
        let Some(said) = said.get(function) else { panic!("nothing is said of {function}") };
        runs += 1;
        wrong.extend(faults(said, mode, tries, &waits).into_iter().map(|fault| format!("{function}, {mode}: {fault}")));
    }
    assert!(runs > 500, "{runs} runs");
    assert!(wrong.is_empty(), "{} of {runs} runs:\n{}", wrong.len(), wrong.join("\n"));
}
