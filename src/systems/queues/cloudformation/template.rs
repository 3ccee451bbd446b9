//! Templates: resources by their logical ids, and what references in them stand for.

use std::collections::BTreeMap;

use super::terraform::Put;
use super::words::{MODULE, TEMPLATE, Words};
use crate::model::{Attempts, ComponentName, DeadLetter, QueueRef, Setting};
use crate::source::{SourceFile, Span};
use crate::syntax::{Entry, Node, Parsed, Syntax, Value};
use crate::systems::{Unit, embedded, settings, terraform};

/// References nested deeper than this are not followed; no template has them.
const MAX_DEPTH: u32 = 8;

/// A template, or a module of Terraform put as one.
#[derive(Debug)]
pub(super) struct Template<'a> {
    /// The file; of several the first.
    pub(super) file: &'a SourceFile,
    /// All of them.
    files: Vec<&'a SourceFile>,
    /// What things are called in it.
    pub(super) words: &'static Words,
    /// The whole document.
    pub(super) root: &'a Node,
    resources: BTreeMap<&'a str, Resource<'a>>,
    order: Vec<&'a str>,
}

/// A resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resource<'a> {
    /// Its logical id.
    pub(super) id: &'a str,
    /// The id's place.
    pub(super) id_span: Span,
    /// `Type`
    pub(super) kind: &'a str,
    /// `Properties`, if there are any.
    pub(super) properties: Option<&'a Node>,
}

impl<'a> Resource<'a> {
    /// The id for people: in Terraform without the type.
    pub(super) fn short(&self) -> &'a str {
        self.id.rsplit('.').next().unwrap_or(self.id)
    }

    /// The entry under a chain of properties; null is as good as absent.
    pub(super) fn entry(&self, path: &[&str]) -> Option<&'a Entry> {
        let (last, init) = path.split_last()?;
        let node = init.iter().try_fold(self.properties?, |node, key| node.get(key))?;
        node.entry(last).filter(|e| !e.value.is_null() && !is_no_value(&e.value))
    }

    /// The value under a chain of properties.
    pub(super) fn get(&self, path: &[&str]) -> Option<&'a Node> {
        self.entry(path).map(|e| &*e.value)
    }
}

/// What a value of a template stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Resolved {
    /// A text; what only the deployment knows stands in it as `${...}`.
    Text(String),
    /// A resource of this template, by its logical id.
    Object(String),
    /// Only the deployment knows.
    Unknown,
}

impl<'a> Template<'a> {
    /// A document that is a template, or has one in it (`resources` of the Serverless Framework).
    pub(super) fn of(file: &'a SourceFile, root: &'a Node) -> Option<Self> {
        let listed = root.get("Resources").or_else(|| root.at(&["resources", "Resources"]))?;
        let mut template = Self::empty(file, root);
        template.add(listed);
        (!template.resources.is_empty()).then_some(template)
    }

    /// A Serverless service without resources of its own.
    pub(super) fn empty(file: &'a SourceFile, root: &'a Node) -> Self {
        let (resources, order) = (BTreeMap::new(), Vec::new());
        Self { file, files: vec![file], words: &TEMPLATE, root, resources, order }
    }

    /// The resources of a module.
    pub(super) fn of_module(unit: &Unit<'a>, all: &'a [Put]) -> Option<Self> {
        let (file, root) = unit.documents().next()?;
        let files = unit.parts.iter().map(|part| part.file).collect();
        let mut template = Self { files, words: &MODULE, ..Self::empty(file, root) };
        for put in all {
            let properties = Some(&put.properties);
            let resource = Resource { id: &put.id, id_span: put.place, kind: put.kind, properties };
            if template.resources.insert(&put.id, resource).is_none() {
                template.order.push(&put.id);
            }
        }
        (!template.order.is_empty()).then_some(template)
    }

    /// The file in which something stands.
    fn file_of(&self, span: Span) -> &'a SourceFile {
        self.files.iter().find(|file| file.id == span.file).copied().unwrap_or(self.file)
    }

    /// Where an entry of a list opens.
    pub(super) fn opening(&self, node: &Node) -> Span {
        settings::opening(self.file_of(node.span), node)
    }

    /// The JSON that stands as text in a value.
    pub(super) fn embedded(&self, node: &Node) -> Option<Parsed> {
        embedded::of_scalar(self.file_of(node.span), node, Syntax::Json)
    }

    /// A setting as it is written: "`maxReceiveCount: 5`".
    pub(super) fn quote(&self, entry: &Entry) -> String {
        let written = self.file_of(entry.key_span).text.get(entry.key_span.range());
        let written = written.map(|text| text.trim_matches(['"', '\'']));
        // In a text with escapes the place is that of the whole.
        let is_word = |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let key = written.filter(is_word).unwrap_or(&entry.key);
        let value = settings::shown(entry.value.as_str().unwrap_or_default());
        format!("`{}{}{value}`", settings::shown(key), self.words.sets)
    }

    fn add(&mut self, listed: &'a Node) {
        for e in listed.entries() {
            let Some(kind) = e.value.get("Type").and_then(Node::as_str) else { continue };
            if !kind.contains("::") {
                continue;
            }
            let properties = e.value.get("Properties");
            if self.resources.insert(&e.key, Resource { id: &e.key, id_span: e.key_span, kind, properties }).is_none() {
                self.order.push(&e.key);
            }
        }
    }

    /// The resources of a type, in the order of the file.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = Resource<'a>> {
        self.order.iter().filter_map(|id| self.resources.get(id).copied()).filter(move |r| r.kind == kind)
    }

    /// A resource.
    pub(super) fn resource(&self, id: &str) -> Option<Resource<'a>> {
        self.resources.get(id).copied()
    }

    /// What a value stands for.
    pub(super) fn resolve(&self, node: &Node) -> Resolved {
        self.resolve_to(node, MAX_DEPTH)
    }

    fn resolve_to(&self, node: &Node, depth: u32) -> Resolved {
        if depth == 0 {
            return Resolved::Unknown;
        }
        match node.tag.as_deref() {
            Some("!Ref") => return node.as_str().map_or(Resolved::Unknown, |name| self.reference(name)),
            Some("!GetAtt") => return self.attribute(node),
            Some("!Sub") => return self.substitute(node),
            Some("!Join") => return self.join(node, depth),
            Some(_) => return Resolved::Unknown,
            None => {}
        }
        if let [only] = node.entries() {
            return match &*only.key {
                "Ref" => only.value.as_str().map_or(Resolved::Unknown, |name| self.reference(name)),
                "Fn::GetAtt" => self.attribute(&only.value),
                "Fn::Sub" => self.substitute(&only.value),
                "Fn::Join" => self.join(&only.value, depth),
                _ => Resolved::Unknown,
            };
        }
        match node.as_str() {
            // Variables of the Serverless Framework, whose values stand elsewhere, and CloudFormation's own.
            Some(text) => Resolved::Text(text.to_owned()),
            None => Resolved::Unknown,
        }
    }

    fn reference(&self, name: &str) -> Resolved {
        match self.resources.contains_key(name) {
            true => Resolved::Object(name.to_owned()),
            false => Resolved::Text(format!("${{{name}}}")),
        }
    }

    /// `Queue.Arn`, or a list of both.
    fn attribute(&self, node: &Node) -> Resolved {
        let id = match &node.value {
            Value::List(items) => items.first().and_then(|n| n.as_str()),
            _ => node.as_str().map(|text| text.split('.').next().unwrap_or(text)),
        };
        id.map_or(Resolved::Unknown, |id| self.reference(id))
    }

    /// A text with `${Name}` and `${Name.Attribute}`; the long form's own variables stay as they are.
    fn substitute(&self, node: &Node) -> Resolved {
        let text = node.as_str().or_else(|| node.items().first().and_then(|n| n.as_str()));
        let Some(text) = text else { return Resolved::Unknown };
        if let Some(inside) = text.strip_prefix("${").and_then(|t| t.strip_suffix('}'))
            && !inside.contains('}')
            && self.resources.contains_key(inside.split('.').next().unwrap_or(inside))
        {
            return Resolved::Object(inside.split('.').next().unwrap_or(inside).to_owned());
        }
        Resolved::Text(text.to_owned())
    }

    fn join(&self, node: &Node, depth: u32) -> Resolved {
        let [delimiter, parts] = node.items() else { return Resolved::Unknown };
        let Some(delimiter) = delimiter.as_str() else { return Resolved::Unknown };
        let mut texts = Vec::new();
        for part in parts.items() {
            match self.resolve_to(part, depth - 1) {
                Resolved::Text(text) => texts.push(text),
                Resolved::Object(id) => texts.push(format!("${{{id}}}")),
                Resolved::Unknown => return Resolved::Unknown,
            }
        }
        Resolved::Text(texts.join(delimiter))
    }

    /// The queue or function that a value refers to: by ARN, URL, name or reference.
    pub(super) fn target(&self, node: &Node) -> Option<QueueRef> {
        match self.resolve(node) {
            Resolved::Object(id) => Some(QueueRef::Object { file: self.file.id, id }),
            Resolved::Text(text) => {
                // `arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:orders`: colons inside of `${}` part nothing.
                let shortened = text.replace("AWS::", "AWS.");
                let last = shortened.rsplit([':', '/']).next().unwrap_or_default().replace("AWS.", "AWS::");
                let inner = last.strip_prefix("${").and_then(|t| t.strip_suffix('}'));
                match inner {
                    Some(inner) if self.named(inner).is_some() => {
                        self.named(inner).map(|id| QueueRef::Object { file: self.file.id, id })
                    }
                    // A parameter, an import, a variable: something that this template does not hold.
                    Some(_) => None,
                    None => (!last.is_empty()).then_some(QueueRef::Name(last)),
                }
            }
            Resolved::Unknown => None,
        }
    }

    /// The resource that the inside of a placeholder names: `Queue.Arn`, `aws_sqs_queue.orders.arn`.
    fn named(&self, inner: &str) -> Option<String> {
        let id = inner.trim_end_matches(".Arn").trim_end_matches(".QueueName");
        let known = |id: &String| self.resources.contains_key(id.as_str());
        Some(id.to_owned()).filter(known).or_else(|| terraform::address(inner).filter(known))
    }

    /// A function of this template.
    pub(super) fn component(&self, name: String) -> ComponentName {
        ComponentName { name, namespace: Some(self.file.path.to_string()) }
    }

    /// Where a setting sends what is given up; without the setting, nowhere.
    pub(super) fn dead_letter(&self, node: Option<&Node>) -> DeadLetter {
        match node.map(|n| (self.target(n), n.span)) {
            None => DeadLetter::None,
            Some((Some(target), place)) => DeadLetter::To { target, place },
            Some((None, _)) => DeadLetter::Unknown,
        }
    }

    /// What a resource is called: by its id in this template, and by the name that it is given, if that can be read.
    pub(super) fn names(&self, resource: &Resource<'_>, name: &str) -> Vec<QueueRef> {
        let mut names = vec![QueueRef::Object { file: self.file.id, id: resource.id.to_owned() }];
        let given = resource.get(&[name]).map(|node| self.resolve(node));
        if let Some(Resolved::Text(text)) = given {
            names.push(QueueRef::Name(text));
        }
        names
    }

    /// The name for people: that which it is given, if it is plain text, else the logical id.
    pub(super) fn title(&self, resource: &Resource<'_>, name: &str) -> String {
        match resource.get(&[name]).map(|node| self.resolve(node)) {
            Some(Resolved::Text(text)) if !text.contains("${") => text,
            _ => resource.short().to_owned(),
        }
    }
}

/// `!Ref AWS::NoValue` takes a property away.
fn is_no_value(node: &Node) -> bool {
    let reference = match node.tag.as_deref() {
        Some("!Ref") => node.as_str(),
        _ => node.get("Ref").and_then(Node::as_str),
    };
    reference == Some("AWS::NoValue")
}

/// A number that stands there, quoted or not; a reference or a variable is unknown.
pub(super) fn number(node: &Node) -> Setting<f64> {
    match node.as_f64().filter(|_| node.tag.is_none()) {
        Some(n) => Setting::written(n, node.span),
        None => Setting::unknown("only the deployment knows its value", Some(node.span)),
    }
}

/// The same for a whole number; less than none is none.
pub(super) fn whole(node: &Node) -> Setting<u64> {
    match number(node) {
        Setting::Written { value, .. } if value.fract() != 0.0 || value >= MAX_WHOLE => {
            Setting::unknown("is not a number that can stand here", Some(node.span))
        }
        number => number.map(|n| n.max(0.0) as u64),
    }
}

/// Whole numbers from here on are not exact as they are read, and none of these settings takes them.
const MAX_WHOLE: f64 = 9e15;

/// A count of retries, as attempts: one more.
pub(super) fn retries(entry: &Entry) -> Setting<Attempts> {
    whole(&entry.value).map(|n| Attempts::Count(n + 1))
}
