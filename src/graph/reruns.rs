//! Batches that are run again from their first item: by what runs their program, or by a loop in code.

use super::draft::Draft;
use super::hosts::Part;
use super::names::{image_name, lies_in, spelled};
use super::queues::{self, Code};
use crate::facts::{PackageFact, ProgramRerunFact};
use crate::model::{Layer, LayerKind, Redone, Rerun};
use crate::rust::stores::batches::Batch;

/// Programs that a failure starts again, and in whose code a batch is seen. One finding for each of them.
pub(super) fn of_programs(
    draft: &Draft<'_>,
    code: &Code<'_>,
    runs: &[ProgramRerunFact],
    batches: &[Batch],
) -> Vec<Rerun> {
    let mut found = Vec::new();
    for run in runs {
        let parts: Vec<_> = queues::named(draft, &run.component);
        let batch = batches.iter().find(|batch| {
            let Some((at, package)) = package_of(code.packages, &batch.path) else { return false };
            let owners = code.owners.of_package(at);
            let running = parts.iter().filter(|ix| owners.contains(ix)).filter_map(|ix| draft.hosts.part(*ix));
            running.into_iter().any(|part| is_run_by(batch, part, package))
        });
        found.extend(batch.map(|batch| Rerun {
            job: run.job.clone(),
            place: run.place,
            attempts: run.attempts,
            what: items(batch),
            confidence: batch.confidence,
        }));
    }
    found
}

/// Loops that call a batch again when it fails.
pub(super) fn of_loops(layers: &[Layer], batches: &[Batch]) -> Vec<Rerun> {
    let mut found = Vec::new();
    for layer in layers.iter().filter(|l| l.kind == LayerKind::Code && l.is_active() && l.is_on_paths()) {
        let calls = |batch: &&Batch| {
            batch.looped_by.iter().any(|span| span.file == layer.place.file && span.start == layer.place.start)
        };
        found.extend(batches.iter().find(calls).map(|batch| Rerun {
            job: format!("`{}`", batch.function),
            place: layer.place,
            attempts: layer.attempts.value().and_then(|a| a.count()),
            what: items(batch),
            confidence: batch.confidence.min(layer.confidence),
        }));
    }
    found
}

fn items(batch: &Batch) -> Redone {
    Redone::Items { items: batch.items, effect: batch.effect, does: batch.does.clone() }
}

/// The innermost package around a file.
fn package_of<'p>(packages: &'p [PackageFact], path: &str) -> Option<(usize, &'p PackageFact)> {
    packages.iter().enumerate().filter(|(_, p)| lies_in(path, &p.folder)).max_by_key(|(_, p)| p.folder.len())
}

/// Whether a component runs a program that leads to a batch: the package's own, or the one that it is named after.
fn is_run_by(batch: &Batch, part: &Part, package: &PackageFact) -> bool {
    let own = (batch.path.clone(), "main".to_owned());
    let mains = batch.callers.iter().chain(batch.is_main.then_some(&own)).filter(|(_, name)| name == "main");
    let names: Vec<String> =
        part.images.iter().map(|image| spelled(image_name(image))).chain([spelled(&part.name)]).collect();
    mains.into_iter().filter(|(path, _)| lies_in(path, &package.folder)).any(|(path, _)| {
        path.ends_with("src/main.rs") || binary(path).is_some_and(|binary| names.contains(&spelled(binary)))
    })
}

/// `src/bin/settle.rs` → `settle`.
fn binary(path: &str) -> Option<&str> {
    let (_, inside) = path.rsplit_once("src/bin/")?;
    inside.strip_suffix(".rs").map(|name| name.strip_suffix("/main").unwrap_or(name))
}
