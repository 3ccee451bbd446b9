//! Kustomizations that rename what they deploy: `namePrefix` and `nameSuffix`.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Facts, KustomizationFact, ServiceFact};
use crate::source::SourceFile;
use crate::syntax::Node;
use crate::systems::settings;

/// Bases of bases deeper than this are mistakes.
const MAX_DEPTH: usize = 16;

/// So many names are given in all; overlays of overlays can multiply.
const MAX_NAMES: usize = 100_000;

/// Reads a kustomization.
pub(super) fn read(file: &SourceFile, root: &Node, facts: &mut Facts) {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    if !matches!(name, "kustomization.yaml" | "kustomization.yml" | "Kustomization") {
        return;
    }
    let text = |key: &str| root.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
    let listed = |key: &str| root.get(key).map_or(&[][..], Node::items).iter().filter_map(|n| n.as_str());
    let resources = ["resources", "bases"].iter().flat_map(|key| listed(key));
    facts.kustomizations.push(KustomizationFact {
        folder: file.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned(),
        prefix: text("namePrefix"),
        suffix: text("nameSuffix"),
        resources: resources.filter_map(|path| settings::beside(&file.path, path)).collect(),
    });
}

/// Gives the Services that a kustomization renames their new names, beside those that they have.
pub(super) fn join(facts: &mut Facts) {
    let all = std::mem::take(&mut facts.kustomizations);
    let by_folder: BTreeMap<&str, &KustomizationFact> = all.iter().map(|k| (k.folder.as_str(), k)).collect();
    let mut of_file: BTreeMap<&str, Vec<&ServiceFact>> = BTreeMap::new();
    for service in &facts.services {
        if let Some(path) = facts.paths.get(&service.span.file) {
            of_file.entry(path).or_default().push(service);
        }
    }
    let mut renamed: Vec<ServiceFact> = Vec::new();
    let mut known: BTreeSet<(String, crate::source::Span)> = BTreeSet::new();
    for outer in &all {
        let mut open = vec![(outer, outer.prefix.clone(), outer.suffix.clone(), 0)];
        while let Some((inner, prefix, suffix, depth)) = open.pop() {
            for resource in &inner.resources {
                if let Some(base) = by_folder.get(resource.as_str()).filter(|_| depth < MAX_DEPTH) {
                    let (prefix, suffix) = (format!("{prefix}{}", base.prefix), format!("{}{suffix}", base.suffix));
                    open.push((base, prefix, suffix, depth + 1));
                }
                for service in of_file.get(resource.as_str()).into_iter().flatten() {
                    let name = format!("{prefix}{}{suffix}", service.name);
                    let is_new = name != service.name && known.insert((name.clone(), service.span));
                    if is_new && renamed.len() < MAX_NAMES {
                        renamed.push(ServiceFact { name, ..(*service).clone() });
                    }
                }
            }
        }
    }
    facts.services.extend(renamed);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::source::{FileId, Span};

    fn kustomization(folder: &str, prefix: &str, resources: &[&str]) -> KustomizationFact {
        KustomizationFact {
            folder: folder.to_owned(),
            prefix: prefix.to_owned(),
            suffix: String::new(),
            resources: resources.iter().map(|r| (*r).to_owned()).collect(),
        }
    }

    #[test]
    fn an_overlay_renames_the_services_of_its_bases() {
        let mut facts = Facts::default();
        facts.paths.insert(FileId(3), Arc::from("base/orders.yaml"));
        facts.services.push(ServiceFact {
            name: "orders".to_owned(),
            namespace: None,
            selector: Vec::new(),
            external: None,
            grpc: false,
            span: Span::start_of(FileId(3)),
        });
        facts.kustomizations = vec![
            kustomization("base", "", &["base/orders.yaml"]),
            kustomization("shop", "shop-", &["base"]),
            kustomization("prod", "prod-", &["shop"]),
            // In a circle.
            kustomization("odd", "o", &["odd"]),
        ];
        join(&mut facts);
        let names: Vec<&str> = facts.services.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["orders", "shop-orders", "prod-shop-orders"]);
    }
}
