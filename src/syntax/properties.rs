//! Java .properties to the tree: dotted keys become nested mappings, `name[0]` items of lists.

mod lines;
mod nest;

use std::sync::Arc;

use super::tree::{MAX_ERRORS, Parsed, SyntaxError};
use crate::source::SourceFile;

/// Reads a .properties file. Every level of a key has the whole key as its place.
///
/// A key that is both a value and a prefix (`a=1`, `a.b=2`) has two entries, the value first.
pub fn parse(file: &SourceFile) -> Parsed {
    let mut out = Parsed::default();
    let mut tree = nest::Nest::default();
    for line in lines::lines(file, &mut out.comments, &mut out.errors) {
        let span = file.span(line.key_range.clone());
        if let Err(message) = tree.insert(file, line) {
            if out.errors.len() < MAX_ERRORS {
                out.errors.push(SyntaxError { span, message: message.into() });
            }
            if tree.is_full() {
                break;
            }
        }
    }
    out.documents.extend(tree.finish(file).map(Arc::new));
    out
}

#[cfg(test)]
mod tests;
