//! YAML streams to trees: all documents, aliases shared, merge keys applied, comments kept.
//!
//! A document that cannot be read is reported and left out; its neighbours stay.

mod build;
mod merge;
mod source;

use granit_parser::{ErrorKind, Event, Parser, ScanError, options};

use self::build::{Builder, Refusal};
use super::tree::{Comment, MAX_DEPTH, MAX_ERRORS, Parsed, SyntaxError, TOO_DEEP, TOO_MANY};
use crate::source::SourceFile;

/// Reads a YAML stream. Aliases share their anchor's node and keep its spans.
pub fn parse(file: &SourceFile) -> Parsed {
    let mut out = Parsed::default();
    let options = options! {
        emit_unresolved_aliases: true,
        // What libyaml does, and with it most programs whose settings are read here.
        block_scalar_eof_without_line_feed: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
        // Comments wait in a buffer until what follows them is known; a file may begin with a long licence.
        max_buffered_comment_events: file.text.len(),
    };
    let mut parser = Parser::new_from_str_with_options(&file.text, options);
    let mut builder = Builder::new(file);
    while let Some(next) = parser.next_event() {
        let problem = match next {
            Ok((Event::Comment(text, _), span)) => {
                out.comments.push(Comment {
                    span: file.span(span.byte_range().unwrap_or_default()),
                    text: text.as_ref().into(),
                });
                continue;
            }
            Ok((event, span)) => match builder.event(event, span, &mut out.errors) {
                Ok(document) => {
                    out.documents.extend(document);
                    continue;
                }
                Err(Refusal { range, message }) => SyntaxError { span: file.span(range), message },
            },
            Err(error) => scan_error(file, &error),
        };
        let is_last = problem.message == TOO_MANY;
        if out.errors.len() < MAX_ERRORS || is_last {
            out.errors.push(problem);
        }
        builder.abandon();
        if is_last {
            break;
        }
        match parser.proceed_next_document() {
            Ok(_) => {}
            Err(error) => {
                out.errors.push(scan_error(file, &error));
                break;
            }
        }
    }
    out.comments.sort_by_key(|c| c.span);
    out.comments.dedup_by_key(|c| c.span);
    out
}

/// The parser's error, at the character where it noticed.
fn scan_error(file: &SourceFile, error: &ScanError) -> SyntaxError {
    let start = error.marker().byte_offset().unwrap_or_default().min(file.text.len());
    let next = file.text.get(start..).and_then(|rest| rest.chars().next()).filter(|c| !matches!(c, '\n' | '\r'));
    let end = start + next.map_or(0, char::len_utf8);
    let message = match error.kind() {
        ErrorKind::RecursionLimitExceeded => TOO_DEEP.into(),
        _ => format!("not valid YAML: {}", error.info()),
    };
    SyntaxError { span: file.span(start..end), message }
}

#[cfg(test)]
mod tests;
