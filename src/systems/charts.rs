//! Helm charts: the templates of a chart and its values are read together.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::source::SourceFile;
use crate::syntax::templates::{self, Chart};
use crate::syntax::{Node, Parsed};

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
    let mut root = template_root(path).or_else(|| values_root(path)).filter(|root| roots.contains(root))?;
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

/// The chart around a chart, and the name of the inner one there.
fn outer(root: &str) -> Option<(&str, &str)> {
    let (folder, name) = root.rsplit_once('/')?;
    match folder {
        "charts" => Some(("", name)),
        _ => Some((folder.strip_suffix("/charts")?, name)),
    }
}

/// Puts the values of the charts into the templates of one unit.
pub fn resolve(parsed: &mut [(&SourceFile, Parsed)]) {
    let values: Vec<(String, Arc<Node>)> = parsed
        .iter()
        .filter_map(|(file, parsed)| Some((values_root(&file.path)?.to_string(), parsed.documents.first()?.clone())))
        .collect();
    if values.is_empty() {
        return;
    }
    let of = |root: &str| values.iter().find(|(folder, _)| folder == root).map(|(_, node)| &**node);
    for (file, parsed) in parsed.iter_mut() {
        let Some(root) = template_root(&file.path) else { continue };
        let outer = outer(root).and_then(|(folder, name)| Some((of(folder)?, name)));
        let chart = Chart { own: of(root), outer };
        for document in &mut parsed.documents {
            *document = templates::resolve(document, chart);
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
