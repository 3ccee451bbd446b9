//! What makes a finding the same finding in the next run: its rule and the identities of what it is about. Neither lines
//! nor files take part, so it survives code that moves.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::model::Path;
use crate::rules::Finding;
use crate::run::Run;
use crate::source::Sources;

/// The fingerprints of all findings of a run, in their order. Of findings that are alike each gets the next number, so
/// that no two are the same.
pub fn all(run: &Run) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    run.findings
        .iter()
        .map(|finding| {
            let identity = identity(finding, run).join("\n");
            let ordinal = seen.entry(identity.clone()).or_insert(0);
            let fingerprint = hash(&format!("{identity}\n{ordinal}"));
            *ordinal += 1;
            fingerprint
        })
        .collect()
}

/// The rule, then the layers of the path, or what else the finding is about.
fn identity(finding: &Finding, run: &Run) -> Vec<String> {
    let mut parts = vec![finding.rule.id.to_owned()];
    if let Some(path) = path_of(finding, run) {
        parts.extend(run.model.layers_of(path).map(|layer| layer.id.to_string()));
        parts.push(path.leaf.to_string());
    } else if finding.about.is_empty() {
        parts.push(what_stands_there(finding, &run.sources));
    } else {
        parts.extend(finding.about.iter().map(ToString::to_string));
    }
    parts
}

/// The path that a finding is about.
pub(super) fn path_of<'r>(finding: &Finding, run: &'r Run) -> Option<&'r Path> {
    run.model.paths.get(finding.path?.0 as usize)
}

/// The text at the primary place, however it is indented and broken into lines.
fn what_stands_there(finding: &Finding, sources: &Sources) -> String {
    let span = finding.primary.span;
    let text = sources.get(span.file).and_then(|file| file.text.get(span.range())).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    format!("{}\n{}", finding.primary.text, words.join(" "))
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
