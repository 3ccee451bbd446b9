//! Files that something went wrong with: every reader gets through them, and every place it tells lies in the text.

#![allow(clippy::unwrap_used)] // A test that cannot go on should stop.

use std::path::Path;

use retrylint::Inputs;
use retrylint::config::Config;
use retrylint::facts::Facts;
use retrylint::report::{Json, Report};
use retrylint::source::{FileId, SourceFile, Span};
use retrylint::syntax::{self, Syntax};
use retrylint::systems::sql::purges;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides.max(1) as u64).unwrap()
    }
}

/// Pieces that readers stumble over.
const PIECES: &[&str] = &[
    "\0",
    "\u{feff}",
    "\r",
    "\n",
    "\t",
    "'",
    "\"",
    "`",
    "\\",
    "\\\n ",
    "é\\\n ",
    "\\u",
    "\\ud800",
    "&a ",
    "*a",
    "<<: *a",
    "---\n",
    "...\n",
    "|\n",
    ">-\n",
    "? ",
    ": ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "#",
    "//",
    "/*",
    "*/",
    "=",
    ".",
    "[[",
    "]]",
    "\"\"\"",
    "'''",
    "!x ",
    "%TAG",
    "$$",
    "$a$",
    "(",
    ")",
    ";",
    "--",
    "DELETE FROM inbox ",
    "WITH a AS (",
    "LIMIT 1",
    "ORDER BY ",
    "END",
    "é",
    "재",
    "🙂",
    "\u{85}",
    "\u{2028}",
    "1e999",
    "0x",
];

fn mangled(text: &str, dice: &mut Dice) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice.roll(6) {
        let at = dice.roll(chars.len() + 1);
        match dice.roll(4) {
            0 => {
                let end = (at + dice.roll(20)).min(chars.len());
                chars.drain(at..end);
            }
            1 => {
                let end = (at + dice.roll(60)).min(chars.len());
                let copy: Vec<char> = chars[at..end].to_vec();
                let to = dice.roll(chars.len() + 1);
                chars.splice(to..to, copy);
            }
            2 => chars.truncate(at),
            _ => {
                let piece = PIECES[dice.roll(PIECES.len())];
                chars.splice(at..at, piece.chars());
            }
        }
    }
    chars.into_iter().collect()
}

fn check(file: &SourceFile, syntax: Syntax) {
    let lies_in_text = |span: Span| file.text.get(span.range()).is_some();
    let parsed = syntax::parse(syntax, file);
    for node in parsed.documents.iter().flat_map(|d| d.walk()) {
        assert!(lies_in_text(node.span), "{:?} {node:?}", file.text);
        assert!(node.entries().iter().all(|e| lies_in_text(e.key_span)), "{:?} {node:?}", file.text);
        if let Some((scalar, at)) = node.scalar().and_then(|s| Some((s, s.verbatim?))) {
            let at = at as usize;
            assert_eq!(file.text.get(at..at + scalar.text.len()), Some(&*scalar.text), "{:?} {node:?}", file.text);
        }
    }
    assert!(parsed.errors.iter().all(|e| lies_in_text(e.span)), "{:?} {:?}", file.text, parsed.errors);
    assert!(parsed.comments.iter().all(|c| lies_in_text(c.span)), "{:?} {:?}", file.text, parsed.comments);
    let mut facts = Facts::default();
    purges::extract(file, &mut facts);
    for purge in &facts.purges {
        assert!(lies_in_text(purge.place) && purge.bound_span.is_none_or(lies_in_text), "{:?} {purge:?}", file.text);
    }
    assert!(facts.unread.iter().filter_map(|u| u.span).all(lies_in_text), "{:?} {:?}", file.text, facts.unread);
}

/// Numbers that nobody should write, and that somebody does.
const NUMBERS: &[&str] =
    &["0", "-1", "18446744073709551615", "9223372036854775807", "99999999999999999999999", "1e30", "0.0001", "NaN"];

/// The text with some of its numbers put to extremes; names that hold digits stay as they are.
fn extreme(text: &str, dice: &mut Dice) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        out.push_str(before);
        let named = out.ends_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '.'));
        let put = if named || dice.roll(3) > 0 { number } else { NUMBERS[dice.roll(NUMBERS.len())] };
        out.push_str(put);
        rest = after;
    }
    out.push_str(rest);
    out
}

#[test]
fn every_stage_gets_through_extreme_numbers() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let rounds: usize = std::env::var("RETRYLINT_MANGLE_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    for _ in 0..rounds {
        let folder = tempfile::tempdir().unwrap();
        for entry in walkdir::WalkDir::new(&fixtures).sort_by_file_name() {
            let entry = entry.unwrap();
            let to = folder.path().join(entry.path().strip_prefix(&fixtures).unwrap());
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(to).unwrap();
            } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
                std::fs::write(to, extreme(&text, &mut dice)).unwrap();
            }
        }
        let cwd = folder.path().canonicalize().unwrap();
        let inputs = Inputs { paths: vec![cwd.clone()], cwd, ..Inputs::default() };
        let run = retrylint::run(&inputs, &Config::default()).unwrap();
        assert!(run.model.layers.len() > 100, "{}", run.model.layers.len());
        Json.write(&run, &mut Vec::new()).unwrap();
    }
}

#[test]
fn every_reader_gets_through_mangled_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut seeds = Vec::new();
    for folder in ["syntax", "sql"] {
        for entry in walkdir::WalkDir::new(root.join(folder)).sort_by_file_name() {
            let path = entry.unwrap().into_path();
            let syntax = path.to_str().and_then(Syntax::of_path);
            if let Some(syntax) = syntax.filter(|_| path.is_file()) {
                seeds.push((syntax, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(seeds.len() > 20);
    let rounds = std::env::var("RETRYLINT_MANGLE_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for round in 0..rounds {
        for (syntax, seed) in &seeds {
            let text = mangled(seed, &mut dice);
            let file = SourceFile { id: FileId(0), path: format!("mangled-{round}").into(), text: text.into() };
            check(&file, *syntax);
        }
    }
}
