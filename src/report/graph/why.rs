//! Why one component leads to another: hop by hop, what each rests on.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use super::view::name;
use crate::model::{ComponentIx, Hop, Model};
use crate::report::Places;
use crate::report::text::{Ink, Style};
use crate::rules::phrase;
use crate::run::Run;
use crate::source::Span;
use crate::suggest::closest;

/// The question.
#[derive(Debug, Clone)]
pub struct Why {
    from: ComponentIx,
    to: ComponentIx,
}

/// A name that no component bears.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no component is called `{name}`; {hint}")]
pub struct Unknown {
    name: String,
    hint: String,
}

impl Why {
    /// Asks for these two.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn new(run: &Run, from: &str, to: &str) -> Result<Self, Unknown> {
        Ok(Self { from: find(&run.model, from)?, to: find(&run.model, to)? })
    }

    /// Writes the answer. Whether there is a way from the one to the other.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, run: &Run, style: Style, out: &mut dyn Write) -> io::Result<bool> {
        let model = &run.model;
        let mut places = Places::new(&run.sources);
        let Some(way) = shortest(model, self.from, self.to) else {
            writeln!(out, "Nothing leads from {} to {}.", name(model, self.from), name(model, self.to))?;
            return Ok(false);
        };
        for (n, (from, to)) in way.iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            writeln!(out, "{}", style.paint(Ink::Strong, format!("{} → {}", name(model, *from), name(model, *to))))?;
            for hop in model.hops.iter().filter(|h| (h.from, h.to) == (*from, *to)) {
                one(model, hop, &mut places, out)?;
            }
        }
        Ok(true)
    }
}

/// One hop: its reasons, then its layers.
fn one(model: &Model, hop: &Hop, places: &mut Places<'_>, out: &mut dyn Write) -> io::Result<()> {
    for reason in &hop.reasons {
        match reason.span {
            Some(span) => writeln!(out, "  because {} ({})", reason.text, place(span, places))?,
            None => writeln!(out, "  because {}", reason.text)?,
        }
    }
    if hop.per_item {
        writeln!(out, "  for each of several items: that is no retry")?;
    }
    if !hop.on_request {
        writeln!(out, "  of itself: no request causes it")?;
    }
    if let Some(queue) = &hop.through {
        writeln!(out, "  through {queue}: the caller does not wait")?;
    }
    for used in &hop.layers {
        let layer = model.layer(used.layer);
        let tries = phrase::attempts(layer);
        writeln!(out, "  repeated by {}: {tries} ({})", layer.name, place(layer.place, places))?;
    }
    Ok(())
}

fn place(span: Span, places: &mut Places<'_>) -> String {
    let place = places.place(span);
    format!("{}:{}:{}", place.path, place.start.line, place.start.column)
}

fn find(model: &Model, wanted: &str) -> Result<ComponentIx, Unknown> {
    let all = || (0..).map(ComponentIx).zip(&model.components);
    let exact = all().find(|(_, c)| c.name == wanted);
    let found = exact.or_else(|| all().find(|(_, c)| c.name.eq_ignore_ascii_case(wanted)));
    found.map(|(ix, _)| ix).ok_or_else(|| {
        let names: Vec<&str> = model.components.iter().map(|c| c.name.as_str()).collect();
        let hint = match closest(wanted, names.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None if names.is_empty() => "there is none at all".to_owned(),
            None => format!("there are {}", listed(&names)),
        };
        Unknown { name: wanted.to_owned(), hint }
    })
}

/// So many names are listed.
const LISTED: usize = 12;

fn listed(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().copied().take(LISTED).collect();
    let more = names.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The shortest way, as pairs of components.
fn shortest(model: &Model, from: ComponentIx, to: ComponentIx) -> Option<Vec<(ComponentIx, ComponentIx)>> {
    let mut leaving: BTreeMap<ComponentIx, Vec<ComponentIx>> = BTreeMap::new();
    for hop in &model.hops {
        leaving.entry(hop.from).or_default().push(hop.to);
    }
    let mut came_from: BTreeMap<ComponentIx, ComponentIx> = BTreeMap::new();
    let mut waiting = VecDeque::from([from]);
    while let Some(at) = waiting.pop_front() {
        for &next in leaving.get(&at).into_iter().flatten() {
            if let std::collections::btree_map::Entry::Vacant(slot) = came_from.entry(next) {
                slot.insert(at);
                waiting.push_back(next);
            }
        }
    }
    let mut way = Vec::new();
    let mut at = to;
    loop {
        let before = *came_from.get(&at)?;
        way.push((before, at));
        at = before;
        if at == from {
            break;
        }
    }
    way.reverse();
    Some(way)
}
