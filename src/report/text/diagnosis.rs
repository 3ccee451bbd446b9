//! Findings as miette's `Diagnostic`: the first file's places on the finding itself, one related diagnostic for each
//! further file in the order of the call.

use std::fmt;
use std::sync::Arc;

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, Severity, SourceCode, SourceSpan, SpanContents,
};

use crate::report::Places;
use crate::rules::{self, Finding, Label};
use crate::source::{LineIndex, SourceFile};

/// A finding, with others that are folded into it.
#[derive(Debug)]
pub(super) struct Diagnosis {
    message: String,
    severity: Severity,
    code: Option<&'static str>,
    url: Option<String>,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    source: Option<Text>,
    related: Vec<Diagnosis>,
}

impl Diagnosis {
    /// A finding, and what else there is to say at its place.
    pub(super) fn new(first: &Finding, also: Vec<String>, places: &mut Places<'_>) -> Self {
        let mut parts = parts(first, places).into_iter();
        let (source, labels) = parts.next().unwrap_or_default();
        let unsure = match first.confidence {
            crate::model::Confidence::Low => " (low confidence)",
            _ => "",
        };
        let files = parts.map(|(source, labels)| Self { source, labels, ..Self::bare(String::new()) });
        Self {
            severity: match first.severity {
                rules::Severity::Error => Severity::Error,
                rules::Severity::Warning => Severity::Warning,
                rules::Severity::Note => Severity::Advice,
            },
            code: Some(first.rule.id),
            url: Some(first.rule.url()),
            help: first.help.clone(),
            labels,
            source,
            related: files.chain(also.into_iter().map(Self::bare)).collect(),
            ..Self::bare(format!("{}{unsure}", first.message))
        }
    }

    fn bare(message: String) -> Self {
        let (labels, related) = (Vec::new(), Vec::new());
        Self { message, severity: Severity::Advice, code: None, url: None, help: None, labels, source: None, related }
    }
}

/// The places of a finding, neighbours in one file together.
fn parts(finding: &Finding, places: &mut Places<'_>) -> Vec<(Option<Text>, Vec<LabeledSpan>)> {
    let mut parts: Vec<(Option<Text>, Vec<LabeledSpan>)> = Vec::new();
    let mut last = None;
    let primary = std::iter::once((&finding.primary, true));
    for (Label { span, text }, is_primary) in primary.chain(finding.labels.iter().map(|l| (l, false))) {
        let at = (span.start as usize, span.range().len());
        let label = match is_primary {
            true => LabeledSpan::new_primary_with_span(Some(text.clone()), at),
            false => LabeledSpan::new_with_span(Some(text.clone()), at),
        };
        match parts.last_mut().filter(|_| last == Some(span.file)) {
            Some((_, labels)) => labels.push(label),
            None => parts.push((Text::of(*span, places), vec![label])),
        }
        last = Some(span.file);
    }
    parts
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnosis {}

impl Diagnostic for Diagnosis {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.url.as_ref().map(|url| Box::new(url) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|text| text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.related.iter().map(|d| d as &dyn Diagnostic)))
    }
}

/// A file's text with its line index, so that a line is found without reading the file up to it.
#[derive(Debug, Clone)]
struct Text {
    file: SourceFile,
    index: Arc<LineIndex>,
}

impl Text {
    fn of(span: crate::source::Span, places: &mut Places<'_>) -> Option<Self> {
        let (file, index) = places.file(span.file)?;
        Some(Self { file: file.clone(), index })
    }
}

impl SourceCode for Text {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let text = &*self.file.text;
        let line_of = |byte: usize| self.index.position(text, u32::try_from(byte).unwrap_or(u32::MAX)).line;
        let lines = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let first = line_of(span.offset()).saturating_sub(lines(context_lines_before)).max(1);
        let last = line_of(span.offset() + span.len().saturating_sub(1))
            .saturating_add(lines(context_lines_after))
            .min(self.index.lines());
        let start = self.index.line_range(text, first).start;
        let end = self.index.line_range(text, last).end;
        let data = text.get(start..end).ok_or(MietteError::OutOfBounds)?.as_bytes();
        let name = self.file.path.to_string();
        let count = self.index.lines() as usize;
        let at = SourceSpan::from((start, end - start));
        Ok(Box::new(MietteSpanContents::new_named(name, data, at, first as usize - 1, 0, count)))
    }
}
