//! PromQL: which queues an alert's expression looks at, and from which number of messages on it holds.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use promql_parser::label::MatchOp;
use promql_parser::parser::{self, AggregateExpr, BinaryExpr, Call, Expr, LabelModifier, VectorSelector};
use regex::Regex;

use super::metrics::{self, Metric};
use crate::model::{Fires, NameTest, OF_METRIC, QueueRef, Watch, Which};
use crate::systems::alerts::threshold::{self, Comparison};

/// Longer expressions are not read: their trees could be too deep for a walk.
const MAX_BYTES: usize = 4096;

/// Recorded names stand for their expressions so many times in a row.
const MAX_RECORDED: usize = 4;

/// What an expression watches and when it holds; `None` where it cannot be read.
pub(in crate::systems::alerts) fn read(text: &str, recorded: &BTreeMap<&str, &str>) -> Option<(Vec<Watch>, Fires)> {
    let expr = parse(text)?;
    let reader = Reader { recorded, depth: MAX_RECORDED };
    let mut found = reader.conditions(&expr);
    found.retain(|(watches, _)| !watches.is_empty());
    // Of several conditions, each of which is enough, the one that fires first counts.
    found.sort_by_key(|(_, fires)| match fires {
        Fires::AtOne => 0,
        Fires::Unknown => 1,
        Fires::Above(_) => 2,
        Fires::OnSend | Fires::Never(_) => 3,
    });
    let fires = found.first().map_or(Fires::Unknown, |(_, fires)| fires.clone());
    Some((found.into_iter().flat_map(|(watches, _)| watches).collect(), fires))
}

fn parse(text: &str) -> Option<Expr> {
    if text.len() > MAX_BYTES || has_endless_time(text) {
        return None;
    }
    parser::parse(text).ok()
}

/// Whether a range, a step or an offset is a number of seconds that no duration holds: the parser panics at it.
fn has_endless_time(text: &str) -> bool {
    let times = SECONDS.iter().flat_map(|pattern| pattern.captures_iter(text));
    times.filter_map(|found| found.get(1)?.as_str().parse::<f64>().ok()).any(|n| n.is_nan() || n > MAX_SECONDS)
}

/// A number in the place of a duration: behind `[`, behind the colon of a subquery, or behind `offset`. Blanks,
/// comments and a sign may stand between.
static SECONDS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let number = r"(?:inf|nan)\b|[0-9]*\.?[0-9]*(?:e[+-]?[0-9]+)?";
    let behind = |what: &str| Regex::new(&format!(r"(?i){what}(?:\s|#[^\r\n]*|[+-])*({number})")).ok();
    [r"\[", r"\[[^\]]*:", r"\boffset\b"].into_iter().filter_map(behind).collect()
});

/// Thirty million years.
const MAX_SECONDS: f64 = 1e15;

#[derive(Clone, Copy)]
struct Reader<'a> {
    recorded: &'a BTreeMap<&'a str, &'a str>,
    depth: usize,
}

/// How what is compared follows from the number of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Measure {
    /// It is that number, or at least one as soon as that is.
    Number,
    /// How fast it grows: any growth is above zero, one message is not above more.
    Speed,
    /// A mean over several queues, of which one message moves only a part.
    Diluted,
    /// It counts what is sent, and not what a redrive policy moves.
    Sent,
    /// It cannot be told.
    Unknown,
}

impl Reader<'_> {
    /// The conditions of which each is enough.
    fn conditions(&self, expr: &Expr) -> Vec<(Vec<Watch>, Fires)> {
        match expr {
            Expr::Paren(paren) => self.conditions(&paren.expr),
            Expr::Binary(binary) => self.binary(binary),
            // `count(x > 0)`, `sum(x > bool 0)` and the like hold for as many series as they find.
            other => {
                let (watches, _) = self.measured(other);
                vec![(watches, Fires::Unknown)]
            }
        }
    }

    fn binary(&self, binary: &BinaryExpr) -> Vec<(Vec<Watch>, Fires)> {
        let op = binary.op.to_string();
        match op.as_str() {
            "or" => [self.conditions(&binary.lhs), self.conditions(&binary.rhs)].concat(),
            // What narrows it down, or joins labels to it.
            "and" | "unless" | "*" => self.conditions(&binary.lhs),
            _ => match comparison(&op) {
                Some(comparison) => vec![self.comparison(binary, comparison)],
                None => {
                    let (watches, _) = self.difference(binary);
                    vec![(watches, Fires::Unknown)]
                }
            },
        }
    }

    fn comparison(&self, binary: &BinaryExpr, comparison: Comparison) -> (Vec<Watch>, Fires) {
        let (side, comparison, constant) = match (number(&binary.lhs), number(&binary.rhs)) {
            (None, Some(c)) => (&binary.lhs, comparison, Some(c)),
            (Some(c), None) => (&binary.rhs, comparison.mirrored(), Some(c)),
            _ => (&binary.lhs, comparison, None),
        };
        let (watches, measure) = self.measured(side);
        let as_number = binary.modifier.as_ref().is_some_and(|m| m.return_bool);
        let fires = match (constant, measure) {
            (_, Measure::Sent) => Fires::OnSend,
            (None, _) | (_, Measure::Unknown) => Fires::Unknown,
            _ if as_number => Fires::Unknown,
            (Some(c), Measure::Speed) if c > 0.0 => {
                Fires::Never(format!("fires only while dead letters come faster than {c} a second"))
            }
            (Some(c), Measure::Diluted) if c > 0.0 => Fires::Above(c),
            (Some(c), _) => threshold::fires(comparison, c),
        };
        (watches, fires)
    }

    /// The queues behind a value, and how it follows from their messages.
    fn measured(&self, expr: &Expr) -> (Vec<Watch>, Measure) {
        match expr {
            Expr::Paren(paren) => self.measured(&paren.expr),
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Call(call) => self.call(call),
            Expr::Subquery(subquery) => self.measured(&subquery.expr),
            Expr::VectorSelector(selector) => self.selected(selector),
            Expr::MatrixSelector(matrix) => self.selected(&matrix.vs),
            Expr::Binary(binary) => self.difference(binary),
            Expr::Unary(_) | Expr::NumberLiteral(_) | Expr::StringLiteral(_) | Expr::Extension(_) => {
                (Vec::new(), Measure::Unknown)
            }
        }
    }

    /// `a or vector(0)`, `newest - oldest`, `a + b`, and what narrows down or joins labels.
    fn difference(&self, binary: &BinaryExpr) -> (Vec<Watch>, Measure) {
        let left = self.measured(&binary.lhs);
        match binary.op.to_string().as_str() {
            "or" | "-" | "and" | "unless" => left,
            "+" => {
                let right = self.measured(&binary.rhs);
                (left.0.into_iter().chain(right.0).collect(), left.1)
            }
            _ => (left.0, Measure::Unknown),
        }
    }

    fn aggregate(&self, aggregate: &AggregateExpr) -> (Vec<Watch>, Measure) {
        let (watches, measure) = self.measured(&aggregate.expr);
        let measure = match (aggregate.op.to_string().as_str(), measure) {
            ("sum" | "max", measure) => measure,
            ("avg" | "min", Measure::Number) if !one_at_a_time(&watches, aggregate.modifier.as_ref()) => {
                Measure::Diluted
            }
            ("avg" | "min", measure) => measure,
            _ => Measure::Unknown,
        };
        (watches, measure)
    }

    fn call(&self, call: &Call) -> (Vec<Watch>, Measure) {
        let Some(inner) = call.args.args.first() else { return (Vec::new(), Measure::Unknown) };
        let (watches, measure) = self.measured(inner);
        let measure = match (call.func.name, measure) {
            (_, Measure::Sent) => Measure::Sent,
            (
                "last_over_time" | "max_over_time" | "min_over_time" | "avg_over_time" | "sum_over_time" | "round"
                | "ceil" | "abs" | "label_replace" | "label_join" | "sort" | "sort_desc" | "increase" | "delta"
                | "scalar" | "vector" | "clamp_min",
                measure,
            ) => measure,
            ("rate" | "irate" | "deriv", Measure::Number) => Measure::Speed,
            _ => Measure::Unknown,
        };
        (watches, measure)
    }

    fn selected(&self, selector: &VectorSelector) -> (Vec<Watch>, Measure) {
        let Some(name) = selector.name.as_deref() else { return (Vec::new(), Measure::Unknown) };
        if let (Some(text), Some(depth)) = (self.recorded.get(name), self.depth.checked_sub(1)) {
            return match parse(text) {
                Some(expr) => Self { depth, ..*self }.measured(&expr),
                None => (Vec::new(), Measure::Unknown),
            };
        }
        match metrics::of(name) {
            Metric::Depth { service, labels } => {
                let mut watches = vec![watch(service, labels, selector)];
                watches.extend(by_name(name));
                (watches, Measure::Number)
            }
            Metric::Sent { service, labels } => (vec![watch(service, labels, selector)], Measure::Sent),
            Metric::Own => {
                let unknown = |service: &&'static str| Watch { service, which: Which::Unknown };
                let watches = metrics::SERVICES.iter().map(unknown).chain(by_name(name));
                (watches.collect(), Measure::Number)
            }
            Metric::Other => (Vec::new(), Measure::Unknown),
        }
    }
}

/// A gauge that is named for dead letters watches them, whatever service they lie in.
fn by_name(name: &str) -> Option<Watch> {
    let which = Which::One(QueueRef::Name(name.to_owned()));
    metrics::is_of_dead_letters(name).then_some(Watch { service: OF_METRIC, which })
}

/// Whether an aggregate never mixes the queue with another: it keeps the label, or only one queue is selected.
fn one_at_a_time(watches: &[Watch], modifier: Option<&LabelModifier>) -> bool {
    let literal = |t: &NameTest| t.matches && regex::escape(&t.pattern.replace('\\', "")) == t.pattern;
    let single = |w: &Watch| matches!(&w.which, Which::Matching(tests) if tests.iter().any(literal));
    let names = ["queue", "queue_name", "dimension_QueueName", "topic", "stream_name"];
    let kept = match modifier {
        Some(LabelModifier::Include(labels)) => names.iter().any(|n| labels.labels.iter().any(|l| l == n)),
        Some(LabelModifier::Exclude(labels)) => !names.iter().any(|n| labels.labels.iter().any(|l| l == n)),
        None => false,
    };
    kept || watches.iter().all(single)
}

fn watch(service: &'static str, labels: &[&str], selector: &VectorSelector) -> Watch {
    let matchers = &selector.matchers;
    if !matchers.or_matchers.is_empty() {
        return Watch { service, which: Which::Unknown };
    }
    let mut tests = Vec::new();
    for matcher in matchers.matchers.iter().filter(|m| labels.contains(&m.name.as_str())) {
        let (pattern, matches) = match &matcher.op {
            MatchOp::Equal => (regex::escape(&matcher.value), true),
            MatchOp::NotEqual => (regex::escape(&matcher.value), false),
            MatchOp::Re(_) => (matcher.value.clone(), true),
            MatchOp::NotRe(_) => (matcher.value.clone(), false),
        };
        tests.push(NameTest { pattern, matches });
    }
    // Tags and resource names may choose the queue as well as its label.
    let by_tag = |name: &str| name == "name" || name.starts_with("tag_");
    let which = match tests.is_empty() {
        false => Which::Matching(tests),
        true if matchers.matchers.iter().any(|m| by_tag(&m.name)) => Which::Unknown,
        true => Which::All,
    };
    Watch { service, which }
}

fn comparison(op: &str) -> Option<Comparison> {
    Some(match op {
        ">" => Comparison::Above,
        ">=" => Comparison::AtLeast,
        "!=" => Comparison::Not,
        "==" => Comparison::Equal,
        "<" => Comparison::Below,
        "<=" => Comparison::AtMost,
        _ => return None,
    })
}

/// A constant.
fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::NumberLiteral(literal) => Some(literal.val),
        Expr::Paren(paren) => number(&paren.expr),
        Expr::Unary(unary) => number(&unary.expr).map(|n| -n),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(text: &str) -> Fires {
        read(text, &BTreeMap::from([("mail:depth", "sum(rabbitmq_queue_messages{queue=\"mail.dlq\"})")]))
            .unwrap_or_else(|| panic!("{text} is not read"))
            .1
    }

    fn watches(text: &str) -> Vec<Watch> {
        read(text, &BTreeMap::new()).unwrap_or_else(|| panic!("{text} is not read")).0
    }

    #[test]
    fn the_first_message_is_enough() {
        for text in [
            "rabbitmq_queue_messages{queue=\"mail.dlq\"} > 0",
            "sum by (queue) (rabbitmq_queue_messages_ready{queue=~\".*\\\\.dlq\"}) > 0",
            "aws_sqs_approximate_number_of_messages_visible_maximum{dimension_QueueName=\"orders-dlq\"} >= 1",
            "0 < max(rabbitmq_queue_messages)",
            "(sum(rabbitmq_queue_messages) or vector(0)) > 0",
            "mail:depth != 0",
            "rate(kafka_topic_partition_current_offset{topic=~\".*dlq\"}[5m]) > 0",
            "increase(jetstream_stream_total_messages{stream_name=\"DLQ\"}[10m]) > 0",
            "max_over_time(rabbitmq_queue_messages{queue=\"a.dlq\"}[5m]) > 0 and on () up == 1",
            "avg(rabbitmq_queue_messages{queue=\"a.dlq\"}) > 0",
            "avg by (queue) (rabbitmq_queue_messages{queue=~\".*dlq\"}) >= 1",
            "rabbitmq_queue_messages{queue=\"a\"} > 100 or rabbitmq_queue_messages{queue=\"a.dlq\"} > 0",
            "sum(kafka_topic_partition_current_offset{topic=\"a.dlq\"}) - sum(kafka_topic_partition_oldest_offset{topic=\"a.dlq\"}) > 0",
        ] {
            assert_eq!(fires(text), Fires::AtOne, "{text}");
        }
    }

    #[test]
    fn more_than_one_is_needed() {
        assert_eq!(fires("rabbitmq_queue_messages{queue=\"mail.dlq\"} > 10"), Fires::Above(10.0));
        assert_eq!(fires("rabbitmq_queue_messages > 1000"), Fires::Above(1000.0));
        assert_eq!(fires("5 <= max(rabbitmq_queue_messages)"), Fires::Above(4.0));
        assert_eq!(fires("mail:depth > 1e3"), Fires::Above(1000.0));
        assert_eq!(fires("avg(rabbitmq_queue_messages{queue=~\".*dlq\"}) > 0.5"), Fires::Above(0.5));
    }

    #[test]
    fn a_dead_letter_does_not_fire_it() {
        for text in [
            "rate(kafka_topic_partition_current_offset{topic=\"a.dlq\"}[5m]) > 0.05",
            "rabbitmq_queue_messages{queue=\"a.dlq\"} == 0",
            "rabbitmq_queue_messages{queue=\"a.dlq\"} >= 0",
        ] {
            assert!(matches!(fires(text), Fires::Never(_)), "{text}: {:?}", fires(text));
        }
        let sent = "rate(aws_sqs_number_of_messages_sent_sum{queue_name=\"orders-dlq\"}[5m]) > 0";
        assert_eq!(fires(sent), Fires::OnSend);
    }

    #[test]
    fn what_cannot_be_told_is_taken_for_right() {
        for text in [
            "rabbitmq_queue_messages > bool 5",
            "rabbitmq_queue_messages > on (queue) rabbitmq_queue_limit",
            "count(rabbitmq_queue_messages > 0) > 3",
            "rabbitmq_queue_messages / 10 > 5",
            "predict_linear(rabbitmq_queue_messages[1h], 3600) > 5",
        ] {
            assert_eq!(fires(text), Fires::Unknown, "{text}");
        }
        assert_eq!(read("rabbitmq_queue_messages > {{ .Values.limit }}", &BTreeMap::new()), None);
        assert_eq!(read(&"(".repeat(5000), &BTreeMap::new()), None);
        for time in ["Inf", "inf", "NaN", "1e30", "1E+30", "# a day\n 1e30", &"9".repeat(30), &"9".repeat(400)] {
            for text in [
                format!("x offset {time} > 0"),
                format!("x offset - {time} > 0"),
                format!("x[{time}]"),
                format!("max_over_time(x[1h:{time}])"),
                format!("max_over_time(x[ {time} :5m])"),
                format!("max_over_time(x[1h : {time}])"),
            ] {
                assert_eq!(read(&text, &BTreeMap::new()), None, "{text}");
            }
        }
        // Numbers of seconds that are none of these are read.
        assert_eq!(
            fires("max_over_time(rabbitmq_queue_messages{queue=\"a.dlq\"}[300:60] offset 1e3) > 0"),
            Fires::AtOne
        );
        assert!(matches!(fires("rabbitmq_queue_messages{queue=\"a.dlq\"} < Inf"), Fires::Never(_)));
    }

    #[test]
    fn names_are_matched_as_a_whole() {
        let test = |pattern: &str, matches: bool| NameTest { pattern: pattern.to_owned(), matches };
        assert_eq!(
            watches("rabbitmq_queue_messages{queue=\"a.dlq\", vhost=\"/\"} > 0"),
            [Watch { service: "rabbitmq", which: Which::Matching(vec![test("a\\.dlq", true)]) }]
        );
        assert_eq!(
            watches("rabbitmq_queue_messages{queue=~\"a.*\", queue!~\".*dlq\"} > 0"),
            [Watch { service: "rabbitmq", which: Which::Matching(vec![test("a.*", true), test(".*dlq", false)]) }]
        );
        assert_eq!(watches("rabbitmq_queue_messages > 0"), [Watch { service: "rabbitmq", which: Which::All }]);
        assert_eq!(watches("up == 0"), []);
        // Any service may have it; and the metric itself is watched.
        assert_eq!(watches("orders_dlq_depth > 0").len(), metrics::SERVICES.len() + 1);
    }
}
