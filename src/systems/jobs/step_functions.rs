//! AWS Step Functions: the retriers of a state machine, in a file of its own or inside a template.

use std::sync::Arc;
use std::time::Duration;

use crate::facts::Facts;
use crate::model::{
    Advice, Attempts, ComponentName, Conditions, Confidence, Jitter, Layer, LayerKind, Methods, Mode, ModeSet, Pick,
    Purpose, Redone, Rerun, Scope, Setting, Wait,
};
use crate::source::SourceFile;
use crate::syntax::{Entry, Node, Scalar, Syntax, Value};
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, embedded};

/// Step Functions.
pub struct StepFunctions;

const ID: &str = "step-functions";
const SPEC: &str = "AWS Step Functions developer guide, handling errors in workflows";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "AWS Step Functions",
    reads: "state machines in the Amazon States Language (JSON, YAML), also inside CloudFormation templates and Terraform: retriers",
    marks: &["StartAt"],
    defaults: &[
        DefaultFigure { what: "Retry[].MaxAttempts absent", value: "4 attempts (3 retries)", source: SPEC },
        DefaultFigure { what: "Retry[].MaxAttempts: 0", value: "1 attempt", source: SPEC },
        DefaultFigure { what: "Retry[].IntervalSeconds absent", value: "1 s", source: SPEC },
        DefaultFigure { what: "Retry[].BackoffRate absent", value: "2", source: SPEC },
        DefaultFigure { what: "Retry[].MaxDelaySeconds absent", value: "no cap", source: SPEC },
        DefaultFigure { what: "Retry[].JitterStrategy absent", value: "no jitter", source: SPEC },
    ],
};

impl System for StepFunctions {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            let mut reader = Reader { file, ids: Ids::default(), facts: &mut *facts };
            reader.find(root, title(&file.path));
        }
    }
}

/// `statemachine/provision.asl.json` → `provision`.
fn title(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

struct Reader<'a, 'f> {
    file: &'a SourceFile,
    ids: Ids,
    facts: &'f mut Facts,
}

impl Reader<'_, '_> {
    /// State machines, wherever they stand in a document. The name is that of the nearest thing with one.
    fn find(&mut self, root: &Node, name: &str) {
        let mut stack: Vec<(&Node, &str)> = vec![(root, name)];
        while let Some((node, name)) = stack.pop() {
            if let (Some(_), Some(states)) = (node.get("StartAt"), node.get("States")) {
                self.machine(states, name);
                continue;
            }
            for e in node.entries() {
                // In Terraform it may be a text, too.
                let is_text = &*e.key == "definition" && e.value.as_str().is_some_and(|text| text.contains("StartAt"));
                if (&*e.key == "DefinitionString" || is_text)
                    && let Some(inner) = definition(self.file, &e.value)
                {
                    self.find(&inner, name);
                    continue;
                }
                let named = e.value.get("Type").is_some() || e.value.get("definition").is_some();
                stack.push((&e.value, if named { &e.key } else { name }));
            }
            stack.extend(node.items().iter().map(|n| (&**n, name)));
        }
    }

    /// A machine's states; those of a branch or of a map's items are states of the same machine.
    fn machine(&mut self, states: &Node, name: &str) {
        let mut stack = vec![states];
        while let Some(states) = stack.pop() {
            for state in states.entries() {
                // The first retrier that fits counts: one that never retries takes its errors out of those below it.
                let mut discriminates = false;
                for retrier in state.value.get("Retry").map_or(&[][..], Node::items) {
                    if retrier.entries().is_empty() {
                        continue;
                    }
                    let mut layer = self.layer(name, &state.key, &state.value, retrier);
                    if discriminates {
                        layer.retries.any_error = None;
                    }
                    discriminates |= !layer.is_active();
                    self.facts.reruns.extend(rerun(state, &layer));
                    self.facts.layers.push(layer);
                }
                let branches = state.value.get("Branches").map_or(&[][..], Node::items).iter().map(|n| &**n);
                let items = state.value.get_any(&["ItemProcessor", "Iterator"]);
                stack.extend(branches.chain(items).filter_map(|machine| machine.get("States")));
            }
        }
    }

    fn layer(&mut self, machine: &str, state: &str, task: &Node, retrier: &Node) -> Layer {
        let name = format!("state {state} of state machine {machine}");
        let opens = settings::opening(self.file, retrier);
        let count = retrier.entry("MaxAttempts").filter(|e| !e.value.is_null());
        let attempts = match count {
            Some(e) => settings::retries(e),
            None => Setting::default(Attempts::Count(4), SPEC),
        };
        // A function that stands in the same template is meant, where the machine is in one.
        let alone = self.file.path.contains(".asl.");
        let namespace = (!alone).then(|| self.file.path.to_string());
        let wait_keys = ["IntervalSeconds", "BackoffRate", "MaxDelaySeconds"];
        Layer {
            id: self.ids.next(format!("{ID}:{machine}:{state}")),
            system: ID,
            kind: LayerKind::Job,
            reading: match count {
                Some(e) => format!("{} on {name}", settings::quote(e)),
                None => format!("{name}, which sets no `MaxAttempts`"),
            },
            place: count.map_or(opens, |e| e.value.span),
            opens,
            component: None,
            scope: Scope::Consumers {
                queue: None,
                components: function(task).map(|name| ComponentName { name, namespace }).into_iter().collect(),
                group: ID.to_owned(),
            },
            attempts,
            // Whoever writes a retrier asks for retries.
            asked_for: true,
            wait: wait(retrier),
            wait_place: Some(retrier.entry_any(&wait_keys).map_or(opens, |e| e.key_span)),
            jitter: jitter(retrier),
            retries: conditions(retrier),
            retry_after: Setting::unknown("an error of a task is no response", None),
            methods: Methods::Unknown,
            per_try: None,
            overall: None,
            budget: None,
            labels: Vec::new(),
            advice: advice(),
            copies: false,
            elsewhere: false,
            purpose: Purpose::Request,
            confidence: Confidence::High,
            name,
        }
    }
}

/// A state that is made of others runs all of them again.
fn rerun(state: &Entry, layer: &Layer) -> Option<Rerun> {
    let what = match state.value.get("Type").and_then(Node::as_str) {
        Some("Parallel") => "every branch",
        Some("Map") => "every item",
        _ => return None,
    };
    layer.is_active().then(|| Rerun {
        job: layer.name.clone(),
        place: layer.place,
        attempts: layer.attempts.value().and_then(|a| a.count()),
        what: Redone::Steps { span: state.key_span, what: what.to_owned() },
        confidence: Confidence::Medium,
    })
}

/// The machine in a template's string: as it is, or put together by functions of the template.
fn definition(file: &SourceFile, node: &Node) -> Option<Node> {
    let node = node.get("Fn::Sub").unwrap_or(node);
    let node: &Node = node.items().first().filter(|_| node.tag.as_deref() == Some("!Sub")).map_or(node, |n| n);
    if node.scalar().is_some() {
        let parsed = embedded::of_scalar(file, node, Syntax::Json)?;
        return parsed.documents.first().map(|d| Node::clone(d));
    }
    let join = node.get("Fn::Join").unwrap_or(node);
    let [delimiter, parts] = join.items() else { return None };
    let delimiter = delimiter.as_str()?;
    // What only the deployment knows stands inside of strings.
    let referred = |part: &Node| part.get("Fn::GetAtt")?.items().first()?.as_str().map(|id| format!("${{{id}.Arn}}"));
    let texts = parts.items().iter().map(|part| match part.scalar() {
        Some(scalar) => scalar.text.to_string(),
        None => referred(part).unwrap_or_default(),
    });
    let text: Arc<str> = texts.collect::<Vec<_>>().join(delimiter).into();
    let joined = Node::new(node.span, Value::Scalar(Scalar { text, plain: false, verbatim: None }));
    let parsed = embedded::of_scalar(file, &joined, Syntax::Json)?;
    parsed.documents.first().map(|d| Node::clone(d))
}

/// The Lambda function that a task invokes, by name.
fn function(task: &Node) -> Option<String> {
    let resource = task.get("Resource")?.as_str()?;
    let written = match resource.contains(":lambda:invoke") {
        true => {
            task.at(&["Parameters", "FunctionName"]).or_else(|| task.at(&["Arguments", "FunctionName"]))?.as_str()?
        }
        false => resource,
    };
    let name = match written.split_once(":function:") {
        Some((_, name)) => name,
        None if written.starts_with("arn:") => return None,
        None => written,
    };
    let name = name.split(':').next().unwrap_or(name).trim_start_matches("${").trim_end_matches('}');
    let name = name.trim_end_matches(".Arn");
    (!name.is_empty()).then(|| name.to_owned())
}

fn seconds(retrier: &Node, key: &str) -> Option<Setting<Duration>> {
    let node = retrier.get(key).filter(|n| !n.is_null())?;
    let value = node.as_f64().filter(|n| *n >= 0.0).and_then(|n| Duration::try_from_secs_f64(n).ok());
    Some(match value {
        Some(d) => Setting::written(d, node.span),
        None => Setting::unknown(format!("`{key}` is worked out at run time"), Some(node.span)),
    })
}

fn wait(retrier: &Node) -> Wait {
    let factor = match retrier.get("BackoffRate").filter(|n| !n.is_null()) {
        Some(node) => match node.as_f64() {
            Some(n) => Setting::written(n, node.span),
            None => Setting::unknown("`BackoffRate` is worked out at run time", Some(node.span)),
        },
        None => Setting::default(2.0, SPEC),
    };
    Wait::Exponential {
        base: seconds(retrier, "IntervalSeconds").unwrap_or(Setting::default(Duration::from_secs(1), SPEC)),
        factor,
        cap: seconds(retrier, "MaxDelaySeconds").map_or(Setting::default(None, SPEC), |s| s.map(Some)),
    }
}

fn jitter(retrier: &Node) -> Setting<Jitter> {
    let Some(node) = retrier.get("JitterStrategy").filter(|n| !n.is_null()) else {
        return Setting::default(Jitter::None, SPEC);
    };
    match node.as_str() {
        Some("FULL") => Setting::written(Jitter::Full, node.span),
        Some("NONE") => Setting::written(Jitter::None, node.span),
        _ => Setting::unknown("`JitterStrategy` is worked out at run time", Some(node.span)),
    }
}

fn conditions(retrier: &Node) -> Conditions {
    let mut out = Conditions::default();
    let server = ModeSet::statuses(500..=599);
    for error in retrier.get("ErrorEquals").map_or(&[][..], Node::items) {
        let Some(text) = error.as_str() else { continue };
        let modes = match text {
            "States.ALL" | "States.TaskFailed" => {
                out.any_error = out.any_error.or(Some(error.span));
                out.unknown = ModeSet::all();
                server.union(ModeSet::transport())
            }
            "States.Timeout" | "States.HeartbeatTimeout" => [Mode::Timeout].into_iter().collect(),
            _ => match hopeless(text) {
                Some(code) => ModeSet::statuses([code]),
                None if throttled(text) => ModeSet::statuses([429]),
                None if text.starts_with("Lambda.") => server,
                // An error of the task's own: whatever it stands for.
                None => {
                    out.unknown = ModeSet::all();
                    ModeSet::EMPTY
                }
            },
        };
        out.yes = out.yes.union(modes);
        out.picks.push(Pick { modes, span: error.span, text: format!("`{}`", settings::shown(text)) });
    }
    out.unknown = out.unknown.difference(out.yes);
    out
}

/// Errors that say that the request is wrong, with the status that stands for them.
fn hopeless(error: &str) -> Option<u16> {
    Some(match error {
        "States.Permissions" => 403,
        "States.ParameterPathFailure" | "States.ResultPathMatchFailure" => 400,
        _ if error.contains("AccessDenied") => 403,
        _ if error.ends_with("ValidationException") || error.ends_with("ConditionalCheckFailedException") => 400,
        _ if error.ends_with("ResourceNotFoundException") => 404,
        _ => return None,
    })
}

fn throttled(error: &str) -> bool {
    error.ends_with("TooManyRequestsException") || error.ends_with("ThrottlingException")
}

fn advice() -> Advice {
    Advice {
        fewer: Some("a smaller `MaxAttempts`".to_owned()),
        grow: Some("set `BackoffRate` to 2".to_owned()),
        cap: Some("set `MaxDelaySeconds`".to_owned()),
        jitter: Some("set `\"JitterStrategy\": \"FULL\"`".to_owned()),
        statuses: Some("name the errors in `ErrorEquals`".to_owned()),
        ..Advice::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Node {
        let file = SourceFile { id: crate::source::FileId(0), path: "m.json".into(), text: text.into() };
        Node::clone(&crate::syntax::parse(Syntax::Json, &file).documents[0])
    }

    #[test]
    fn functions_of_tasks() {
        let name = |text: &str| function(&of(text));
        assert_eq!(name(r#"{"Resource": "arn:aws:lambda:eu:1:function:charge:prod"}"#).as_deref(), Some("charge"));
        assert_eq!(
            name(r#"{"Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "${Charge.Arn}"}}"#)
                .as_deref(),
            Some("Charge")
        );
        assert_eq!(name(r#"{"Resource": "arn:aws:states:::sqs:sendMessage"}"#), None);
    }

    #[test]
    fn errors_that_no_repetition_mends() {
        assert_eq!(hopeless("DynamoDB.ConditionalCheckFailedException"), Some(400));
        assert_eq!(hopeless("States.Permissions"), Some(403));
        assert_eq!(hopeless("States.Timeout"), None);
        assert_eq!(hopeless("Lambda.TooManyRequestsException"), None);
    }
}
