use std::sync::Arc;

use super::names::names;
use super::select;
use crate::source::{FileId, SourceFile};

fn files(texts: &[(&str, &str)]) -> Vec<SourceFile> {
    let file = |(n, (path, text)): (usize, &(&str, &str))| SourceFile {
        id: FileId(n as u32),
        path: Arc::from(*path),
        text: Arc::from(*text),
    };
    texts.iter().enumerate().map(file).collect()
}

fn chosen(texts: &[(&str, &str)]) -> Vec<String> {
    let files = files(texts);
    select(&files, false, false).parsed(&files).iter().map(|f| f.path.to_string()).collect()
}

const RETRY: &str = "use crate::limits::TRIES; pub async fn load(h: &Http) { for _ in 0..TRIES { if h.get().await.is_ok() { return } } }";

#[test]
fn definitions_and_callers_of_a_retry_are_taken_and_nothing_else() {
    let texts = [
        ("Cargo.toml", "[package]\nname = \"a\""),
        ("src/main.rs", "mod client; mod limits; mod colours; mod start; fn main() { start::run() }"),
        ("src/client.rs", RETRY),
        ("src/limits.rs", "pub const TRIES: u32 = 3;"),
        ("src/start.rs", "pub fn run() { block_on(crate::client::load(&http())) }"),
        ("src/colours.rs", "pub fn mix(a: u8, b: u8) -> u8 { let mut c = a; for i in 0..b { c += i } c }"),
        ("tests/it.rs", RETRY),
    ];
    assert_eq!(chosen(&texts), ["Cargo.toml", "src/main.rs", "src/client.rs", "src/limits.rs", "src/start.rs"]);
    let files = files(&texts);
    assert_eq!(select(&files, false, true).parsed(&files).len(), texts.len());
    assert_eq!(select(&files, true, false).parsed(&files).len(), texts.len() - 1);
}

#[test]
fn a_package_that_is_not_reached_is_left_alone() {
    let uses = "[package]\nname = \"a\"\n[dependencies]\nb = { path = \"../b\" }";
    let found = chosen(&[
        ("a/Cargo.toml", uses),
        ("a/src/lib.rs", "pub fn f() { loop { if b::fetch_all().await.is_ok() { break } } }"),
        ("b/Cargo.toml", "[package]\nname = \"b\""),
        ("b/src/lib.rs", "pub async fn fetch_all() -> Result<(), E> { Ok(()) }"),
        ("c/Cargo.toml", "[package]\nname = \"c\""),
        ("c/src/lib.rs", "pub fn fetch_all() -> u8 { 3 }"),
    ]);
    assert_eq!(found, ["a/Cargo.toml", "a/src/lib.rs", "b/Cargo.toml", "b/src/lib.rs", "c/Cargo.toml"]);
}

#[test]
fn a_loop_in_one_file_around_a_request_in_another() {
    let found = chosen(&[
        ("src/lib.rs", "mod a; mod b; mod c;"),
        ("src/a.rs", "fn again() { for _ in 0..3 { if super::b::go_on() { return } } }"),
        ("src/b.rs", "pub fn go_on() -> bool { super::c::ask() }"),
        ("src/c.rs", "pub fn ask() -> bool { client().get(URL).send().is_ok() }"),
    ]);
    assert_eq!(found.len(), 4);
}

#[test]
fn what_a_format_string_or_an_attribute_names_is_a_use() {
    let found = chosen(&[
        ("src/lib.rs", "mod a; mod urls; mod defaults;"),
        (
            "src/a.rs",
            "#[derive(Deserialize)] struct S { #[serde(default = \"crate::defaults::tries\")] n: u32 }
             async fn f(s: S) { loop { reqwest::get(format!(\"{BASE}/x\")).await; } }",
        ),
        ("src/urls.rs", "pub const BASE: &str = \"http://orders\";"),
        ("src/defaults.rs", "pub fn tries() -> u32 { 3 }"),
    ]);
    assert_eq!(found.len(), 4);
}

#[test]
fn a_method_with_a_name_of_many_leads_to_whoever_names_its_type() {
    let others: Vec<(String, String)> = (0..=super::closure::MANY)
        .map(|i| {
            (format!("src/other{i}.rs"), format!("pub struct Other{i}; impl Other{i} {{ pub fn produce(&self) {{}} }}"))
        })
        .collect();
    let mut texts = vec![
        ("Cargo.toml", "[package]\nname = \"p\"\n"),
        (
            "src/sender.rs",
            "pub struct Sender; impl Sender { pub fn produce(&self) { for _ in 0..3 { reqwest::get(u); } } }",
        ),
        ("src/with.rs", "use crate::sender::Sender; fn flush(sender: &Sender) { sender.produce(); }"),
        ("src/without.rs", "use crate::other0::Other0; fn drain(other: &Other0) { other.produce(); }"),
    ];
    texts.extend(others.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    assert_eq!(chosen(&texts), ["Cargo.toml", "src/sender.rs", "src/with.rs"]);
}

#[test]
fn renames_and_globs_are_followed() {
    let found = chosen(&[
        ("src/lib.rs", "mod a; mod b; pub mod prelude;"),
        ("src/a.rs", "use crate::prelude::*; fn f() { loop { shiny().await; } }"),
        ("src/prelude.rs", "pub use crate::b::dull as shiny;"),
        ("src/b.rs", "pub async fn dull() {}"),
    ]);
    assert_eq!(found.len(), 4);
}

#[test]
fn chains_of_globs_of_any_length_are_followed() {
    let last = 30_000;
    let mut texts = vec![("src/a0.rs".to_string(), format!("use crate::a1::*; {RETRY}"))];
    for n in 1..=last {
        texts.push((format!("src/a{n}.rs"), format!("use crate::a{}::*;", n + 1)));
    }
    let texts: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (&**path, &**text)).collect();
    let selection = select(&files(&texts), false, false);
    assert!(selection.concerns.iter().all(|concerns| *concerns));
}

#[test]
fn settings_are_taken_where_code_may_read_them() {
    let manifest = "[package]\nname = \"a\"";
    let code = "#[derive(Deserialize)] struct S { n: u32 } fn f(s: S) { for _ in 0..s.n { x().await; } }";
    let found = chosen(&[
        ("svc/Cargo.toml", manifest),
        ("svc/src/main.rs", code),
        ("svc/config/default.toml", "n = 3"),
        ("svc/data/colours.toml", "n = 3"),
        ("other/config/default.toml", "n = 3"),
        ("kong.yaml", "_format_version: \"3.0\""),
    ]);
    assert_eq!(found, ["svc/Cargo.toml", "svc/src/main.rs", "svc/config/default.toml", "kong.yaml"]);
}

#[test]
fn profiles_go_with_their_base() {
    let found = chosen(&[
        ("src/main/resources/application.yml", "resilience4j:\n  retry: {}"),
        ("src/main/resources/application-prod.yml", "server: {}"),
    ]);
    assert_eq!(found.len(), 2);
}

#[test]
fn statements_and_dead_letters_are_taken_by_themselves() {
    let found = chosen(&[
        ("src/sql.rs", "pub const OLD: &str = \"DELETE FROM inbox ORDER BY id LIMIT 10\";"),
        ("src/raw.rs", "pub const OLD: &str = r#\"\n  delete from inbox\"#;"),
        ("src/dead.rs", "pub struct DeadLetter { pub payload: Vec<u8> }"),
        ("src/words.rs", "pub const HELP: &str = \"selected rows are deleted\";"),
        ("src/plain.rs", "pub struct Letter { pub payload: Vec<u8> }"),
    ]);
    assert_eq!(found, ["src/sql.rs", "src/raw.rs", "src/dead.rs"]);
}

#[test]
fn names_of_a_file() {
    let found = names(
        "use a::{b as c, d::*}; pub use e::F; struct G { h: I }
         impl<T: Fn() -> u8> J for K<T> where T: L { const M: u8 = 1; fn n(&self) -> O { self.n(); p() } }
         trait Q { fn r(); fn s() { t::<U>(v) } }
         #[cfg(test)] mod tests { fn hidden() {} } async fn w() { while x { y.z().await } rx.recv().await; }",
        false,
    );
    let items: Vec<_> = found.items.iter().map(|i| (i.name, i.owner, i.of_trait, i.is_function)).collect();
    assert_eq!(
        items,
        [
            ("", "", "", false),
            ("c", "", "", false),
            ("F", "", "", false),
            ("G", "", "", false),
            ("K", "", "", false),
            ("M", "", "", false),
            ("n", "K", "J", true),
            ("Q", "", "", false),
            ("r", "Q", "", true),
            ("s", "Q", "", true),
            ("w", "", "", true),
        ]
    );
    assert_eq!(found.globs, [("d", false)]);
    let by_name = |name: &str| found.items.iter().find(|i| i.name == name).unwrap();
    assert_eq!(by_name("G").uses, ["I"]);
    assert_eq!(by_name("s").uses, ["U", "t", "v"]);
    assert!(by_name("n").recurses && !by_name("n").leaves);
    assert!(by_name("w").leaves && by_name("w").repeats && !by_name("w").requests);
}

#[test]
fn text_that_is_no_rust_gives_names_all_the_same() {
    for source in
        ["", "fn", "impl", "use", "}}}", "fn f(", "impl<", "#[cfg(test)] mod x {", "struct", "for", "\"{\"", "::::("]
    {
        names(source, false);
    }
}
