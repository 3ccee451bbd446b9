#![allow(clippy::string_slice)] // Slices of texts written here.

use super::*;
use crate::syntax::dump::{dump, file};

#[test]
fn values_keys_and_comments_have_exact_places() {
    let text = "// head\n{\n  \"a\": 1, /* b */\n  \"c\": [true, null, -1.5e3, \"x\\ty\", \"z\"],\n  d: {},\n}\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «{⏎  "a": 1, /* b */⏎  "c": [true, null, -1.5e3, "x\ty", "z"],⏎  d: {},⏎}»
    0.a("a") = plain "1" «1» @17
    0.c("c") list «[true, null, -1.5e3, "x\ty", "z"]»
    0.c("c")[0] = plain "true" «true» @36
    0.c("c")[1] = plain "null" «null» @42
    0.c("c")[2] = plain "-1.5e3" «-1.5e3» @48
    0.c("c")[3] = text "x\ty" «"x\ty"»
    0.c("c")[4] = text "z" «"z"» @65
    0.d(d) map «{}»
    comment " head" «// head»
    comment " b " «/* b */»
    "#);
}

#[test]
fn byte_order_mark_carriage_returns_and_wide_characters() {
    insta::assert_snapshot!(dump(parse, "\u{feff}{\r\n\t\"한\": \"재시도\" // 注释\r\n}\r\n"), @r#"
    0 map «{␍⏎	"한": "재시도" // 注释␍⏎}»
    0.한("한") = text "재시도" «"재시도"» @15
    comment " 注释" «// 注释»
    "#);
}

#[test]
fn duplicate_keys_stay_in_order_and_the_last_counts() {
    let parsed = parse(&file(r#"{"a": 1, "a": 2}"#));
    assert_eq!(parsed.documents[0].entries().len(), 2);
    assert_eq!(parsed.documents[0].get("a").unwrap().as_int(), Some(2));
}

#[test]
fn errors_have_a_place() {
    let broken = ["{", "{\"a\" 1}", "[1 2]", "{\"a\": \"\\u12\"}", "{} {}", "\0", "nul", "\"\\ud800\"", "/*", "é", "]"];
    for text in broken {
        let parsed = parse(&file(text));
        assert_eq!((parsed.documents.len(), parsed.errors.len()), (0, 1), "{text:?}");
        assert!(text.get(parsed.errors[0].span.range()).is_some(), "{text:?} {:?}", parsed.errors);
    }
    insta::assert_snapshot!(dump(parse, "{\"a\": 1\n \"b\": 2}"), @r#"
    error not valid JSON: expected comma 7..7
    "#);
    assert_eq!(dump(parse, ""), "");
    assert_eq!(dump(parse, " \n"), "");
}

#[test]
fn nesting_and_size_are_bounded() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert_eq!(parse(&file(&nested(256))).errors, []);
    for text in [nested(257), "[".repeat(10_000), "{\"a\":".repeat(10_000), "/**/[".repeat(10_000)] {
        let parsed = parse(&file(&text));
        assert_eq!(parsed.errors[0].message, TOO_DEEP);
        assert_eq!(&text[parsed.errors[0].span.range()], if text.starts_with('{') { "{" } else { "[" });
    }
    assert_eq!(parse(&file(&format!("\"{}\"", "[".repeat(1000)))).errors, []);
    assert_eq!(parse(&file(&format!("[{}1]", "1,".repeat(MAX_VALUES + 1)))).errors[0].message, TOO_MANY);
}
