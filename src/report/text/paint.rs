//! Colours, where the terminal takes them.

use std::fmt;

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The word "error" and what an error points at.
    Error,
    /// The same for a warning.
    Warning,
    /// The same for a note.
    Note,
    /// The message of a finding.
    Strong,
    /// Frames and line numbers.
    Frame,
    /// What other places say.
    Place,
    /// The word "help".
    Help,
    /// What may be overlooked.
    Faint,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Ink::Error => "1;31",
            Ink::Warning => "1;33",
            Ink::Note => "1;36",
            Ink::Strong => "1",
            Ink::Frame => "34",
            Ink::Place => "36",
            Ink::Help => "1;32",
            Ink::Faint => "2",
        }
    }
}

/// Text in a colour, or plain.
pub struct Painted<T>(pub Option<Ink>, pub T);

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(ink) => write!(f, "\u{1b}[{}m{}\u{1b}[0m", ink.code(), self.1),
            None => self.1.fmt(f),
        }
    }
}
