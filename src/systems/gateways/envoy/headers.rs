//! Headers that routes add to requests, and that Envoy then reads as settings of its retries.
//!
//! Envoy adds them before it looks for retries, and after it has fixed the limits on time: of the headers for those
//! none has an effect here.

use super::{entry, get, items};
use crate::model::{Inert, Setting};
use crate::source::Span;
use crate::syntax::{Entry, Node};
use crate::systems::envoy_based::Count;
use crate::systems::settings;

const COUNT: &str = "x-envoy-max-retries";

/// What added headers say of retries, the values as they are written.
#[derive(Default, Clone)]
pub(in crate::systems) struct Headers<'a> {
    /// What adds the first of them.
    opens: Option<&'a Entry>,
    count: Option<&'a Entry>,
    words: Vec<&'a Entry>,
    statuses: Option<&'a Entry>,
}

impl<'a> Headers<'a> {
    /// Those that a route gets from its levels, the nearest first.
    pub(super) fn of(levels: &[&'a Node]) -> Self {
        let mut out = Self::default();
        for level in levels {
            let Some(list) = entry(level, "request_headers_to_add") else { continue };
            for header in list.value.items().iter().take(settings::MAX_LIST).filter_map(|h| get(h, "header")) {
                out.add(list, header);
            }
        }
        out
    }

    fn add(&mut self, list: &'a Entry, header: &'a Node) {
        let Some(value) = entry(header, "value") else { return };
        match get(header, "key").and_then(Node::as_str).map(str::to_ascii_lowercase).as_deref() {
            Some(COUNT) => self.count = self.count.or(Some(value)),
            Some("x-envoy-retry-on" | "x-envoy-retry-grpc-on") => self.words.push(value),
            Some("x-envoy-retriable-status-codes") => self.statuses = self.statuses.or(Some(value)),
            _ => return,
        }
        self.opens = self.opens.or(Some(list));
    }

    /// Whether a request has none of them.
    pub(super) fn is_empty(&self) -> bool {
        self.opens.is_none()
    }

    /// What stands for a policy where a route has none: conditions are enough.
    pub(super) fn policy(&self) -> Option<&'a Entry> {
        self.opens.filter(|_| !self.words.is_empty())
    }

    /// A count by itself says nothing of what to retry.
    pub(super) fn without_conditions(&self) -> Option<Inert> {
        let count = self.count?;
        let why = "there is neither a retry policy nor `x-envoy-retry-on`, so nothing says what to retry";
        let found = Inert::new(count.value.span, quote(count), why);
        Some(found.instead("Add `x-envoy-retry-on`, or set a `retry_policy` on the route"))
    }

    /// The count, which takes the place of the policy's.
    pub(super) fn count(&self) -> Option<Count> {
        let count = self.count?;
        let attempts = settings::retries(count);
        // Of what is no number Envoy takes no notice; a placeholder stands for one that is not known here.
        let is_read = !matches!(attempts, Setting::Unknown { .. }) || count.value.as_str()?.contains('%');
        is_read.then(|| Count { attempts, reading: quote(count), place: count.value.span })
    }

    /// Conditions that are added to those of the policy.
    pub(super) fn words(&self) -> Vec<(&'a str, Span)> {
        self.words.iter().flat_map(|e| settings::list(&e.value)).collect()
    }

    /// Statuses that are added to those of the policy.
    pub(super) fn statuses(&self) -> Vec<(u16, Span)> {
        let listed = self.statuses.map(|e| settings::list(&e.value)).unwrap_or_default();
        listed.into_iter().filter_map(|(text, span)| Some((text.parse().ok()?, span))).collect()
    }

    /// The list whose words nobody knows, if none is known.
    pub(super) fn words_entry(&self) -> Option<&'a Entry> {
        self.words.first().copied()
    }
}

fn quote(count: &Entry) -> String {
    format!("`{COUNT}: {}`", settings::shown(count.value.as_str().unwrap_or_default()))
}

/// The clusters of a weighted route, each with what it adds itself.
pub(super) fn weighted(action: &Node) -> impl Iterator<Item = &Node> {
    let clusters = get(action, "weighted_clusters").into_iter().flat_map(|w| items(w, "clusters"));
    clusters.filter(|c| get(c, "weight").and_then(Node::as_int) != Some(0))
}
