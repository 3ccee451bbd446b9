//! What a picture of the graph shows: boxes, and one line for all hops between two of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Attempts, Component, ComponentIx, ComponentKind, Hop, Layer, Model, Path};
use crate::rules::phrase;

/// The picture.
#[derive(Debug)]
pub(super) struct View<'m> {
    /// The components, each by its number in the model.
    pub(super) nodes: Vec<Node<'m>>,
    /// The lines between them.
    pub(super) edges: Vec<Edge>,
    /// The worst path in words.
    pub(super) worst: Option<String>,
}

/// A component.
#[derive(Debug)]
pub(super) struct Node<'m> {
    pub(super) component: &'m Component,
    /// Whether the worst path leads through it.
    pub(super) worst: bool,
}

/// All hops from one component to another.
#[derive(Debug)]
pub(super) struct Edge {
    /// Numbers of nodes.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The attempts on it, one text for each way to get there: "× 4 × 3".
    pub(super) attempts: Vec<String>,
    /// The layers in full.
    pub(super) layers: Vec<String>,
    /// What else there is to say: "per item", "through queue orders".
    pub(super) marks: Vec<String>,
    /// Whether the caller waits for it.
    pub(super) waits: bool,
    /// Whether the worst path leads through it.
    pub(super) worst: bool,
}

impl Edge {
    /// One line: "× 4 × 3, per item".
    pub(super) fn label(&self) -> String {
        let mut parts = self.attempts.clone();
        parts.extend(self.marks.iter().cloned());
        parts.join(", ")
    }
}

impl<'m> View<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let worst = model.paths.first();
        let lit: BTreeSet<u32> = worst.iter().flat_map(|p| p.hops.iter().map(|h| h.0)).collect();
        let mut edges: BTreeMap<(u32, u32), (Vec<&Hop>, bool)> = BTreeMap::new();
        for (hop, ix) in model.hops.iter().zip(0..) {
            let (hops, worst) = edges.entry((hop.from.0, hop.to.0)).or_default();
            hops.push(hop);
            *worst |= lit.contains(&ix);
        }
        // Hosts and callers that are not of the repository are there for their hops only.
        let called: BTreeSet<u32> = edges.keys().flat_map(|(from, to)| [*from, *to]).collect();
        let shown = |ix: u32, c: &Component| {
            called.contains(&ix) || !matches!(c.kind, ComponentKind::Host | ComponentKind::Outside)
        };
        let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
        let mut nodes: Vec<Node<'m>> = Vec::new();
        for (ix, component) in (0..).zip(&model.components).filter(|(ix, c)| shown(*ix, c)) {
            numbers.insert(ix, nodes.len());
            nodes.push(Node { component, worst: false });
        }
        let edges: Vec<Edge> = edges
            .into_iter()
            .filter_map(|((from, to), (hops, worst))| {
                Some(edge(model, *numbers.get(&from)?, *numbers.get(&to)?, &hops, worst))
            })
            .collect();
        for edge in edges.iter().filter(|e| e.worst) {
            for at in [edge.from, edge.to] {
                if let Some(node) = nodes.get_mut(at) {
                    node.worst = true;
                }
            }
        }
        Self { nodes, edges, worst: worst.map(sentence) }
    }
}

fn edge(model: &Model, from: usize, to: usize, hops: &[&Hop], worst: bool) -> Edge {
    let active = |hop: &Hop| -> Vec<&Layer> {
        hop.layers.iter().map(|l| model.layer(l.layer)).filter(|l| l.is_active()).collect()
    };
    let mut attempts: Vec<String> = Vec::new();
    let mut layers: Vec<String> = Vec::new();
    for hop in hops {
        let of_hop = active(hop);
        let factors: Vec<String> = of_hop.iter().map(|l| count(l)).collect();
        let names = of_hop.iter().map(|l| format!("{}: {}", l.name, phrase::attempts(l)));
        push_new(&mut attempts, factors.iter().map(|factor| format!("× {factor}")).collect::<Vec<_>>().join(" "));
        names.for_each(|name| push_new(&mut layers, name));
    }
    attempts.retain(|text| !text.is_empty());
    let mut marks = Vec::new();
    for hop in hops {
        if hop.per_item {
            push_new(&mut marks, "per item".to_owned());
        }
        if let Some(queue) = &hop.through {
            push_new(&mut marks, format!("through {queue}"));
        }
    }
    let waits = hops.iter().any(|h| h.through.is_none());
    Edge { from, to, attempts, layers, marks, waits, worst }
}

fn push_new(all: &mut Vec<String>, text: String) {
    if !all.contains(&text) {
        all.push(text);
    }
}

/// "4", "~12", "∞", "?".
fn count(layer: &Layer) -> String {
    match layer.attempts.value() {
        Some(Attempts::Count(n)) => n.to_string(),
        Some(Attempts::Within { about, .. }) => format!("~{about}"),
        Some(Attempts::Unbounded) => "∞".to_owned(),
        None => "?".to_owned(),
    }
}

/// "1 request can become 64: gateway → inventory, 503".
fn sentence(path: &Path) -> String {
    let amount = match path {
        Path { unbounded: true, .. } => "any number".to_owned(),
        Path { at_least: true, product, .. } => format!("at least {product}"),
        Path { product, .. } => product.to_string(),
    };
    format!("1 request can become {amount}: from {} to {}, when it fails with {}", path.entry, path.leaf, path.failure)
}

/// A component's name.
pub(super) fn name(model: &Model, ix: ComponentIx) -> &str {
    &model.component(ix).name
}
