//! Markdown and JSON of `retrylint report`, and what of the page needs no browser.

use super::{shop_with_gaps, written};
use crate::report::{Data, Html, Markdown};

#[test]
fn markdown_for_a_pull_request() {
    insta::assert_snapshot!(written(&Markdown::default(), &shop_with_gaps()));
}

#[test]
fn places_are_linked_where_they_are_found() {
    let link = Some("https://git.example/shop/{path}#L{line}".to_owned());
    let text = written(&Markdown { link }, &shop_with_gaps());
    assert!(text.contains("[`deploy/kong.yaml:4`](<https://git.example/shop/deploy/kong.yaml#L4>)"), "{text}");
}

#[test]
fn an_empty_run_is_calm() {
    insta::assert_snapshot!(written(&Markdown::default(), &crate::run::Run::default()));
}

#[test]
fn the_data() {
    let run = shop_with_gaps();
    insta::assert_snapshot!(serde_json::to_string_pretty(&Data::new(&run)).expect("JSON"));
}

#[test]
fn a_page_holds_its_data_and_asks_for_nothing() {
    let page = written(&Html { title: "A & B".to_owned(), link: "./{path}".to_owned() }, &shop_with_gaps());
    assert!(page.contains("<title>A &amp; B</title>") && page.contains("\"file\":\"deploy/kong.yaml\""));
    assert!(page.contains("default-src 'none'"));
    for attribute in ["src=", "href=\"http", "url(", "@import"] {
        let outside = page.split("<script>").next().expect("the part before the scripts");
        assert!(!outside.contains(attribute), "{attribute}");
    }
}
