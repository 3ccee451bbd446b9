mod show;

use std::sync::Arc;

use super::super::ir::{Expr, Item, Module};
use super::lower;
use crate::source::{FileId, SourceFile};
use show::{show, show_items};

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { id: FileId(0), path: Arc::from(path), text: Arc::from(text) }
}

fn module(text: &str) -> Module {
    lower(&file("src/lib.rs", text), false).unwrap()
}

/// The body of a function around `statements`.
fn body(statements: &str) -> String {
    let module = module(&format!("fn f() {{ {statements} }}"));
    let Some(Item::Fn(f)) = module.items.first() else { panic!("no function") };
    show(&f.body)
}

fn items(text: &str) -> Vec<String> {
    show_items(&module(text).items)
}

#[test]
fn looks_through_what_changes_no_value() {
    assert_eq!(body("(&mut *(a.b)).c(&&x, *y)"), "{ => a.b.c(x, y) }");
    assert_eq!(body("unsafe { f() }"), "{ => { => f() } }");
    assert_eq!(body("const { 3 + 4 }"), "{ => { => (3 + 4) } }");
    assert_eq!(body("<T as Client>::send(<Vec<u8>>::new())"), "{ => T::send(Vec::new()) }");
}

#[test]
fn loops_and_jumps_keep_their_labels() {
    assert_eq!(
        body("'a: loop { while x < 3 { continue 'a; } for i in 0..=n { break 'a f(i)?; } return }"),
        "{ => 'a loop { while (x < 3) { continue 'a; }; for i in 0..=n { break 'a f(i)?; }; => return } }"
    );
}

#[test]
fn conditions_keep_their_patterns() {
    assert_eq!(
        body("if let Some(x) = a && x > 3 && let Ok(Y { z, .. }) = b { 1 } else if c { 2 } else { 3 };"),
        "{ if ((let Some(x) = a && (x > 3)) && let Ok(Y{z: z}) = b) { => 1 } else if c { => 2 } else { => 3 }; }"
    );
    assert_eq!(
        body("let Ok(x): Result<u8, E> = f() else { return 1 };"),
        "{ let Ok(x): Result<u8,E> = f() else { => return 1 }; }"
    );
}

#[test]
fn arms_keep_guards_and_alternatives() {
    assert_eq!(
        body("match s { 500 | 502..=504 => a, Some(n @ 3) if n > b => { c } E::F(..) | E::G => d, _ => return }"),
        "{ => match s { 500 | 502..=504 => a, Some(n@3) if (n > b) => { => c }, E::F(_) | E::G => d, _ => return } }"
    );
}

#[test]
fn closures_and_async_blocks() {
    assert_eq!(
        body("go(|| async move { f().await }, async |x: u8, (a, b)| x, move |_| ())"),
        "{ => go(|| async { => f().await }, async |x: u8, (a, b)| x, |_| ()) }"
    );
    assert_eq!(body("let r: R = try { a()?; b };"), "{ let r: R = || { a()?; => Ok(b) }(); }");
}

#[test]
fn values_of_all_kinds() {
    assert_eq!(
        body(
            "S { a: -1, b, 0: x as f64, ..d } ; [1u8, 0xff]; [0; N]; (1,); a[1] += 2_000; !x; 'c'; b'a'; b\"z\"; 1.5e3; .."
        ),
        "{ S{a: -1, b: b, 0: x as f64, ..d}; [1, 255]; [0; N]; (1); a[1] += 2000; !x; 'c'; 97; \"z\"; 1500.0; => .. }"
    );
    assert_eq!(body("a.parse::<u32>().b.0.1 = c;"), "{ a.parse::<u32>().b.0.1 = c; }");
}

#[test]
fn format_strings_are_split() {
    assert_eq!(
        body(r#"format!("{base}/v1/{}/{id:>5}{{}}", a.b, base = c)"#),
        r#"{ => format![<c>"/v1/"<a.b>"/"<id>"{}"] }"#
    );
    assert_eq!(body(r#"println!("{0} {1:?} {0}", a, b,);"#), r#"{ println![<a>" "<b>" "<a>]; }"#);
    assert_eq!(body(r#"bail!(Error::Gone)"#), "{ => bail![]+(Error::Gone) }");
    assert_eq!(body(r#"write!(out, "a\tb {}\u{e9}", x)?"#), r#"{ => write!["a\tb "<x>"é"]+(out)? }"#);
    assert_eq!(body(r#"panic!()"#), "{ => panic![] }");
}

#[test]
fn log_macros_of_every_style() {
    assert_eq!(
        body(r#"tracing::warn!(target: "t", user.id = %u.id, ?err, "failed {}: {err}", n);"#),
        r#"{ warn!["failed "<n>": "<err>]+("t", u.id, err); }"#
    );
    assert_eq!(body(r#"info!(a = 1, b:? = c; "text {x}");"#), r#"{ info!["text "<x>]+(1, c); }"#);
    assert_eq!(body(r#"error!(log, "text {}", x; "key" => y);"#), r#"{ error!["text "<x>]+(log, y); }"#);
    assert_eq!(body("debug!(value);"), "{ debug![]+(value); }");
}

#[test]
fn arguments_of_a_format_string_are_kept_once() {
    assert_eq!(
        body(r#"warn!(target: t, "{0}{0}{x}{x}{1}{9}", f(), 3, x = g(), y = h())"#),
        r#"{ => warn![<f()><f()><g()><g()><3><?>]+(t, h()) }"#
    );
}

#[test]
fn names_in_a_format_string_have_their_own_place() {
    let text = "fn f() { g(format!(\"é\\n{host}:{ port }\"), format!(r#\"\"{host}\"\"#)) }";
    let module = module(text);
    let mut places = Vec::new();
    let Some(Item::Fn(f)) = module.items.first() else { panic!("no function") };
    visit(&f.body, &mut |e| {
        if let super::ir::ExprKind::Path(p) = &*e.kind {
            places.push((p.segments[0].to_string(), text.get(e.span.range()).unwrap().to_owned()));
        }
    });
    let expected = ["g", "host", "port", "host"].map(|n| (n.to_owned(), n.to_owned()));
    assert_eq!(places, expected);
}

#[test]
fn assertions_are_conditions() {
    assert_eq!(body(r#"ensure!(a.ok(), "bad {}", b);"#), r#"{ if !a.ok() { return Err(anyhow!["bad "<b>]); }; }"#);
    assert_eq!(body("ensure!(a, E::Bad { b });"), "{ if !a { return Err(E::Bad{b: b}); }; }");
    assert_eq!(body("assert!(a);"), "{ if !a { panic![]; }; }");
    assert_eq!(body(r#"assert_eq!(a, b, "x");"#), r#"{ if (a != b) { panic!["x"]; }; }"#);
}

#[test]
fn macros_that_hold_code() {
    assert_eq!(body("matches!(s, A | B(_) if x)"), "{ => matches(s, A | B(_) if x) }");
    assert_eq!(body("vec![a; 3]; vec![a, b]; smallvec![a];"), "{ [a; 3]; [a, b]; smallvec!(a); }");
    assert_eq!(body("tokio::try_join!(a(), b())?; join!(biased; c)"), "{ try_join(a(), b())?; => join(c) }");
    assert_eq!(body("tokio::pin!(f); pin! { let a = b(); }"), "{ f; let a = b(); }");
    assert_eq!(body("json!({ \"a\": f() }); html! { <b/> }; quote! { loop { send() } }"), "{ ?; ?; => ? }");
    assert_eq!(body("stream! { let x = f().await; yield x; }"), "{ => stream!({ let x = f().await; yield!(x); }) }");
    assert_eq!(body("macro_rules! m { () => { loop {} } } hashmap! { a => b };"), "{ ?; }");
    assert_eq!(
        body("cfg_if! { if #[cfg(feature = \"a\")] { x() } else if #[cfg(test)] { t() } else { y() } }"),
        "{ => if ? { => x() } else { => y() } }"
    );
}

#[test]
fn select_of_three_crates() {
    assert_eq!(
        body(
            "tokio::select! { biased; Some(x) = rx.recv(), if open => { f(x); } _ = sleep(d) => g(), else => break, }"
        ),
        "{ => select { Some(x) = rx.recv() => { f(x); }; _ = sleep(d) => g(); => break } }"
    );
    assert_eq!(
        body("futures::select! { r = fut => r?, default => 1, complete => break }"),
        "{ => select { r = fut => r?; => 1; => break } }"
    );
    assert_eq!(
        body("crossbeam::select! { recv(r) -> msg => msg?, default(timeout) => return }"),
        "{ => select { msg = recv(r) => msg?; default(timeout) => return } }"
    );
}

#[test]
fn uses_are_flattened() {
    assert_eq!(
        items("pub use a::{self, b::{C as D, *}, e}; use self::f as _; extern crate g as h;"),
        [
            "pub use a as a",
            "pub use a::b::C as D",
            "pub use a::b as *",
            "pub use a::e as e",
            "use self::f as _",
            "use g as h"
        ]
    );
}

#[test]
fn items_of_every_kind() {
    assert_eq!(
        items(
            "const A: u32 = 3; static B: LazyLock<C> = LazyLock::new(|| 1); type D<T> = Result<T, E>; enum F { G = 1, H(u8) }
             mod m { fn x() {} } #[path = \"y/z.rs\"] mod z; macro_rules! r { () => {} }
             trait T { const K: u8; fn a(&self); fn b(&self) { 1 } }
             impl<X: Y> T for S<X> { const K: u8 = 1; async fn a(&self, n: &[u8]) -> Box<dyn Fn(u8) -> R + Send> { } }"
        ),
        [
            "const A: u32 = 3",
            "const B: LazyLock<C> = LazyLock::new(|| 1)",
            "type D = Result<T,E>",
            "enum F { G, H }",
            "mod m { fn x() -> - {  } }",
            "mod z = y/z.rs",
            "trait T { const K: u8; fn b(self) -> - { => 1 } }",
            "impl T for S<X> { const K: u8 = 1; async fn a(self, n: [u8]) -> Box<dyn Fn<u8,R>> {  } }",
        ]
    );
}

#[test]
fn structs_keep_fields_and_attributes() {
    assert_eq!(
        items(
            "#[derive(Debug, serde::Deserialize)] #[serde(default, rename_all = \"kebab-case\")]
             #[cfg_attr(feature = \"x\", derive(Clone), serde(deny_unknown_fields))]
             pub struct S { /// doc
               #[serde(default = \"three\")] a: Option<u32>, #[cfg(test)] t: u8 } struct P(u8, String);"
        ),
        [
            "#[derive(Debug,Deserialize,Clone)] #[serde(default, rename_all = \"kebab-case\")] #[serde(deny_unknown_fields)] \
             struct S { #[serde(default = \"three\")] a: Option<u32> }",
            "struct P { 0: u8, 1: String }",
        ]
    );
}

#[test]
fn macros_that_hold_items() {
    assert_eq!(
        items(
            "lazy_static! { pub static ref A: u8 = f(); static ref B: C = d; } thread_local! { static X: Cell<u8> = Cell::new(1) }
             cfg_if::cfg_if! { if #[cfg(unix)] { fn a() {} } else { fn b() {} } } cfg_rt! { fn c() {} } bitflags! { struct F: u32 {} }"
        ),
        [
            "const A: u8 = f()",
            "const B: C = d",
            "const X: Cell<u8> = Cell::new(1)",
            "fn a() -> - {  }",
            "fn b() -> - {  }",
            "fn c() -> - {  }",
        ]
    );
}

#[test]
fn what_only_tests_compile_is_left_out() {
    let text = "#[cfg(test)] mod t { fn a() {} } #[tokio::test] async fn b() {} #[cfg(all(test, unix))] fn c() {}
                #[cfg(any(test, feature = \"x\"))] fn d() {} #[cfg(not(test))] fn e() {} fn g() { #[cfg(test)] h(); }";
    let left = module(text);
    assert_eq!(show_items(&left.items), ["fn d() -> - {  }", "fn e() -> - {  }", "fn g() -> - {  }"]);
    assert!(left.tests_left_out);
    let all = lower(&file("src/lib.rs", text), true).unwrap();
    assert_eq!(all.items.len(), 6);
    assert!(!all.tests_left_out);
}

#[test]
fn folders_of_tests_are_left_out() {
    for (path, out) in [
        ("tests/it.rs", true),
        ("services/a/benches/b.rs", true),
        ("examples/retry.rs", true),
        ("src/client/tests.rs", true),
        ("src/tests/a.rs", true),
        ("examples/shop/src/main.rs", false),
        ("src/bin/examples/a.rs", false),
        ("src/attests.rs", false),
    ] {
        let module = lower(&file(path, "fn f() {}"), false).unwrap();
        assert_eq!((module.items.is_empty(), module.tests_left_out), (out, out), "{path}");
        assert_eq!(lower(&file(path, "fn f() {}"), true).unwrap().items.len(), 1, "{path}");
    }
}

#[test]
fn places_are_bytes_of_the_file() {
    for prefix in
        ["", "\u{feff}", "#!/usr/bin/env run\n", "\u{feff}#!/bin/run\r\n", "// é 재시도\r\n", "#![allow(dead_code)]\n"]
    {
        let text = format!("{prefix}fn f() {{\r\n    let é = g(\"ü\").await;\r\n}}\r\n");
        let module = module(&text);
        let Some(Item::Fn(f)) = module.items.first() else { panic!("no function") };
        assert_eq!(text.get(f.name_span.range()), Some("f"), "{prefix:?}");
        let mut seen = Vec::new();
        visit(&f.body, &mut |e| seen.push(text.get(e.span.range()).unwrap().to_owned()));
        assert_eq!(seen[1..], ["g(\"ü\").await", "g(\"ü\")", "g", "\"ü\""], "{prefix:?}");
    }
}

#[test]
fn a_file_that_is_no_rust_is_an_error_with_its_place() {
    let error = lower(&file("src/lib.rs", "\u{feff}fn f() {\n    let = 3;\n}"), false).unwrap_err();
    assert_eq!((error.span.start, error.span.end), (20, 21));
    assert!(lower(&file("src/lib.rs", "fn f( {"), false).is_err());
    assert!(lower(&file("src/lib.rs", ""), false).unwrap().items.is_empty());
    assert!(lower(&file("src/lib.rs", "\u{feff}#!/bin/run"), false).unwrap().items.is_empty());
}

#[test]
fn strings_that_stand_byte_for_byte_say_where() {
    let text = r####"fn f() { g("a b", r#"c"d"#, "e\n", b"h") }"####;
    let module = module(text);
    let Some(Item::Fn(f)) = module.items.first() else { panic!("no function") };
    let mut found = Vec::new();
    visit(&f.body, &mut |e| {
        if let super::ir::ExprKind::Lit(super::ir::Lit::Str { text: value, verbatim }) = &*e.kind {
            found.push(verbatim.map(|at| text.get(at as usize..).unwrap().starts_with(&**value)));
        }
    });
    assert_eq!(found, [Some(true), Some(true), None, Some(true)]);
}

fn visit(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    f(e);
    crate::rust::walk::children(e, &mut |child| visit(child, f));
}
