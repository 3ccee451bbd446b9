//! Alerts, and on what ways they go.

use crate::model::Alarm;
use crate::source::Span;

/// An alerting rule whose expression is in PromQL. [`crate::systems::join`] turns it into an alarm: names that other
/// files record, and where alerts go, are known then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRuleFact {
    /// Its name.
    pub name: String,
    /// The name's place.
    pub place: Span,
    /// The expression.
    pub expr: String,
    /// Its place.
    pub expr_place: Span,
    /// The labels that it gives its alerts; a value that is worked out is `None`.
    pub labels: Vec<(String, Option<String>)>,
}

/// A recording rule: a name for an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingFact {
    /// The name.
    pub name: String,
    /// The expression.
    pub expr: String,
    /// Where it stands.
    pub place: Span,
}

/// An alarm of a system that sends its alerts on ways of its own; joining says who hears of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutedAlarmFact {
    /// The alarm.
    pub alarm: Alarm,
    /// The labels of its alerts; a value that is worked out is `None`.
    pub labels: Vec<(String, Option<String>)>,
    /// The receiver that it names itself, whatever the ways.
    pub receiver: Option<String>,
}

/// The ways of alerts to receivers, as one configuration has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRoutesFact {
    /// The system whose alerts go on them.
    pub system: &'static str,
    /// Whether every alert goes on them; else they are put beside the ways of another configuration.
    pub is_whole: bool,
    /// The way that every alert begins with.
    pub root: AlertRoute,
    /// Receivers that tell nobody.
    pub silent: Vec<String>,
}

/// A way, and those that branch off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRoute {
    /// Where it ends; `None`: not to be told.
    pub receiver: Option<String>,
    /// What an alert must pass to go on it.
    pub tests: Vec<LabelTest>,
    /// Whether alerts that go on it go on the next ones too.
    pub goes_on: bool,
    /// The ways that branch off, in their order.
    pub routes: Vec<AlertRoute>,
}

/// A test of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelTest {
    /// The label.
    pub label: String,
    /// A regular expression for the whole of its value.
    pub pattern: String,
    /// Whether it must match.
    pub matches: bool,
}
