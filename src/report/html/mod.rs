//! The page: one file that loads nothing. Its parts are the files beside this one.
//!
//! Input gets into it in two places only: as escaped text in the title, and as JSON in which no `<` is left. The page
//! makes text nodes of it, never markup; and its policy lets no script run but its own, and no request leave.

mod parts;
mod places;

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Report;
use super::data::Data;
use super::xml::escaped;
use crate::run::Run;
use places::Places;

/// The page.
#[derive(Debug, Clone)]
pub struct Html {
    /// What it is called.
    pub title: String,
    /// The address of a source line, with `{path}` and `{line}`.
    pub link: String,
}

/// All that the page is drawn from.
#[derive(Serialize)]
struct PageData<'r> {
    link: &'r str,
    layout: Places,
    #[serde(flatten)]
    data: Data<'r>,
}

/// Data that take more bytes than this are compressed.
const PLAIN: usize = 400_000;

impl Report for Html {
    fn write(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let data = Data::new(run);
        let layout = Places::new(&data);
        let json = serde_json::to_string(&PageData { link: &self.link, layout, data })?;
        let (encoding, data) = match json.len() > PLAIN {
            true => ("deflate", compressed(&json)?),
            false => ("plain", inert(&json)),
        };
        let script = parts::script();
        let style = parts::style();
        let title = escaped(&self.title);
        let policy = policy(&[parts::CHARTS, &script], &style);
        for piece in parts::PAGE.split("{{") {
            let (name, text) = piece.split_once("}}").unwrap_or(("", piece));
            let value = match name {
                "title" => &title,
                "version" => env!("CARGO_PKG_VERSION"),
                "policy" => &policy,
                "style" => &style,
                "encoding" => encoding,
                "data" => &data,
                "charts" => parts::CHARTS,
                "script" => &script,
                _ => "",
            };
            write!(out, "{value}{text}")?;
        }
        Ok(())
    }
}

/// Nothing is loaded, and no script runs but those whose text is exactly this.
fn policy(scripts: &[&str], style: &str) -> String {
    let hash = |text: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let scripts: Vec<String> = scripts.iter().map(hash).collect();
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        scripts.join(" "),
        hash(&style)
    )
}

/// JSON that ends no element and starts none, wherever it stands.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

fn compressed(json: &str) -> io::Result<String> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(json.as_bytes())?;
    Ok(STANDARD.encode(encoder.finish()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_ends_no_element_and_stays_the_same_json() {
        let value = serde_json::json!({"a": "</script><!--\u{2028}&amp;"});
        let text = inert(&value.to_string());
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }

    #[test]
    fn a_title_is_text() {
        assert_eq!(escaped("<b> \"&\""), "&lt;b&gt; &quot;&amp;&quot;");
    }

    #[test]
    fn every_hole_in_the_page_has_its_filling() {
        let holes: Vec<&str> =
            parts::PAGE.split("{{").skip(1).filter_map(|piece| piece.split_once("}}")).map(|(name, _)| name).collect();
        let known = ["title", "version", "policy", "style", "encoding", "data", "charts", "script"];
        assert!(holes.iter().all(|hole| known.contains(hole)), "{holes:?}");
        assert!(known.iter().all(|name| holes.contains(name)), "{holes:?}");
    }

    #[test]
    fn no_part_can_end_its_element() {
        assert!(!parts::script().contains("</script") && !parts::CHARTS.contains("</script"));
        assert!(!parts::style().contains("</style"));
        assert!(!parts::script().lines().any(|line| line.starts_with("import ") || line.starts_with("export ")));
    }
}
