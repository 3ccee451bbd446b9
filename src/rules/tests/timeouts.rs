use std::time::Duration;

use super::check;
use crate::model::{
    Attempts, Component, ComponentIx, ComponentKind, Hop, HopIx, LayerIx, LimitKind, Overrun, Setting, WorstTime,
};
use crate::rules::{Finding, Severity};
use crate::source::Span;
use crate::testing::Draft;

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Two layers on one hop, and a limit that holds the inner one.
fn findings(change: impl FnOnce(&mut Draft, &mut Overrun)) -> Vec<Finding> {
    let mut draft = Draft::new();
    for name in ["outer", "inner"] {
        let layer = draft.any_layer(name);
        layer.attempts = Setting::written(Attempts::Count(2), layer.place);
        let component = Component { name: name.to_owned(), kind: ComponentKind::Service, place: None };
        draft.model.components.push(component);
    }
    draft.model.hops.push(Hop::new(ComponentIx(0), ComponentIx(1), Some(Span::new(crate::source::FileId(1), 5, 6))));
    let limit = Setting::written(secs(5), Span::new(crate::source::FileId(0), 6, 8));
    let mut overrun = Overrun {
        kind: LimitKind::PerTry,
        layer: Some(LayerIx(0)),
        hop: HopIx(0),
        limit,
        inside: vec![LayerIx(1)],
        time: WorstTime { known: secs(9), complete: true, unbounded: false },
        tried_again: false,
    };
    change(&mut draft, &mut overrun);
    draft.model.overruns.push(overrun);
    check(&draft.model)
}

fn only(change: impl FnOnce(&mut Draft, &mut Overrun)) -> Finding {
    let mut all = findings(change);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

#[test]
fn it_points_at_the_limit_and_says_what_it_holds() {
    let finding = only(|_, _| ());
    assert_eq!((finding.rule.id, finding.severity), ("retries-exceed-timeout", Severity::Warning));
    assert_eq!((finding.primary.span.file.0, finding.primary.span.start), (0, 6));
    assert_eq!(
        finding.message,
        "outer ends a try after 5 s, and the 2 attempts of inner inside it take up to 9 s: the later tries go on for nobody"
    );
    assert_eq!(finding.labels.len(), 1);
}

#[test]
fn who_tries_again_does_so_beside_the_old_tries() {
    let finding = only(|_, overrun| overrun.tried_again = true);
    assert!(finding.message.ends_with("whoever asked tries again, beside tries that are still going on"));
}

#[test]
fn the_limit_on_a_layers_own_tries_says_how_long_each_may_be() {
    let finding = only(|draft, overrun| {
        overrun.kind = LimitKind::Overall;
        overrun.inside = vec![LayerIx(0)];
        draft.model.layers[0].per_try = Some(Setting::default(secs(4), "test"));
    });
    assert!(finding.message.ends_with("its 2 attempts with their waits take up to 9 s: the later tries never happen"));
    assert!(finding.help.is_some_and(|help| help.contains("give each of the 2 tries 2 s at most")));
}

#[test]
fn waits_alone_can_be_too_long() {
    let finding = only(|_, overrun| overrun.time.complete = false);
    assert!(finding.message.contains("take 9 s at least"), "{}", finding.message);
}

#[test]
fn a_limit_that_nobody_wrote_is_shown_at_what_opens_its_layer() {
    let finding = only(|_, overrun| overrun.limit = Setting::default(secs(5), "the manual"));
    assert_eq!((finding.primary.span.file.0, finding.primary.span.start), (0, 0));
    assert_eq!(finding.primary.text, "a try may take 5 s (a default: nobody wrote it; the manual)");
}

#[test]
fn a_limit_without_a_layer_is_its_callers() {
    let finding = only(|_, overrun| {
        overrun.layer = None;
        overrun.kind = LimitKind::Call;
    });
    assert!(finding.message.starts_with("outer waits 5 s for inner"), "{}", finding.message);
}

#[test]
fn of_a_long_chain_the_layers_that_try_most_are_shown_and_the_others_counted() {
    let chain = |length: u32| {
        only(|draft, overrun| {
            for n in 2..length + 1 {
                let layer = draft.any_layer(&format!("layer {n}"));
                layer.attempts = Setting::written(Attempts::Count(if n % 3 == 0 { 5 } else { 2 }), layer.place);
            }
            overrun.inside = (1..length + 1).map(LayerIx).collect();
        })
    };
    let places = |finding: &Finding| finding.labels.iter().map(|l| l.span.file.0).collect::<Vec<_>>();
    assert_eq!(places(&chain(5)), [1, 2, 3, 4, 5], "one more than are shown is shown as well");
    let finding = chain(12);
    assert_eq!(places(&finding), [1, 3, 6, 9, 2]);
    assert_eq!(finding.labels[4].text, "and 8 more layers inside it that try again");
    assert_eq!(finding.about.len(), 13, "all of them make it the finding that it is");
}
