//! Calls in code → hops: which component makes them, and whom their URLs reach.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::Draft;
use super::hosts::Part;
use super::names::host_of;
use super::owners::Owners;
use crate::facts::PackageFact;
use crate::model::{ComponentIx, Hop, HostRef, Layer, LayerIx, LayerUse, ModeSet, Post, Reason, Scope};
use crate::rust::reading::{CodeCall, CodeReading, Target, UrlPart};
use crate::source::Span;

/// So many URLs are told apart where environments differ.
const MAX_URLS: usize = 16;

/// Adds what code calls. `first` is the number of the reading's first layer.
pub(super) fn add_calls(
    draft: &mut Draft<'_>,
    owners: &Owners,
    packages: &[PackageFact],
    reading: &CodeReading,
    first: u32,
) {
    let mut by_place: BTreeMap<Span, Vec<&CodeCall>> = BTreeMap::new();
    reading.calls.iter().for_each(|call| by_place.entry(call.span).or_default().push(call));
    let same_place = |call: &CodeCall| by_place.get(&call.span).map_or(&[][..], Vec::as_slice);
    draft.taking.extend(reading.calls.iter().filter(|call| call.takes_messages).map(|call| call.span));
    for call in reading.calls.iter().filter(|call| !is_of_a_library(call, same_place(call), packages)) {
        for from in callers(draft, owners, call) {
            for ((to, grpc), reasons) in targets(draft, from, call) {
                let runs = owners.why(call.package, from).cloned();
                let hop = draft.hop_because((from, to), Some(call.span), runs.into_iter().chain(reasons));
                let layers = call.layers.iter().filter_map(|l| used(draft, first, l.layer, l.modes)).collect();
                draft.add_hop(Hop {
                    layers,
                    on_request: !call.root.is_main,
                    answers: call.answers.clone(),
                    grpc: call.grpc || grpc,
                    per_item: call.per_item,
                    limit: call.limit.clone(),
                    posts: post(call).into_iter().collect(),
                    ..hop
                });
            }
        }
    }
    add_layers_without_calls(draft, owners);
}

/// What the call is, where it is one that may not be repeated unseen.
fn post(call: &CodeCall) -> Option<Post> {
    let method = call.method.as_ref().filter(|m| Post::is_method(m))?;
    Some(Post { method: method.clone(), span: call.span, key: call.key })
}

fn used(draft: &Draft<'_>, first: u32, layer: usize, modes: ModeSet) -> Option<LayerUse> {
    let ix = LayerIx(first.checked_add(u32::try_from(layer).ok()?)?);
    let copies = draft.layer(ix)?.copies;
    Some(LayerUse { layer: ix, modes: if copies { ModeSet::all() } else { modes } })
}

/// A public function of a library starts a chain only where no package that depends on it leads through it.
fn is_of_a_library(call: &CodeCall, same_place: &[&CodeCall], packages: &[PackageFact]) -> bool {
    let Some(library) = call.package.and_then(|p| packages.get(p)) else { return false };
    let depends = |other: &CodeCall| {
        let package = other.package.filter(|p| Some(*p) != call.package).and_then(|p| packages.get(p));
        package.is_some_and(|p| p.dependencies.iter().any(|d| d.path.as_ref() == Some(&library.folder)))
    };
    same_place.iter().any(|other| depends(other))
}

/// The components whose code makes a call.
fn callers(draft: &mut Draft<'_>, owners: &Owners, call: &CodeCall) -> Vec<ComponentIx> {
    match call.package {
        Some(package) => owners.of_package(package).to_vec(),
        None => of_file(draft, owners, call.root.span),
    }
}

fn of_file(draft: &mut Draft<'_>, owners: &Owners, span: Span) -> Vec<ComponentIx> {
    let path = draft.sources.get(span.file).map_or_else(String::new, |f| f.path.to_string());
    owners.of_file(&path, &mut draft.hosts)
}

/// Whom a call reaches, whether by gRPC, and why.
fn targets(draft: &mut Draft<'_>, from: ComponentIx, call: &CodeCall) -> BTreeMap<(ComponentIx, bool), Vec<Reason>> {
    let of = format!("a call in `{}`", call.root.name);
    let (urls, why) = match &call.target {
        Target::Url { parts, span } => urls(draft, from, parts, *span),
        Target::Unknown { why } => (Vec::new(), Some((call.span, why.clone()))),
    };
    let namespace = draft.hosts.part(from).and_then(|p| p.namespace.clone());
    let hosts: Vec<(String, bool)> =
        urls.iter().filter_map(|url| host_of(url).map(|host| (host, is_of_a_provider(url)))).collect();
    let mut targets: BTreeMap<(ComponentIx, bool), Vec<Reason>> = BTreeMap::new();
    for (name, of_a_provider) in &hosts {
        let host = HostRef { name: name.clone(), port: None, namespace: namespace.clone(), span: call.span };
        let found = match of_a_provider {
            true => draft.hosts.behind_service(&host, from),
            false => draft.hosts.resolve(&host),
        };
        for to in found.components {
            let mut reasons = vec![Reason::new(call.span, format!("`{}` calls `{name}`", call.root.name))];
            reasons.extend(set_in_environment(draft, from, call, name));
            reasons.push(draft.hosts.why(&host, to));
            targets.entry((to, found.grpc)).or_default().extend(reasons);
        }
    }
    let all_known = !hosts.is_empty() && hosts.len() == urls.len();
    // Where nothing repeats the call, an unknown host changes no product that could be told.
    if !all_known && !call.layers.is_empty() {
        let (span, why) = why.unwrap_or_else(|| (call.span, "only the run knows the host".to_owned()));
        let reason = Reason::new(span, format!("`{}` calls a host that is not known: {why}", call.root.name));
        targets.insert((draft.unknown_target(&of, span, why), false), vec![reason]);
    }
    targets
}

/// `s3://s3`: the service that a provider's SDK is for, not a host that anybody wrote.
fn is_of_a_provider(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, host)| scheme == host)
}

/// Where the environment of a component holds the host that a call reaches.
fn set_in_environment(draft: &Draft<'_>, from: ComponentIx, call: &CodeCall, host: &str) -> Vec<Reason> {
    let Target::Url { parts, .. } = &call.target else { return Vec::new() };
    let own = draft.hosts.part(from);
    let named = |part: &UrlPart| match part {
        UrlPart::Env { name, .. } => Some(name.clone()),
        UrlPart::Text(_) | UrlPart::Unknown => None,
    };
    let variables: Vec<String> = parts.iter().filter_map(named).collect();
    let values = |part: &Part| -> Vec<Reason> {
        let of = |variable: &String| -> Vec<Reason> {
            let values = part.values(variable).filter(|e| expanded(&e.value, part).to_lowercase().contains(host));
            values.map(|e| Reason::new(e.span, format!("`{variable}` is set to `{}`", e.value))).collect()
        };
        variables.iter().flat_map(of).collect()
    };
    let reasons = own.map(values).unwrap_or_default();
    if !reasons.is_empty() || variables.is_empty() || own.is_some_and(|p| p.declared) {
        return reasons;
    }
    draft.hosts.iter().map(|(_, part)| values(part)).find(|r| !r.is_empty()).unwrap_or_default()
}

/// The URLs that the parts make with the environment of a component; where a variable is set nowhere, the reason.
fn urls(draft: &Draft<'_>, from: ComponentIx, parts: &[UrlPart], span: Span) -> (Vec<String>, Option<(Span, String)>) {
    let mut urls = vec![String::new()];
    let mut why = None;
    for part in parts {
        let texts = match part {
            UrlPart::Text(text) => vec![text.clone()],
            UrlPart::Unknown => vec!["{}".to_owned()],
            UrlPart::Env { name, default, span } => {
                let values = values(draft, from, name);
                if values.is_empty() && default.is_none() {
                    let reason = format!(
                        "comes from the environment variable {name}, which nothing in the repository sets for it"
                    );
                    why.get_or_insert((*span, reason));
                }
                let values = if values.is_empty() { default.iter().cloned().collect() } else { values };
                if values.is_empty() { vec!["{}".to_owned()] } else { values }
            }
        };
        urls = urls.iter().flat_map(|url| texts.iter().map(move |t| format!("{url}{t}"))).take(MAX_URLS).collect();
    }
    let why = why.or_else(|| Some((span, "only the run knows the host".to_owned())));
    (urls, why)
}

/// The values of a variable. Where nothing is known to run a package, those on which all manifests agree.
fn values(draft: &Draft<'_>, from: ComponentIx, name: &str) -> Vec<String> {
    let of = |part: &Part| -> BTreeSet<String> { part.values(name).map(|e| expanded(&e.value, part)).collect() };
    let own = draft.hosts.part(from);
    let values = own.map(of).unwrap_or_default();
    if !values.is_empty() || own.is_some_and(|p| p.declared) {
        return values.into_iter().collect();
    }
    let anywhere: BTreeSet<String> = draft.hosts.iter().flat_map(|(_, p)| of(p)).collect();
    if anywhere.len() == 1 { anywhere.into_iter().collect() } else { Vec::new() }
}

/// Variables in a value: `$(NAME)` is another one of the same component; `${NAME:-default}` its default.
pub(super) fn expanded(value: &str, part: &Part) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let closing = match after.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            _ => {
                out.push('$');
                rest = after;
                continue;
            }
        };
        let Some((inside, behind)) = after.get(1..).and_then(|a| a.split_once(closing)) else {
            rest = after;
            continue;
        };
        let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
        let (name, operator) = inside.split_at_checked(end).unwrap_or((inside, ""));
        let default = operator.strip_prefix(":-").or_else(|| operator.strip_prefix('-'));
        let known = part.values(name).map(|e| e.value.as_str()).find(|v| !v.contains('$'));
        out.push_str(known.or(default).unwrap_or("{}"));
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// A layer in code around something of which no call is known: it still repeats that. What a client would do by
/// default with calls that it does not make is no path.
fn add_layers_without_calls(draft: &mut Draft<'_>, owners: &Owners) {
    let used: BTreeSet<LayerIx> = draft.hops.iter().flat_map(|h| h.layers.iter().map(|l| l.layer)).collect();
    for ix in draft.layer_ixs().filter(|ix| !used.contains(ix)) {
        let repeats = |l: &&Layer| l.scope == Scope::Code && l.is_active() && l.is_on_paths() && !l.is_implicit();
        let Some(layer) = draft.layer(ix).filter(repeats) else { continue };
        let (name, opens, place) = (layer.name.clone(), layer.opens, layer.place);
        let reason = "nothing shows what it calls".to_owned();
        let why = Reason::new(opens, format!("{name} repeats something, and {reason}"));
        let to = draft.unknown_target(&name, opens, reason);
        for from in of_file(draft, owners, place) {
            let hop = draft.hop_because((from, to), Some(opens), [why.clone()]);
            let layers = draft.uses(&[ix]);
            draft.add_hop(Hop { layers, ..hop });
        }
    }
}
