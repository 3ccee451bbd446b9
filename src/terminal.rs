//! Standard output and standard error: colours, and pipes that are closed early.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use miette::Diagnostic;
use supports_hyperlinks::Stream;

use crate::cli::Color;
use crate::report::text::{Style, render};

/// The columns of text that no terminal shows.
const WIDTH: usize = 100;

/// The two streams.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// How text on standard output is laid out.
    pub style: Style,
    /// How text on standard error is laid out.
    pub error_style: Style,
}

impl Terminal {
    /// How text in a file is laid out.
    pub const PLAIN: Style = Style { color: false, links: false, width: WIDTH };

    /// The streams of this process.
    pub fn new(color: Color) -> Self {
        let variable = |name: &str| std::env::var_os(name);
        let links = |stream| color != Color::Never && supports_hyperlinks::on(stream);
        let style = |is_terminal: bool, links, columns: Option<(terminal_size::Width, terminal_size::Height)>| Style {
            color: colored(color, is_terminal, &variable),
            links,
            width: columns.filter(|_| is_terminal).map_or(WIDTH, |(width, _)| usize::from(width.0)),
        };
        Self {
            style: style(
                io::stdout().is_terminal(),
                links(Stream::Stdout),
                terminal_size::terminal_size_of(io::stdout()),
            ),
            error_style: style(
                io::stderr().is_terminal(),
                links(Stream::Stderr),
                terminal_size::terminal_size_of(io::stderr()),
            ),
        }
    }

    /// Writes to standard output. A pipe whose reader has gone is no error: it has seen enough.
    ///
    /// # Errors
    /// Those of standard output.
    pub fn out(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        quiet_if_closed(buffered(io::stdout().lock(), write))
    }

    /// Writes to standard error.
    pub fn err(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let _ = buffered(io::stderr().lock(), write);
    }

    /// Writes a line to standard error. Where even that cannot be written there is nobody left to tell.
    pub fn error(&self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Shows diagnostics with their lines on standard error.
    pub fn diagnostics(&self, diagnostics: impl Iterator<Item = impl Diagnostic>) {
        let texts = diagnostics.map(|diagnostic| {
            let mut text = String::new();
            render(&diagnostic, self.error_style, &mut text);
            text
        });
        self.error(texts.collect::<Vec<_>>().join("\n").trim_end());
    }
}

fn buffered(out: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    write(&mut out)?;
    out.flush()
}

fn quiet_if_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Whether to colour: the flag first, then NO_COLOR, then CLICOLOR_FORCE, then whether a person is looking.
fn colored(color: Color, is_terminal: bool, variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto if set("CLICOLOR_FORCE") && variable("CLICOLOR_FORCE").is_some_and(|v| v != "0") => true,
        Color::Auto => is_terminal && variable("TERM").is_none_or(|term| term != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        move |name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn the_flag_wins_over_the_environment() {
        assert!(colored(Color::Always, false, &with(&[("NO_COLOR", "1")])));
        assert!(!colored(Color::Never, true, &with(&[("CLICOLOR_FORCE", "1")])));
    }

    #[test]
    fn no_color_wins_over_force_and_an_empty_value_is_none() {
        assert!(!colored(Color::Auto, true, &with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")])));
        assert!(colored(Color::Auto, true, &with(&[("NO_COLOR", "")])));
        assert!(colored(Color::Auto, false, &with(&[("CLICOLOR_FORCE", "1")])));
        assert!(!colored(Color::Auto, false, &with(&[("CLICOLOR_FORCE", "0")])));
    }

    #[test]
    fn otherwise_only_a_terminal_is_coloured() {
        assert!(colored(Color::Auto, true, &with(&[])));
        assert!(!colored(Color::Auto, false, &with(&[])));
        assert!(!colored(Color::Auto, true, &with(&[("TERM", "dumb")])));
    }

    #[test]
    fn a_closed_pipe_is_silent_and_a_full_disk_is_not() {
        assert!(quiet_if_closed(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        assert!(quiet_if_closed(Err(io::ErrorKind::StorageFull.into())).is_err());
    }
}
