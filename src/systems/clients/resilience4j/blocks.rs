//! Blocks of settings and what they inherit.

use std::collections::BTreeMap;

use super::super::applications::{self, View};
use super::interval::{Flags, Interval};
use crate::source::Span;
use crate::syntax::{Entry, relaxed};

/// The fields of one block by their relaxed names.
#[derive(Debug, Clone, Default)]
struct Block<'n> {
    opens: Option<Span>,
    /// What was written for each, the value that counts last.
    fields: BTreeMap<String, Vec<&'n Entry>>,
}

/// `resilience4j.retry` of an application.
#[derive(Debug, Default)]
pub(super) struct Blocks<'n> {
    configs: BTreeMap<String, Block<'n>>,
    instances: Vec<(String, Block<'n>)>,
    /// Where in `instances` a name is.
    index: BTreeMap<String, usize>,
}

/// Chains of bases are short; a ring of them ends here.
const MAX_BASES: usize = 32;

/// An instance with everything that it inherits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Resolved<'n> {
    pub name: String,
    pub opens: Span,
    pub max_attempts: Option<&'n Entry>,
    /// Whether the count stands in the instance's own block.
    pub own_attempts: bool,
    pub interval: Interval<'n>,
    pub retry_exceptions: Option<&'n Entry>,
    pub exception_predicate: Option<&'n Entry>,
    pub result_predicate: Option<&'n Entry>,
    pub ignore_exceptions: Option<&'n Entry>,
    /// A base that is not in these files: what it sets is not known.
    pub missing_base: Option<&'n Entry>,
    /// Settings of the block itself that decide nothing: flags for waits without a wait beside them.
    pub idle: Vec<&'n Entry>,
    /// The count by a name that the library gave up.
    pub old_count: Option<&'n Entry>,
    /// The count that the one of the block itself beats.
    pub beaten: Option<(Span, String)>,
    flags: Flags<'n>,
}

impl<'n> Blocks<'n> {
    pub(super) fn new(view: &'n View<'n>) -> Self {
        let mut out = Self::default();
        for setting in &view.settings {
            let is_mine = |at: usize, part: &str| setting.path.get(at).is_some_and(|(p, _)| relaxed(p) == part);
            if !is_mine(0, "resilience4j") || !is_mine(1, "retry") {
                continue;
            }
            let Some([(group, _), (name, opens), rest @ ..]) = setting.path.get(2..) else { continue };
            let block = match relaxed(group).as_str() {
                "configs" => out.configs.entry(name.clone()).or_default(),
                "instances" | "backends" => out.instance(name),
                _ => continue,
            };
            block.opens.get_or_insert(*opens);
            if let [(field, _)] = rest {
                block.fields.entry(relaxed(field)).or_default().push(&setting.entry);
            }
        }
        out
    }

    fn instance(&mut self, name: &str) -> &mut Block<'n> {
        let at = *self.index.entry(name.to_string()).or_insert(self.instances.len());
        if at == self.instances.len() {
            self.instances.push((name.to_string(), Block::default()));
        }
        &mut self.instances[at].1 // `at` is the place of one that was there, or of the one just added.
    }

    /// Every instance, in the order of the files.
    pub(super) fn instances(&self) -> Vec<Resolved<'n>> {
        let resolve = |(name, block): &(String, Block<'n>)| {
            let mut resolved = self.resolve(block, name == "default", 0)?;
            resolved.name = name.clone();
            Some(resolved)
        };
        self.instances.iter().filter_map(resolve).collect()
    }

    /// A block over its base: a named one, else `configs.default`. Bases of bases count as well.
    fn resolve(&self, block: &Block<'n>, is_default: bool, depth: usize) -> Option<Resolved<'n>> {
        let opens = block.opens?;
        let field = |name: &str| block.fields.get(name)?.last().copied().filter(|e| !e.value.is_null());
        let named = field("baseconfig");
        let base_name = named.and_then(|e| e.value.as_str()).or((!is_default || depth == 0).then_some("default"));
        let base = base_name.and_then(|name| Some((name, self.configs.get(name)?))).filter(|_| depth < MAX_BASES);
        let inherited = base.and_then(|(name, b)| self.resolve(b, name == "default", depth + 1));
        let missing = named.filter(|_| base.is_none());
        let own = Flags {
            exponential: field("enableexponentialbackoff"),
            multiplier: field("exponentialbackoffmultiplier"),
            cap: field("exponentialmaxwaitduration"),
            randomized: field("enablerandomizedwait"),
        };
        let flags = inherited.as_ref().map_or(own, |i| own.over(i.flags));
        let interval = match (field("intervalbifunction"), field("waitduration")) {
            (Some(class), _) => Interval::Class(class),
            (None, Some(wait)) => Interval::Block { wait, flags, factor: field("randomizedwaitfactor") },
            (None, None) => inherited.as_ref().map_or(Interval::Default, |i| i.interval),
        };
        let pick = |name: &str, theirs: fn(&Resolved<'n>) -> Option<&'n Entry>| {
            field(name).or_else(|| inherited.as_ref().and_then(theirs))
        };
        Some(Resolved {
            name: String::new(),
            opens,
            max_attempts: pick("maxattempts", |i| i.max_attempts),
            own_attempts: field("maxattempts").is_some(),
            interval,
            retry_exceptions: pick("retryexceptions", |i| i.retry_exceptions),
            exception_predicate: pick("retryexceptionpredicate", |i| i.exception_predicate),
            result_predicate: pick("resultpredicate", |i| i.result_predicate),
            ignore_exceptions: pick("ignoreexceptions", |i| i.ignore_exceptions),
            beaten: block.fields.get("maxattempts").and_then(|all| applications::beaten(all)),
            missing_base: missing.or_else(|| inherited.as_ref().and_then(|i| i.missing_base)),
            idle: match (field("waitduration"), field("intervalbifunction")) {
                (None, None) => own.all().collect(),
                _ => Vec::new(),
            },
            old_count: field("maxretryattempts"),
            flags,
        })
    }
}
