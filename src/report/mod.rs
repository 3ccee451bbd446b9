//! The last stage: what a run came to, in one format a file.
//!
//! To add a format: its file here, its line in the command that writes it.

pub mod data;
pub mod html;
pub mod json;
pub mod lists;
pub mod markdown;
pub mod page;
mod places;
pub mod text;

use std::io::{self, Write};

pub use data::Data;
pub use html::Html;
pub use json::Json;
pub use markdown::Markdown;
pub use places::{Place, Places};
pub use text::Text;

use crate::run::Run;

/// A format of output.
pub trait Report {
    /// Writes the whole report.
    ///
    /// # Errors
    /// Those of `out`.
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()>;
}

#[cfg(test)]
mod tests;
