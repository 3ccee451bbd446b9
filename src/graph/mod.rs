//! Facts → model: who is who, which call graph that makes, and what retries multiply to on it.
//!
//! [`hosts`] and [`owners`] say who is who; [`code`], [`gateways`], [`environment`], [`addresses`],
//! [`clients`] and [`mesh`] make the hops
//! and put the layers on them; [`modes`], [`products`], [`cycles`], [`bounds`], [`chains`], [`search`], [`ways`], [`paths`],
//! [`mod@factors`] and [`times`] work on the finished graph and know nothing of where it came from.

mod addresses;
mod bounds;
mod chains;
mod clients;
mod code;
mod cycles;
mod draft;
mod environment;
mod factors;
mod gateways;
mod hops;
mod hosts;
mod mesh;
mod modes;
mod names;
mod owners;
mod paths;
mod products;
mod queues;
mod reruns;
mod search;
mod times;
mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::config::Config;
use crate::facts::Facts;
use crate::model::{ComponentIx, ComponentKind, HostRef, Layer, LayerIx, Model, Reason, Redrive, Setting, Unresolved};
use crate::rust::reading::{CodeReading, CutShort};
use crate::rust::stores as rust_stores;
use crate::source::{Sources, Span};
use draft::Draft;
pub use factors::{Chain, Factors, Failure, Repeat, factors};
use gateways::Gateways;
use hosts::{Hosts, Part};
use owners::Owners;

/// Links the facts of all files, and what their Rust code does, into the model.
pub fn link(facts: Facts, mut reading: CodeReading, sources: &Sources, config: &Config) -> Model {
    let inert = facts.inert;
    let Facts { layers, components, services, routes, packages, modules, mut purges, stores, unresolved, .. } = facts;
    let (mut queues, alarms, mut incomplete_records) = (facts.queues, facts.alarms, facts.incomplete_records);
    let handling = rust_stores::read(&modules, &stores, &facts.dead_letter_tables, sources);
    incomplete_records.extend(handling.records);
    purges.extend(handling.purges);
    // Where the broker's own settings are in the repository, they tell.
    if !queues.iter().any(|q| q.service == "rabbitmq") {
        queues.extend(handling.consumers);
    }
    for job in handling.jobs {
        queues.push(job.queue);
        reading.add_around(job.layer, job.runs);
    }
    queues::join(&mut queues, &alarms);
    let mut draft = Draft {
        hosts: Hosts::new(components, services).with_paths(facts.paths),
        sources,
        layers,
        hops: hops::Hops::default(),
        unresolved,
        taking: BTreeSet::new(),
    };
    draft.hosts.give_programs(&facts.dockerfiles);
    let first_of_code = draft.layers.len() as u32;
    draft.layers.extend(reading.layers.iter().cloned());
    draft.unresolved.extend(reading.unresolved.iter().cloned());
    let cut_short: Vec<(Arc<str>, CutShort)> = reading
        .cut_short
        .iter()
        .filter_map(|cut| Some((Arc::clone(&reading.layers.get(cut.layer)?.id), cut.clone())))
        .collect();

    add_configured(&mut draft, config);
    let owners = Owners::new(&packages, &reading, &mut draft.hosts, config).with_maps(facts.mounted_maps);
    addresses::name_applications(&mut draft, &owners, &facts.application_names);
    let gateways = Gateways::new(&mut draft, &routes);
    code::add_calls(&mut draft, &owners, &packages, &reading, first_of_code);
    add_configured_calls(&mut draft, config);
    gateways::add_layers(&mut draft, &gateways);
    gateways::add_routes(&mut draft, &gateways, &routes);
    environment::add_hops(&mut draft);
    addresses::add_hops(&mut draft, &owners, &facts.addresses);
    clients::add_layers(&mut draft, &owners);
    mesh::add_layers(&mut draft, &gateways);
    let code = queues::Code { owners: &owners, packages: &packages, modules: &modules };
    queues::add_layers(&mut draft, &code, &queues, &facts.consumers, config.max_amplification);
    let sent_on = queues::sent_on(&draft, &code, &stores);
    let mut reruns = facts.reruns;
    reruns.extend(reruns::of_programs(&draft, &code, &facts.program_reruns, &handling.batches));
    reruns.extend(reruns::of_loops(&draft.layers, &handling.batches));
    draft.drop_idle_defaults();
    draft.sort_layers();
    let mut redrives = facts.redrives;
    redrives.extend(handling.redrives.into_iter().map(|redrive| Redrive { sent_on, ..redrive }));

    let mut model = Model {
        purges,
        stores,
        checks: handling.checks,
        redrives,
        reruns,
        redelivery_window: config.redelivery_window,
        queues,
        alarms,
        incomplete_records,
        inert,
        max_amplification: config.max_amplification,
        ..Model::default()
    };
    finish(draft, &owners, &mut model);
    let overruns: Vec<_> = cut_short.iter().filter_map(|(id, cut)| times::cut_short(&model, id, cut)).collect();
    model.overruns.extend(overruns);
    model
}

/// `[[service]]`: names and hosts.
fn add_configured(draft: &mut Draft<'_>, config: &Config) {
    for service in &config.services {
        let ix = draft
            .hosts
            .named(&service.name)
            .unwrap_or_else(|| draft.hosts.add(Part::new(&service.name, ComponentKind::Service, service.span)));
        if let Some(part) = draft.hosts.part_mut(ix) {
            part.declared = true;
            part.confined |= !service.paths.is_empty();
        }
        draft.hosts.call(ix, service.hosts.iter().filter_map(|h| names::host_of(h)));
    }
}

/// `[[service]] calls`.
fn add_configured_calls(draft: &mut Draft<'_>, config: &Config) {
    for service in &config.services {
        let Some(from) = draft.hosts.named(&service.name) else { continue };
        let span = service.span.unwrap_or(Span::start_of(crate::config::CONFIG_FILE_ID));
        for name in service.calls.iter().filter_map(|c| names::host_of(c)) {
            let namespace = draft.hosts.part(from).and_then(|p| p.namespace.clone());
            let host = HostRef { name, port: None, namespace, span };
            for to in draft.hosts.resolve(&host).components {
                if !draft.has_hop(from, to) {
                    let says = format!("retrylint.toml says that {} calls `{}`", service.name, host.name);
                    let reasons = [Reason::new(service.span, says), draft.hosts.why(&host, to)];
                    let hop = draft.hop_because((from, to), service.span, reasons);
                    draft.add_hop(hop);
                }
            }
        }
    }
}

fn finish(mut draft: Draft<'_>, owners: &Owners, model: &mut Model) {
    let having = components_of_layers(&mut draft, owners);
    let Draft { hosts, mut layers, hops, mut unresolved, .. } = draft;
    let mut hops = hops.into_vec();
    hops.sort_by_cached_key(|h| {
        let layers: Vec<_> = h.layers.iter().map(|l| (l.layer, l.modes)).collect();
        (h.from, h.to, h.place, layers)
    });
    model.components = hosts.into_components();
    for (layer, component) in having {
        if let (Some(layer), Some(component)) =
            (layers.get_mut(layer.0 as usize), model.components.get(component.0 as usize))
        {
            layer.component = Some(component.name.clone());
        }
    }
    model.layers = layers;
    model.hops = hops;
    let paths = paths::list(&model.components, &model.hops, &model.layers, model.max_amplification);
    unresolved.extend(paths.cycles.iter().filter_map(|hop| cycle(model, *hop)));
    unresolved.extend(model.layers.iter().filter_map(unknown_attempts));
    unresolved.sort();
    unresolved.dedup();
    model.unresolved = unresolved;
    model.overruns = times::overruns(model);
    model.paths = paths.listed;
    model.paths_truncated = paths.truncated;
}

/// A layer that names no component has that of its hops, if it is one.
fn components_of_layers(draft: &mut Draft<'_>, owners: &Owners) -> Vec<(LayerIx, ComponentIx)> {
    let mut callers: BTreeMap<LayerIx, BTreeSet<ComponentIx>> = BTreeMap::new();
    for hop in draft.hops.iter() {
        hop.layers.iter().for_each(|l| _ = callers.entry(l.layer).or_default().insert(hop.from));
    }
    let mut having = Vec::new();
    for ix in draft.layer_ixs() {
        let Some(layer) = draft.layer(ix).filter(|l| l.component.is_none()) else { continue };
        let is_code = layer.scope == crate::model::Scope::Code;
        let mut from = callers.remove(&ix).unwrap_or_default();
        if from.is_empty() && is_code {
            from.extend(owner_of_code(draft, owners, ix));
        }
        let runs = |ix: &ComponentIx| draft.hosts.part(*ix).is_some_and(|p| p.kind != ComponentKind::Outside);
        if let (1, Some(only)) = (from.len(), from.first().copied().filter(runs)) {
            having.push((ix, only));
        }
    }
    having
}

fn owner_of_code(draft: &mut Draft<'_>, owners: &Owners, ix: LayerIx) -> Vec<ComponentIx> {
    let path = draft.layer(ix).and_then(|l| draft.sources.get(l.place.file)).map(|f| f.path.clone());
    path.map_or_else(Vec::new, |path| owners.of_file(&path, &mut draft.hosts))
}

/// What counts as one attempt, since nobody can say how many there are.
fn unknown_attempts(layer: &Layer) -> Option<Unresolved> {
    let Setting::Unknown { why, span } = &layer.attempts else { return None };
    Some(Unresolved {
        span: span.unwrap_or(layer.place),
        what: format!("attempts of {}", layer.name),
        reason: why.clone(),
    })
}

fn cycle(model: &Model, hop: usize) -> Option<Unresolved> {
    let hop = model.hops.get(hop)?;
    let name = |ix: ComponentIx| model.components.get(ix.0 as usize).map(|c| c.name.clone());
    let (from, to) = (name(hop.from)?, name(hop.to)?);
    Some(Unresolved {
        span: hop.place?,
        what: format!("how often calls go round from {to} to {from} and back"),
        reason: "the components call each other in a circle; the paths count it once".to_owned(),
    })
}

#[cfg(test)]
mod tests;
