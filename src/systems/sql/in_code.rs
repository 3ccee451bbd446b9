//! Purges that stand as texts in code.

use super::{purges, redrives};
use crate::facts::Facts;
use crate::model::PurgeBound;
use crate::source::{SourceFile, Span};

/// A text in code that may be a statement.
#[derive(Debug)]
pub struct Text<'t> {
    /// The text.
    pub text: &'t str,
    /// Where its first byte stands in the file, if it stands there byte for byte.
    pub verbatim: Option<u32>,
    /// The literal.
    pub span: Span,
    /// The function or constant it stands in.
    pub inside: &'t str,
}

/// Adds the purges and redrives that a text makes. Only whole statements are read: what is put together from pieces is not known.
pub fn extract(file: &SourceFile, text: &Text<'_>, facts: &mut Facts) {
    let start = text.text.trim_start();
    let starts = |word: &str| start.get(..word.len()).is_some_and(|s| s.eq_ignore_ascii_case(word));
    if !["delete", "truncate", "with", "insert", "update"].iter().any(|verb| starts(verb)) {
        return;
    }
    let script = SourceFile { id: file.id, path: file.path.clone(), text: text.text.into() };
    let mut found = Facts::default();
    purges::extract_as(&script, text.inside, &mut found);
    redrives::extract(&script, &mut found);
    let place = |span: Span| match text.verbatim {
        Some(at) => Span { start: span.start + at, end: span.end + at, ..span },
        None => text.span,
    };
    for mut purge in found.purges.into_iter().filter(|p| p.bound != PurgeBound::Other) {
        purge.place = place(purge.place);
        // Without exact places a label would only repeat the literal.
        purge.bound_span = purge.bound_span.map(place).filter(|_| text.verbatim.is_some());
        purge.age = purge.age.map(|(age, span)| (age, place(span)));
        facts.purges.push(purge);
    }
    for mut expiry in found.expiries {
        expiry.purge = place(expiry.purge);
        facts.expiries.push(expiry);
    }
    for mut redrive in found.redrives {
        redrive.place = place(redrive.place);
        redrive.name = format!("`{}`", text.inside);
        facts.redrives.push(redrive);
    }
}
