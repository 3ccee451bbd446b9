use super::lex::TOO_DEEP;
use super::*;
use crate::syntax::dump::{dump, file};
use crate::syntax::tree::{MAX_ERRORS, MAX_VALUES, TOO_MANY};

#[test]
fn tables_run_from_their_header_to_their_last_own_value() {
    let text =
        "z = 1 # one\n[b]\ny.x = 'q'\ny.w = \"a\\tb\"\n\n[a]\nk = [1, [2]]\n\n[b.c]\nd = { e = 0x1F, f.g = 1_000 }\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «z = 1 # one⏎[b]⏎y.x = 'q'⏎y.w = "a\tb"⏎⏎[a]⏎k = [1, [2]]⏎⏎[b.c]⏎d = { e = 0x1F, f.g = 1_000 }»
    0.z(z) = plain "1" «1» @4
    0.b(b) map «[b]⏎y.x = 'q'⏎y.w = "a\tb"»
    0.b(b).y(y) map «y.x = 'q'⏎y.w = "a\tb"»
    0.b(b).y(y).x(x) = text "q" «'q'» @23
    0.b(b).y(y).w(w) = text "a\tb" «"a\tb"»
    0.b(b).c(c) map «[b.c]⏎d = { e = 0x1F, f.g = 1_000 }»
    0.b(b).c(c).d(d) map «{ e = 0x1F, f.g = 1_000 }»
    0.b(b).c(c).d(d).e(e) = plain "0x1F" «0x1F» @74
    0.b(b).c(c).d(d).f(f) map «f.g = 1_000»
    0.b(b).c(c).d(d).f(f).g(g) = plain "1_000" «1_000» @86
    0.a(a) map «[a]⏎k = [1, [2]]»
    0.a(a).k(k) list «[1, [2]]»
    0.a(a).k(k)[0] = plain "1" «1» @49
    0.a(a).k(k)[1] list «[2]»
    0.a(a).k(k)[1][0] = plain "2" «2» @53
    comment " one" «# one»
    "#);
}

#[test]
fn arrays_of_tables() {
    let text = "[[r]]\nname = \"x\"\n[r.p]\nq = 1.5\n\n# two\n[[r]]\nwhen = 1979-05-27T07:32:00Z\nok = true\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «[[r]]⏎name = "x"⏎[r.p]⏎q = 1.5⏎⏎# two⏎[[r]]⏎when = 1979-05-27T07:32:00Z⏎ok = true»
    0.r(r) list «[[r]]⏎name = "x"⏎[r.p]⏎q = 1.5⏎⏎# two⏎[[r]]⏎when = 1979-05-27T07:32:00Z⏎ok = true»
    0.r(r)[0] map «[[r]]⏎name = "x"»
    0.r(r)[0].name(name) = text "x" «"x"» @14
    0.r(r)[0].p(p) map «[r.p]⏎q = 1.5»
    0.r(r)[0].p(p).q(q) = plain "1.5" «1.5» @27
    0.r(r)[1] map «[[r]]⏎when = 1979-05-27T07:32:00Z⏎ok = true»
    0.r(r)[1].when(when) = plain "1979-05-27T07:32:00Z" «1979-05-27T07:32:00Z» @51
    0.r(r)[1].ok(ok) = plain "true" «true» @77
    comment " two" «# two»
    "#);
}

#[test]
fn texts_that_look_like_comments() {
    let text = "a = \"# no\" # yes\nb = '# no'\nc = \"\"\"\n# no \\\"\"\"\" # yes\nd = '''# no''''' # last";
    insta::assert_snapshot!(dump(parse, text), @r##"
    0 map «a = "# no" # yes⏎b = '# no'⏎c = """⏎# no \"""" # yes⏎d = '''# no'''''»
    0.a(a) = text "# no" «"# no"» @5
    0.b(b) = text "# no" «'# no'» @22
    0.c(c) = text "# no \"" «"""⏎# no \""""»
    0.d(d) = text "# no''" «'''# no'''''» @60
    comment " yes" «# yes»
    comment " yes" «# yes»
    comment " last" «# last»
    "##);
}

#[test]
fn byte_order_mark_carriage_returns_and_wide_characters() {
    insta::assert_snapshot!(dump(parse, "\u{feff}a = '재'\r\n# 注\r\n[\"한\"]\r\nb = \"\"\"\r\nx\"\"\"\r\n"), @r#"
    0 map «a = '재'␍⏎# 注␍⏎["한"]␍⏎b = """␍⏎x"""»
    0.a(a) = text "재" «'재'» @8
    0.한("한") map «["한"]␍⏎b = """␍⏎x"""»
    0.한("한").b(b) = text "x" «"""␍⏎x"""»
    comment " 注" «# 注»
    "#);
}

#[test]
fn what_is_readable_of_a_broken_file_is_kept() {
    insta::assert_snapshot!(dump(parse, "a = 1\nb = \nc = 3\na = 4\n[d\ne = 5\n"), @r#"
    0 map «a = 1⏎b = ⏎c = 3⏎a = 4⏎[»
    0.a(a) = plain "1" «1» @4
    0.b(b) = text "" «»
    0.c(c) = plain "3" «3» @15
    0.e(e) map «[»
    error not valid TOML: string values must be quoted, expected literal string 10..10
    error not valid TOML: duplicate key 17..18
    error not valid TOML: unclosed table, expected `]` 25..25
    "#);
    insta::assert_snapshot!(dump(parse, "a = \"\\q\"\nb = \"open\nc = 0o9\n\0\n"), @r#"
    0 map «a = "\q"⏎b = "open⏎c = 0o9»
    0.a(a) = text "\\q" «"\q"» @5
    0.b(b) = text "open" «"open»
    0.c(c) = plain "0o9" «0o9» @23
    error not valid TOML: missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\`, `"`, `x`, `u`, `U` 6..6
    error not valid TOML: invalid basic string, expected `"` 18..18
    error not valid TOML: invalid octal number 25..25
    error not valid TOML: invalid unquoted key, expected letters, numbers, `-`, `_` 27..28
    error not valid TOML: key with no value, expected `=` 28..28
    "#);
    assert_eq!(dump(parse, ""), "0 map «»\n");
}

#[test]
fn nesting_and_size_are_bounded() {
    let dotted = |n: usize| vec!["a"; n].join(".");
    assert_eq!(parse(&file(&format!("{} = 1", dotted(60)))).errors, []);
    assert_eq!(parse(&file(&format!("a = [{}]", "1.5, ".repeat(10_000)))).errors, []);
    for text in [
        format!("{} = 1", dotted(10_000)),
        format!("[{}]\n", dotted(10_000)),
        format!("[{}]\n{} = 1", dotted(40), dotted(40)),
        format!("[{}]\na = {{{} = 1}}", dotted(40), dotted(40)),
        format!("a = {}", "[".repeat(10_000)),
        format!("a = {}", "{a = ".repeat(10_000)),
    ] {
        let parsed = parse(&file(&text));
        assert_eq!(parsed.errors[0].message, TOO_DEEP);
        assert!(parsed.documents.is_empty());
    }
    let text = format!("a = {}{}\nb = 1\n", "[".repeat(60), "]".repeat(60));
    assert_eq!(parse(&file(&text)).errors, []);
    assert_eq!(parse(&file(&format!("a = [{}]", "1,".repeat(MAX_VALUES + 1)))).errors[0].message, TOO_MANY);
}

#[test]
fn errors_are_counted_out() {
    let parsed = parse(&file(&"= \n".repeat(1_000)));
    assert_eq!(parsed.errors.len(), MAX_ERRORS);
    let parsed = parse(&file(&"=\n".repeat(MAX_RECOVERED / 2 + 1)));
    assert_eq!(parsed.errors.len(), 1);
}
