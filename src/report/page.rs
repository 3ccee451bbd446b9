//! A rule's page for a terminal: headings and names stand out, links show where they lead.

use std::io::{self, Write};

use super::text::{Ink, Style};

/// Writes a page. Without colours it stays the Markdown that it is.
///
/// # Errors
/// Those of `out`.
pub fn write(page: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if !style.color {
        return writeln!(out, "{}", page.trim_end());
    }
    let mut in_code = false;
    for line in page.trim_end().lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            writeln!(out, "    {}", style.paint(Ink::Place, line))?;
        } else if let Some(heading) = line.strip_prefix("### ") {
            writeln!(out, "{}", style.paint(Ink::Help, heading))?;
        } else if line.starts_with('#') {
            writeln!(out, "{}", style.paint(Ink::Strong, line.trim_start_matches(['#', ' '])))?;
        } else {
            writeln!(out, "{}", links(line))?;
        }
    }
    Ok(())
}

/// `[text](address)` as `text <address>`.
fn links(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, text, address, after)) = link(rest) {
        out.push_str(&format!("{before}{text} <{address}>"));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn link(line: &str) -> Option<(&str, &str, &str, &str)> {
    let (head, tail) = line.split_once("](")?;
    let (before, text) = head.rsplit_once('[')?;
    let (address, after) = tail.split_once(')')?;
    (!text.contains(']')).then_some((before, text, address, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(page: &str, color: bool) -> String {
        let mut out = Vec::new();
        write(page, Style { color, links: false, width: 80 }, &mut out).expect("a Vec takes everything");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_pipe_gets_the_markdown() {
        assert_eq!(written("# a\n\n[b](c)\n", false), "# a\n\n[b](c)\n");
    }

    #[test]
    fn a_terminal_gets_headings_code_and_addresses() {
        let page = "# a\n\n### b\n\n```rust\nlet c = d[0](1);\n```\n- E, [f](https://g.example/), [h](i)\n";
        assert_eq!(
            written(page, true),
            "\u{1b}[1ma\u{1b}[0m\n\n\u{1b}[1;32mb\u{1b}[0m\n\n    \u{1b}[36mlet c = d[0](1);\u{1b}[0m\n\
             - E, f <https://g.example/>, h <i>\n"
        );
    }

    #[test]
    fn brackets_that_are_no_link_stay() {
        assert_eq!(links("a [b] (c) ](d)"), "a [b] (c) ](d)");
        assert_eq!(links("x[0](y"), "x[0](y");
    }
}
