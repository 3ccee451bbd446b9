//! Where the page draws things.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::report::data::Data;
use crate::report::layout::{self, Rect};

/// The places of all that is drawn.
#[derive(Debug, Default, Serialize)]
pub(super) struct Places {
    /// Whether calls are left out: there are too many.
    partial: bool,
    /// How far its columns were moved apart: a page that is narrow undoes it.
    apart: f64,
    /// The box of each component; null for those that are not drawn.
    nodes: Vec<Option<Node>>,
    /// The lines between them.
    edges: Vec<Edge>,
}

/// The box of a component.
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

/// With more components only those on the listed ways are drawn.
const DRAWN: usize = 500;

const HEIGHT: f64 = 46.0;

/// The page is wider than high, and so is what stands on it: columns are moved apart, so many times at most.
const MOST_APART: f64 = 4.0;
const PROPORTION: f64 = 2.2;

impl Places {
    /// Lays out what the page draws.
    pub(super) fn new(data: &Data<'_>) -> Self {
        let (hops, drawn) = drawn(data);
        let partial = hops.len() < data.hops.len();
        let numbers: BTreeMap<usize, usize> = drawn.iter().enumerate().map(|(n, component)| (*component, n)).collect();
        let mut edges: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (ix, hop) in hops.iter().filter_map(|ix| Some((*ix, data.hops.get(*ix)?))) {
            edges.entry((hop.from, hop.to)).or_default().push(ix);
        }
        let name = |component: &usize| data.components.get(*component).map_or("", |c| c.name);
        let sizes: Vec<(f64, f64)> = drawn.iter().map(|component| (width(name(component)), HEIGHT)).collect();
        let number = |component: &usize| numbers.get(component).copied().unwrap_or_default();
        let ends: Vec<(usize, usize)> = edges.keys().map(|(from, to)| (number(from), number(to))).collect();
        let layout = layout::layout(&sizes, &ends);
        let apart = (layout.height * PROPORTION / layout.width.max(1.0)).clamp(1.0, MOST_APART);
        let mut nodes = vec![None; data.components.len()];
        for (component, place) in drawn.iter().zip(&layout.boxes) {
            if let Some(slot) = nodes.get_mut(*component) {
                *slot = Some(Node::new(place, apart));
            }
        }
        let lines = edges.into_iter().zip(layout.lines).map(|(((from, to), hops), points)| Edge {
            points: moved(&points, [from, to].map(|c| layout.boxes.get(number(&c))), apart),
            from,
            to,
            hops,
        });
        let edges = lines.filter(|edge| edge.points.len() > 1).collect();
        Self { partial, apart, nodes, edges }
    }
}

impl Node {
    fn new(place: &Rect, apart: f64) -> Self {
        Self { x: tenths(place.x * apart), y: tenths(place.y), width: place.width, height: place.height }
    }
}

/// The hops that are drawn, and their components: all, if these are not too many.
fn drawn(data: &Data<'_>) -> (BTreeSet<usize>, Vec<usize>) {
    let ends = |hops: &BTreeSet<usize>| -> BTreeSet<usize> {
        hops.iter().filter_map(|ix| data.hops.get(*ix)).flat_map(|hop| [hop.from, hop.to]).collect()
    };
    let mut hops: BTreeSet<usize> = (0..data.hops.len()).collect();
    if ends(&hops).len() > DRAWN {
        hops = data.chains.iter().flat_map(|chain| chain.hops.iter().copied()).collect();
    }
    let components = ends(&hops).into_iter().collect();
    (hops, components)
}

/// As wide as a name needs; one that is too long is cut.
fn width(name: &str) -> f64 {
    (name.chars().count() as f64 * 7.9 + 24.0).clamp(96.0, 230.0)
}

/// The corners of a line, where its columns are moved apart: it still starts and ends at its boxes.
fn moved(points: &[(f64, f64)], [from, to]: [Option<&Rect>; 2], apart: f64) -> Vec<(f64, f64)> {
    let with = |place: Option<&Rect>, x: f64| place.map_or(x * apart, |place| place.x * apart + x - place.x);
    let last = points.len().saturating_sub(1);
    let is_loop = from == to;
    let x = |i: usize, x: f64| match i {
        0 => with(from, x),
        _ if i == last || is_loop => with(to, x),
        _ => x * apart,
    };
    points.iter().enumerate().map(|(i, p)| (tenths(x(i, p.0)), tenths(p.1))).collect()
}

/// More digits nobody sees.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
