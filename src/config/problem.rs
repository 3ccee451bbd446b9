//! What is wrong with a configuration file, with its places.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

use crate::source::{Sources, Span};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub span: Span,
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
    /// It, and those that it extends, as far as they could be read.
    pub sources: Sources,
    /// What is wrong, in the order of the files; never empty.
    pub problems: Vec<Problem>,
}

impl Invalid {
    /// The problems as diagnostics that show their lines.
    pub fn diagnostics(&self) -> impl Iterator<Item = Shown<'_>> {
        self.problems.iter().map(move |problem| {
            let source = match self.sources.get(problem.span.file) {
                Some(file) => NamedSource::new(&*file.path, file.text.to_string()),
                None => NamedSource::new(&self.path, String::new()),
            };
            Shown { problem, source }
        })
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
        let span = LabeledSpan::new_primary_with_span(label, self.problem.span.range());
        Some(Box::new(std::iter::once(span)))
    }
}
