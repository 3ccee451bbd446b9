//! Helm charts: the templates of a chart and its values are read together.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::source::SourceFile;
use crate::syntax::templates::{self, Chart, Helpers};
use crate::syntax::{Node, Parsed, Syntax};

/// The folders that hold a `Chart.yaml`.
pub(super) fn roots<'p>(paths: &[&'p str]) -> BTreeSet<&'p str> {
    let charts = paths.iter().filter_map(|path| path.strip_suffix("Chart.yaml"));
    charts
        .filter(|folder| folder.is_empty() || folder.ends_with('/'))
        .map(|folder| folder.trim_end_matches('/'))
        .collect()
}

/// The unit of a chart's template or values: the outermost chart that it is a part of.
pub(super) fn unit_of(path: &str, roots: &BTreeSet<&str>) -> Option<String> {
    let root = template_root(path).or_else(|| values_root(path)).or_else(|| manifest_root(path));
    let mut root = root.filter(|root| roots.contains(root))?;
    while let Some((outer, _)) = outer(root).filter(|(outer, _)| roots.contains(outer)) {
        root = outer;
    }
    Some(format!("chart:{root}"))
}

/// `shop/templates/route.yaml` → `shop`
fn template_root(path: &str) -> Option<&str> {
    match path.split_once("/templates/") {
        Some((root, _)) => Some(root),
        None => path.starts_with("templates/").then_some(""),
    }
}

/// `shop/values.yaml` → `shop`
fn values_root(path: &str) -> Option<&str> {
    if path == "values.yaml" { Some("") } else { path.strip_suffix("/values.yaml") }
}

/// `shop/Chart.yaml` → `shop`
fn manifest_root(path: &str) -> Option<&str> {
    if path == "Chart.yaml" { Some("") } else { path.strip_suffix("/Chart.yaml") }
}

/// The chart around a chart, and the name of the inner one there.
fn outer(root: &str) -> Option<(&str, &str)> {
    let (folder, name) = root.rsplit_once('/')?;
    match folder {
        "charts" => Some(("", name)),
        _ => Some((folder.strip_suffix("/charts")?, name)),
    }
}

/// Whether a file holds named templates.
fn is_helpers(path: &str) -> bool {
    template_root(path).is_some() && Syntax::of_path(path) == Some(Syntax::Template)
}

/// Puts the values and the named templates of the charts into the templates of one unit.
pub fn resolve(parsed: &mut [(&SourceFile, Parsed)]) {
    let values: Vec<(String, Arc<Node>)> = parsed
        .iter()
        .filter_map(|(file, parsed)| Some((values_root(&file.path)?.to_string(), parsed.documents.first()?.clone())))
        .collect();
    let names: Vec<(String, String)> = parsed
        .iter()
        .filter_map(|(file, parsed)| {
            let name = parsed.documents.first()?.get("name")?.as_str()?;
            Some((manifest_root(&file.path)?.to_string(), name.to_string()))
        })
        .collect();
    if values.is_empty() && names.is_empty() {
        return;
    }
    let texts: Vec<Arc<str>> =
        parsed.iter().filter(|(file, _)| is_helpers(&file.path)).map(|(file, _)| file.text.clone()).collect();
    let mut helpers = Helpers::default();
    texts.iter().for_each(|text| helpers.add(text));
    let of = |root: &str| values.iter().find(|(folder, _)| folder == root).map(|(_, node)| &**node);
    let name_of = |root: &str| names.iter().find(|(folder, _)| folder == root).map(|(_, name)| name.as_str());
    // The shortest path is that of the chart around all others.
    let release = names.iter().min_by_key(|(folder, _)| folder.len()).map(|(_, name)| name.as_str());
    for (file, parsed) in parsed.iter_mut() {
        let Some(root) = template_root(&file.path) else { continue };
        let outer = outer(root).and_then(|(folder, name)| Some((of(folder)?, name)));
        let chart = Chart { own: of(root), outer, name: name_of(root), release };
        for document in &mut parsed.documents {
            *document = templates::resolve(document, chart, &helpers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_and_their_parts() {
        let paths = ["a/Chart.yaml", "a/charts/b/Chart.yaml", "Chart.yaml", "x/notChart.yaml"];
        let roots = roots(&paths);
        let unit = |path: &str| unit_of(path, &roots);
        assert_eq!(unit("a/templates/deep/x.yaml").as_deref(), Some("chart:a"));
        assert_eq!(unit("a/charts/b/values.yaml").as_deref(), Some("chart:a"));
        assert_eq!(unit("templates/x.yaml").as_deref(), Some("chart:"));
        assert_eq!(unit("c/templates/x.yaml"), None);
        assert_eq!(unit("a/other.yaml"), None);
    }
}
