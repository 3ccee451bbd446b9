//! Mermaid's flowcharts (<https://mermaid.js.org/syntax/flowchart.html>), which many places show inside Markdown.

use std::io::{self, Write};

use super::view::View;
use crate::model::ComponentKind;

pub(super) fn write(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(worst) = &view.worst {
        // A comment must not hold what opens a directive.
        writeln!(out, "%% {}", worst.replace(['{', '}', '\n', '\r', '%'], " "))?;
    }
    writeln!(out, "flowchart LR")?;
    for (n, node) in view.nodes.iter().enumerate() {
        let name = quoted(&node.component.name);
        let shape = match node.component.kind {
            ComponentKind::Gateway => format!("{{{{{name}}}}}"),
            ComponentKind::Service => format!("[{name}]"),
            ComponentKind::Job => format!("[[{name}]]"),
            ComponentKind::Host => format!("([{name}])"),
            ComponentKind::Outside => format!("(({name}))"),
        };
        writeln!(out, "  n{n}{shape}")?;
    }
    for edge in &view.edges {
        let arrow = if edge.waits { "-->" } else { "-.->" };
        let label = edge.label();
        let label = if label.is_empty() { String::new() } else { format!("|{}|", quoted(&label)) };
        writeln!(out, "  n{} {arrow}{label} n{}", edge.from, edge.to)?;
    }
    let lit: Vec<String> = view.edges.iter().enumerate().filter(|(_, e)| e.worst).map(|(n, _)| n.to_string()).collect();
    if !lit.is_empty() {
        writeln!(out, "  linkStyle {} stroke:#c62828,stroke-width:3px", lit.join(","))?;
    }
    Ok(())
}

/// A string: signs that mean something to Mermaid or to HTML as entities.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' | ';' => out.push_str(&format!("#{};", u32::from(c))),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
