//! Graphviz's language (<https://graphviz.org/doc/info/lang.html>).

use std::io::{self, Write};

use super::view::View;
use crate::model::ComponentKind;

pub(super) fn write(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph retries {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=box, fontname=\"sans-serif\"];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=10];")?;
    if let Some(worst) = &view.worst {
        writeln!(out, "  label={};", quoted(worst))?;
    }
    for (n, node) in view.nodes.iter().enumerate() {
        let shape = match node.component.kind {
            ComponentKind::Gateway => ", shape=hexagon",
            ComponentKind::Service => "",
            ComponentKind::Job => ", shape=component",
            ComponentKind::Host => ", style=rounded",
            ComponentKind::Outside => ", style=dashed",
        };
        let lit = if node.worst { ", color=\"#c62828\"" } else { "" };
        let (label, tip) = (quoted(&node.component.name), quoted(node.component.kind.name()));
        writeln!(out, "  n{n} [label={label}, tooltip={tip}{shape}{lit}];")?;
    }
    for edge in &view.edges {
        let mut attributes = vec![format!("label={}", quoted(&edge.label()))];
        if !edge.layers.is_empty() {
            attributes.push(format!("tooltip={}", quoted(&edge.layers.join("\n"))));
        }
        if edge.worst {
            attributes.push("color=\"#c62828\", penwidth=2.5".to_owned());
        }
        if !edge.waits {
            attributes.push("style=dashed".to_owned());
        }
        writeln!(out, "  n{} -> n{} [{}];", edge.from, edge.to, attributes.join(", "))?;
    }
    writeln!(out, "}}")
}

/// A string: a backslash would begin an escape of the label's own.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
