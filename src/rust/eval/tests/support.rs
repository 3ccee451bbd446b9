//! From source text to one line for each layer.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use crate::facts::{PackageFact, SettingsFact};
use crate::model::{Attempts, Jitter, Layer, Setting, Wait};
use crate::rust::index::Index;
use crate::rust::ir::Module;
use crate::rust::reading::{CodeReading, Target, UrlPart};
use crate::rust::{eval, lower};
use crate::source::{FileId, LineIndex, SourceFile, Span};

/// Files that are read together, and what comes of it.
pub(crate) struct Read {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) reading: CodeReading,
}

/// Reads files: path and text.
pub(crate) fn read(files: &[(&str, &str)], packages: &[PackageFact], settings: &[SettingsFact]) -> Read {
    let files: Vec<SourceFile> = files
        .iter()
        .enumerate()
        .map(|(i, (path, text))| SourceFile { id: FileId(i as u32), path: Arc::from(*path), text: Arc::from(*text) })
        .collect();
    let modules: Vec<Module> = files
        .iter()
        .filter(|f| f.path.ends_with(".rs"))
        .map(|f| lower::lower(f, false).unwrap_or_else(|e| panic!("{}: {e:?}", f.path)))
        .collect();
    let index = Index::new(packages, &modules);
    let reading = eval::read(&index, packages, settings);
    Read { files, reading }
}

impl Read {
    fn line(&self, span: Span) -> usize {
        let text = self.files.iter().find(|f| f.id == span.file).map_or("", |f| &f.text);
        LineIndex::new(text).position(text, span.start).line as usize
    }

    /// One line for each layer.
    pub(crate) fn layers(&self) -> String {
        let mut out = String::new();
        for layer in &self.reading.layers {
            let _ = writeln!(out, "{}", self.layer(layer));
        }
        out.trim_end().to_owned()
    }

    fn layer(&self, layer: &Layer) -> String {
        let on = layer.retries.yes.names().join(" ");
        let perhaps = layer.retries.unknown.names().join(" ");
        let mut out = format!(
            "{}:{}: {}, {}, {}, on {}",
            layer.system,
            self.line(layer.place),
            attempts(&layer.attempts),
            self.wait(layer),
            jitter(&layer.jitter),
            if on.is_empty() { "-" } else { &on },
        );
        if !perhaps.is_empty() {
            let _ = write!(out, ", perhaps {perhaps}");
        }
        if let Some(span) = layer.retries.any_error {
            let _ = write!(out, ", any error: {}", self.line(span));
        }
        if layer.retry_after.value() == Some(&true) {
            out.push_str(", retry-after");
        }
        out
    }

    fn wait(&self, layer: &Layer) -> String {
        let seconds = |d: &Setting<Duration>| d.value().map_or("?".to_owned(), |d| format!("{:?}", d));
        let cap = |c: &Setting<Option<Duration>>| match c.value() {
            Some(Some(cap)) => format!(" to {cap:?}"),
            Some(None) => String::new(),
            None => " to ?".to_owned(),
        };
        let wait = match &layer.wait {
            Wait::None => return "no wait".to_owned(),
            Wait::Fixed(d) => format!("fixed {}", seconds(d)),
            Wait::Linear { step, cap: c } => format!("linear {}{}", seconds(step), cap(c)),
            Wait::Exponential { base, factor, cap: c } => {
                format!("{} x{}{}", seconds(base), factor.value().copied().unwrap_or(0.0), cap(c))
            }
            Wait::Scheduled { waits, capped } => {
                let all: Vec<String> = waits.iter().take(5).map(|w| format!("{w:?}")).collect();
                format!("[{}]{}", all.join(" "), if *capped { "" } else { " growing" })
            }
            Wait::Unknown { why } => format!("wait unknown ({why})"),
        };
        match layer.wait_place {
            Some(place) => format!("{wait} @{}", self.line(place)),
            None => wait,
        }
    }

    /// One line for each call: root, target, layers with their modes.
    pub(crate) fn calls(&self) -> String {
        let mut out = String::new();
        for call in &self.reading.calls {
            let target = match &call.target {
                Target::Url { parts, .. } => parts
                    .iter()
                    .map(|p| match p {
                        UrlPart::Text(t) => t.clone(),
                        UrlPart::Env { name, default, .. } => match default {
                            Some(default) => format!("${{{name}:-{default}}}"),
                            None => format!("${{{name}}}"),
                        },
                        UrlPart::Unknown => "*".to_owned(),
                    })
                    .collect(),
                Target::Unknown { why } => format!("? ({why})"),
            };
            let layers: Vec<String> = call
                .layers
                .iter()
                .map(|l| {
                    let layer = self.reading.layers.get(l.layer).expect("a layer of this reading");
                    format!("{}[{}]", self.line(layer.place), l.modes.names().join(" "))
                })
                .collect();
            let answers: Vec<String> =
                call.answers.iter().map(|(modes, a)| format!("{} -> {a:?}", modes.names().join(" "))).collect();
            let _ = writeln!(
                out,
                "{}{} {} {target} {}{}{}",
                if call.root.is_main { "main " } else { "" },
                call.root.name,
                call.method.as_deref().unwrap_or("-"),
                layers.join(" > "),
                if answers.is_empty() { "" } else { " answers " },
                answers.join("; ")
            );
        }
        out.trim_end().to_owned()
    }
}

/// The layers of one file of a package with the usual crates, as [`Read::layers`] shows them.
pub(crate) fn layers(text: &str) -> String {
    read(&[("src/lib.rs", text)], &[], &[]).layers()
}

fn attempts(attempts: &Setting<Attempts>) -> String {
    match attempts {
        Setting::Unknown { why, .. } => format!("? attempts ({why})"),
        known => {
            let by_default = if known.is_default() { " by default" } else { "" };
            match known.value() {
                Some(Attempts::Count(n)) => format!("{n} attempts{by_default}"),
                Some(Attempts::Within { deadline, about }) => format!("about {about} within {deadline:?}"),
                Some(Attempts::Unbounded) => "unbounded".to_owned(),
                None => "?".to_owned(),
            }
        }
    }
}

fn jitter(jitter: &Setting<Jitter>) -> String {
    match jitter.value() {
        Some(Jitter::None) => "no jitter".to_owned(),
        Some(Jitter::Full) => "full jitter".to_owned(),
        Some(Jitter::Partial { low, high }) => format!("jitter {low:.2}-{high:.2}"),
        Some(Jitter::Decorrelated) => "decorrelated jitter".to_owned(),
        None => "jitter unknown".to_owned(),
    }
}
