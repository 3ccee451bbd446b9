//! Where boxes and lines of a call graph are drawn: in columns, callers to the left of callees.
//!
//! The order in the columns and the heights come from `rust-sugiyama`; columns are the longest way from an entry. Lines
//! that cross a column get a place in it, so that they pass between the boxes.

use std::collections::BTreeSet;

use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use rust_sugiyama::configure::{Config, CrossingMinimization, RankingType};

/// Nodes with the middle of each.
type Placed = Vec<(NodeIndex, (f64, f64))>;

/// Room between two columns: the lines' labels stand there.
pub const COLUMN_GAP: f64 = 150.0;

/// Room between two boxes of a column.
const ROW_GAP: f64 = 26.0;

/// Room that a line takes where it crosses a column.
const LINE: f64 = 14.0;

/// So many boxes and crossings are put in order with all care; beyond, more quickly.
const WITH_CARE: usize = 400;

/// So many are put in order at all; beyond, they stand in the order in which they come.
const IN_ORDER: usize = 6_000;

/// A box: its upper left corner and its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// A drawing without its looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The boxes, in the order of the sizes.
    pub boxes: Vec<Rect>,
    /// The corners of the lines, in the order of the edges.
    pub lines: Vec<Vec<(f64, f64)>>,
    /// The width of all.
    pub width: f64,
    /// The height of all.
    pub height: f64,
}

/// Lays out boxes of these sizes, with lines from box to box. Cycles and loops do no harm; lines that name no box have no
/// corners.
pub fn layout(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Layout {
    let columns = Columns::new(sizes.len(), edges);
    let net = Net::new(sizes, edges, &columns);
    let centres = net.heights();
    let mut left = 0.0;
    let mut lefts = Vec::new();
    for width in columns.widths(sizes) {
        lefts.push(left);
        left += width + COLUMN_GAP;
    }
    let x = |column: usize| lefts.get(column).copied().unwrap_or(0.0);
    let boxes: Vec<Rect> = sizes
        .iter()
        .enumerate()
        .map(|(node, &(width, height))| {
            let y = centres.get(node).copied().unwrap_or(0.0) - height / 2.0;
            Rect { x: x(columns.of(node)), y, width, height }
        })
        .collect();
    let widths = columns.widths(sizes);
    let sides = |column: usize| (x(column), x(column) + widths.get(column).copied().unwrap_or(0.0));
    let lines = net.lines(edges, &columns, &boxes, &centres, sides);
    let right = boxes.iter().map(|b| b.x + b.width).fold(0.0, f64::max);
    let bottom = boxes.iter().map(|b| b.y + b.height).fold(0.0, f64::max);
    let beyond = lines.iter().flatten().map(|p| p.1).fold(bottom, f64::max);
    Layout { boxes, lines, width: right, height: beyond }
}

/// In which column each box stands.
struct Columns {
    of: Vec<usize>,
    /// Edges that lead back: they close a cycle.
    back: BTreeSet<usize>,
}

impl Columns {
    fn new(nodes: usize, edges: &[(usize, usize)]) -> Self {
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for (edge, &(from, to)) in edges.iter().enumerate() {
            if from != to
                && to < nodes
                && let Some(leaving) = leaving.get_mut(from)
            {
                leaving.push(edge);
            }
        }
        let (back, order) = walk(nodes, edges, &leaving);
        let mut of = vec![0; nodes];
        for node in order {
            let here: usize = of.get(node).copied().unwrap_or(0);
            for edge in leaving.get(node).into_iter().flatten().filter(|e| !back.contains(e)) {
                if let Some(column) = edges.get(*edge).and_then(|(_, to)| of.get_mut(*to)) {
                    *column = (*column).max(here + 1);
                }
            }
        }
        Self { of, back }
    }

    fn of(&self, node: usize) -> usize {
        self.of.get(node).copied().unwrap_or(0)
    }

    fn widths(&self, sizes: &[(f64, f64)]) -> Vec<f64> {
        let mut widths = vec![0.0f64; self.of.iter().max().map_or(0, |last| last + 1)];
        for (column, (width, _)) in self.of.iter().zip(sizes) {
            if let Some(slot) = widths.get_mut(*column) {
                *slot = slot.max(*width);
            }
        }
        widths
    }

    /// An edge from left to right, and whether it was turned round for that; `None` for a loop and one without a box.
    fn ends(&self, edge: usize, edges: &[(usize, usize)]) -> Option<(usize, usize, bool)> {
        let &(from, to) = edges.get(edge)?;
        let there = from != to && from.max(to) < self.of.len();
        there.then(|| if self.back.contains(&edge) { (to, from, true) } else { (from, to, false) })
    }
}

/// Edges that lead back, and all nodes, callers before callees; boxes that nothing calls are walked first.
fn walk(nodes: usize, edges: &[(usize, usize)], leaving: &[Vec<usize>]) -> (BTreeSet<usize>, Vec<usize>) {
    let called: BTreeSet<usize> = edges.iter().filter(|(from, to)| from != to).map(|(_, to)| *to).collect();
    let starts = (0..nodes).filter(|n| !called.contains(n)).chain((0..nodes).filter(|n| called.contains(n)));
    // 0 = new, 1 = on the way, 2 = done.
    let mut state = vec![0u8; nodes];
    let (mut back, mut done) = (BTreeSet::new(), Vec::new());
    let set = |state: &mut Vec<u8>, node: usize, to: u8| {
        if let Some(slot) = state.get_mut(node) {
            *slot = to;
        }
    };
    for start in starts {
        if state.get(start) != Some(&0) {
            continue;
        }
        set(&mut state, start, 1);
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let edge = leaving.get(*node).and_then(|l| l.get(*next)).copied();
            *next += 1;
            let Some(edge) = edge else {
                set(&mut state, *node, 2);
                done.push(*node);
                stack.pop();
                continue;
            };
            let Some(&(_, to)) = edges.get(edge) else { continue };
            match state.get(to) {
                Some(0) => {
                    set(&mut state, to, 1);
                    stack.push((to, 0));
                }
                Some(1) => {
                    back.insert(edge);
                }
                _ => {}
            }
        }
    }
    done.reverse();
    (back, done)
}

/// The boxes, and the places at which lines cross columns, as one graph whose edges go from one column to the next.
struct Net {
    graph: StableDiGraph<f64, ()>,
    /// The crossings of each edge, from left to right.
    crossings: Vec<Vec<NodeIndex>>,
    boxes: usize,
}

impl Net {
    fn new(sizes: &[(f64, f64)], edges: &[(usize, usize)], columns: &Columns) -> Self {
        let mut graph = StableDiGraph::new();
        for (_, height) in sizes {
            graph.add_node(height + ROW_GAP);
        }
        let mut crossings = vec![Vec::new(); edges.len()];
        for (edge, of_edge) in crossings.iter_mut().enumerate() {
            let Some((from, to, _)) = columns.ends(edge, edges) else { continue };
            let mut last = NodeIndex::new(from);
            for _ in columns.of(from) + 1..columns.of(to) {
                let next = graph.add_node(LINE);
                graph.add_edge(last, next, ());
                of_edge.push(next);
                last = next;
            }
            if graph.find_edge(last, NodeIndex::new(to)).is_none() {
                graph.add_edge(last, NodeIndex::new(to), ());
            }
        }
        Self { graph, crossings, boxes: sizes.len() }
    }

    /// The middle of each node, from the top: parts that are not connected one below the other.
    fn heights(&self) -> Vec<f64> {
        let mut centres = vec![0.0; self.graph.node_count()];
        let mut top = 0.0;
        let mut parts = self.parts();
        // Large parts first, then what stands alone.
        parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        for part in parts {
            let half = |node: usize| self.graph.node_weight(NodeIndex::new(node)).map_or(0.0, |height| height / 2.0);
            let above = part.iter().map(|(node, y)| y - half(*node)).fold(f64::INFINITY, f64::min);
            let below = part.iter().map(|(node, y)| y + half(*node)).fold(f64::NEG_INFINITY, f64::max);
            for (node, y) in &part {
                if let Some(slot) = centres.get_mut(*node) {
                    *slot = top + y - above;
                }
            }
            top += below - above;
        }
        centres
    }

    /// Each connected part: its nodes with their heights.
    fn parts(&self) -> Vec<Vec<(usize, f64)>> {
        if self.graph.node_count() > IN_ORDER {
            return vec![self.as_they_come()];
        }
        let with_care = self.graph.node_count() <= WITH_CARE;
        let config = Config {
            vertex_spacing: 0.0,
            dummy_vertices: false,
            ranking_type: RankingType::Up,
            c_minimization: CrossingMinimization::Barycenter,
            transpose: with_care,
            ..Config::default()
        };
        let parts = rust_sugiyama::from_graph(&self.graph, &|_, height: &f64| (*height, 1.0), &config);
        let part = |(nodes, _, _): (Placed, f64, f64)| {
            let mut nodes: Vec<(usize, f64)> = nodes.into_iter().map(|(node, (x, _))| (node.index(), x)).collect();
            nodes.sort_by_key(|(node, _)| *node);
            nodes
        };
        parts.into_iter().map(part).collect()
    }

    /// One below the other, column by column.
    fn as_they_come(&self) -> Vec<(usize, f64)> {
        let mut column = vec![0usize; self.graph.node_count()];
        let order = petgraph::algo::toposort(&self.graph, None).unwrap_or_default();
        for node in &order {
            for next in self.graph.neighbors(*node) {
                let here = column.get(node.index()).copied().unwrap_or(0);
                if let Some(slot) = column.get_mut(next.index()) {
                    *slot = (*slot).max(here + 1);
                }
            }
        }
        let mut tops = std::collections::BTreeMap::new();
        let mut place = |node: usize| {
            let height = self.graph.node_weight(NodeIndex::new(node)).copied().unwrap_or(0.0);
            let top: &mut f64 = tops.entry(column.get(node).copied().unwrap_or(0)).or_insert(0.0);
            *top += height;
            (node, *top - height / 2.0)
        };
        (0..self.graph.node_count()).map(&mut place).collect()
    }

    fn lines(
        &self,
        edges: &[(usize, usize)],
        columns: &Columns,
        boxes: &[Rect],
        centres: &[f64],
        sides: impl Fn(usize) -> (f64, f64),
    ) -> Vec<Vec<(f64, f64)>> {
        let side = |node: usize, right: bool| {
            let b = boxes.get(node)?;
            Some((if right { b.x + b.width } else { b.x }, b.y + b.height / 2.0))
        };
        let line = |edge: usize| -> Option<Vec<(f64, f64)>> {
            let &(from, to) = edges.get(edge)?;
            if from == to {
                let (x, y) = side(from, true)?;
                return Some(vec![(x, y - 6.0), (x + 24.0, y - 6.0), (x + 24.0, y + 6.0), (x, y + 6.0)]);
            }
            let (left, right, turned) = columns.ends(edge, edges)?;
            let mut points = vec![side(left, true)?];
            for (n, crossing) in self.crossings.get(edge).into_iter().flatten().enumerate() {
                let y = centres.get(crossing.index()).copied()?;
                // Level through the whole column, so that it touches no box of it.
                let (left, right) = sides(columns.of(left) + 1 + n);
                points.extend([(left, y), (right, y)]);
            }
            points.push(side(right, false)?);
            if turned {
                points.reverse();
            }
            Some(points)
        };
        debug_assert!(self.boxes == boxes.len());
        (0..edges.len()).map(|edge| line(edge).unwrap_or_default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(n: usize) -> Vec<(f64, f64)> {
        (0..n).map(|i| (80.0 + (i % 3) as f64 * 30.0, 40.0)).collect()
    }

    /// Edges of a graph of `n` boxes, a few for each, some of them backwards.
    fn edges(n: usize, seed: usize) -> Vec<(usize, usize)> {
        let all = (0..n).flat_map(|i| (1..4).map(move |k| (i, (i * 7 + k * k * 13 + seed) % n)));
        all.filter(|(from, to)| !(from + to + seed).is_multiple_of(3)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn overlap(a: &Rect, b: &Rect) -> bool {
        a.x < b.x + b.width && b.x < a.x + a.width && a.y + 0.01 < b.y + b.height && b.y + 0.01 < a.y + a.height
    }

    fn is_sound(layout: &Layout, edges: &[(usize, usize)]) {
        for (i, a) in layout.boxes.iter().enumerate() {
            assert!(a.x.is_finite() && a.y.is_finite() && a.x >= 0.0 && a.y >= 0.0, "{a:?}");
            assert!(a.x + a.width <= layout.width + 0.01 && a.y + a.height <= layout.height + 0.01);
            for b in layout.boxes.iter().skip(i + 1) {
                assert!(!overlap(a, b), "{a:?} and {b:?}");
            }
        }
        for (line, (from, to)) in layout.lines.iter().zip(edges) {
            let (a, b) = (layout.boxes[*from], layout.boxes[*to]);
            let touches = |p: &(f64, f64), b: Rect| (p.0 - b.x).abs() < 0.01 || (p.0 - b.x - b.width).abs() < 0.01;
            assert!(touches(line.first().unwrap(), a) && touches(line.last().unwrap(), b), "{line:?}");
        }
    }

    #[test]
    fn callers_stand_to_the_left_of_callees() {
        let layout = layout(&boxes(4), &[(0, 1), (1, 2), (0, 2), (3, 2)]);
        let x: Vec<f64> = layout.boxes.iter().map(|b| b.x).collect();
        assert!(x[0] < x[1] && x[1] < x[2] && x[3] < x[2]);
        assert_eq!(layout.lines[2].len(), 4, "it passes the column between");
        is_sound(&layout, &[(0, 1), (1, 2), (0, 2), (3, 2)]);
    }

    #[test]
    fn cycles_loops_and_boxes_alone_have_their_places() {
        let edges = [(0, 1), (1, 0), (1, 1), (3, 4)];
        is_sound(&layout(&boxes(6), &edges), &edges);
        let nowhere = layout(&boxes(1), &[(0, 7), (7, 0), (7, 7)]);
        assert_eq!(nowhere.lines, [vec![], vec![], vec![]]);
        assert_eq!(layout(&[], &[]).boxes, []);
    }

    #[test]
    fn no_two_boxes_overlap_and_every_line_leads_from_box_to_box() {
        for n in [2, 3, 5, 8, 13, 40] {
            for seed in 0..12 {
                let edges = edges(n, seed);
                is_sound(&layout(&boxes(n), &edges), &edges);
            }
        }
    }

    #[test]
    fn the_same_graph_is_drawn_in_the_same_way() {
        let edges = edges(60, 1);
        assert_eq!(layout(&boxes(60), &edges), layout(&boxes(60), &edges));
    }

    #[test]
    fn a_chain_of_many_thousand_boxes_is_no_trouble() {
        let edges: Vec<_> = (0..9_999).map(|i| (i, i + 1)).collect();
        is_sound_enough(&layout(&boxes(10_000), &edges));
        let edges: Vec<_> = (0..2_999).map(|i| (i, i + 1)).collect();
        is_sound_enough(&layout(&boxes(3_000), &edges));
    }

    fn is_sound_enough(layout: &Layout) {
        assert!(layout.boxes.iter().all(|b| b.x.is_finite() && b.y.is_finite()));
    }
}
