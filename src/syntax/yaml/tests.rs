#![allow(clippy::string_slice)] // Slices of texts written here.

use super::*;
use crate::syntax::dump::{dump, file};
use crate::syntax::tree::{MAX_ERRORS, SyntaxError};

#[test]
fn spans_cover_values_and_no_blank_lines_or_comments_after_them() {
    let text = "a: 1\nb:\n  - x\n  - y: 2\n    z: 'q'\n\n# c\n\nc:   \n\nd: |\n  one\n  two\n\n# after\ne: >-\n  f\n\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «a: 1⏎b:⏎  - x⏎  - y: 2⏎    z: 'q'⏎⏎# c⏎⏎c:   ⏎⏎d: |⏎  one⏎  two⏎⏎# after⏎e: >-⏎  f»
    0.a(a) = plain "1" «1» @3
    0.b(b) list «- x⏎  - y: 2⏎    z: 'q'»
    0.b(b)[0] = plain "x" «x» @12
    0.b(b)[1] map «y: 2⏎    z: 'q'»
    0.b(b)[1].y(y) = plain "2" «2» @21
    0.b(b)[1].z(z) = text "q" «'q'» @31
    0.c(c) = plain "" «» @42
    0.d(d) = text "one\ntwo\n" «|⏎  one⏎  two»
    0.e(e) = text "f" «>-⏎  f» @81
    comment " c" «# c»
    comment " after" «# after»
    "#);
}

#[test]
fn indentless_sequences_start_at_their_first_dash() {
    let text = "a:\n- 1\n-\n- 3\nx: &l !t # c\n# - no\n- # c\n  1\nb:\n  -   - 1\n      - 2\n? - p\n: - q\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «a:⏎- 1⏎-⏎- 3⏎x: &l !t # c⏎# - no⏎- # c⏎  1⏎b:⏎  -   - 1⏎      - 2⏎? - p⏎: - q»
    0.a(a) list «- 1⏎-⏎- 3»
    0.a(a)[0] = plain "1" «1» @5
    0.a(a)[1] = plain "" «» @8
    0.a(a)[2] = plain "3" «3» @11
    0.x(x) list !t «- # c⏎  1»
    0.x(x)[0] = plain "1" «1» @41
    0.b(b) list «-   - 1⏎      - 2»
    0.b(b)[0] list «- 1⏎      - 2»
    0.b(b)[0][0] = plain "1" «1» @54
    0.b(b)[0][1] = plain "2" «2» @64
    0.- p(- p) list «- q»
    0.- p(- p)[0] = plain "q" «q» @76
    comment " c" «# c»
    comment " - no" «# - no»
    comment " c" «# c»
    "#);
}

#[test]
fn aliases_keep_the_places_of_their_anchor() {
    let text = "b: &x\n  - &y k\nc: *x\n*y : v\nd: &z\ne: *z\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «b: &x⏎  - &y k⏎c: *x⏎*y : v⏎d: &z⏎e: *z»
    0.b(b) list «- &y k»
    0.b(b)[0] = plain "k" «k» @13
    0.c(c) list «- &y k»
    0.c(c)[0] = plain "k" «k» @13
    0.k(*y) = plain "v" «v» @26
    0.d(d) = plain "" «» @33
    0.e(e) = plain "" «» @33
    "#);
}

#[test]
fn an_alias_means_the_last_anchor_before_it() {
    let parsed = parse(&file("a: &x 1\nb: *x\nc: &x 2\nd: *x\n"));
    let values: Vec<_> = parsed.documents[0].entries().iter().map(|e| e.value.as_int()).collect();
    assert_eq!(values, [Some(1), Some(1), Some(2), Some(2)]);
}

#[test]
fn keys_can_be_anything() {
    let text = "? [p, q]\n: r\n? {a: 1}\n? bare\n: x\n: nothing\n? last\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «? [p, q]⏎: r⏎? {a: 1}⏎? bare⏎: x⏎: nothing⏎? last»
    0.[p, q]([p, q]) = plain "r" «r» @11
    0.{a: 1}({a: 1}) = plain "" «» @21
    0.bare(bare) = plain "x" «x» @31
    0.() = plain "nothing" «nothing» @35
    0.last(last) = plain "" «» @49
    "#);
}

#[test]
fn merge_keys_bring_what_is_not_there() {
    let text = "a: &a {k: 1, l: 2}\nb: &b\n  <<: *a\n  k: 3\nc: {<<: [*a, {m: 5, l: 6}], z: }\nd: {<<: *b}\ne: {'<<': *a}\nf: {<<: 1}\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «a: &a {k: 1, l: 2}⏎b: &b⏎  <<: *a⏎  k: 3⏎c: {<<: [*a, {m: 5, l: 6}], z: }⏎d: {<<: *b}⏎e: {'<<': *a}⏎f: {<<: 1}»
    0.a(a) map «{k: 1, l: 2}»
    0.a(a).k(k) = plain "1" «1» @10
    0.a(a).l(l) = plain "2" «2» @16
    0.b(b) map «<<: *a⏎  k: 3»
    0.b(b).l(l) = plain "2" «2» @16
    0.b(b).k(k) = plain "3" «3» @39
    0.c(c) map «{<<: [*a, {m: 5, l: 6}], z: }»
    0.c(c).k(k) = plain "1" «1» @10
    0.c(c).l(l) = plain "2" «2» @16
    0.c(c).m(m) = plain "5" «5» @58
    0.c(c).z(z) = plain "" «» @71
    0.d(d) map «{<<: *b}»
    0.d(d).l(l) = plain "2" «2» @16
    0.d(d).k(k) = plain "3" «3» @39
    0.e(e) map «{'<<': *a}»
    0.e(e).<<('<<') map «{k: 1, l: 2}»
    0.e(e).<<('<<').k(k) = plain "1" «1» @10
    0.e(e).<<('<<').l(l) = plain "2" «2» @16
    0.f(f) map «{<<: 1}»
    0.f(f).<<(<<) = plain "1" «1» @108
    error the merge key << takes a mapping or a list of mappings 104..109
    "#);
}

#[test]
fn tags_decide_what_a_text_means_and_foreign_ones_are_kept() {
    let text = "d: !Ref x\ne: !Sub [a, !GetAtt b.c]\nf: !!str 3\ng: !!int '3'\nh: ! 4\ni: !!str\nj: !Foo\n  k: v\nk: !!set {a}\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «d: !Ref x⏎e: !Sub [a, !GetAtt b.c]⏎f: !!str 3⏎g: !!int '3'⏎h: ! 4⏎i: !!str⏎j: !Foo⏎  k: v⏎k: !!set {a}»
    0.d(d) = plain !Ref "x" «x» @8
    0.e(e) list !Sub «[a, !GetAtt b.c]»
    0.e(e)[0] = plain "a" «a» @19
    0.e(e)[1] = plain !GetAtt "b.c" «b.c» @30
    0.f(f) = text "3" «3» @44
    0.g(g) = plain "3" «'3'» @56
    0.h(h) = text "4" «4» @64
    0.i(i) = text "" «» @74
    0.j(j) map !Foo «k: v»
    0.j(j).k(k) = plain "v" «v» @88
    0.k(k) map tag:yaml.org,2002:set «{a}»
    0.k(k).a(a) = plain "" «» @101
    "#);
}

#[test]
fn byte_order_mark_and_carriage_returns() {
    let text = "\u{feff}# head\r\na: 1\r\nb: |\r\n  x\r\n  y\r\nc: \"q\"\r\nd:\r\n- 1\r\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «a: 1␍⏎b: |␍⏎  x␍⏎  y␍⏎c: "q"␍⏎d:␍⏎- 1»
    0.a(a) = plain "1" «1» @14
    0.b(b) = text "x\ny\n" «|␍⏎  x␍⏎  y»
    0.c(c) = text "q" «"q"» @37
    0.d(d) list «- 1»
    0.d(d)[0] = plain "1" «1» @47
    comment " head" «# head»
    "#);
}

#[test]
fn a_broken_document_leaves_its_neighbours() {
    let text = "a: [1\n---\nb: 2\n...\n---\nc: *no\n--- &r\nd: *r\n---\n- a\n  \"b\n---\nlast: 1";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «b: 2»
    0.b(b) = plain "2" «2» @13
    1 map «c: *no»
    1.c(c) = plain "" «*no»
    2 list «- a⏎  "b»
    2[0] = plain "a \"b" «a⏎  "b»
    3 map «last: 1»
    3.last(last) = plain "1" «1» @66
    error not valid YAML: unclosed bracket '[' 3..4
    error the alias *no names no anchor that stands before it in this document 26..29
    error the alias refers to a value that it is part of 40..42
    "#);
}

#[test]
fn quoted_and_block_scalars() {
    let text = "a: 'it''s'\nb: \"x\\ty\"\nc: multi\n  line\nd: \"a\n  b\"\ne: |2\n    deep\n  x\nf: !!str | # a | b\n  one\ng: |+\n  k\n\n\nh|: >1-\n\n  i\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «a: 'it''s'⏎b: "x\ty"⏎c: multi⏎  line⏎d: "a⏎  b"⏎e: |2⏎    deep⏎  x⏎f: !!str | # a | b⏎  one⏎g: |+⏎  k⏎⏎⏎h|: >1-⏎⏎  i»
    0.a(a) = text "it's" «'it''s'»
    0.b(b) = text "x\ty" «"x\ty"»
    0.c(c) = plain "multi line" «multi⏎  line»
    0.d(d) = text "a b" «"a⏎  b"»
    0.e(e) = text "  deep\nx\n" «|2⏎    deep⏎  x»
    0.f(f) = text "one\n" «| # a | b⏎  one» @88
    0.g(g) = text "k\n\n\n" «|+⏎  k» @100
    0.h|(h|) = text "\n i" «>1-⏎⏎  i»
    comment " a | b" «# a | b»
    "#);
}

#[test]
fn streams_without_content() {
    assert_eq!(dump(parse, ""), "");
    assert_eq!(dump(parse, "\u{feff}"), "");
    assert_eq!(dump(parse, "\n\n"), "");
    assert_eq!(dump(parse, "# only\n"), "comment \" only\" «# only»\n");
    assert_eq!(dump(parse, "---\n"), "0 = plain \"\" «» @3\n");
    assert_eq!(dump(parse, "---\n---\n"), "0 = plain \"\" «» @3\n1 = plain \"\" «» @7\n");
}

#[test]
fn duplicate_keys_stay_in_order_and_the_last_counts() {
    let file = file("a: 1\na: 2\n");
    let parsed = parse(&file);
    assert_eq!(parsed.errors, []);
    assert_eq!(parsed.documents[0].entries().len(), 2);
    assert_eq!(parsed.documents[0].get("a").unwrap().as_int(), Some(2));
}

#[test]
fn tabs_and_nul_are_errors_with_a_place() {
    insta::assert_snapshot!(dump(parse, "a:\tb\nc:\n\t- d\n---\nok: 1\n"), @r#"
    0 map «ok: 1»
    0.ok(ok) = plain "1" «1» @21
    error not valid YAML: tabs disallowed within this context (block indentation) 9..10
    "#);
    insta::assert_snapshot!(dump(parse, "a: 1\u{0}\nb: 2\n"), @r"error not valid YAML: unexpected character: `\u{0}' 4..5");
}

#[test]
fn wide_characters_count_in_bytes() {
    insta::assert_snapshot!(dump(parse, "한: 재시도 # 注释\nb: ラ\n"), @r#"
    0 map «한: 재시도 # 注释⏎b: ラ»
    0.한(한) = plain "재시도" «재시도» @5
    0.b(b) = plain "ラ" «ラ» @27
    comment " 注释" «# 注释»
    "#);
}

#[test]
fn more_comments_than_any_buffer() {
    let text = format!("{}a:\n{}  b: 1\n", "# licence\n".repeat(500), "  # why\n".repeat(500));
    let parsed = parse(&file(&text));
    assert_eq!(parsed.errors, []);
    assert_eq!(parsed.comments.len(), 1000);
    assert_eq!(parsed.documents[0].at(&["a", "b"]).unwrap().as_int(), Some(1));
}

#[test]
fn nesting_is_bounded_however_it_is_written() {
    let blocks = |n: usize| (0..n).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>();
    for (text, refused) in [
        ("[".repeat(200) + &"]".repeat(200), false),
        ("[".repeat(10_000), true),
        ("{a: ".repeat(10_000), true),
        ("- ".repeat(10_000), true),
        ("? ".repeat(10_000), true),
        (blocks(200), false),
        (blocks(3_000), true),
        (format!("{}{}{}", "- ".repeat(200), "[".repeat(200), "]".repeat(200)), true),
        (format!("a: &a {}{}\nb: {}*a{}", "[".repeat(200), "]".repeat(200), "[".repeat(100), "]".repeat(100)), true),
    ] {
        let parsed = parse(&file(&format!("{text}\n---\nok: 1\n")));
        let deep = |e: &SyntaxError| e.message.contains("deeper than 256");
        assert_eq!(!parsed.errors.is_empty(), refused, "{:?}", parsed.errors);
        assert!(parsed.errors.iter().all(deep), "{:?}", parsed.errors);
        assert_eq!(parsed.documents.last().unwrap().get("ok").unwrap().as_int(), Some(1));
    }
}

#[test]
fn merge_keys_without_a_mapping_are_told_a_number_of_times() {
    let parsed = parse(&file(&"- <<: 1\n".repeat(MAX_ERRORS * 3)));
    assert_eq!(parsed.errors.len(), MAX_ERRORS);
    assert_eq!(parsed.documents[0].items().len(), MAX_ERRORS * 3);
}

#[test]
fn anchor_bombs_are_refused() {
    let mut text = "a0: &a0 [lol, lol]\n".to_string();
    for i in 1..40 {
        text += &format!("a{i}: &a{i} [*a{0}, *a{0}, *a{0}, *a{0}]\n", i - 1);
    }
    let mut merges = format!("a0: &a0 {{{}}}\n", (0..2000).map(|i| format!("k{i}: v")).collect::<Vec<_>>().join(", "));
    for i in 1..2000 {
        merges += &format!("b{i}: {{<<: *a0}}\n");
    }
    for bomb in [text, merges] {
        let parsed = parse(&file(&format!("{bomb}---\nok: 1\n")));
        assert_eq!(parsed.documents.len(), 1);
        assert!(parsed.errors[0].message.contains("out of proportion"), "{:?}", parsed.errors);
        assert_eq!(&bomb[parsed.errors[0].span.range()][..2], "*a");
    }
}
