//! What each implementation of the Gateway API makes of a rule's `retry`.

use std::time::Duration;

use super::{CILIUM, ENVOY_GATEWAY, ISTIO, KGATEWAY, TYPES};
use crate::facts::{GatewayFact, RetryBlock, RouteRuleFact};
use crate::model::{Attempts, Conditions, Inert, Mode, ModeSet, Pick, Setting, Wait};
use crate::source::Span;
use crate::systems::envoy_based::{self, Count, Policy};

/// Who serves a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Implementation {
    Istio,
    EnvoyGateway,
    Kgateway,
    Cilium,
    /// One that does not read `retry`.
    Without(&'static str),
    /// Nobody that is known here.
    Unknown,
}

impl Implementation {
    /// By the name of a controller, or of a class.
    pub(super) fn of(name: &str) -> Self {
        let known = [
            ("istio", Self::Istio),
            ("envoyproxy", Self::EnvoyGateway),
            ("envoy-gateway", Self::EnvoyGateway),
            ("kgateway", Self::Kgateway),
            ("cilium", Self::Cilium),
            ("projectcontour", Self::Without("Contour")),
            ("contour", Self::Without("Contour")),
            ("apisix", Self::Without("APISIX")),
            ("konghq", Self::Without("Kong")),
            ("kong", Self::Without("Kong")),
        ];
        let found = known.into_iter().find(|(word, _)| name.contains(word)).map(|(_, implementation)| implementation);
        match name {
            "eg" => Self::EnvoyGateway,
            _ => found.unwrap_or(Self::Unknown),
        }
    }

    /// The one that serves all Gateways of a repository, if it is one.
    pub(super) fn only(gateways: &[GatewayFact]) -> Self {
        let mut all = gateways.iter().map(|g| match gateways.iter().find(|c| c.is_class && c.name == g.of) {
            Some(class) if !g.is_class => Self::of(&class.of),
            _ => Self::of(&g.of),
        });
        let first = all.next().unwrap_or(Self::Unknown);
        if all.all(|i| i == first) { first } else { Self::Unknown }
    }

    /// For people.
    fn name(self) -> &'static str {
        match self {
            Self::Istio => "Istio",
            Self::EnvoyGateway => "Envoy Gateway",
            Self::Kgateway => "kgateway",
            Self::Cilium => "Cilium",
            Self::Without(name) => name,
            Self::Unknown => "the gateway",
        }
    }

    /// The limit on all tries of a rule that sets none.
    pub(super) fn overall(self) -> Option<Setting<Duration>> {
        match self {
            Self::EnvoyGateway | Self::Kgateway => Some(envoy_based::default_overall()),
            Self::Istio | Self::Cilium | Self::Without(_) | Self::Unknown => None,
        }
    }

    /// What it makes of a block; `None` where it does not read it.
    pub(super) fn read(self, block: &RetryBlock, rule: &RouteRuleFact, inert: &mut Vec<Inert>) -> Option<Policy> {
        if let Self::Without(name) = self {
            let found = Inert::new(block.opens, "`retry`", format!("{name} does not read it"));
            inert.push(found);
            return None;
        }
        if self == Self::Cilium && rule.before_1_19 {
            let why = "Cilium up to 1.18 makes a policy without a condition of it, which retries nothing";
            inert.push(Inert::new(block.opens, "`retry`", why).instead("Upgrade Cilium"));
            return None;
        }
        Some(Policy {
            count: self.count(block),
            wait: self.wait(block),
            conditions: self.conditions(block, rule.per_try.is_some()),
            per_try: rule.per_try.clone().filter(|_| self != Self::Cilium),
        })
    }

    fn count(self, block: &RetryBlock) -> Count {
        if let Some((attempts, quoted)) = &block.attempts {
            let place = attempts.span().unwrap_or(block.opens);
            return Count { attempts: attempts.clone(), reading: quoted.clone(), place };
        }
        let attempts = match self {
            Self::Istio => Setting::default(Attempts::Count(3), ISTIO),
            Self::EnvoyGateway => Setting::default(Attempts::Count(3), ENVOY_GATEWAY),
            Self::Kgateway => Setting::default(Attempts::Count(2), KGATEWAY),
            Self::Cilium => Setting::default(Attempts::Count(2), CILIUM),
            Self::Without(_) | Self::Unknown => Setting::unknown(
                "`attempts` is not written, and which implementation serves the route is not known",
                Some(block.opens),
            ),
        };
        Count { attempts, reading: "`retry` without `attempts`".to_string(), place: block.opens }
    }

    fn wait(self, block: &RetryBlock) -> (Wait, Option<Span>) {
        let Some((base, place)) = &block.backoff else {
            return match self {
                Self::Unknown | Self::Without(_) => {
                    (Wait::Unknown { why: "the implementation decides".to_string() }, None)
                }
                _ => envoy_based::default_wait(),
            };
        };
        let times = |n: u32, source| match base.value() {
            Some(d) => Setting::default(Some(d.saturating_mul(n)), source),
            None => Setting::unknown("a multiple of a wait that is not known", None),
        };
        let (factor, cap) = match self {
            Self::Cilium => (Setting::default(2.0, CILIUM), times(2, CILIUM)),
            Self::Istio | Self::EnvoyGateway | Self::Kgateway => {
                (Setting::default(2.0, TYPES), times(10, envoy_based::ROUTE_PROTO))
            }
            Self::Without(_) | Self::Unknown => (
                Setting::unknown("the implementation decides", None),
                Setting::unknown("the implementation decides", None),
            ),
        };
        (Wait::Exponential { base: base.clone(), factor, cap }, Some(*place))
    }

    fn conditions(self, block: &RetryBlock, timeouts: bool) -> Conditions {
        let mut always: ModeSet = [Mode::Refused].into_iter().collect();
        match self {
            Self::Istio | Self::EnvoyGateway | Self::Kgateway => {
                always = always.union([Mode::Grpc(14), Mode::Grpc(1)].into_iter().collect());
            }
            Self::Cilium => {}
            Self::Without(_) | Self::Unknown if timeouts => always.insert(Mode::Timeout),
            Self::Without(_) | Self::Unknown => {}
        }
        if self == Self::EnvoyGateway && block.codes.is_empty() {
            always.insert(Mode::Status(503));
        }
        let text = format!("what {} always retries", self.name());
        let mut out = Conditions { yes: always, ..Conditions::default() };
        out.picks.push(Pick { modes: always, span: block.opens, text });
        for (code, span) in &block.codes {
            let modes = ModeSet::statuses([*code]);
            out.yes = out.yes.union(modes);
            out.picks.push(Pick { modes, span: *span, text: format!("`{code}`") });
        }
        out
    }
}
