//! A picture that stands alone: no script, no font and nothing else to load.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::view::{Edge, Node, View};
use crate::model::ComponentKind;
use crate::report::layout::{self, Rect};
use crate::report::xml::escaped;

const HEIGHT: f64 = 36.0;
const MARGIN: f64 = 24.0;
/// The line below the picture.
const FOOT: f64 = 28.0;
/// A character of the labels, about.
const CHARACTER: f64 = 7.4;
/// Longer names are cut; the whole stands in the tooltip.
const LONGEST: usize = 36;
/// Room in a gap between columns.
const LABEL: usize = 18;

const STYLE: &str = "\
.box{fill:#f5f5f5;stroke:#616161}.gateway{fill:#e3f2fd}.job{fill:#fff8e1}.host,.outside{fill:#fff;stroke-dasharray:4 3}\
.line{fill:none;stroke:#757575;stroke-width:1.2}.apart{stroke-dasharray:5 4}.worst{stroke:#c62828;stroke-width:2.5}\
text{font:12px sans-serif;fill:#212121}.label{font-size:11px}.back{stroke:#fff;stroke-width:4;paint-order:stroke}\
.lit{fill:#c62828;font-weight:bold}#page{fill:#fff}#tip{fill:#757575}#tip-worst{fill:#c62828}\
@media(prefers-color-scheme:dark){.box{fill:#303030;stroke:#9e9e9e}.gateway{fill:#12344d}.job{fill:#4a3c10}\
.host,.outside{fill:#1b1b1b}.line{stroke:#9e9e9e}.worst{stroke:#ff6f60}text{fill:#eee}.lit{fill:#ff8a80}\
.back{stroke:#1b1b1b}#page{fill:#1b1b1b}#tip{fill:#9e9e9e}#tip-worst{fill:#ff6f60}}";

pub(super) fn write(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let sizes: Vec<(f64, f64)> = view.nodes.iter().map(|n| (width(&shown(n)), HEIGHT)).collect();
    let ends: Vec<(usize, usize)> = view.edges.iter().map(|e| (e.from, e.to)).collect();
    let drawn = layout::layout(&sizes, &ends);
    let foot = view.worst.as_deref().unwrap_or("Nothing is tried again in two places of one path");
    let wide = (drawn.width.max(width(foot)) + 2.0 * MARGIN + 30.0).ceil();
    let high = (drawn.height + 2.0 * MARGIN + FOOT).ceil();
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" role=\"img\">"
    )?;
    writeln!(out, "<title>{}</title>", escaped(foot))?;
    writeln!(out, "<style>{STYLE}</style>")?;
    for id in ["tip", "tip-worst"] {
        writeln!(
            out,
            "<marker id=\"{id}-end\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path id=\"{id}\" d=\"M0 0L8 4L0 8z\"/></marker>"
        )?;
    }
    writeln!(out, "<rect id=\"page\" width=\"100%\" height=\"100%\"/>")?;
    writeln!(out, "<g transform=\"translate({MARGIN} {MARGIN})\">")?;
    // The worst path last, on top of the others.
    for lit in [false, true] {
        for (edge, points) in view.edges.iter().zip(&drawn.lines).filter(|(e, _)| e.worst == lit) {
            line(edge, points, out)?;
        }
    }
    for (node, place) in view.nodes.iter().zip(&drawn.boxes) {
        boxed(node, *place, out)?;
    }
    for (edge, points) in view.edges.iter().zip(&drawn.lines) {
        label(edge, points, out)?;
    }
    writeln!(out, "</g>")?;
    let y = high - FOOT / 2.0;
    writeln!(out, "<text x=\"{MARGIN}\" y=\"{y}\">{}</text>", escaped(foot))?;
    writeln!(out, "</svg>")
}

fn line(edge: &Edge, points: &[(f64, f64)], out: &mut dyn Write) -> io::Result<()> {
    let Some((first, rest)) = points.split_first() else { return Ok(()) };
    let mut path = format!("M{:.1} {:.1}", first.0, first.1);
    let mut last = *first;
    for point in rest {
        // Level where it leaves and where it arrives.
        let middle = (last.0 + point.0) / 2.0;
        path.push_str(&format!("C{middle:.1} {:.1} {middle:.1} {:.1} {:.1} {:.1}", last.1, point.1, point.0, point.1));
        last = *point;
    }
    let worst = if edge.worst { " worst" } else { "" };
    let apart = if edge.waits { "" } else { " apart" };
    let tip = if edge.worst { "tip-worst-end" } else { "tip-end" };
    write!(out, "<path class=\"line{worst}{apart}\" d=\"{path}\" marker-end=\"url(#{tip})\">")?;
    writeln!(out, "<title>{}</title></path>", escaped(&edge.layers.join("\n")))
}

fn label(edge: &Edge, points: &[(f64, f64)], out: &mut dyn Write) -> io::Result<()> {
    let text = edge.label();
    let (Some(a), Some(b), false) = (points.first(), points.get(1), text.is_empty()) else { return Ok(()) };
    let lit = if edge.worst { " lit" } else { "" };
    let (x, y) = (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1) - 4.0);
    write!(out, "<text class=\"label back{lit}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">")?;
    let title = if edge.layers.is_empty() { text.clone() } else { edge.layers.join("\n") };
    writeln!(out, "<title>{}</title>{}</text>", escaped(&title), escaped(&cut(&text, LABEL)))
}

fn boxed(node: &Node<'_>, place: Rect, out: &mut dyn Write) -> io::Result<()> {
    let Rect { x, y, width, height } = place;
    let kind_name = node.component.kind.name();
    let round = if node.component.kind == ComponentKind::Host { height / 2.0 } else { 4.0 };
    let worst = if node.worst { " worst" } else { "" };
    write!(out, "<g><title>{} ({kind_name})</title>", escaped(&node.component.name))?;
    write!(
        out,
        "<rect class=\"box {kind_name}{worst}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\"/>"
    )?;
    let (x, y) = (x + width / 2.0, y + height / 2.0 + 4.0);
    writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text></g>", escaped(&shown(node)))
}

fn shown(node: &Node<'_>) -> String {
    cut(&node.component.name, LONGEST)
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

fn width(text: &str) -> f64 {
    text.width() as f64 * CHARACTER + 24.0
}
