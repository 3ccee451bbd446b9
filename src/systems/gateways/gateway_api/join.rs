//! Routes with the Gateways that serve them and the policies that are attached to either.

use std::collections::BTreeMap;

use super::implementations::Implementation;
use super::{ID, TYPES};
use crate::facts::{AttachedPolicyFact, Facts, GatewayFact, ObjectRef, RouteFact, RouteRuleFact};
use crate::model::{
    Advice, Callers, Confidence, GatewayName, HostRef, Inert, Layer, LayerKind, Methods, Scope, Setting, Unresolved,
};
use crate::systems::envoy_based::{self, Identity, Policy};
use crate::systems::gateways::kong_ingress;
use crate::systems::mesh::istio;
use crate::systems::settings;

/// Makes routes and layers of all rules and policies.
pub(super) fn join(facts: &mut Facts) {
    let rules = std::mem::take(&mut facts.route_rules);
    let attached = std::mem::take(&mut facts.attached);
    let gateways = std::mem::take(&mut facts.gateways);
    let join = Join::new(&gateways, &attached, facts);
    let mut uses: Vec<Use<'_>> = attached.iter().map(|_| Use::default()).collect();
    for rule in &rules {
        join.rule(rule, &mut uses, facts);
    }
    for (policy, using) in attached.iter().zip(uses) {
        let mut mine = rules.iter().filter(|rule| is_attached(policy, rule)).peekable();
        let first = mine.peek().copied();
        // A policy of the same name elsewhere is another environment's.
        let is_replaced = mine.all(|rule| rule.retry.is_some() || join.is_nearer(rule, policy));
        if let (true, Some(rule), Some(layer)) = (using.rules.is_empty() && is_replaced, first, &policy.layer) {
            let why = "every route that it is attached to has retries of its own, or a policy that is nearer to it";
            let found = Inert::new(layer.opens, "the retry policy", why).of(&layer.name);
            facts.inert.push(found.because(rule.opens, "one of the routes"));
            continue;
        }
        let layer = join.policy(policy, using, facts);
        facts.layers.extend(layer);
    }
}

/// The rules that have one attached policy.
#[derive(Default)]
struct Use<'r> {
    rules: Vec<&'r RouteRuleFact>,
    callers: Callers,
}

struct Join<'a> {
    gateways: &'a [GatewayFact],
    attached: &'a [AttachedPolicyFact],
    /// The implementation behind each class.
    classes: BTreeMap<&'a str, Implementation>,
    /// Where nothing tells.
    otherwise: Implementation,
    /// Whether these meshes are there.
    istio: bool,
    linkerd: bool,
}

impl<'a> Join<'a> {
    fn new(gateways: &'a [GatewayFact], attached: &'a [AttachedPolicyFact], facts: &Facts) -> Self {
        let classes = gateways.iter().filter(|g| g.is_class);
        let classes = classes.map(|g| (g.name.as_str(), Implementation::of(&g.of))).collect();
        // An implementation's own policies tell that it is there.
        let has = |system: &str| attached.iter().any(|p| p.system == system);
        let otherwise = match Implementation::only(gateways) {
            Implementation::Unknown if has("envoy-gateway") && !has("kgateway") => Implementation::EnvoyGateway,
            Implementation::Unknown if has("kgateway") && !has("envoy-gateway") => Implementation::Kgateway,
            only => only,
        };
        let has = |system: &str| facts.layers.iter().any(|l| l.system == system);
        Self { gateways, attached, classes, otherwise, istio: has("istio"), linkerd: has("linkerd") }
    }

    /// Who serves a route: the class of its Gateway tells.
    fn implementation(&self, rule: &RouteRuleFact) -> Implementation {
        let parents = || rule.parents.iter().filter(|p| is_gateway(p));
        if parents().next().is_none() {
            // Those of other routes are served by whoever serves these.
            let in_mesh = rule.parents.iter().any(|p| p.kind == "Service");
            return match (in_mesh && self.istio, in_mesh && self.linkerd) {
                (true, false) => Implementation::Istio,
                (false, true) => Implementation::Without("Linkerd"),
                _ => Implementation::Unknown,
            };
        }
        let class = |parent: &ObjectRef| {
            let named = self.gateways.iter().filter(|g| !g.is_class && g.name == parent.name);
            let near = named.filter(|g| g.namespace == parent.namespace || g.namespace.is_none());
            near.map(|g| g.of.as_str()).next()
        };
        let Some(class) = parents().find_map(class) else { return self.otherwise };
        self.classes.get(class).copied().unwrap_or_else(|| Implementation::of(class))
    }

    fn rule<'r>(&self, rule: &'r RouteRuleFact, uses: &mut [Use<'r>], facts: &mut Facts) {
        let implementation = self.implementation(rule);
        let callers = callers(rule);
        let attached = self.attached_to(rule);
        let by_kong = implementation == Implementation::Without("Kong");
        let repeated =
            rule.retry.is_some() || !attached.is_empty() || implementation == Implementation::Istio || by_kong;
        for from in &callers.gateways {
            let grpc = rule.route.kind == "GRPCRoute";
            let limit = if repeated { None } else { rule.overall.clone().unwrap_or_else(|| implementation.overall()) };
            facts.routes.push(RouteFact { from: from.clone(), to: rule.to.clone(), grpc, limit, span: rule.opens });
        }
        if let Some(block) = &rule.retry {
            let mut inert = Vec::new();
            let policy = implementation.read(block, rule, &mut inert);
            facts.inert.extend(inert.into_iter().map(|i| i.of(&rule.title)));
            if let Some(policy) = policy {
                let layer = self.layer(rule, implementation, policy, callers);
                let per_try = effective(&layer, layer.overall.as_ref(), facts);
                facts.layers.push(Layer { per_try, ..layer });
                return;
            }
        }
        for at in &attached {
            let Some(using) = uses.get_mut(*at) else { continue };
            using.rules.push(rule);
            using.callers.mesh |= callers.mesh;
            let known = &using.callers.gateways;
            let new: Vec<GatewayName> = callers.gateways.iter().filter(|g| !known.contains(g)).cloned().collect();
            using.callers.gateways.extend(new);
        }
        // Routes of other APIs are here for what is attached to them.
        let is_of_api = matches!(rule.route.kind.as_str(), "HTTPRoute" | "GRPCRoute");
        if by_kong && is_of_api {
            kong_ingress::of_rule(rule, callers.gateways.clone(), facts);
        }
        if attached.is_empty() && implementation == Implementation::Istio && is_of_api {
            facts.layers.push(self.default_of_istio(rule, callers));
        }
    }

    /// The policies with a layer that count for a rule: the nearest. Several are alternatives, such as those of several
    /// environments; one in the file of the route is then the one that is meant.
    fn attached_to(&self, rule: &RouteRuleFact) -> Vec<usize> {
        let with_layer = self.attached.iter().enumerate().filter(|(_, p)| p.layer.is_some());
        let rank_of = |p: &AttachedPolicyFact| p.targets.iter().filter_map(|target| rank(target, rule)).min();
        let ranked: Vec<(u8, usize)> = with_layer.filter_map(|(at, p)| Some((rank_of(p)?, at))).collect();
        let best = ranked.iter().map(|(rank, _)| *rank).min();
        let nearest: Vec<usize> = ranked.iter().filter(|(rank, _)| Some(*rank) == best).map(|(_, at)| *at).collect();
        let beside = |at: &usize| {
            let layer = self.attached.get(*at).and_then(|p| p.layer.as_ref());
            layer.is_some_and(|l| l.opens.file == rule.opens.file)
        };
        if nearest.iter().any(beside) { nearest.into_iter().filter(beside).collect() } else { nearest }
    }

    /// Whether another policy is nearer to a rule than this one.
    fn is_nearer(&self, rule: &RouteRuleFact, policy: &AttachedPolicyFact) -> bool {
        let rank_of = |p: &AttachedPolicyFact| p.targets.iter().filter_map(|target| rank(target, rule)).min();
        let own = rank_of(policy);
        let others = self.attached.iter().filter(|p| p.layer.is_some()).filter_map(rank_of);
        others.min() < own
    }

    fn layer(&self, rule: &RouteRuleFact, by: Implementation, policy: Policy, callers: Callers) -> Layer {
        let Callers { gateways, mesh } = callers;
        let kind = if mesh { LayerKind::Mesh } else { LayerKind::Gateway };
        let system = if mesh && by == Implementation::Istio { "istio" } else { ID };
        let (id, opens) = (format!("{ID}:{}", rule.id).into(), rule.retry.as_ref().map_or(rule.opens, |b| b.opens));
        let scope = Scope::Hops { from: Callers { gateways, mesh }, to: rule.to.clone(), fallback: false };
        let overall = match &rule.overall {
            Some(limit) => limit.clone(),
            None => by.overall(),
        };
        let known = by != Implementation::Unknown;
        let layer = envoy_based::layer(Identity { system, kind, id, name: rule.title.clone(), opens }, scope, policy);
        Layer {
            jitter: if known { layer.jitter } else { Setting::unknown("the implementation decides", None) },
            retry_after: Setting::default(false, TYPES),
            methods: rule.methods.clone().map_or(Methods::Any, Methods::Only),
            overall,
            budget: self.budget(&rule.to),
            advice: advice(),
            confidence: if known { Confidence::High } else { Confidence::Medium },
            ..layer
        }
    }

    fn default_of_istio(&self, rule: &RouteRuleFact, callers: Callers) -> Layer {
        let policy = istio::default_policy(rule.opens, rule.before_1_24);
        let layer = self.layer(rule, Implementation::Istio, policy, callers);
        let reading = format!("{}, which sets no `retry`", layer.name);
        // There is no `retry` to take out: without one the default holds.
        let advice =
            Advice { none: Some("set `retry: {attempts: 0}` on the rule".to_string()), ..layer.advice.clone() };
        // Without retries the limit on one try is that on the whole.
        let overall = layer.overall.clone().or_else(|| rule.per_try.clone());
        Layer { system: "istio", asked_for: false, reading, advice, overall, ..layer }
    }

    /// The budget of the Services that a route leads to.
    fn budget(&self, to: &[HostRef]) -> Option<crate::model::Budget> {
        let is = |target: &ObjectRef, host: &HostRef| {
            target.kind == "Service" && target.name == host.name && target.namespace == host.namespace
        };
        let limits = |p: &&AttachedPolicyFact| p.targets.iter().any(|t| to.iter().any(|host| is(t, host)));
        self.attached.iter().filter(|p| p.system == ID).find(limits).and_then(|p| p.budget.clone())
    }

    /// The layer of an attached policy, on the hops of the rules that have it.
    fn policy(&self, policy: &AttachedPolicyFact, using: Use<'_>, facts: &mut Facts) -> Option<Layer> {
        let layer = (**policy.layer.as_ref()?).clone();
        let mut callers = using.callers;
        let to = settings::distinct(using.rules.iter().flat_map(|rule| rule.to.clone()));
        if using.rules.is_empty() {
            let gateway = policy.targets.iter().find(|t| is_gateway(t));
            let name = gateway.map_or_else(|| "the gateway of its route".to_string(), |g| g.name.clone());
            callers.gateways.push(GatewayName::Named(name));
            facts.unresolved.push(Unresolved {
                span: policy.targets.first().map_or(layer.opens, |t| t.span),
                what: format!("upstream of {}", layer.name),
                reason: "no route that it is attached to is in these files".to_string(),
            });
        }
        // Of rules with different limits the shortest cuts tries off.
        let of_rules = || {
            let limits =
                using.rules.iter().map(|rule| rule.overall.clone().unwrap_or(Some(envoy_based::default_overall())));
            limits.flatten().min_by_key(|l| l.value().copied().unwrap_or(std::time::Duration::MAX))
        };
        let overall = match &policy.overall {
            Some(limit) => limit.clone(),
            // The route may set one.
            None if using.rules.is_empty() => Some(Setting::unknown("the route is not in these files", None)),
            None => of_rules(),
        };
        let methods: Option<Vec<Vec<String>>> = using.rules.iter().map(|rule| rule.methods.clone()).collect();
        let methods = match methods.filter(|m| !m.is_empty()) {
            Some(named) => {
                let mut methods = named.concat();
                methods.sort();
                methods.dedup();
                Methods::Only(methods)
            }
            None => Methods::Any,
        };
        let per_try = effective(&layer, overall.as_ref(), facts);
        Some(Layer {
            scope: Scope::Hops { from: callers, to, fallback: false },
            per_try,
            overall,
            methods,
            budget: policy.budget.clone(),
            ..layer
        })
    }
}

fn is_attached(policy: &AttachedPolicyFact, rule: &RouteRuleFact) -> bool {
    policy.targets.iter().any(|target| rank(target, rule).is_some())
}

/// How near to a rule the target of a policy is: the rule itself, its route, the listener, the Gateway.
fn rank(target: &ObjectRef, rule: &RouteRuleFact) -> Option<u8> {
    let is = |target: &ObjectRef, object: &ObjectRef| {
        (&target.kind, &target.name) == (&object.kind, &object.name)
            && (target.namespace == object.namespace || target.namespace.is_none() || object.namespace.is_none())
    };
    if rule.filters.iter().any(|filter| is(target, filter)) {
        return Some(0);
    }
    if is(target, &rule.route) {
        return match (&target.section, &rule.route.section) {
            (None, _) => Some(2),
            (Some(a), Some(b)) => (a == b).then_some(1),
            // Rules without names are not told apart.
            (Some(_), None) => None,
        };
    }
    let parent = rule.parents.iter().find(|p| is_gateway(p) && is(target, p))?;
    match (&target.section, &parent.section) {
        (None, _) => Some(4),
        (Some(a), Some(b)) => (a == b).then_some(3),
        (Some(_), None) => Some(3),
    }
}

/// A limit on one try that is not shorter than the limit on all of them does nothing.
fn effective(
    layer: &Layer,
    overall: Option<&Setting<std::time::Duration>>,
    facts: &mut Facts,
) -> Option<Setting<std::time::Duration>> {
    let per_try = layer.per_try.clone()?;
    match (&per_try, overall.and_then(|o| Some((o.value()?, o.span())))) {
        (Setting::Written { value, span }, Some((all, place))) if value >= all => {
            let shown = envoy_based::shown;
            let why = format!("the limit of {} on all tries together ends the request first", shown(*all));
            let found = Inert::new(*span, format!("the limit of {} on one try", shown(*value)), why).of(&layer.name);
            facts.inert.push(match place {
                Some(place) => found.because(place, format!("{} for all tries together", shown(*all))),
                None => found,
            });
            None
        }
        _ => Some(per_try),
    }
}

fn is_gateway(parent: &ObjectRef) -> bool {
    parent.kind == "Gateway"
}

/// Gateways by their names; a Service as a parent means everybody in the mesh who calls it.
fn callers(rule: &RouteRuleFact) -> Callers {
    let gateways = rule.parents.iter().filter(|p| is_gateway(p)).map(|p| GatewayName::Named(p.name.clone()));
    Callers { gateways: gateways.collect(), mesh: rule.parents.iter().any(|p| p.kind == "Service") }
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("take the `retry` out"),
        fewer: some("set a smaller `attempts`"),
        statuses: some("list in `codes` only what can pass, such as 502, 503 and 504"),
        pass_on: some("take 429 and 503 out of `codes`"),
        ..Advice::default()
    }
}
