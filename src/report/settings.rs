//! The effective settings: as a `retrylint.toml` with a comment on each place, and as JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value as Json;

use super::Places;
use super::data::Location;
use crate::config::effective::{Effective, Shown};
use crate::config::{Config, Origin};
use crate::source::Sources;

/// What is shown.
#[derive(Debug)]
pub struct Settings<'c> {
    /// The configuration.
    pub config: &'c Config,
    /// Its settings.
    pub settings: Vec<Effective>,
    /// The file that they are for, as shown, and whether it is left out.
    pub file: Option<(String, bool)>,
}

impl Settings<'_> {
    /// Writes them as TOML.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let sources: Sources = self.config.sources.iter().map(|file| (**file).clone()).collect();
        let mut places = Places::new(&sources);
        match &*self.files() {
            [] => writeln!(out, "# no retrylint.toml")?,
            [only] => writeln!(out, "# {only}")?,
            [first, others @ ..] => writeln!(out, "# {first}, which extends {}", others.join(", "))?,
        }
        if let Some((file, left_out)) = &self.file {
            let word = if *left_out { "left out by `exclude`" } else { "read" };
            writeln!(out, "# {file}: {word}")?;
        }
        let mut lines: Vec<(String, Option<String>)> = Vec::new();
        let mut table = "";
        for setting in &self.settings {
            let place = shown(setting.origin, &mut places);
            match &setting.value {
                Shown::One(text, _) => {
                    if setting.table != table {
                        lines.extend([(String::new(), None), (format!("[{}]", setting.table), None)]);
                    }
                    lines.push((format!("{} = {text}", setting.key), Some(place)));
                }
                Shown::Items(items) if items.is_empty() => {
                    lines.push((format!("{} = []", setting.key), Some(place)));
                }
                Shown::Items(items) => {
                    lines.push((format!("{} = [", setting.key), None));
                    let item = |(text, _, origin): &(String, Json, Origin)| {
                        (format!("    {text},"), Some(shown(*origin, &mut places)))
                    };
                    lines.extend(items.iter().map(item));
                    lines.push(("]".to_owned(), None));
                }
                Shown::Table(pairs) => {
                    lines.extend([(String::new(), None), (format!("[[{}]]", setting.key), Some(place))]);
                    lines.extend(pairs.iter().map(|(key, text, _)| (format!("{key} = {text}"), None)));
                }
            }
            table = setting.table;
        }
        let fits = lines.iter().filter(|(_, place)| place.is_some()).map(|(text, _)| text.chars().count());
        let width = fits.filter(|width| *width <= WIDEST).max().unwrap_or(0);
        for (text, place) in lines {
            match place {
                Some(place) => {
                    writeln!(out, "{text}{}  # {place}", " ".repeat(width.saturating_sub(text.chars().count())))?
                }
                None => writeln!(out, "{text}")?,
            }
        }
        Ok(())
    }

    /// Writes them as JSON.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let sources: Sources = self.config.sources.iter().map(|file| (**file).clone()).collect();
        let mut places = Places::new(&sources);
        let mut settings = Vec::new();
        let mut of_list = 0;
        let mut list = "";
        for setting in &self.settings {
            let mut push =
                |key: String, value: Json, origin: Origin| settings.push(json(key, value, origin, &mut places));
            match &setting.value {
                Shown::One(_, value) if setting.table.is_empty() => {
                    push(setting.key.clone(), value.clone(), setting.origin)
                }
                Shown::One(_, value) => {
                    push(format!("{}.{}", setting.table, setting.key), value.clone(), setting.origin)
                }
                Shown::Items(items) if items.is_empty() => {
                    push(setting.key.clone(), Json::Array(Vec::new()), setting.origin)
                }
                Shown::Items(items) => {
                    for (at, (_, value, origin)) in items.iter().enumerate() {
                        push(format!("{}[{at}]", setting.key), value.clone(), *origin);
                    }
                }
                Shown::Table(pairs) => {
                    of_list = if list == setting.table { of_list + 1 } else { 0 };
                    list = setting.table;
                    let value = pairs.iter().map(|(key, _, value)| (key.clone(), value.clone())).collect();
                    push(format!("{}[{of_list}]", setting.key), Json::Object(value), setting.origin);
                }
            }
        }
        let file = self.file.as_ref().map(|(path, excluded)| FileJson { path, excluded: *excluded });
        serde_json::to_writer_pretty(
            &mut *out,
            &SettingsJson { schema_version: 1, files: self.files(), file, settings },
        )?;
        writeln!(out)
    }

    /// The files that the settings come from, the nearest first.
    fn files(&self) -> Vec<String> {
        self.config.sources.iter().map(|file| file.path.to_string()).collect()
    }
}

/// Comments stand in one column, unless a line is longer than this.
const WIDEST: usize = 48;

fn shown(origin: Origin, places: &mut Places<'_>) -> String {
    match origin {
        Origin::Default => "default".to_owned(),
        Origin::Flag(flag) => flag.to_owned(),
        Origin::File(span) => {
            let place = places.place(span);
            format!("{}:{}", place.path, place.start.line)
        }
    }
}

/// Version 1: within it fields may be added; none is renamed, removed or changes its meaning.
#[derive(Serialize)]
struct SettingsJson<'s> {
    schema_version: u32,
    files: Vec<String>,
    file: Option<FileJson<'s>>,
    settings: Vec<SettingJson>,
}

#[derive(Serialize)]
struct FileJson<'s> {
    path: &'s str,
    excluded: bool,
}

#[derive(Serialize)]
struct SettingJson {
    key: String,
    value: Json,
    origin: &'static str,
    location: Option<Location>,
    flag: Option<&'static str>,
}

fn json(key: String, value: Json, origin: Origin, places: &mut Places<'_>) -> SettingJson {
    let (name, location, flag) = match origin {
        Origin::Default => ("default", None, None),
        Origin::Flag(flag) => ("command line", None, Some(flag)),
        Origin::File(span) => {
            let place = places.place(span);
            let location =
                Location { file: place.path.to_string(), line: place.start.line, column: place.start.column };
            ("file", Some(location), None)
        }
    };
    SettingJson { key, value, origin: name, location, flag }
}
