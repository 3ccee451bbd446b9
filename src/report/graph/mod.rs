//! The call graph in the forms of other programs: Graphviz's DOT, Mermaid, SVG, JSON; and why its links hold.
//!
//! To add a form: its file here, its line in [`GraphForm`] and in [`write()`].

mod dot;
mod json;
mod mermaid;
mod svg;
#[cfg(test)]
mod tests;
mod view;
mod why;

use std::io::{self, Write};

use crate::run::Run;
use view::View;
pub use why::{Unknown, Why};

/// A form in which the graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphForm {
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
    /// Data.
    Json,
    /// A picture.
    Svg,
}

/// Writes the graph.
///
/// # Errors
/// Those of `out`.
pub fn write(run: &Run, form: GraphForm, out: &mut dyn Write) -> io::Result<()> {
    match form {
        GraphForm::Dot => dot::write(&View::new(&run.model), out),
        GraphForm::Mermaid => mermaid::write(&View::new(&run.model), out),
        GraphForm::Svg => svg::write(&View::new(&run.model), out),
        GraphForm::Json => json::write(run, out),
    }
}
