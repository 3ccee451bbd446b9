//! The forms of the graph, read by the programs that they are for: Graphviz, Mermaid, a reader of XML.
//!
//! Where one of them is not installed its test is skipped; CI_REQUIRES_ALL makes that a failure.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test says so")]

mod support;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{Folder, repository, retrylint};

/// Names with everything that some form must escape.
fn odd() -> Folder {
    let compose = r##"
services:
  "a \"b\" <c> & 'd' #35; `e`; %f \\ |g| {{h}}":
    image: x
    environment:
      NEXT_URL: "http://end:80"
  end:
    image: y
    environment:
      SELF_URL: "http://end:80"
      CLICK_URL: "http://click:80"
  subgraph:
    image: z
    environment:
      END_HOST: end
  click:
    image: z
"##;
    Folder::with("compose.yaml", compose)
}

/// The graph of a folder in one form.
fn graph(root: &std::path::Path, form: &str) -> String {
    let output = retrylint(root, &["graph", "--format", form, "."]);
    assert_eq!(output.code(), 0, "{}", output.stderr);
    output.stdout
}

/// The folders that are drawn.
fn roots() -> Vec<(PathBuf, Option<Folder>)> {
    let odd = odd();
    vec![(repository().join("fixtures/shop"), None), (odd.root.clone(), Some(odd))]
}

/// The names of the components that a picture shows, and how many pairs of them have hops.
fn shown(root: &std::path::Path) -> (Vec<String>, usize) {
    let json: Value = serde_json::from_str(&graph(root, "json")).expect("JSON");
    let hops = json["hops"].as_array().unwrap();
    let pairs: std::collections::BTreeSet<(u64, u64)> =
        hops.iter().map(|h| (h["from"].as_u64().unwrap(), h["to"].as_u64().unwrap())).collect();
    let of = |i: u64| pairs.iter().any(|(from, to)| *from == i || *to == i);
    let components = json["components"].as_array().unwrap().iter().zip(0..);
    let drawn = components.filter(|(c, i)| of(*i) || !matches!(c["kind"].as_str(), Some("host" | "outside")));
    (drawn.map(|(c, _)| c["name"].as_str().unwrap().to_owned()).collect(), pairs.len())
}

/// What a program says of a text; `None` where it is not installed.
fn told_by(program: &str, args: &[&str], needs: &[PathBuf], text: &str) -> Option<String> {
    let there = Command::new(program).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there || !needs.iter().all(|path| path.exists()) {
        let what = format!("{program} {} is not installed (see .ci/run)", args.join(" "));
        assert!(std::env::var_os("CI_REQUIRES_ALL").is_none(), "{what}");
        eprintln!("skipped: {what}");
        return None;
    }
    let mut child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().unwrap().write_all(text.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{program} cannot read this:\n{text}");
    Some(String::from_utf8(output.stdout).expect("text"))
}

fn script(name: &str, text: &str) -> Option<Value> {
    let folder = repository().join("tests/graph");
    let script = folder.join(name);
    let told = told_by("node", &[script.to_str().unwrap()], &[folder.join("node_modules")], text)?;
    Some(serde_json::from_str(&told).expect("JSON"))
}

fn sorted<'v>(names: impl IntoIterator<Item = &'v str>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn graphviz_reads_the_graph() {
    for (root, _folder) in roots() {
        let (names, pairs) = shown(&root);
        let Some(told) = told_by("dot", &["-Tjson0"], &[], &graph(&root, "dot")) else { return };
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let labels = told["objects"].as_array().unwrap().iter().map(|o| o["label"].as_str().unwrap());
        assert_eq!(
            sorted(labels.map(|l| l.replace("\\\\", "\\")).collect::<Vec<_>>().iter().map(String::as_str)),
            sorted(names.iter().map(String::as_str))
        );
        assert_eq!(told["edges"].as_array().map_or(0, Vec::len), pairs);
    }
}

#[test]
fn mermaid_reads_the_graph() {
    for (root, _folder) in roots() {
        let (names, pairs) = shown(&root);
        let Some(told) = script("mermaid.mjs", &graph(&root, "mermaid")) else { return };
        let vertices = told["vertices"].as_array().unwrap().iter().map(|v| v[1].as_str().unwrap());
        assert_eq!(sorted(vertices), sorted(names.iter().map(String::as_str)));
        assert_eq!(told["edges"].as_array().unwrap().len(), pairs);
    }
}

#[test]
fn the_picture_is_xml_and_loads_nothing() {
    for (root, _folder) in roots() {
        let (names, pairs) = shown(&root);
        let Some(told) = script("svg.mjs", &graph(&root, "svg")) else { return };
        assert_eq!((told["root"].as_str(), told["loads"].as_u64()), (Some("svg"), Some(0)));
        assert_eq!(told["boxes"].as_u64(), Some(names.len() as u64));
        assert_eq!(told["lines"].as_u64(), Some(pairs as u64));
        let titles = told["titles"].as_array().unwrap().iter().map(|t| t.as_str().unwrap());
        let titles = sorted(titles.map(|t| t.rsplit_once(" (").unwrap().0));
        assert_eq!(titles, sorted(names.iter().map(String::as_str)));
    }
}
