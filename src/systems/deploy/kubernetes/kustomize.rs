//! Kustomizations that rename what they deploy: `namePrefix`, `nameSuffix`, `namespace` and `images`.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{ComponentFact, Facts, KustomizationFact, ServiceFact};
use crate::source::{SourceFile, Span};
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
    let image = |node: &Node| {
        let text = |key: &str| node.get(key).and_then(Node::as_str).map(str::to_owned);
        text("name").zip(text("newName"))
    };
    facts.kustomizations.push(KustomizationFact {
        folder: file.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned(),
        prefix: text("namePrefix"),
        suffix: text("nameSuffix"),
        namespace: root.get("namespace").and_then(Node::as_str).map(str::to_owned),
        images: root.get("images").map_or(&[][..], Node::items).iter().filter_map(|n| image(n)).collect(),
        resources: resources.filter_map(|path| settings::beside(&file.path, path)).collect(),
    });
}

/// What a kustomization and those around it make of what lies in it.
#[derive(Clone)]
struct Renaming<'k> {
    prefix: String,
    suffix: String,
    namespace: Option<&'k str>,
    images: Vec<&'k (String, String)>,
    depth: usize,
}

impl<'k> Renaming<'k> {
    fn of(outermost: &'k KustomizationFact) -> Self {
        let nothing =
            Self { prefix: String::new(), suffix: String::new(), namespace: None, images: Vec::new(), depth: 0 };
        nothing.around(outermost)
    }

    /// With what a kustomization further in does before.
    fn around(&self, inner: &'k KustomizationFact) -> Self {
        Self {
            prefix: format!("{}{}", self.prefix, inner.prefix),
            suffix: format!("{}{}", inner.suffix, self.suffix),
            namespace: self.namespace.or(inner.namespace.as_deref()),
            images: self.images.iter().copied().chain(&inner.images).collect(),
            depth: self.depth + 1,
        }
    }

    fn service(&self, service: &ServiceFact) -> ServiceFact {
        let name = format!("{}{}{}", self.prefix, service.name, self.suffix);
        let namespace = self.namespace.map(str::to_owned).or_else(|| service.namespace.clone());
        ServiceFact { name, namespace, ..service.clone() }
    }

    /// The new names of images.
    fn images(&self, component: &ComponentFact) -> Vec<String> {
        let plain = |image: &str| {
            let image = image.split('@').next().unwrap_or_default();
            let tag = image.rfind(':').filter(|at| !image.get(*at..).is_some_and(|tag| tag.contains('/')));
            tag.and_then(|at| image.get(..at)).unwrap_or(image).to_owned()
        };
        let new = |image: &String| {
            let image = plain(image);
            self.images.iter().find(|(name, _)| *name == image).map(|(_, new)| new.clone())
        };
        component.images.iter().filter_map(new).collect()
    }
}

/// Gives the Services that a kustomization renames their new names, beside those that they have, and components the
/// new names of their images.
pub(super) fn join(facts: &mut Facts) {
    let all = std::mem::take(&mut facts.kustomizations);
    let by_folder: BTreeMap<&str, &KustomizationFact> = all.iter().map(|k| (k.folder.as_str(), k)).collect();
    let mut services: BTreeMap<&str, Vec<&ServiceFact>> = BTreeMap::new();
    for service in &facts.services {
        if let Some(path) = facts.paths.get(&service.span.file) {
            services.entry(path).or_default().push(service);
        }
    }
    let mut components: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, component) in facts.components.iter().enumerate() {
        if let Some(path) = facts.paths.get(&component.span.file) {
            components.entry(path).or_default().push(at);
        }
    }
    let mut renamed: Vec<ServiceFact> = Vec::new();
    let mut images: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut known: BTreeSet<(String, Option<String>, Span)> = BTreeSet::new();
    for outer in &all {
        let mut open = vec![(outer, Renaming::of(outer))];
        while let Some((inner, renaming)) = open.pop() {
            for resource in &inner.resources {
                if let Some(base) = by_folder.get(resource.as_str()).filter(|_| renaming.depth <= MAX_DEPTH) {
                    open.push((base, renaming.around(base)));
                }
                for service in services.get(resource.as_str()).into_iter().flatten() {
                    let new = renaming.service(service);
                    let is_new = (&new.name, &new.namespace) != (&service.name, &service.namespace)
                        && known.insert((new.name.clone(), new.namespace.clone(), new.span));
                    if is_new && renamed.len() < MAX_NAMES {
                        renamed.push(new);
                    }
                }
                for at in components.get(resource.as_str()).into_iter().flatten() {
                    let new = facts.components.get(*at).map(|c| renaming.images(c)).unwrap_or_default();
                    images.entry(*at).or_default().extend(new);
                }
            }
        }
    }
    facts.services.extend(renamed);
    for (at, new) in images {
        if let Some(component) = facts.components.get_mut(at) {
            component.images.extend(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::source::FileId;

    fn kustomization(folder: &str, prefix: &str, resources: &[&str]) -> KustomizationFact {
        KustomizationFact {
            folder: folder.to_owned(),
            prefix: prefix.to_owned(),
            suffix: String::new(),
            namespace: None,
            images: Vec::new(),
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
            ports: Vec::new(),
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
    #[test]
    fn an_overlay_gives_a_namespace_and_images_of_other_names() {
        let mut facts = Facts::default();
        facts.paths.insert(FileId(3), Arc::from("base/orders.yaml"));
        let span = Span::start_of(FileId(3));
        facts.services.push(ServiceFact {
            name: "orders".to_owned(),
            namespace: None,
            selector: Vec::new(),
            external: None,
            grpc: false,
            ports: Vec::new(),
            span,
        });
        facts.components.push(ComponentFact {
            name: "orders".to_owned(),
            namespace: None,
            kind: crate::facts::ComponentFactKind::Service,
            hosts: Vec::new(),
            labels: Vec::new(),
            images: vec!["app:1.2".to_owned(), "localhost:5000/proxy".to_owned()],
            build: None,
            env: Vec::new(),
            mounts: Vec::new(),
            span,
        });
        let base = kustomization("base", "", &["base/orders.yaml"]);
        let image = |name: &str, new: &str| (name.to_owned(), new.to_owned());
        let images = vec![image("app", "registry.example/shop/orders"), image("localhost", "no")];
        let prod =
            KustomizationFact { namespace: Some("prod".to_owned()), images, ..kustomization("prod", "", &["base"]) };
        facts.kustomizations = vec![base, prod];
        join(&mut facts);
        let names: Vec<_> = facts.services.iter().map(|s| (s.name.as_str(), s.namespace.as_deref())).collect();
        assert_eq!(names, [("orders", None), ("orders", Some("prod"))]);
        assert_eq!(facts.components[0].images, ["app:1.2", "localhost:5000/proxy", "registry.example/shop/orders"]);
    }
}
