//! What is wrong with a configuration file, with its places.

use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where: bytes of the file.
    pub range: Range<usize>,
    /// What.
    pub message: String,
    /// What stands there, in a few words.
    pub label: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// A configuration that cannot be used: everything that is wrong with it at once.
#[derive(Debug)]
pub struct Invalid {
    /// The file as shown.
    pub path: String,
    /// Its text; empty if it could not be read.
    pub text: String,
    /// What is wrong, in the order of the file; never empty.
    pub problems: Vec<Problem>,
}

impl Invalid {
    /// The problems as diagnostics that show their lines.
    pub fn diagnostics(&self) -> impl Iterator<Item = Shown<'_>> {
        let source = NamedSource::new(&self.path, self.text.clone());
        self.problems.iter().map(move |problem| Shown { problem, source: source.clone() })
    }
}

/// A problem with the text it is in.
#[derive(Debug)]
pub struct Shown<'a> {
    problem: &'a Problem,
    source: NamedSource<String>,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = (!self.problem.label.is_empty()).then(|| self.problem.label.clone());
        let span = LabeledSpan::new_primary_with_span(label, self.problem.range.clone());
        Some(Box::new(std::iter::once(span)))
    }
}
