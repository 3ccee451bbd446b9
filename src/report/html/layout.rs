//! Where the page draws things.

use serde::Serialize;

use crate::report::data::Data;

/// The places of all that is drawn.
#[derive(Debug, Default, Serialize)]
pub(super) struct Layout {
    /// The box of each component; null for those that are not drawn.
    nodes: Vec<Option<Node>>,
    /// The lines between them.
    edges: Vec<Edge>,
}

#[derive(Debug, Clone, Serialize)]
struct Node {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// All hops between two components.
#[derive(Debug, Serialize)]
struct Edge {
    from: usize,
    to: usize,
    hops: Vec<usize>,
    points: Vec<(f64, f64)>,
}

impl Layout {
    /// Lays out.
    pub(super) fn new(data: &Data<'_>) -> Self {
        let n = data.components.len();
        let mut rank = vec![0usize; n];
        for _ in 0..n.min(60) {
            for h in &data.hops {
                let r = rank.get(h.from).copied().unwrap_or(0) + 1;
                if let Some(slot) = rank.get_mut(h.to) {
                    if h.from != h.to && *slot < r && r < 40 {
                        *slot = r;
                    }
                }
            }
        }
        let mut at = vec![0usize; 64];
        let nodes: Vec<Option<Node>> = rank
            .iter()
            .map(|r| {
                let slot = at.get_mut(*r)?;
                *slot += 1;
                Some(Node { x: *r as f64 * 300.0, y: *slot as f64 * 70.0, width: 170.0, height: 46.0 })
            })
            .collect();
        let mut edges: Vec<Edge> = Vec::new();
        let mut known = std::collections::BTreeMap::new();
        for (ix, h) in data.hops.iter().enumerate() {
            let (Some(Some(a)), Some(Some(b))) = (nodes.get(h.from), nodes.get(h.to)) else { continue };
            let e = *known.entry((h.from, h.to)).or_insert(edges.len());
            if let Some(edge) = edges.get_mut(e) {
                edge.hops.push(ix);
            } else {
                edges.push(Edge {
                    from: h.from,
                    to: h.to,
                    hops: vec![ix],
                    points: vec![(a.x + a.width, a.y + 23.0), (b.x, b.y + 23.0)],
                });
            }
        }
        Self { nodes, edges }
    }
}
