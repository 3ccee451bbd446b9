//! What layers and queues of settings start from: nothing known but their names and places.

use crate::model::{
    Advice, Attempts, Conditions, Confidence, DeadLetter, Layer, LayerKind, Methods, ModeSet, Purpose, Queue, Scope,
    Setting, Wait,
};
use crate::source::Span;

/// A redelivery or a rerun that takes whatever went wrong, and whose waits are the platform's.
pub(crate) fn layer(
    system: &'static str,
    kind: LayerKind,
    id: std::sync::Arc<str>,
    name: String,
    opens: Span,
    attempts: Setting<Attempts>,
) -> Layer {
    Layer {
        id,
        system,
        kind,
        reading: name.clone(),
        name,
        place: opens,
        opens,
        component: None,
        scope: Scope::Consumers { queue: None, components: Vec::new(), group: String::new() },
        asked_for: !attempts.is_default(),
        attempts,
        wait: Wait::Unknown { why: "the platform sets it".to_owned() },
        wait_place: None,
        jitter: Setting::unknown("the platform sets it", None),
        retries: Conditions { yes: ModeSet::all(), ..Conditions::default() },
        retry_after: Setting::unknown("there is no response", None),
        methods: Methods::Unknown,
        per_try: None,
        overall: None,
        budget: None,
        labels: Vec::new(),
        advice: Advice::default(),
        copies: false,
        elsewhere: false,
        purpose: Purpose::Request,
        confidence: Confidence::High,
    }
}

/// A queue or consumer of which nothing can be said yet.
pub(crate) fn queue(service: &'static str, id: std::sync::Arc<str>, name: String, place: Span) -> Queue {
    Queue {
        id,
        service,
        name,
        names: Vec::new(),
        place,
        otherwise: String::new(),
        dead_letter: DeadLetter::Unknown,
        holds_dead_letters: false,
        minor: false,
        retention: None,
        redelivers: None,
        ages_from_first_send: false,
        advice: None,
        confidence: Confidence::High,
        dead_letters_of: Vec::new(),
        alarms: Vec::new(),
    }
}
