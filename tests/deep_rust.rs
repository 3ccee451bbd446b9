//! Rust that nests without end: refused or lowered, never a crash, on the stack that a test thread has.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;
use std::time::Instant;

use retrylint::rust::lower::lower;
use retrylint::source::{FileId, SourceFile};

/// What is put before and after the middle, n times each.
const SHAPES: [(&str, &str, &str, &str); 29] = [
    ("parentheses", "(", "x", ")"),
    ("brackets", "[", "x", "]"),
    ("blocks", "{", "x", "}"),
    ("tuples", "(1,", "x", ")"),
    ("calls", "f(", "x", ")"),
    ("macros", "m!(", "x", ")"),
    ("formats", "format!(\"{}\", ", "x", ")"),
    ("formats that show an argument twice", "format!(\"{0}{0}\", ", "x", ")"),
    ("formats that show a name twice", "format!(\"{a}{a}\", a = ", "x", ")"),
    ("formats with names of their own", "format!(\"{a}{b}{}\", ", "x", ")"),
    ("closures", "|a, b| ", "x", ""),
    ("closures without parameters", "||", "x", ""),
    ("references", "&", "x", ""),
    ("negations", "!", "x", ""),
    ("minus signs", "-", "x", ""),
    ("dereferences", "*", "x", ""),
    ("sums", "x + ", "x", ""),
    ("conjunctions", "x && ", "x", ""),
    ("assignments", "x = ", "x", ""),
    ("method calls", "", "x", ".a()"),
    ("fields", "", "x", ".a"),
    ("question marks", "", "x", "?"),
    ("awaits", "", "x", ".await"),
    ("casts", "", "x", " as u8"),
    ("else-ifs", "if x {} else ", "{}", ""),
    ("matches", "match x { _ => ", "x", "}"),
    ("turbofish", "A::<", "x", ">"),
    ("async blocks", "async move {", "x", "}"),
    ("functions", "fn f() {", "", "}"),
];

/// The same in the place of a type.
const TYPES: [(&str, &str, &str, &str); 6] = [
    ("generics", "A<", "x", ">"),
    ("generics after a comma", "A<B, ", "x", ">"),
    ("references to types", "&'a ", "x", ""),
    ("pointers", "*const ", "x", ""),
    ("functions that return functions", "fn() -> ", "x", ""),
    ("tuples of types", "(u8, ", "x", ")"),
];

fn sources(n: usize) -> impl Iterator<Item = (&'static str, String)> {
    let nest =
        move |before: &str, middle: &str, after: &str| format!("{}{middle}{}", before.repeat(n), after.repeat(n));
    let bodies = SHAPES.iter().map(move |(name, b, m, a)| (*name, format!("fn g() {{ {} }}", nest(b, m, a))));
    let types = TYPES.iter().map(move |(name, b, m, a)| (*name, format!("type T = {};", nest(b, m, a))));
    let others = [
        ("use trees", format!("use {}a{};", "a::{".repeat(n), "}".repeat(n))),
        ("paths of uses", format!("use {}a;", "a::".repeat(n))),
        ("modules", nest("mod m {", "", "}")),
        ("patterns", format!("fn g() {{ let {} = x; }}", nest("(", "x", ")"))),
        ("comments", format!("{}{} fn g() {{}}", "/*".repeat(n), "*/".repeat(n))),
        ("attributes", format!("#[a{}{}] fn g() {{}}", "(".repeat(n), ")".repeat(n))),
        ("never closed", format!("fn g() {{ {}", "([{".repeat(n))),
        ("never closed generics", format!("type T = {}", "A<".repeat(n))),
    ];
    bodies.chain(types).chain(others)
}

fn file(text: String) -> SourceFile {
    SourceFile { id: FileId(0), path: Arc::from("src/lib.rs"), text: Arc::from(text) }
}

#[test]
fn no_depth_ends_the_process() {
    for n in [10, 100, 650, 1_000, 1_900, 2_100, 10_000, 100_000] {
        for (name, text) in sources(n) {
            let start = Instant::now();
            let result = lower(&file(text), false);
            let seconds = start.elapsed().as_secs_f64();
            assert!(seconds < 20.0, "{n} {name}: {seconds} s");
            match &result {
                Ok(_) => assert!(n <= 2_000 || name == "comments", "{n} {name} lowered"),
                Err(e) if n > 2_000 => assert!(e.message.contains("nested deeper"), "{n} {name}: {}", e.message),
                Err(e) => {
                    let may_fail = n > 300 || name.starts_with("never closed");
                    assert!(may_fail, "{n} {name}: {}", e.message);
                }
            }
            drop(result);
        }
    }
}

#[test]
fn long_chains_of_real_code_are_lowered() {
    for text in [
        format!("fn g(a: u8) {{ {} {{}} }}", "if a == b.c() && d { e() } else ".repeat(400)),
        format!("fn g() -> String {{ {} x }}", "\"a\".to_string() + &b(c) + ".repeat(250)),
        format!("fn g() {{ x{}; }}", ".with(Duration::from_secs(1), |a, b| a + b)".repeat(300)),
        format!("fn g() {{ {} }}", "if a < b { c(); } while d < e {}".repeat(3_000)),
        format!("const T: [u64; 9] = [{}];", "1 << 3, a << 4, ".repeat(500)),
    ] {
        let result = lower(&file(text.clone()), false);
        assert!(result.is_ok(), "{:.60}: {:?}", text, result.err());
    }
}
