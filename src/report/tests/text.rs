use std::sync::Arc;

use super::{shop, shop_with_gaps, written};
use crate::model::{Attempts, Confidence, LayerIx, Mode, Purge, PurgeBound, Setting, Wait};
use crate::report::text::{Style, Text, render};
use crate::run::Run;
use crate::source::{Span, Unread};
use crate::testing::Draft;

fn text(width: usize) -> Text {
    Text { style: Style { color: false, links: false, width }, notes: false, quiet: false }
}

/// A draft with one file and one loop in it that neither waits nor ends.
fn hot_loop(path: &str, text: &str, needle: &str) -> Run {
    let mut draft = Draft::new();
    let file = draft.file(path, text);
    let place = draft.span(file, needle);
    let layer = draft.layer("loop in `reserve`", place);
    layer.wait = Wait::None;
    draft.run()
}

/// The source lines and marks of the only finding.
fn frame(run: &Run, width: usize) -> Vec<String> {
    let all = written(&text(width), run);
    let lines = all.lines().skip_while(|l| !l.contains('╭')).take_while(|l| !l.contains('╰'));
    lines.map(str::to_string).collect()
}

#[test]
fn a_path_through_three_files() {
    insta::assert_snapshot!(written(&text(120), &shop_with_gaps()));
}

#[test]
fn a_path_through_three_files_in_80_columns() {
    insta::assert_snapshot!(written(&text(80), &shop_with_gaps()));
}

#[test]
fn wide_characters_keep_their_marks_in_line() {
    let run = hot_loop("서비스/재고.rs", "    /* 재고 예약 */ loop { 다시(); }\r\n", "loop");
    assert_eq!(
        frame(&run, 80),
        [
            "   ╭─ 서비스/재고.rs:1:17",
            " 1 │     /* 재고 예약 */ loop { 다시(); }",
            "   │                     ━━━━ tries again at once",
        ]
    );
}

#[test]
fn tabs_are_set_and_columns_count_them_as_one_character() {
    let run = hot_loop("a.rs", "fn f() {\n\tlet a = 1;\tloop {\n", "loop");
    assert_eq!(
        frame(&run, 80),
        ["   ╭─ a.rs:2:13", " 2 │     let a = 1;  loop {", "   │                 ━━━━ tries again at once"]
    );
}

#[test]
fn a_very_long_line_is_cut_around_the_mark() {
    let line = format!("{}loop {{{}", "a();".repeat(100_000), "b();".repeat(100_000));
    let frame = frame(&hot_loop("a.rs", &line, "loop"), 60);
    assert_eq!(frame[0], "   ╭─ a.rs:1:400001");
    assert_eq!(frame[1], " 1 │ …);a();a();a();a();loop {b();b();b();b();b();b();b();b…");
    assert_eq!(frame[2], "   │                    ━━━━ tries again at once");
}

#[test]
fn control_characters_of_a_file_never_reach_the_terminal() {
    let run = hot_loop("a\u{1b}[2J.rs", "/* \u{1b}[31m \u{202e} */ loop {", "loop");
    let shown = written(&text(80), &run);
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown}");
}

#[test]
fn places_in_one_file_are_shown_in_the_order_of_the_call() {
    let mut draft = Draft::new();
    let source = "fn inner() {\n    for i in 0..4 {}\n}\n\nfn outer() {\n    loop { while tries < 3 { inner() } }\n}\n";
    let file = draft.file("src/main.rs", source);
    for (name, needle) in [("outer", "loop"), ("middle", "while"), ("inner", "for")] {
        let place = draft.span(file, needle);
        let layer = draft.layer(name, place);
        layer.attempts = Setting::written(Attempts::Count(4), place);
    }
    let bound = draft.span(file, "0..4");
    draft.model.layers[2].labels.push((bound, "bounds it".to_string()));
    draft.path("stock", Mode::Refused, &[0, 1, 2]);
    insta::assert_snapshot!(written(&text(80), &draft.run()));
}

#[test]
fn findings_of_one_rule_at_one_place_are_folded_the_worst_first() {
    let mut draft = shop();
    for leaf in ["a", "b", "c", "d", "e"] {
        draft.path(leaf, Mode::Status(503), &[0, 1]);
    }
    draft.model.paths.swap(0, 5);
    draft.model.paths.sort_by_key(|p| std::cmp::Reverse(p.product));
    let shown = written(&text(100), &draft.run());
    assert_eq!(shown.matches("error[").count(), 1, "{shown}");
    assert!(shown.starts_with("error[retry-amplification]: 1 request can become 64"), "{shown}");
    assert!(shown.contains("├─ also: 1 request can become 16 (4 × 4) when a answers 503\n"), "{shown}");
    assert!(shown.contains("├─ and 2 more here; `--format json` lists all\n"), "{shown}");
    assert!(shown.contains("6 errors in 3 files"), "{shown}");
}

#[test]
fn a_rule_that_fires_often_gets_short() {
    let mut draft = Draft::new();
    for i in 0..60 {
        draft.any_layer(&format!("src/f{i}.rs")).wait = Wait::None;
    }
    let run = draft.run();
    let shown = written(&text(80), &run);
    assert_eq!(shown.matches('╭').count(), 8);
    assert_eq!(shown.matches("\nerror[missing-backoff]: src/f").count(), 47, "{shown}");
    assert!(shown.contains("error[missing-backoff]: src/f11.rs:1:1: src/f11.rs makes its 3 attempts"), "{shown}");
    let end =
        "in which the first one failed\nerror[missing-backoff]: and 12 more; `--format json` lists all\n\n60 errors";
    assert!(shown.contains(end), "{shown}");
}

#[test]
fn notes_are_counted_and_shown_on_request() {
    let mut draft = Draft::new();
    let layer = draft.any_layer("mesh.yaml");
    layer.attempts = Setting::default(Attempts::Count(3), "example/mesh retry.go");
    layer.asked_for = false;
    let run = draft.run();
    let hidden = written(&text(80), &run);
    assert_eq!(
        hidden,
        "1 note hidden (--notes shows them) in 1 file; 1 layer, none stacked; 0 not\n  resolved, 0 not read\n"
    );
    let shown = written(&Text { notes: true, ..text(80) }, &run);
    assert!(shown.starts_with("note[implicit-retries]: mesh.yaml sends a failing request 3 times"), "{shown}");
    assert!(shown.contains("\n1 note in 1 file;"), "{shown}");
}

#[test]
fn nothing_found_is_said_with_what_was_looked_at() {
    let run = Run { files: 7, ..Run::default() };
    assert_eq!(written(&text(80), &run), "Nothing found in 7 files; 0 layers, 0 paths; 0 not resolved, 0 not read\n");
}

#[test]
fn long_lists_are_cut() {
    let unread =
        (0..13).map(|i| Unread { path: Arc::from(format!("f{i}.yaml")), span: None, reason: "no".to_string() });
    let run = Run { unread: unread.collect(), ..Run::default() };
    let shown = written(&text(80), &run);
    assert!(shown.starts_with("warning: not read, and so not checked (13)\n  f0.yaml: no\n"), "{shown}");
    assert!(shown.contains("  f9.yaml: no\n  and 3 more; `--format json` lists all\n"), "{shown}");
}

#[test]
fn a_reading_that_is_not_sure_says_so() {
    let mut draft = shop();
    draft.model.layers[1].confidence = Confidence::Low;
    let shown = written(&text(120), &draft.run());
    assert!(shown.contains("when warehouse answers 503 (low confidence)\n"), "{shown}");
}

#[test]
fn colours_are_there_only_on_request() {
    let run = shop().run();
    let plain = written(&text(120), &run);
    assert!(!plain.contains('\u{1b}'));
    let coloured =
        written(&Text { style: Style { color: true, links: false, width: 120 }, notes: false, quiet: false }, &run);
    assert!(coloured.starts_with("\u{1b}[1;31merror[retry-amplification]\u{1b}[0m: "), "{coloured:?}");
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = after.split_once('m').expect("a colour ends").1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, plain);
}

#[test]
fn the_name_of_a_rule_leads_to_its_page_where_the_terminal_takes_links() {
    let run = shop().run();
    let linked =
        written(&Text { style: Style { color: false, links: true, width: 120 }, notes: false, quiet: false }, &run);
    let url = crate::rules::all()[0].meta().url();
    assert!(url.ends_with("/retrylint/rules/retry_amplification/"), "{url}");
    let head = format!("\u{1b}]8;;{url}\u{1b}\\error[retry-amplification]\u{1b}]8;;\u{1b}\\: ");
    assert!(linked.starts_with(&head), "{linked:?}");
}

#[test]
fn a_purge_over_several_lines_is_marked_in_its_first() {
    let mut draft = Draft::new();
    let sql = "DELETE FROM inbox\nWHERE id IN (\n  SELECT id FROM inbox ORDER BY received_at LIMIT 1000\n);\n";
    let file = draft.file("db/purge.sql", sql);
    draft.model.purges.push(Purge {
        keeps: crate::model::Keeps::Handled,
        table: "inbox".to_string(),
        place: Span::new(file, 0, sql.len()),
        bound: PurgeBound::Count,
        bound_span: Some(draft.span(file, "ORDER BY received_at LIMIT 1000")),
        age: None,
        advice: Some("`DELETE FROM inbox WHERE created_at < now() - interval '30 days'`".to_string()),
        minor: false,
    });
    insta::assert_snapshot!(written(&text(80), &draft.run()));
}

#[test]
fn any_diagnostic_with_a_source_is_shown_the_same_way() {
    let problem = miette::MietteDiagnostic::new("unknown key `max_amplificaton`")
        .with_help("did you mean `max-amplification`?")
        .with_label(miette::LabeledSpan::new_primary_with_span(Some("not a key".to_string()), (10, 16)));
    let source = miette::NamedSource::new("retrylint.toml", "# limits\r\nmax_amplificaton = 4\r\n".to_string());
    let report = miette::Report::new(problem).with_source_code(source);
    let mut out = String::new();
    render(report.as_ref(), text(80).style, &mut out);
    assert_eq!(
        out,
        "error: unknown key `max_amplificaton`\n   ╭─ retrylint.toml:2:1\n 2 │ max_amplificaton = 4\n   \
         │ ━━━━━━━━━━━━━━━━ not a key\n   ╰─ help: did you mean `max-amplification`?\n"
    );
}

#[test]
fn no_width_and_no_text_make_it_fail() {
    let run = shop_with_gaps();
    for width in 0..60 {
        assert!(written(&text(width), &run).contains("64"), "{width}");
    }
    let mut draft = shop();
    draft.sources = crate::source::Sources::default();
    draft.model.paths[0].layers.push(LayerIx(2));
    let shown = written(&text(80), &draft.run());
    assert!(shown.starts_with("error[retry-amplification]"), "{shown}");
}
