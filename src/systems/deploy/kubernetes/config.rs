//! ConfigMaps and Secrets: written out, or generated from files by a kustomization.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{ComponentFact, ConfigMapFact, ConfigUse, EnvFact, Facts, MountedMapFact};
use crate::source::SourceFile;
use crate::syntax::Node;
use crate::systems::objects::Object;
use crate::systems::settings;

/// A ConfigMap that stands in a manifest: its short entries are values, and the manifest is the file with its contents.
pub(super) fn map(file: &SourceFile, object: &Object<'_>) -> Option<ConfigMapFact> {
    let data = object.node.get("data")?.entries();
    let value = |name: &str, node: &Node| {
        let text = node.as_str().filter(|t| !t.contains('\n'))?;
        Some(EnvFact { name: name.to_string(), value: text.to_string(), span: node.span })
    };
    let is_file = |key: &str| key.contains('.');
    Some(ConfigMapFact {
        name: object.name.to_string(),
        namespace: object.namespace.map(str::to_string),
        values: data.iter().filter_map(|e| value(&e.key, &e.value)).collect(),
        files: data.iter().any(|e| is_file(&e.key)).then(|| file.path.to_string()).into_iter().collect(),
        place: Some(object.node.span),
        is_secret: false,
    })
}

/// A Secret whose files stand in a manifest as they are. Its short entries are nobody's business.
pub(super) fn secret(file: &SourceFile, object: &Object<'_>) -> Option<ConfigMapFact> {
    object.node.get("stringData")?;
    Some(ConfigMapFact {
        name: object.name.to_string(),
        namespace: object.namespace.map(str::to_string),
        values: Vec::new(),
        files: vec![file.path.to_string()],
        place: Some(object.node.span),
        is_secret: true,
    })
}

/// The ConfigMaps that a kustomization generates: `files` are beside it, `literals` are values.
pub(super) fn generators(file: &SourceFile, root: &Node, facts: &mut Facts) {
    for generator in root.get("configMapGenerator").map_or(&[][..], Node::items) {
        let Some(name) = generator.get("name").and_then(Node::as_str) else { continue };
        let namespace = generator.get("namespace").or_else(|| root.get("namespace")).and_then(Node::as_str);
        let files = generator.get("files").map_or(&[][..], Node::items).iter().filter_map(|n| n.as_str());
        // `key=path` gives the file another name in the ConfigMap.
        let files = files.filter_map(|f| settings::beside(&file.path, f.rsplit_once('=').map_or(f, |(_, path)| path)));
        let values = generator.get("literals").map_or(&[][..], Node::items).iter().filter_map(|node| {
            let (name, value) = node.as_str()?.split_once('=')?;
            let value = value.trim_matches(['"', '\'']).to_string();
            Some(EnvFact { name: name.to_string(), value, span: node.span })
        });
        facts.config_maps.push(ConfigMapFact {
            name: name.to_string(),
            namespace: namespace.map(str::to_string),
            values: values.collect(),
            files: files.collect(),
            place: None,
            is_secret: false,
        });
    }
}

/// More ConfigMaps of one name are no deployment.
const MAX_MAPS: usize = 64;

/// What components take from ConfigMaps in all; one ConfigMap can be used very often.
const MAX_TAKEN: usize = 200_000;

/// Gives components the files and values of the ConfigMaps that they use, and forgets both.
pub(super) fn join(facts: &mut Facts) {
    let maps = std::mem::take(&mut facts.config_maps);
    let uses = std::mem::take(&mut facts.config_uses);
    let mut by_name: BTreeMap<&str, Vec<&ConfigMapFact>> = BTreeMap::new();
    for map in &maps {
        by_name.entry(&map.name).or_default().push(map);
    }
    let index: BTreeMap<_, _> = facts.components.iter().enumerate().map(|(i, c)| (c.span, i)).collect();
    let mut left = MAX_TAKEN;
    for taken in &uses {
        let Some(component) = index.get(&taken.component).and_then(|&i| facts.components.get_mut(i)) else { continue };
        for map in by_name.get(taken.config_map.as_str()).into_iter().flatten().take(MAX_MAPS) {
            let size = map.values.len() + map.files.len();
            if map.is_secret == taken.is_secret && same_namespace(component, map) && size <= left {
                left -= size;
                take(component, map, &taken.what);
                if let (ConfigUse::Mount, Some(place)) = (&taken.what, map.place) {
                    let component = component.name.clone();
                    facts.mounted_maps.push(MountedMapFact { map: place, component });
                }
            }
        }
    }
    for component in &mut facts.components {
        let mut seen = BTreeSet::new();
        component.env.retain(|e| seen.insert((e.name.clone(), e.value.clone())));
        let mut seen = BTreeSet::new();
        component.mounts.retain(|m| seen.insert(m.clone()));
    }
}

fn same_namespace(component: &ComponentFact, map: &ConfigMapFact) -> bool {
    match (&component.namespace, &map.namespace) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

fn take(component: &mut ComponentFact, map: &ConfigMapFact, what: &ConfigUse) {
    let env = &mut component.env;
    let mut add = |name: String, fact: &EnvFact| env.push(EnvFact { name, ..fact.clone() });
    match what {
        ConfigUse::Mount => component.mounts.extend(map.files.iter().cloned()),
        ConfigUse::AllValues { prefix } => map.values.iter().for_each(|v| add(format!("{prefix}{}", v.name), v)),
        ConfigUse::OneValue { name, key } => {
            map.values.iter().filter(|v| v.name == *key).for_each(|v| add(name.clone(), v));
        }
    }
}
