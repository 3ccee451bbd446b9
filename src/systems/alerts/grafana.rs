//! Grafana: alert rules, contact points and notification policies in provisioning files and exports.

use std::collections::BTreeMap;

use super::alertmanager;
use super::prometheus::promql;
use super::threshold::{self, Comparison};
use crate::facts::{AlertRoute, AlertRoutesFact, Facts, RoutedAlarmFact};
use crate::model::{Alarm, Fires, QueueRef, Watch, Which};
use crate::source::Span;
use crate::syntax::Node;
use crate::systems::settings;
use crate::systems::{System, SystemMeta, Unit, Versions};

/// Grafana.
pub struct Grafana;

const ID: &str = "grafana";

/// Where Grafana sends alerts as long as nobody has given its default contact point an address.
const NOBODY: &str = "example@email.com";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Grafana",
    reads: "provisioning files and exports (YAML, JSON): alert rules with queries of Prometheus and CloudWatch and the \
            thresholds on them, contact points and notification policies; which alerts reach nobody",
    marks: &["evaluator", "execErrState", "noDataState", "isPaused", "contactPoints", "policies"],
    defaults: &[],
};

/// Queries refer to each other so many times in a row at most.
const MAX_DEPTH: usize = 8;

impl System for Grafana {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (_, root) in unit.documents() {
            let listed = |key: &str| root.get(key).map_or(&[][..], Node::items).iter();
            for rule in listed("groups").filter_map(|g| g.get("rules")).flat_map(Node::items) {
                facts.routed_alarms.extend(alarm(rule).map(|alarm| routed(rule, alarm)));
            }
            let silent: Vec<String> = listed("contactPoints").filter_map(|n| silent(n)).collect();
            let policies: Vec<&Node> =
                listed("policies").map(|n| &**n).filter(|n| n.get("receiver").is_some()).collect();
            let known = AlertRoutesFact { system: ID, is_whole: true, root: nowhere(), silent };
            let roots = policies.iter().map(|policy| alertmanager::read(policy));
            facts.alert_routes.extend(roots.map(|root| AlertRoutesFact { root, ..known.clone() }));
            if policies.is_empty() && !known.silent.is_empty() {
                facts.alert_routes.push(AlertRoutesFact { is_whole: false, ..known });
            }
        }
    }

    /// Contact points and policies may stand in different files.
    fn join(&self, facts: &mut Facts) {
        let (own, others): (Vec<_>, Vec<_>) = facts.alert_routes.drain(..).partition(|r| r.system == ID);
        let silent: Vec<String> = own.iter().flat_map(|r| r.silent.iter().cloned()).collect();
        let ways: Vec<AlertRoutesFact> =
            own.into_iter().filter(|r| r.is_whole).map(|r| AlertRoutesFact { silent: silent.clone(), ..r }).collect();
        for RoutedAlarmFact { mut alarm, labels, receiver } in std::mem::take(&mut facts.routed_alarms) {
            let is_lost = match receiver {
                Some(receiver) => silent.contains(&receiver),
                None => alertmanager::reach_nobody_at_all(&ways, ID, &labels),
            };
            if is_lost {
                alarm.notifies = Some(false);
            }
            facts.alarms.push(alarm);
        }
        facts.alert_routes = others.into_iter().chain(ways).collect();
    }
}

/// Ways that lead to no receiver.
fn nowhere() -> AlertRoute {
    AlertRoute { receiver: None, tests: Vec::new(), goes_on: false, routes: Vec::new() }
}

/// The name of a contact point that tells nobody: it has no receiver, or only the address that Grafana begins with.
fn silent(point: &Node) -> Option<String> {
    let is_nobody = |receiver: &Node| {
        let addresses = receiver.at(&["settings", "addresses"]).and_then(Node::as_str);
        let address = addresses.map(|a| a.trim().trim_start_matches('<').trim_end_matches('>'));
        receiver.get("type").and_then(Node::as_str) == Some("email") && address == Some(NOBODY)
    };
    let receivers = point.get("receivers").map_or(&[][..], Node::items);
    let name = point.get("name")?.as_str()?;
    receivers.iter().all(|r| is_nobody(r)).then(|| name.to_owned())
}

/// An alarm with what decides on which way it goes.
fn routed(rule: &Node, alarm: Alarm) -> RoutedAlarmFact {
    let known = |n: &Node| n.as_str().filter(|text| !text.contains("{{")).map(str::to_owned);
    let labels = rule.get("labels").map_or(&[][..], Node::entries).iter();
    let name = rule.get("title").and_then(known);
    RoutedAlarmFact {
        alarm,
        labels: labels.map(|e| (e.key.to_string(), known(&e.value))).chain([("alertname".to_owned(), name)]).collect(),
        receiver: rule.at(&["notification_settings", "receiver"]).and_then(Node::as_str).map(str::to_owned),
    }
}

fn alarm(rule: &Node) -> Option<Alarm> {
    let title = rule.entry("title")?;
    let condition = rule.get("condition")?.as_str()?;
    let queries: BTreeMap<&str, &Node> = rule
        .get("data")?
        .items()
        .iter()
        .filter_map(|query| Some((query.get("refId")?.as_str()?, query.get("model")?)))
        .collect();
    let read = Reader { queries }.condition(condition)?;
    let is_paused = rule.get("isPaused").and_then(Node::as_bool) == Some(true);
    Some(Alarm {
        name: format!("alert rule {}", settings::shown(title.value.as_str().unwrap_or("without a title"))),
        place: title.value.span,
        threshold_place: read.place,
        watches: read.watches,
        fires: read.fires,
        // Whom it reaches is set by policies.
        notifies: is_paused.then_some(false),
    })
}

/// What a condition comes to.
struct Read {
    watches: Vec<Watch>,
    fires: Fires,
    place: Span,
}

struct Reader<'n> {
    queries: BTreeMap<&'n str, &'n Node>,
}

impl Reader<'_> {
    /// The query that decides: a threshold on another one, or an expression that compares by itself.
    fn condition(&self, id: &str) -> Option<Read> {
        let model = *self.queries.get(id)?;
        match model.get("type").and_then(Node::as_str) {
            Some("threshold") => {
                let test = model.get("conditions")?.items().first()?;
                self.test(model.get("expression")?.as_str()?, test.get("evaluator")?)
            }
            Some("classic_conditions") => {
                let tests = model.get("conditions")?.items();
                // Of several conditions only one that stands alone is sure to decide.
                let mut all = tests.iter().filter_map(|test| {
                    let of = test.at(&["query", "params"])?.items().first()?.as_str()?;
                    self.test(of, test.get("evaluator")?)
                });
                let first = all.next()?;
                Some(if tests.len() == 1 { first } else { Read { fires: Fires::Unknown, ..first } })
            }
            Some("math") => {
                let text = model.get("expression")?;
                let (of, comparison, number) = comparison(text.as_str()?)?;
                Some(self.compare(of, comparison, number, text.span))
            }
            _ => {
                let expr = model.get("expr")?;
                let (watches, fires) = promql::read(expr.as_str()?, &BTreeMap::new())?;
                Some(Read { watches, fires, place: expr.span })
            }
        }
    }

    fn test(&self, of: &str, evaluator: &Node) -> Option<Read> {
        let limit = evaluator.get("params").and_then(|p| p.items().first());
        let comparison = match evaluator.get("type")?.as_str()? {
            "gt" => Some(Comparison::Above),
            "gte" => Some(Comparison::AtLeast),
            "lt" => Some(Comparison::Below),
            "lte" => Some(Comparison::AtMost),
            "eq" => Some(Comparison::Equal),
            "ne" => Some(Comparison::Not),
            _ => None,
        };
        let place = limit.map_or(evaluator.span, |n| n.span);
        Some(match (comparison, limit.and_then(|n| n.as_f64())) {
            (Some(comparison), Some(number)) => self.compare(of, comparison, number, place),
            _ => Read { watches: self.watches(of), fires: Fires::Unknown, place },
        })
    }

    /// Whether a query compares with a number.
    fn compare(&self, of: &str, comparison: Comparison, number: f64, place: Span) -> Read {
        let Some(leaf) = self.leaf(of) else { return Read { watches: Vec::new(), fires: Fires::Unknown, place } };
        if let Some(expr) = leaf.get("expr").and_then(Node::as_str) {
            // As if the comparison stood in the expression.
            let whole = format!("({expr}) {} {number}", sign(comparison));
            let (watches, fires) =
                promql::read(&whole, &BTreeMap::new()).unwrap_or_else(|| (Vec::new(), Fires::Unknown));
            return Read { watches, fires, place };
        }
        let watches = of_cloudwatch(leaf);
        let fires = match leaf.get("metricName").and_then(Node::as_str) {
            Some("ApproximateNumberOfMessagesVisible") => threshold::fires(comparison, number),
            _ => Fires::Unknown,
        };
        Read { watches, fires, place }
    }

    fn watches(&self, of: &str) -> Vec<Watch> {
        let Some(leaf) = self.leaf(of) else { return Vec::new() };
        match leaf.get("expr").and_then(Node::as_str) {
            Some(expr) => promql::read(expr, &BTreeMap::new()).map(|(watches, _)| watches).unwrap_or_default(),
            None => of_cloudwatch(leaf),
        }
    }

    /// The query at the end of a row of expressions that only reduce one another.
    fn leaf(&self, id: &str) -> Option<&Node> {
        let mut id = id;
        for _ in 0..MAX_DEPTH {
            let model = *self.queries.get(id)?;
            match model.get("type").and_then(Node::as_str) {
                Some("reduce" | "resample") => id = model.get("expression")?.as_str()?.trim_start_matches('$'),
                Some("math" | "threshold" | "classic_conditions" | "sql") => return None,
                _ => return Some(model),
            }
        }
        None
    }
}

/// A queue that a query of CloudWatch looks at.
fn of_cloudwatch(query: &Node) -> Vec<Watch> {
    if query.get("namespace").and_then(Node::as_str) != Some("AWS/SQS") {
        return Vec::new();
    }
    let name = query.at(&["dimensions", "QueueName"]);
    let name = name.and_then(|n| n.as_str().or_else(|| n.items().first()?.as_str()));
    let which = match name {
        Some("*") => Which::All,
        Some(name) if !name.contains('$') => Which::One(QueueRef::Name(name.to_owned())),
        _ => Which::Unknown,
    };
    vec![Watch { service: "sqs", which }]
}

/// `$A > 0`, `${A} >= 1`
fn comparison(text: &str) -> Option<(&str, Comparison, f64)> {
    let rest = text.trim().strip_prefix('$')?;
    let rest = rest.strip_prefix('{').unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (id, rest) = rest.split_at_checked(end)?;
    let rest = rest.trim_start_matches('}').trim_start();
    let signs = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        ("!=", Comparison::Not),
        ("==", Comparison::Equal),
        (">", Comparison::Above),
        ("<", Comparison::Below),
    ];
    let (after, comparison) = signs.into_iter().find_map(|(sign, c)| Some((rest.strip_prefix(sign)?, c)))?;
    Some((id, comparison, after.trim().parse().ok()?))
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Above => ">",
        Comparison::AtLeast => ">=",
        Comparison::Not => "!=",
        Comparison::Equal => "==",
        Comparison::Below => "<",
        Comparison::AtMost => "<=",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_of_expressions() {
        assert_eq!(comparison("$A > 0"), Some(("A", Comparison::Above, 0.0)));
        assert_eq!(comparison("${dead}>=1"), Some(("dead", Comparison::AtLeast, 1.0)));
        for other in ["$A + $B > 0", "$A", "A > 0", "$A > $B", ""] {
            assert_eq!(comparison(other), None, "{other}");
        }
    }
}
