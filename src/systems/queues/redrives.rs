//! Commands that send dead letters back, wherever settings run them: CronJobs, workflows, pipelines, Compose services.

use crate::facts::Facts;
use crate::model::{Confidence, Redrive, RedriveLack, names_dead_letters};
use crate::source::{SourceFile, Span};
use crate::syntax::Node;
use crate::systems::settings;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// Commands that send dead letters back.
pub struct Redrives;

const ID: &str = "redrive-commands";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Redrive commands",
    reads: "commands in YAML and JSON that send dead letters back: `aws sqs start-message-move-task`, shovels of RabbitMQ, scheduled replays of everything",
    marks: &[
        "start-message-move-task",
        "kind: Shovel",
        "\"Shovel\"",
        "\"shovel\"",
        "kind: CronJob",
        "\"CronJob\"",
        "kind: CronWorkflow",
    ],
    defaults: &[
        DefaultFigure {
            what: "start-message-move-task without a rate",
            value: "as fast as the service goes, up to 500 messages a second",
            source: "AWS API reference, StartMessageMoveTask",
        },
        DefaultFigure {
            what: "src-delete-after of a shovel absent",
            value: "it runs for ever",
            source: "rabbitmq/rabbitmq-website docs/shovel-dynamic.md",
        },
    ],
};

impl System for Redrives {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        for (file, root) in unit.documents() {
            let kind = root.get("kind").and_then(Node::as_str);
            let is_scheduled =
                matches!(kind, Some("CronJob" | "CronWorkflow")) || root.at(&["on", "schedule"]).is_some();
            let name = match (kind, root.at(&["metadata", "name"]).and_then(Node::as_str)) {
                (Some(kind), Some(name)) => format!("{kind} {}", settings::shown(name)),
                _ => "This command".to_owned(),
            };
            for command in commands(root) {
                facts.redrives.extend(move_task(file, &command, &name, is_scheduled));
                facts.redrives.extend(replay(file, &command, &name, is_scheduled));
            }
            facts.redrives.extend(root.walk().filter_map(shovel));
        }
    }
}

/// A word of a command: its text, the scalar that it stands in, and where in that one's text.
type Word<'n> = (&'n str, &'n Node, usize);

/// A command: its words.
struct Command<'n> {
    words: Vec<Word<'n>>,
}

/// The lists of words and the lines of scripts in a document. The parts of one container's command line belong together.
fn commands(root: &Node) -> Vec<Command<'_>> {
    let mut found = Vec::new();
    for node in root.walk() {
        if node.get("command").is_some() || node.get("args").is_some() {
            let parts = ["command", "args"].into_iter().filter_map(|key| node.get(key));
            let words = parts.flat_map(|list| list.items().iter().filter_map(|n| Some((n.as_str()?, &**n, 0))));
            found.push(Command { words: words.collect() });
        }
        let Some(scalar) = node.scalar().filter(|s| s.text.contains(' ')) else { continue };
        let mut at = 0;
        // A line that ends with a backslash goes on.
        let mut words: Vec<Word<'_>> = Vec::new();
        for line in scalar.text.split_inclusive('\n') {
            let mut rest = at;
            for word in line.split(|c: char| c.is_ascii_whitespace()) {
                if !word.is_empty() && word != "\\" {
                    words.push((word, node, rest));
                }
                rest += word.len() + 1;
            }
            at += line.len();
            if !line.trim_end().ends_with('\\') {
                found.push(Command { words: std::mem::take(&mut words) });
            }
        }
        found.push(Command { words });
    }
    found
}

/// Where a word of a text stands. In a block, whose lines are indented, it is found by itself where it is there once.
fn place(file: &SourceFile, (word, node, at): Word<'_>) -> Span {
    if node.scalar().is_some_and(|s| s.verbatim.is_some()) {
        return settings::within(node, at..at + word.len());
    }
    let mut found = file.text.get(node.span.range()).unwrap_or_default().match_indices(word);
    match (found.next(), found.next()) {
        (Some((at, _)), None) => {
            let start = node.span.start as usize + at;
            Span::new(node.span.file, start, start + word.len())
        }
        _ => node.span,
    }
}

/// `aws sqs start-message-move-task`
fn move_task(file: &SourceFile, command: &Command<'_>, name: &str, is_scheduled: bool) -> Option<Redrive> {
    let found = command.words.iter().find(|(word, ..)| *word == "start-message-move-task")?;
    let is_bounded = command.words.iter().any(|(w, ..)| w.starts_with("--max-number-of-messages-per-second"));
    let mut lacks = Vec::new();
    if !is_bounded {
        lacks.extend([RedriveLack::Bound, RedriveLack::Choice]);
    }
    lacks.extend(is_scheduled.then_some(RedriveLack::Person));
    Some(Redrive {
        name: name.to_owned(),
        place: place(file, *found),
        lacks,
        advice: (!is_bounded).then(|| "`--max-number-of-messages-per-second 5`".to_owned()),
        sent_on: None,
        confidence: Confidence::High,
    })
}

/// A scheduled `redrive --all`, whatever its program.
fn replay(file: &SourceFile, command: &Command<'_>, name: &str, is_scheduled: bool) -> Option<Redrive> {
    let verbs = ["redrive", "replay", "requeue", "reprocess"];
    let found = command.words.iter().find(|(word, ..)| {
        let word = word.to_ascii_lowercase();
        verbs.iter().any(|v| word.contains(v))
    })?;
    let has = |flags: &[&str]| command.words.iter().any(|(w, ..)| flags.iter().any(|f| w.starts_with(f)));
    let is_all = has(&["--all"]);
    (is_scheduled && is_all && !has(&["--limit", "--max", "--rate", "--batch"])).then(|| Redrive {
        name: name.to_owned(),
        place: place(file, *found),
        lacks: vec![RedriveLack::Bound, RedriveLack::Choice, RedriveLack::Person],
        advice: None,
        sent_on: None,
        confidence: Confidence::Medium,
    })
}

/// A shovel out of a dead-letter queue, as an object of the topology operator or a parameter in definitions.
fn shovel(node: &Node) -> Option<Redrive> {
    let is_object = node.get("kind").and_then(Node::as_str) == Some("Shovel");
    let is_parameter = node.get("component").and_then(Node::as_str) == Some("shovel");
    let (value, name) = match (is_object, is_parameter) {
        (true, _) => (node.get("spec")?, node.at(&["metadata", "name"])?),
        (_, true) => (node.get("value")?, node.get("name")?),
        _ => return None,
    };
    let source = value.entry_any(&["srcQueue", "src-queue", "srcAddress", "src-address"])?;
    let target = value.get_any(&["destQueue", "dest-queue", "destAddress", "dest-address"]).and_then(Node::as_str);
    let takes_dead_letters = names_dead_letters(source.value.as_str()?);
    if !takes_dead_letters || target.is_some_and(names_dead_letters) {
        return None;
    }
    let until = value.get_any(&["srcDeleteAfter", "src-delete-after"]);
    // So many messages, and it is gone.
    if until.is_some_and(|n| n.as_int().is_some()) {
        return None;
    }
    let prefetch = value.get_any(&["srcPrefetchCount", "src-prefetch-count", "prefetch-count", "prefetchCount"]);
    let is_slow = prefetch.and_then(Node::as_int).is_some_and(|n| (1..=50).contains(&n));
    let is_once = until.and_then(Node::as_str) == Some("queue-length");
    let mut lacks = Vec::new();
    if !is_slow {
        lacks.push(RedriveLack::Bound);
    }
    lacks.push(RedriveLack::Choice);
    if !is_once {
        lacks.push(RedriveLack::Person);
    }
    Some(Redrive {
        name: format!("Shovel {}", settings::shown(name.as_str()?)),
        place: source.value.span,
        lacks,
        advice: Some(
            "`src-delete-after: 50`, which is that many messages, and a small `src-prefetch-count`".to_owned(),
        ),
        sent_on: None,
        confidence: Confidence::High,
    })
}
