//! Markdown, for the comment on a pull request: the worst paths first, all else folded away.

use std::io::{self, Write};
use std::time::Duration;

use super::Report;
use super::data::{Data, LayerData, Location, PathData};
use super::json::TimeJson;
use crate::rules::phrase;
use crate::run::Run;
use crate::source::shown;

/// The Markdown report.
#[derive(Debug, Clone, Default)]
pub struct Markdown {
    /// The address of a source line, with `{path}` and `{line}`; `None`: places are not linked.
    pub link: Option<String>,
}

/// So many rows of a table are shown; a comment has its limits.
const PATHS: usize = 10;
const ROWS: usize = 50;

impl Report for Markdown {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let data = Data::new(run);
        writeln!(out, "## {}\n", headline(&data))?;
        self.paths(&data, out)?;
        self.findings(&data, out)?;
        self.layers(&data, out)?;
        self.gaps(&data, out)?;
        writeln!(out, "{}", summary(&data))
    }
}

impl Markdown {
    fn paths(&self, data: &Data<'_>, out: &mut dyn Write) -> io::Result<()> {
        if data.paths.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "| at most | from → to | fails by | attempts, from outside in | takes at worst |\n|---:|---|---|---|---|"
        )?;
        for path in data.paths.iter().take(PATHS) {
            let layers = path.layers.iter().filter_map(|ix| data.layers.get(*ix));
            let layers: Vec<String> = layers.map(|layer| self.factor(layer)).collect();
            let product = product(path);
            let strong = if is_over(data, path) { "**" } else { "" };
            let (entry, leaf) = (text(path.entry), text(path.leaf));
            let (failure, layers, time) = (&path.failure, layers.join(" × "), time(&path.worst_time));
            writeln!(out, "| {strong}{product}{strong} | {entry} → {leaf} | {failure} | {layers} | {time} |")?;
        }
        more(out, data.paths.len(), PATHS, "paths")?;
        writeln!(out)
    }

    /// "4 (Kong service orders, `deploy/kong.yaml:12`)".
    fn factor(&self, layer: &LayerData<'_>) -> String {
        format!("{} ({}, {})", count(layer), text(layer.name), self.place(&layer.location))
    }

    fn findings(&self, data: &Data<'_>, out: &mut dyn Write) -> io::Result<()> {
        if data.findings.is_empty() {
            return Ok(());
        }
        let counts = &data.summary;
        let (errors, warnings) = (many(counts.errors, "error", "errors"), many(counts.warnings, "warning", "warnings"));
        open(out, &format!("{errors}, {warnings}, {}", many(counts.notes, "note", "notes")))?;
        writeln!(out, "| level | rule | place | what happens |\n|---|---|---|---|")?;
        let levels = ["error", "warning", "note"];
        let sorted = levels.iter().flat_map(|level| data.findings.iter().filter(|f| f.severity == *level));
        for finding in sorted.take(ROWS) {
            let place = self.place(&finding.location);
            writeln!(out, "| {} | {} | {place} | {} |", finding.severity, finding.rule, text(finding.message))?;
        }
        more(out, data.findings.len(), ROWS, "findings")?;
        close(out)
    }

    fn layers(&self, data: &Data<'_>, out: &mut dyn Write) -> io::Result<()> {
        if data.layers.is_empty() {
            return Ok(());
        }
        open(out, &format!("Every layer ({})", data.layers.len()))?;
        writeln!(out, "| layer | hop | attempts | waits | jitter | place |\n|---|---|---:|---|---|---|")?;
        for layer in data.layers.iter().take(ROWS) {
            let hop =
                [layer.component.as_deref(), layer.target.as_deref()].map(|name| text(name.unwrap_or("?"))).join(" → ");
            let default = if layer.attempts.source.is_some() { " (default)" } else { "" };
            let jitter = layer.jitter.value.map_or("not known", |jitter| jitter.name());
            let place = self.place(&layer.location);
            let (name, waits) = (text(layer.name), text(&layer.wait));
            writeln!(out, "| {name} | {hop} | {}{default} | {waits} | {jitter} | {place} |", count(layer))?;
        }
        more(out, data.layers.len(), ROWS, "layers")?;
        close(out)
    }

    fn gaps(&self, data: &Data<'_>, out: &mut dyn Write) -> io::Result<()> {
        let unresolved = data
            .unresolved
            .iter()
            .map(|gap| format!("- {}: {} ({})", text(gap.what), text(gap.reason), self.place(&gap.location)));
        let unread = data
            .unread
            .iter()
            .map(|unread| format!("- {} could not be read: {}", code(unread.file), text(unread.reason)));
        let all: Vec<String> = unresolved.chain(unread).collect();
        if all.is_empty() {
            return Ok(());
        }
        open(out, &format!("Not known ({}): each counts as one attempt, or not at all", all.len()))?;
        for line in all.iter().take(ROWS) {
            writeln!(out, "{line}")?;
        }
        more(out, all.len(), ROWS, "of these")?;
        close(out)
    }

    fn place(&self, location: &Location) -> String {
        let shown = code(&format!("{}:{}", location.file, location.line));
        match &self.link {
            None => shown,
            Some(link) => format!("[{shown}](<{}>)", address(link, location)),
        }
    }
}

fn headline(data: &Data<'_>) -> String {
    match data.paths.first() {
        None => "No call is tried by more than one layer".to_owned(),
        Some(path) => {
            let limit = if is_over(data, path) { "more than" } else { "within" };
            format!(
                "1 request can become {} at {} ({limit} the limit of {})",
                product(path),
                text(path.leaf),
                data.max_amplification
            )
        }
    }
}

fn summary(data: &Data<'_>) -> String {
    let cut = if data.summary.paths_truncated { " and more" } else { "" };
    let paths = match data.paths.len() {
        0 if !data.layers.is_empty() => "none stacked".to_owned(),
        n => many(n, "path", "paths"),
    };
    let gone = match data.summary.gone {
        0 => String::new(),
        gone => format!(", {gone} of it gone (`retrylint baseline --prune`)"),
    };
    let known = data.summary.known.map_or_else(String::new, |known| format!("; {known} in the baseline{gone}"));
    format!(
        "{}, {}, {}, {paths}{cut}{known}; retrylint {}",
        many(data.summary.files, "file", "files"),
        many(data.components.len(), "component", "components"),
        many(data.layers.len(), "layer", "layers"),
        env!("CARGO_PKG_VERSION")
    )
}

fn is_over(data: &Data<'_>, path: &PathData<'_>) -> bool {
    path.product.is_none_or(|product| product > data.max_amplification)
}

fn product(path: &PathData<'_>) -> String {
    let least = if path.at_least { "at least " } else { "" };
    path.product.map_or_else(|| "∞".to_owned(), |product| format!("{least}{product}"))
}

fn many(count: usize, one: &str, more: &str) -> String {
    phrase::count(count as u64, one, more)
}

fn time(time: &TimeJson) -> String {
    let said = |seconds: f64| phrase::duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    match time {
        TimeJson { unbounded: true, .. } => "no end".to_owned(),
        TimeJson { seconds: Some(all), .. } => said(*all),
        TimeJson { known_seconds, .. } => format!("{} and more", said(*known_seconds)),
    }
}

fn count(layer: &LayerData<'_>) -> String {
    match (layer.unbounded, layer.attempts.value) {
        (true, _) => "∞".to_owned(),
        (false, Some(count)) => count.to_string(),
        (false, None) => "?".to_owned(),
    }
}

fn open(out: &mut dyn Write, title: &str) -> io::Result<()> {
    writeln!(out, "<details><summary>{title}</summary>\n")
}

fn close(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n</details>\n")
}

fn more(out: &mut dyn Write, all: usize, shown: usize, what: &str) -> io::Result<()> {
    match all.saturating_sub(shown) {
        0 => Ok(()),
        rest => writeln!(out, "\n… and {rest} more {what}"),
    }
}

/// Text in which what stands between backticks is code.
fn text(raw: &str) -> String {
    let parts: Vec<&str> = raw.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return plain(raw);
    }
    let part = |(i, part): (usize, &&str)| match (i % 2, *part) {
        (0, part) => plain(part),
        (_, "") => "\\`\\`".to_owned(),
        (_, part) => code(part),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Text that stays text: no markup, no HTML, no mention of anybody, one line.
fn plain(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // A name after it would be told, and a number would be linked.
            '@' | '#' => out.push_str(&format!("&#{};", u32::from(c))),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '|' | '~' | '!' | '$' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    // A bare address would become a link.
    out.replace("://", ":&#47;/").replace("www.", "www&#46;")
}

/// Code in a table: a fence longer than any within, and no bar that would end the cell.
fn code(raw: &str) -> String {
    let clean: String = raw.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let clean = clean.replace('|', "\\|");
    let longest = clean.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if clean.starts_with('`') || clean.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{clean}{space}{fence}")
}

/// The address of a line, safe between `<` and `>`.
fn address(template: &str, location: &Location) -> String {
    let template = template.replace(['<', '>', '\n', '|'], "");
    template.replace("{path}", &shown::encoded(&location.file)).replace("{line}", &location.line.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_text() {
        assert_eq!(text("a|b <i>*c*</i>\n@team #1"), "a\\|b &lt;i&gt;\\*c\\*&lt;/i&gt; &#64;team &#35;1");
        assert_eq!(text("`a*|b` is `` <i>"), "`a*\\|b` is \\`\\` &lt;i&gt;");
        assert_eq!(text("one ` only *"), "one \\` only \\*");
        assert_eq!(text("![x](http://a.example)"), "\\!\\[x\\]\\(http:&#47;/a.example\\)");
    }

    #[test]
    fn code_holds_what_would_end_it() {
        assert_eq!(code("a`b|c"), "``a`b\\|c``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("a.yaml:3"), "`a.yaml:3`");
    }

    #[test]
    fn addresses_hold_any_name() {
        let location = Location { file: "a b/)<x>.yaml".to_owned(), line: 3, column: 1 };
        assert_eq!(
            address("https://git.example/{path}#L{line}", &location),
            "https://git.example/a%20b/%29%3Cx%3E.yaml#L3"
        );
    }
}
