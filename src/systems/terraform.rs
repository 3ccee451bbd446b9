//! Terraform: the resources of a module, and the documents of other systems that stand in them. All files of one folder
//! are one module, and so one unit.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Part, Unit, embedded};
use crate::model::QueueRef;
use crate::source::{FileId, SourceFile, Span};
use crate::syntax::{Entry, Node, Parsed, Scalar, Syntax, Value, relaxed};

/// The tag of a value that names a resource of the module; its text is the resource's address: `aws_sqs_queue.orders`.
pub(super) const REFERENCE: &str = "!Ref";

/// The tag of a value that only a run of Terraform knows; its text is the expression's source.
const EXPRESSION: &str = "!Expression";

/// A local value that is another one is followed this deep.
const MAX_LOCALS: u32 = 8;

/// `key` without which no file of Terraform holds a resource.
const KEY: &str = "resource";

/// A resource.
#[derive(Debug)]
pub(super) struct Resource {
    /// Its type: `aws_sqs_queue`.
    pub(super) kind: Arc<str>,
    /// Type and name: `aws_sqs_queue.orders`.
    pub(super) address: String,
    /// The name's place.
    pub(super) place: Span,
    /// Its arguments: references are tagged as such, expressions too.
    pub(super) body: Node,
}

impl Resource {
    /// Its name, without its type.
    pub(super) fn name(&self) -> &str {
        self.address.rsplit('.').next().unwrap_or(&self.address)
    }

    /// The file that it stands in.
    pub(super) fn file<'a>(&self, unit: &Unit<'a>) -> Option<&'a SourceFile> {
        unit.parts.iter().map(|part| part.file).find(|file| file.id == self.place.file)
    }
}

/// What stands in a list, or in the language itself as a block for each; a name as any of `fields`, in any spelling.
pub(super) fn repeated<'n>(node: &'n Node, fields: &[&str]) -> impl Iterator<Item = &'n Node> + use<'n> {
    let fields: Vec<String> = fields.iter().map(|field| relaxed(field)).collect();
    let named = node.entries().iter().filter(move |e| fields.contains(&relaxed(&e.key)));
    named.flat_map(|e| match e.value.items() {
        [] => vec![&*e.value],
        items => items.iter().map(|n| &**n).collect(),
    })
}

/// A name, or that of the resource to which a value refers; of another expression it is not known.
pub(super) fn name(node: &Node) -> Option<&str> {
    match node.tag.as_deref() {
        Some(REFERENCE) => node.as_str()?.rsplit('.').next(),
        Some(EXPRESSION) => None,
        _ => node.as_str(),
    }
}

/// What the resources of a module are called where they run: by their names where these are written, else by their
/// addresses, which hold in the module only.
#[derive(Debug)]
pub(super) struct Called {
    module: FileId,
    names: BTreeMap<String, String>,
}

impl Called {
    /// The names of these resources; `module` is any file of theirs, the same for all of them.
    pub(super) fn new(module: FileId, resources: &[Resource]) -> Self {
        let name = |r: &Resource| Some((r.address.clone(), literal(r.body.get("name")?)?.to_owned()));
        Self { module, names: resources.iter().filter_map(name).collect() }
    }

    /// The resource at an address.
    pub(super) fn at(&self, address: &str) -> QueueRef {
        match self.names.get(address) {
            Some(name) => QueueRef::Name(name.clone()),
            None => QueueRef::Object { file: self.module, id: address.to_owned() },
        }
    }

    /// What a value names: a resource of the module, or one by its name or path. `None`: it cannot be told.
    pub(super) fn by(&self, node: &Node) -> Option<QueueRef> {
        match node.tag.as_deref() {
            Some(REFERENCE) => Some(self.at(node.as_str()?)),
            Some(_) => None,
            None => {
                let last = node.as_str()?.rsplit('/').next().filter(|name| !name.contains("${"))?;
                Some(QueueRef::Name(last.to_owned()))
            }
        }
    }

    /// For people: a resource by its name, or by what it is called in the module.
    pub(super) fn shown<'r>(&'r self, resource: &'r Resource) -> &'r str {
        self.names.get(&resource.address).map_or(resource.name(), String::as_str)
    }
}

/// A text without a part that is put in later.
fn literal(node: &Node) -> Option<&str> {
    node.as_str().filter(|text| node.tag.is_none() && !text.contains("${"))
}

/// Whether only a run of Terraform knows a value.
pub(super) fn is_expression(node: &Node) -> bool {
    node.tag.as_deref() == Some(EXPRESSION)
}

/// The settings that stand in the resources of a file as documents of their own.
pub(super) fn documents(part: &Part<'_>) -> Parsed {
    let mut out = Parsed::default();
    if module_of(part.name).is_none() {
        return out;
    }
    let of_kind = |root: &'_ Arc<Node>, kind: &str| -> Vec<Arc<Node>> {
        let kinds = repeated(root, &[KEY]).filter_map(|n| n.get(kind));
        kinds.flat_map(Node::entries).map(|e| e.value.clone()).collect()
    };
    for root in &part.parsed.documents {
        for body in of_kind(root, "kubernetes_manifest") {
            out.documents
                .extend(body.entry("manifest").filter(|e| !e.value.entries().is_empty()).map(|e| e.value.clone()));
        }
        for body in of_kind(root, "kubectl_manifest") {
            let written = body.get("yaml_body").and_then(|n| embedded::of_scalar(part.file, n, Syntax::Yaml));
            out.documents.extend(written.into_iter().flat_map(|parsed| parsed.documents));
        }
        for body in of_kind(root, "consul_config_entry") {
            out.documents.extend(config_entry(part.file, &body));
        }
    }
    out
}

/// An entry of Consul's: its kind and name beside the object with the rest.
fn config_entry(file: &SourceFile, body: &Node) -> Option<Arc<Node>> {
    let config = body.entry("config_json")?;
    let written = || embedded::of_scalar(file, &config.value, Syntax::Json)?.documents.into_iter().next();
    let config = if config.value.entries().is_empty() { written()? } else { config.value.clone() };
    let named = ["kind", "name"].into_iter().filter_map(|key| body.entry(key).cloned());
    let entries: Vec<Entry> = named.chain(config.entries().iter().cloned()).collect();
    Some(Arc::new(Node::new(body.span, Value::Map(entries))))
}

/// The folder that is the module of a file of Terraform.
pub(super) fn module_of(path: &str) -> Option<String> {
    let is_file = path.ends_with(".tf") || path.ends_with(".tf.json");
    is_file.then(|| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned())
}

/// The resources of a unit whose types begin with `prefix`, in the order of the files.
pub(super) fn resources(unit: &Unit<'_>, prefix: &str) -> Vec<Resource> {
    let documents: Vec<&Node> =
        unit.documents().filter(|(file, _)| module_of(&file.path).is_some()).map(|(_, root)| root).collect();
    let locals = locals(&documents);
    let mut out = Vec::new();
    for kinds in documents.iter().flat_map(|root| root.entries()).filter(|e| &*e.key == KEY) {
        for kind in kinds.value.entries().iter().filter(|e| e.key.starts_with(prefix)) {
            for e in kind.value.entries() {
                let address = format!("{}.{}", kind.key, e.key);
                // The JSON form may write a block as a list of one.
                let body = e.value.items().first().unwrap_or(&e.value);
                let body = read(body, &locals, MAX_LOCALS);
                out.push(Resource { kind: kind.key.clone(), address, place: e.key_span, body });
            }
        }
    }
    out
}

type Locals<'n> = BTreeMap<&'n str, &'n Node>;

fn locals<'n>(documents: &[&'n Node]) -> Locals<'n> {
    let blocks = documents.iter().flat_map(|root| root.entries()).filter(|e| &*e.key == "locals");
    blocks.flat_map(|e| e.value.entries()).map(|e| (&*e.key, &*e.value)).collect()
}

/// A value with what its expressions stand for, as far as the module tells. Trees are as deep as the reader allows.
fn read(node: &Node, locals: &Locals<'_>, depth: u32) -> Node {
    let value = match &node.value {
        Value::Scalar(scalar) => return scalar_of(node, scalar, locals, depth),
        Value::List(items) => Value::List(items.iter().map(|n| Arc::new(read(n, locals, depth))).collect()),
        Value::Map(entries) => Value::Map(entries.iter().flat_map(|e| argument(e, locals, depth)).collect()),
    };
    Node::new(node.span, value)
}

/// An argument or a block; of one that is made for each element of something, only that it is there is known.
fn argument(e: &Entry, locals: &Locals<'_>, depth: u32) -> Vec<Entry> {
    let is_dynamic = &*e.key == "dynamic" && e.value.entries().iter().all(|b| b.value.get("content").is_some());
    if !is_dynamic {
        return vec![Entry { value: Arc::new(read(&e.value, locals, depth)), ..e.clone() }];
    }
    let unknown = |b: &Entry| Entry { value: Arc::new(expression(b.value.span, "dynamic")), ..b.clone() };
    e.value.entries().iter().map(unknown).collect()
}

fn scalar_of(node: &Node, scalar: &Scalar, locals: &Locals<'_>, depth: u32) -> Node {
    let whole = scalar.text.strip_prefix("${").and_then(|t| t.strip_suffix('}')).filter(|t| !t.contains(['{', '}']));
    let source = match whole {
        Some(source) => source.trim(),
        None if scalar.plain => scalar.text.trim(),
        None => return node.clone(),
    };
    if whole.is_none() && is_literal(source) {
        return node.clone();
    }
    if let Some(product) = product(source) {
        let text = product.to_string().into();
        return Node::new(node.span, Value::Scalar(Scalar { text, plain: true, verbatim: None }));
    }
    if let Some(local) = source.strip_prefix("local.").and_then(|name| locals.get(name)).filter(|_| depth > 0) {
        // What is said of the value is said of the place that asks for it.
        return Node { span: node.span, ..read(local, locals, depth - 1) };
    }
    match address(source) {
        Some(address) => tagged(node.span, REFERENCE, &address),
        None => expression(node.span, source),
    }
}

fn expression(span: Span, source: &str) -> Node {
    tagged(span, EXPRESSION, source)
}

fn tagged(span: Span, tag: &str, text: &str) -> Node {
    let value = Value::Scalar(Scalar { text: text.into(), plain: false, verbatim: None });
    Node { span, value, tag: Some(tag.into()) }
}

fn is_literal(source: &str) -> bool {
    matches!(source, "true" | "false" | "null") || source.parse::<f64>().is_ok()
}

/// `14 * 24 * 60 * 60`
fn product(source: &str) -> Option<u64> {
    source.split('*').try_fold(1u64, |all, factor| all.checked_mul(factor.trim().parse().ok()?))
}

/// `aws_sqs_queue.orders[0].arn` → `aws_sqs_queue.orders`
pub(super) fn address(source: &str) -> Option<String> {
    let (kind, rest) = source.split_once('.')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end)?;
    // Nothing but indexes and attributes follows, and not an operator.
    let is_attribute = |c: char| is_word(c) || matches!(c, '.' | '[' | ']' | '"' | '*');
    let is_whole = after.chars().all(is_attribute) && (after.is_empty() || after.starts_with(['.', '[']));
    let is_kind = kind.contains('_') && kind.chars().all(is_word) && !name.is_empty();
    (is_kind && is_whole).then(|| format!("{kind}.{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, SourceFile};
    use crate::syntax;
    use crate::systems::Part;

    #[test]
    fn addresses() {
        let found = [
            ("aws_sqs_queue.orders.arn", Some("aws_sqs_queue.orders")),
            ("aws_sqs_queue.orders[0].arn", Some("aws_sqs_queue.orders")),
            ("aws_sqs_queue.orders[each.key].arn", Some("aws_sqs_queue.orders")),
            ("aws_sqs_queue.orders", Some("aws_sqs_queue.orders")),
            ("var.arn", None),
            ("module.queues.arn", None),
            ("data.aws_sqs_queue.x.arn", None),
            ("aws_sqs_queue.a.arn == 1 ? 2 : 3", None),
            ("lower(aws_sqs_queue.a.name)", None),
        ];
        for (source, expected) in found {
            assert_eq!(address(source).as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn a_module_is_read_across_its_files() {
        let file = |n: u32, path: &str, text: &str| SourceFile { id: FileId(n), path: path.into(), text: text.into() };
        let text = "resource \"aws_sqs_queue\" \"a\" {\n  age = 2 * 60\n  days = local.days\n  to = aws_sqs_queue.b.arn\n  \
                    name = \"${var.x}-a\"\n  more = var.more\n  dynamic \"block\" {\n    for_each = var.b\n    content {\n    }\n  \
                    }\n}\nresource \"google_x\" \"c\" {}\n";
        let files = [file(0, "m/main.tf", text), file(1, "m/locals.tf", "locals {\n  days = 14\n}\n")];
        let parsed: Vec<_> = files.iter().map(syntax::hcl::parse).collect();
        let unit = Unit { parts: files.iter().zip(&parsed).map(|(f, p)| Part::new(f, p)).collect() };
        let found = resources(&unit, "aws_");
        let [queue] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((&*queue.address, &*queue.kind), ("aws_sqs_queue.a", "aws_sqs_queue"));
        let shown = |key: &str| queue.body.get(key).map(|n| (n.tag.as_deref(), n.as_str()));
        assert_eq!(shown("age"), Some((None, Some("120"))));
        assert_eq!(shown("days"), Some((None, Some("14"))));
        assert_eq!(shown("to"), Some((Some("!Ref"), Some("aws_sqs_queue.b"))));
        assert_eq!(shown("name"), Some((None, Some("${var.x}-a"))));
        assert_eq!(shown("more"), Some((Some("!Expression"), Some("var.more"))));
        assert_eq!(shown("block"), Some((Some("!Expression"), Some("dynamic"))));
    }
}
