use super::{findings_of, rules_of};
use crate::model::{Layer, Mode, ModeSet, Pick, Setting};
use crate::source::Span;

/// Gives the layer picks of these statuses, one after the other, at bytes 4, 5, 6, ...
fn picks(layer: &mut Layer, picks: &[&[u16]]) {
    for (i, codes) in picks.iter().enumerate() {
        let modes = ModeSet::statuses(codes.iter().copied());
        layer.retries.yes = layer.retries.yes.union(modes);
        let span = Span { start: 4 + i as u32, ..layer.opens };
        layer.retries.picks.push(Pick { modes, span, text: format!("`{codes:?}`") });
    }
}

#[test]
fn a_pick_of_a_client_error_fires_where_it_is_picked() {
    let findings = findings_of(|l| picks(l, &[&[503], &[429, 404], &[400]]));
    let found: Vec<_> = findings.iter().map(|f| (f.rule.id, f.primary.span.start)).collect();
    assert_eq!(found, [("retry-on-client-error", 5), ("retry-on-client-error", 6)]);
    assert_eq!(
        findings[0].message,
        "a retries 404: the same request gets the same answer, so it is sent 3 times to fail as surely"
    );
    assert_eq!(findings[0].primary.text, "`[429, 404]` picks 404");
}

#[test]
fn statuses_that_can_succeed_later_are_silent() {
    assert!(rules_of(|l| picks(l, &[&[408, 425, 429], &[500, 501, 502, 599]])).is_empty());
    assert!(rules_of(|l| picks(l, &[&[421, 423]])).is_empty(), "the system names just these");
    let every: Vec<u16> = (400..500).collect();
    let findings = findings_of(|l| picks(l, &[&every]));
    assert_eq!(findings[0].primary.text.rsplit("picks ").next(), Some("4xx"));
    let most: Vec<u16> = (400..499).collect();
    let findings = findings_of(|l| picks(l, &[&most]));
    assert_eq!(findings[0].primary.text.rsplit("picks ").next(), Some("400-407, 409-424, 426-428 and 430-498"));
}

#[test]
fn grpc_has_a_list_of_its_own() {
    let pick = |code| {
        rules_of(move |l| {
            let modes: ModeSet = [Mode::Grpc(code)].into_iter().collect();
            l.retries.yes = modes;
            l.retries.picks.push(Pick { modes, span: l.place, text: String::new() });
        })
    };
    for code in 1..=16 {
        assert_eq!(!pick(code).is_empty(), [3, 5, 6, 7, 9, 11, 12, 16].contains(&code), "{code}");
    }
}

#[test]
fn perhaps_is_no_client_error() {
    let layer = |l: &mut Layer| {
        picks(l, &[&[404]]);
        l.retries.unknown = l.retries.yes;
        l.retries.yes = ModeSet::EMPTY;
    };
    assert!(rules_of(layer).is_empty());
}

#[test]
fn any_error_is_a_rule_of_its_own_and_names_4xx_where_they_are_among_it() {
    let any = |yes: ModeSet| {
        findings_of(move |l| {
            l.retries.yes = yes;
            l.retries.any_error = Some(Span { start: 2, ..l.place });
        })
    };
    let findings = any(ModeSet::all());
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].rule.id, findings[0].primary.span.start), ("retry-on-any-error", 2));
    assert_eq!(
        findings[0].message,
        "a tries again whatever went wrong, 4xx among it: a 400 or 404 is sent 3 times as well"
    );
    assert!(!any(ModeSet::transport())[0].message.contains("4xx"));
}

#[test]
fn retry_after_that_is_known_to_be_ignored_fires_at_the_pick_of_429_else_503() {
    let ignored = |codes: &[&[u16]]| {
        findings_of(|l| {
            l.retries.yes = ModeSet::transport();
            l.retry_after = Setting::default(false, "a page");
            picks(l, codes);
        })
    };
    assert_eq!(ignored(&[&[503], &[429]])[0].primary.span.start, 5);
    assert_eq!(ignored(&[&[502], &[503]])[0].primary.span.start, 5);
    assert!(ignored(&[&[502, 504, 408]]).is_empty());
    assert_eq!(
        ignored(&[&[503], &[429]])[0].message,
        "a retries 429 and 503 without looking at Retry-After: a server that asks for 60 s gets the next try within 1 s"
    );
    assert!(rules_of(|l| l.retry_after = Setting::unknown("a header map", None)).is_empty());
}

#[test]
fn retry_after_ignored_by_what_takes_every_error_points_there() {
    let findings = findings_of(|l| {
        l.retry_after = Setting::default(false, "a page");
        l.retries.any_error = Some(Span { start: 3, ..l.place });
    });
    let found: Vec<_> = findings.iter().map(|f| (f.rule.id, f.primary.span.start)).collect();
    assert_eq!(found, [("ignored-retry-after", 3), ("retry-on-any-error", 3)]);
}

#[test]
fn retry_after_among_every_error_is_silent_without_a_status_or_a_setting_that_heeds_it() {
    let any = |l: &mut Layer| {
        l.retry_after = Setting::default(false, "a page");
        l.retries.any_error = Some(l.place);
    };
    let no_status = |l: &mut Layer| {
        any(l);
        l.retries.yes = ModeSet::transport();
    };
    assert_eq!(rules_of(no_status), ["retry-on-any-error"]);
    let no_setting = |l: &mut Layer| {
        any(l);
        l.advice.retry_after = None;
    };
    assert_eq!(rules_of(no_setting), ["retry-on-any-error"]);
}

#[test]
fn the_arm_that_takes_every_error_is_no_pick_of_a_client_error_but_a_test_on_statuses_is() {
    let arm = |transport: ModeSet| {
        rules_of(move |l| {
            let modes = ModeSet::statuses(400..=599).union(transport);
            l.retries.yes = modes.union(ModeSet::transport());
            l.retries.any_error = Some(l.opens);
            l.retries.picks.push(Pick { modes, span: l.opens, text: "this test".to_string() });
        })
    };
    assert_eq!(arm(ModeSet::transport()), ["retry-on-any-error"]);
    assert_eq!(arm(ModeSet::EMPTY), ["retry-on-any-error", "retry-on-client-error"]);
}

#[test]
fn parallel_copies_repeat_nothing() {
    let copies = |l: &mut Layer| {
        picks(l, &[&[404]]);
        l.copies = true;
    };
    assert!(rules_of(copies).is_empty());
}

#[test]
fn what_a_library_picks_by_itself_and_no_setting_changes_is_silent() {
    let fixed = |statuses: Option<&str>| {
        let statuses = statuses.map(str::to_string);
        rules_of(move |l| {
            let modes = ModeSet::statuses([499, 503]);
            l.retries.yes = modes;
            l.retries.picks.push(Pick { modes, span: l.opens, text: "the default".to_string() });
            l.advice.statuses = statuses;
        })
    };
    assert!(fixed(None).is_empty());
    assert_eq!(fixed(Some("list other statuses")), ["retry-on-client-error"]);
}

#[test]
fn another_target_may_answer_otherwise_and_has_asked_for_no_wait() {
    let findings = findings_of(|l| {
        picks(l, &[&[403], &[503]]);
        l.retry_after = Setting::default(false, "a page");
        l.elsewhere = true;
    });
    let found: Vec<_> = findings.iter().map(|f| (f.rule.id, f.message.as_str())).collect();
    assert_eq!(
        found,
        [(
            "retry-on-client-error",
            "a asks another target after 403: a request that is wrong gets that answer there as well"
        )]
    );
}

#[test]
fn help_about_retry_after_names_what_can_be_done() {
    let help = |change: fn(&mut Layer)| {
        let findings = findings_of(|l| {
            picks(l, &[&[503]]);
            l.retry_after = Setting::default(false, "a page");
            change(l);
        });
        findings[0].help.clone().unwrap_or_default()
    };
    assert_eq!(
        help(|_| ()),
        "Let the response's Retry-After decide the wait, within a bound of your own: set `retry_after`."
    );
    assert_eq!(
        help(|l| (l.advice.retry_after, l.advice.pass_on) = (None, Some("take 503 out of `codes`".to_string()))),
        "Nothing here can heed Retry-After: take 503 out of `codes`, and leave them to a caller that can."
    );
    assert_eq!(
        help(|l| l.advice.retry_after = None),
        "Nothing here can heed Retry-After: leave 503 to a caller that can, where a server may ask for more time."
    );
}
