use super::*;
use crate::syntax::dump::{dump, file};
use crate::syntax::tree::{MAX_VALUES, TOO_DEEP, TOO_MANY};

#[test]
fn dotted_keys_nest_and_every_level_has_the_whole_key_as_its_place() {
    let text = "# head\nr4j.retry.a.max-attempts=3\nr4j.retry.a.wait : 500ms  \nr4j.retry.b.list[1] two\nr4j.retry.b.list[0]=one\n! end";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «r4j.retry.a.max-attempts=3⏎r4j.retry.a.wait : 500ms  ⏎r4j.retry.b.list[1] two⏎r4j.retry.b.list[0]=one»
    0.r4j(r4j.retry.a.max-attempts) map «r4j.retry.a.max-attempts=3⏎r4j.retry.a.wait : 500ms  ⏎r4j.retry.b.list[1] two⏎r4j.retry.b.list[0]=one»
    0.r4j(r4j.retry.a.max-attempts).retry(r4j.retry.a.max-attempts) map «r4j.retry.a.max-attempts=3⏎r4j.retry.a.wait : 500ms  ⏎r4j.retry.b.list[1] two⏎r4j.retry.b.list[0]=one»
    0.r4j(r4j.retry.a.max-attempts).retry(r4j.retry.a.max-attempts).a(r4j.retry.a.max-attempts) map «r4j.retry.a.max-attempts=3⏎r4j.retry.a.wait : 500ms»
    0.r4j(r4j.retry.a.max-attempts).retry(r4j.retry.a.max-attempts).a(r4j.retry.a.max-attempts).max-attempts(r4j.retry.a.max-attempts) = text "3" «3» @32
    0.r4j(r4j.retry.a.max-attempts).retry(r4j.retry.a.max-attempts).a(r4j.retry.a.max-attempts).wait(r4j.retry.a.wait) = text "500ms" «500ms» @53
    0.r4j(r4j.retry.a.max-attempts).retry(r4j.retry.a.max-attempts).b(r4j.retry.b.list[1]) map «r4j.retry.b.list[1] two⏎r4j.retry.b.list[0]=one»
    0.r4j(r4j.retry.a.max-attempts).retry(r4j.retry.a.max-attempts).b(r4j.retry.b.list[1]).list(r4j.retry.b.list[1]) list «r4j.retry.b.list[1] two⏎r4j.retry.b.list[0]=one»
    0.r4j(r4j.retry.a.max-attempts).retry(r4j.retry.a.max-attempts).b(r4j.retry.b.list[1]).list(r4j.retry.b.list[1])[0] = text "one" «one» @105
    0.r4j(r4j.retry.a.max-attempts).retry(r4j.retry.a.max-attempts).b(r4j.retry.b.list[1]).list(r4j.retry.b.list[1])[1] = text "two" «two» @81
    comment " head" «# head»
    comment " end" «! end»
    "#);
}

#[test]
fn lists_of_mappings_and_quoted_names() {
    let text = "a[0].x=1\na[0].y=2\na[2].x=3\nlevel[com.foo]=debug\nmap[\"k.l\"].m=n\n[0]=top\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «a[0].x=1⏎a[0].y=2⏎a[2].x=3⏎level[com.foo]=debug⏎map["k.l"].m=n⏎[0]=top»
    0.a(a[0].x) list «a[0].x=1⏎a[0].y=2⏎a[2].x=3»
    0.a(a[0].x)[0] map «a[0].x=1⏎a[0].y=2»
    0.a(a[0].x)[0].x(a[0].x) = text "1" «1» @7
    0.a(a[0].x)[0].y(a[0].y) = text "2" «2» @16
    0.a(a[0].x)[1] map «a[2].x=3»
    0.a(a[0].x)[1].x(a[2].x) = text "3" «3» @25
    0.level(level[com.foo]) map «level[com.foo]=debug»
    0.level(level[com.foo]).com.foo(level[com.foo]) = text "debug" «debug» @42
    0.map(map["k.l"].m) map «map["k.l"].m=n»
    0.map(map["k.l"].m).k.l(map["k.l"].m) map «map["k.l"].m=n»
    0.map(map["k.l"].m).k.l(map["k.l"].m).m(map["k.l"].m) = text "n" «n» @61
    0.0([0]) = text "top" «top» @67
    "#);
}

#[test]
fn a_key_that_is_a_value_and_a_prefix_keeps_both() {
    let text = "a=1\na.b=2\na[0]=3\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «a=1⏎a.b=2⏎a[0]=3»
    0.a(a) = text "1" «1» @2
    0.a(a) list «a=1⏎a.b=2⏎a[0]=3»
    0.a(a)[0] = text "3" «3» @15
    0.a(a) map «a=1⏎a.b=2⏎a[0]=3»
    0.a(a).b(a.b) = text "2" «2» @8
    "#);
    let parsed = parse(&file(text));
    assert_eq!(parsed.documents[0].at(&["a", "b"]).unwrap().as_int(), Some(2));
}

#[test]
fn separators_continuations_and_escapes() {
    let text = "a\\ b\\:c\\=d e\nlong = one, \\\n    two\\\n  \\three\nempty\nblank =\nuni=\\u00e9\\ud83d\\ude00\\q\\\\\n  k\\\n  ey  =  v = w \r\nnext=1\\\r\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «a\ b\:c\=d e⏎long = one, \⏎    two\⏎  \three⏎empty⏎blank =⏎uni=\u00e9\ud83d\ude00\q\\⏎  k\⏎  ey  =  v = w ␍⏎next=1»
    0.a b:c=d(a\ b\:c\=d) = text "e" «e» @11
    0.long(long) = text "one, two\three" «one, \⏎    two\⏎  \three»
    0.empty(empty) = text "" «» @50
    0.blank(blank) = text "" «» @58
    0.uni(uni) = text "é😀q\\" «\u00e9\ud83d\ude00\q\\»
    0.key(k\
      ey) = text "v = w" «v = w» @100
    0.next(next) = text "1" «1»
    "#);
}

#[test]
fn comments_do_not_continue_and_marks_inside_values_are_text() {
    let text = "\u{feff}# one \\\na=b # no\n\t! two\r\n#\nb=!c\n";
    insta::assert_snapshot!(dump(parse, text), @r#"
    0 map «a=b # no⏎	! two␍⏎#⏎b=!c»
    0.a(a) = text "b # no" «b # no» @13
    0.b(b) = text "!c" «!c» @32
    comment " one \\" «# one \»
    comment " two" «! two»
    comment "" «#»
    "#);
}

#[test]
fn bad_escapes_are_errors_with_a_place() {
    insta::assert_snapshot!(dump(parse, "a=\\u12\nb=\\ud800x\nc=\\"), @r#"
    0 map «a=\u12⏎b=\ud800x⏎c=\»
    0.a(a) = text "\\u12" «\u12»
    0.b(b) = text "�x" «\ud800x»
    0.c(c) = text "" «\»
    error not valid .properties: \u takes four hexadecimal digits 2..4
    "#);
}

#[test]
fn blanks_after_a_continuation_are_no_part_of_the_value() {
    let value = |text: &str| {
        let parsed = parse(&file(text));
        let node = parsed.documents[0].get("a").unwrap();
        (node.as_str().unwrap().to_string(), text.get(node.span.range()).unwrap().to_string())
    };
    for (text, expected, written) in [
        ("a=\\u00e9\\\n ", "é", "\\u00e9"),
        ("a=é\\\n ", "é", "é"),
        ("a=10\\\n  ", "10", "10"),
        ("a=10 \\\r\n\t\nb=1", "10", "10"),
        ("a=1\\\n  0 \\\n  ", "10", "1\\\n  0"),
        ("a=x\\  ", "x ", "x\\ "),
        ("a=x\\t ", "x\t", "x\\t"),
    ] {
        assert_eq!(value(text), (expected.to_string(), written.to_string()), "{text:?}");
    }
}

#[test]
fn duplicate_keys_stay_in_order_and_the_last_counts() {
    let parsed = parse(&file("a.b=1\na.b=2\n"));
    let a = parsed.documents[0].get("a").unwrap();
    assert_eq!(a.entries().len(), 2);
    assert_eq!(a.get("b").unwrap().as_int(), Some(2));
}

#[test]
fn nesting_and_size_are_bounded() {
    assert_eq!(dump(parse, ""), "");
    let parsed = parse(&file(&format!("{}=1\nok=2\n", "a.".repeat(10_000))));
    assert_eq!(parsed.errors[0].message, TOO_DEEP);
    assert_eq!(parsed.documents[0].get("ok").unwrap().as_int(), Some(2));
    let parsed = parse(&file(&format!("a{}=1\n", "[0]".repeat(10_000))));
    assert_eq!(parsed.errors[0].message, TOO_DEEP);
    let parsed = parse(&file(&"[".repeat(1_000_000)));
    assert_eq!(parsed.errors[0].message, TOO_DEEP);
    let parsed = parse(&file(&"a\n".repeat(MAX_VALUES + 5)));
    assert_eq!((parsed.errors.len(), &*parsed.errors[0].message), (1, TOO_MANY));
    assert_eq!(parse(&file("a[99999999999]=1")).documents[0].get("a").unwrap().items().len(), 1);
    assert_eq!(parse(&file(&"\0\n".repeat(10))).errors, []);
}
