//! The file of a baseline: JSON, one entry a finding, so that a change of it can be read in review.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Entry;
use crate::source::{discover, shown};

/// The name of the file where none is given.
pub const DEFAULT_FILE: &str = "retrylint-baseline.json";

const VERSION: u32 = 1;

/// Why a file is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It cannot be opened.
    #[error("the baseline {file} cannot be read: {reason}{}", if *.missing { "; `retrylint baseline` writes one" } else { "" })]
    Unread {
        /// The file as given.
        file: String,
        /// Why.
        reason: String,
        /// Whether it is not there.
        missing: bool,
    },
    /// It holds something else.
    #[error("{file} is no baseline: {reason}")]
    Malformed {
        /// The file as given.
        file: String,
        /// Why.
        reason: String,
    },
}

/// Version 1: within it fields may be added; none is renamed, removed or changes its meaning.
#[derive(Serialize, Deserialize)]
struct FileJson {
    schema_version: u32,
    findings: Vec<EntryJson>,
}

#[derive(Serialize, Deserialize)]
struct EntryJson {
    rule: String,
    /// Seen from the folder of the baseline.
    file: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    product: Option<u64>,
    fingerprint: String,
}

/// Reads a baseline. `cwd` is absolute, its links resolved.
///
/// # Errors
/// If it is not there, cannot be opened, or is something else.
pub fn read(file: &Path, cwd: &Path) -> Result<Vec<Entry>, Unusable> {
    let name = file.display().to_string();
    let bytes = std::fs::read(cwd.join(file)).map_err(|error| Unusable::Unread {
        file: name.clone(),
        missing: error.kind() == std::io::ErrorKind::NotFound,
        reason: discover::reason(&error),
    })?;
    let malformed = |reason: String| Unusable::Malformed { file: name.clone(), reason };
    let json: FileJson = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
    if json.schema_version != VERSION {
        return Err(malformed(format!("its version is {}, and this program reads {VERSION}", json.schema_version)));
    }
    let folder = folder_of(file, cwd);
    let mut entries: Vec<Entry> = json.findings.into_iter().map(|json| entry(json, &folder, cwd)).collect();
    entries.sort();
    Ok(entries)
}

/// The text of a baseline that will stand in `file`.
///
/// # Errors
/// If there is no memory for it.
pub fn text(entries: &[Entry], file: &Path, cwd: &Path) -> std::io::Result<String> {
    let folder = folder_of(file, cwd);
    let json = |entry: &Entry| EntryJson {
        rule: entry.rule.clone(),
        file: shown::relative(&shown::resolved(&cwd.join(&entry.file)), &folder),
        message: entry.message.clone(),
        product: entry.product,
        fingerprint: entry.fingerprint.clone(),
    };
    let json = FileJson { schema_version: VERSION, findings: entries.iter().map(json).collect() };
    Ok(serde_json::to_string_pretty(&json)? + "\n")
}

fn entry(json: EntryJson, folder: &Path, cwd: &Path) -> Entry {
    Entry {
        file: shown::relative(&shown::resolved(&folder.join(json.file)), cwd),
        rule: json.rule,
        fingerprint: json.fingerprint,
        message: json.message,
        product: json.product,
    }
}

/// The folder that paths in the file start from: absolute, links resolved where it is there.
fn folder_of(file: &Path, cwd: &Path) -> PathBuf {
    let file = cwd.join(file);
    let folder = file.parent().unwrap_or(cwd);
    folder.canonicalize().unwrap_or_else(|_| shown::resolved(folder))
}
