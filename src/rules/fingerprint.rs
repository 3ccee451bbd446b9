//! What makes a finding the same finding in the next run: its rule and the identities of what it is about. Neither lines
//! nor files take part, so it survives code that moves.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::Finding;
use crate::model::{Model, Path};

/// The fingerprint of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint {
    /// That of every finding that is alike: the same rule about the same things.
    pub kind: Arc<str>,
    /// Its own: no two findings of a run have the same. The first of those that are alike has theirs.
    pub own: Arc<str>,
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self { kind: Arc::from(""), own: Arc::from("") }
    }
}

/// Gives each finding its fingerprint. They must be all of a run, in their order: of those that are alike each gets the
/// next number.
pub fn assign(findings: &mut [Finding], model: &Model) {
    let mut seen: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for finding in findings {
        let identity = identity(finding, model).join("\n");
        let kind: Arc<str> = hash(&identity).into();
        let ordinal = seen.entry(Arc::clone(&kind)).or_insert(0);
        let own = match *ordinal {
            0 => Arc::clone(&kind),
            n => hash(&format!("{identity}\n{n}")).into(),
        };
        *ordinal += 1;
        finding.fingerprint = Fingerprint { kind, own };
    }
}

/// The rule, then the layers of the path, or what else the finding is about.
fn identity(finding: &Finding, model: &Model) -> Vec<String> {
    let mut parts = vec![finding.rule.id.to_owned()];
    if let Some(path) = path_of(finding, model) {
        parts.extend(model.layers_of(path).map(|layer| unnumbered(&layer.id).to_owned()));
        parts.push(path.leaf.to_string());
    } else if finding.about.is_empty() {
        parts.extend([&finding.primary.text, &finding.message].map(String::clone));
    } else {
        parts.extend(finding.about.iter().map(|id| unnumbered(id).to_owned()));
    }
    parts
}

/// The path that a finding is about.
pub fn path_of<'m>(finding: &Finding, model: &'m Model) -> Option<&'m Path> {
    model.paths.get(finding.path?.0 as usize)
}

/// An identity without the number that tells it from others of its name, in the order in which they stand: one more
/// before them would make all of them others. Those that are alike are counted instead.
fn unnumbered(id: &str) -> &str {
    let bare = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let sign = if id.starts_with("rust:") { ':' } else { '#' };
    match bare.strip_suffix(sign) {
        Some(bare) if bare.len() + 1 < id.len() => bare,
        _ => id,
    }
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::unnumbered;

    #[test]
    fn numbers_in_the_order_of_the_text_are_no_identity() {
        assert_eq!(unnumbered("rust:orders::load:loop:12"), "rust:orders::load:loop");
        assert_eq!(unnumbered("envoy:route:shop:/orders#2"), "envoy:route:shop:/orders");
        assert_eq!(unnumbered("kong:service:v2"), "kong:service:v2");
        assert_eq!(unnumbered("apisix:upstream:1"), "apisix:upstream:1");
        assert_eq!(unnumbered("rust:orders::load:"), "rust:orders::load:");
    }
}
