use std::time::Duration;

use super::{findings_of, rules_of};
use crate::model::{Attempts, Jitter, Layer, LayerKind, Purpose, Setting, Wait};
use crate::source::Span;

fn secs(n: u64) -> Setting<Duration> {
    Setting::default(Duration::from_secs(n), "a page")
}

fn exponential(base: u64, factor: f64, cap: Setting<Option<Duration>>) -> Wait {
    Wait::Exponential { base: secs(base), factor: Setting::default(factor, "a page"), cap }
}

fn no_cap() -> Setting<Option<Duration>> {
    Setting::default(None, "a page")
}

fn attempts(layer: &mut Layer, attempts: Attempts) {
    layer.attempts = Setting::written(attempts, layer.place);
}

#[test]
fn no_wait_is_missing_backoff_also_for_a_stream() {
    assert_eq!(rules_of(|l| l.wait = Wait::None), ["missing-backoff"]);
    assert_eq!(rules_of(|l| l.wait = Wait::Fixed(secs(0))), ["missing-backoff"]);
    let stream = |l: &mut Layer| {
        l.purpose = Purpose::Upkeep;
        l.wait = Wait::None;
        attempts(l, Attempts::Unbounded);
    };
    assert_eq!(rules_of(stream), ["missing-backoff"]);
}

#[test]
fn missing_backoff_points_at_the_loop_in_code_and_at_the_wait_in_settings() {
    let place = |kind| {
        let findings = findings_of(|l| {
            l.kind = kind;
            l.wait = Wait::None;
            l.opens = Span { start: 1, ..l.place };
            l.wait_place = Some(Span { start: 2, ..l.place });
        });
        findings[0].primary.span.start
    };
    assert_eq!(place(LayerKind::Code), 1);
    assert_eq!(place(LayerKind::Client), 2);
}

#[test]
fn the_backoff_rules_are_silent_where_nothing_would_mend_it() {
    let plain = |wait: Wait| {
        move |l: &mut Layer| {
            l.wait = wait;
            l.jitter = Setting::default(Jitter::None, "a page");
            l.overall = Some(secs(100_000));
            attempts(l, Attempts::Unbounded);
        }
    };
    for wait in [Wait::None, Wait::Fixed(secs(1)), exponential(1, 2.0, no_cap())] {
        assert!(!rules_of(plain(wait.clone())).is_empty());
        let without_settings = |l: &mut Layer| {
            plain(wait.clone())(l);
            (l.advice.wait, l.advice.grow, l.advice.cap, l.advice.jitter) = (None, None, None, None);
        };
        assert!(rules_of(without_settings).is_empty(), "{wait:?}");
    }
}

#[test]
fn the_same_wait_each_time_is_fixed_however_it_is_written() {
    let same = [
        Wait::Fixed(secs(2)),
        Wait::Fixed(Setting::unknown("an argument", None)),
        exponential(2, 1.0, no_cap()),
        exponential(2, 2.0, Setting::default(Some(Duration::from_secs(2)), "a page")),
        Wait::Scheduled { waits: vec![Duration::from_secs(2); 3], capped: true },
    ];
    for wait in same {
        assert_eq!(rules_of(|l| l.wait = wait.clone()), ["fixed-backoff"], "{wait:?}");
    }
    let growing = [
        Wait::Linear { step: secs(1), cap: secs(9).map(Some) },
        Wait::Scheduled { waits: vec![Duration::from_secs(1), Duration::from_secs(5)], capped: true },
        Wait::Unknown { why: "a closure".to_string() },
    ];
    for wait in growing {
        assert!(rules_of(|l| l.wait = wait.clone()).is_empty(), "{wait:?}");
    }
}

#[test]
fn fixed_waits_are_said_in_numbers() {
    let findings = findings_of(|l| {
        l.wait = Wait::Fixed(Setting::written(Duration::from_millis(250), l.place));
        attempts(l, Attempts::Count(4));
    });
    assert_eq!(
        findings[0].message,
        "a waits 250 ms before each of its 3 retries: the pressure on a service in trouble never eases"
    );
}

#[test]
fn deterministic_waits_lack_jitter() {
    let jitter = |jitter, wait| {
        rules_of(move |l| {
            l.jitter = jitter;
            l.wait = wait;
        })
    };
    let none = || Setting::default(Jitter::None, "a page");
    let capped = || Setting::default(Some(Duration::from_secs(30)), "a page");
    assert_eq!(jitter(none(), exponential(1, 2.0, capped())), ["missing-jitter"]);
    assert_eq!(jitter(none(), Wait::Fixed(secs(1))), ["fixed-backoff", "missing-jitter"]);
    assert_eq!(jitter(none(), Wait::None), ["missing-backoff"]);
    assert!(jitter(none(), Wait::Unknown { why: String::new() }).is_empty());
    assert!(jitter(Setting::unknown("an argument", None), exponential(1, 2.0, capped())).is_empty());
    let partial = Setting::default(Jitter::Partial { low: 0.5, high: 1.5 }, "a page");
    assert!(jitter(partial, exponential(1, 2.0, capped())).is_empty());
}

#[test]
fn a_wait_in_another_file_says_whose_it_is() {
    let findings = findings_of(|l| {
        l.jitter = Setting::default(Jitter::None, "a page");
        l.labels.push((l.place, "inherits its count".to_string()));
        l.wait_place = Some(Span::new(crate::source::FileId(9), 3, 4));
    });
    let labels: Vec<_> = findings[0].labels.iter().map(|l| &*l.text).collect();
    assert_eq!((findings[0].primary.span.start, labels), (3, vec!["a"]));
}

#[test]
fn the_message_about_jitter_shows_the_waits() {
    let message = |n| {
        let findings = findings_of(|l| {
            l.jitter = Setting::default(Jitter::None, "a page");
            attempts(l, Attempts::Count(n));
        });
        findings[0].message.clone()
    };
    assert!(message(2).starts_with("a waits 1 s without jitter"));
    assert!(message(4).starts_with("a waits 1 s, 2 s and 4 s without jitter"));
    assert!(message(9).starts_with("a waits 1 s, 2 s, 4 s, … without jitter"));
}

#[test]
fn a_wait_without_bound_fires_where_it_can_pass_five_minutes() {
    let uncapped = |n: Attempts| {
        rules_of(move |l| {
            l.wait = exponential(1, 2.0, no_cap());
            attempts(l, n);
        })
    };
    // 1, 2, 4, ..., 256 s before try 10; 512 s before try 11.
    assert!(uncapped(Attempts::Count(10)).is_empty());
    assert_eq!(uncapped(Attempts::Count(11)), ["uncapped-backoff"]);
    // The waits add up to 511 s after nine of them, and to 1,023 s after the one of 512 s.
    let within = |secs| Attempts::Within { deadline: Duration::from_secs(secs), about: 9 };
    assert!(uncapped(within(1000)).is_empty());
    assert_eq!(uncapped(within(1100)), ["uncapped-backoff"]);
    assert_eq!(uncapped(Attempts::Unbounded), ["unbounded-retries", "uncapped-backoff"]);
}

#[test]
fn a_bound_that_is_there_or_may_be_there_is_silent() {
    let with_cap = |cap: Setting<Option<Duration>>| {
        rules_of(move |l| {
            l.wait = exponential(1, 2.0, cap);
            attempts(l, Attempts::Count(40));
        })
    };
    assert!(with_cap(Setting::default(Some(Duration::from_secs(3600)), "a page")).is_empty());
    assert!(with_cap(Setting::unknown("an argument", None)).is_empty());
    let unknown_count = |l: &mut Layer| {
        l.wait = exponential(1, 2.0, no_cap());
        l.attempts = Setting::unknown("an argument", None);
    };
    assert!(rules_of(unknown_count).is_empty());
}

#[test]
fn an_overall_deadline_bounds_a_count() {
    let layer = |l: &mut Layer| {
        l.wait = exponential(1, 2.0, no_cap());
        attempts(l, Attempts::Count(30));
        l.overall = Some(secs(60));
    };
    assert!(rules_of(layer).is_empty());
}

#[test]
fn neither_limit_nor_deadline_is_unbounded() {
    let findings = findings_of(|l| {
        attempts(l, Attempts::Unbounded);
        l.wait = exponential(1, 2.0, Setting::default(Some(Duration::from_secs(5)), "a page"));
    });
    assert_eq!(findings.len(), 1);
    assert_eq!(
        findings[0].message,
        "a tries without limit: a request that keeps failing is repeated every 5 s for ever, 720 times an hour"
    );
    let deadline = |l: &mut Layer| {
        attempts(l, Attempts::Unbounded);
        l.overall = Some(Setting::unknown("an argument", None));
    };
    assert!(rules_of(deadline).is_empty());
}

#[test]
fn disabled_layers_and_copies_fire_nothing() {
    for wait in [Wait::None, Wait::Fixed(secs(1))] {
        assert!(rules_of(|l| (l.wait, l.attempts) = (wait.clone(), secs(1).map(|_| Attempts::Count(1)))).is_empty());
        assert!(rules_of(|l| (l.wait, l.copies) = (wait.clone(), true)).is_empty());
    }
}

#[test]
fn tries_at_once_before_the_first_wait_are_counted() {
    let of = |zeros: usize, kind| {
        let findings = findings_of(|l| {
            l.kind = kind;
            let waits = std::iter::repeat_n(0, zeros).chain([20]).map(Duration::from_secs).collect();
            l.wait = Wait::Scheduled { waits, capped: true };
            attempts(l, Attempts::Count(101));
        });
        findings.into_iter().find(|f| f.rule.id == "missing-backoff").map(|f| f.message)
    };
    assert_eq!(
        of(3, LayerKind::Queue).as_deref(),
        Some(
            "a makes its first 4 attempts without a wait: they are spent within the moment in which the first one failed"
        )
    );
    assert_eq!(of(2, LayerKind::Queue), None, "a quick second try");
    assert_eq!(of(3, LayerKind::Code), None, "what a loop sleeps may hang on the answer");
}

#[test]
fn a_cap_at_the_first_wait_is_what_to_raise() {
    let help = |factor: f64| {
        let cap = Setting::default(Some(Duration::from_secs(1)), "a page");
        let findings = findings_of(|l| l.wait = exponential(1, factor, cap));
        let fixed = findings.into_iter().find(|f| f.rule.id == "fixed-backoff");
        fixed.and_then(|f| f.help).unwrap_or_default()
    };
    assert_eq!(help(2.0), "The cap is no more than the first wait: raise it, so that the wait can grow: set `cap`.");
    assert_eq!(help(1.0), "Let the wait grow, up to a bound, with jitter: set `grow`.");
}

#[test]
fn where_no_count_can_be_set_the_help_says_so() {
    let help = |rule: &str, limit: Option<&str>| {
        let findings = findings_of(|l| {
            l.kind = LayerKind::Client;
            l.attempts = Setting::default(Attempts::Unbounded, "a page");
            l.asked_for = false;
            l.advice = crate::model::Advice { limit: limit.map(str::to_string), ..Default::default() };
        });
        findings.into_iter().find(|f| f.rule.id == rule).and_then(|f| f.help).unwrap_or_default()
    };
    assert!(help("unbounded-retries", None).starts_with("There is no count to set here, and no time"));
    assert!(help("unbounded-retries", Some("set `limit`")).ends_with("hand the failure on: set `limit`."));
    assert!(help("implicit-retries", None).starts_with("There is no count to write here"));
}
