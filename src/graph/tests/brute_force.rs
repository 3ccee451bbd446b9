//! On small random graphs, the listing says what walking every path says.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::products::{self, Product};
use super::*;
use crate::model::Answer;

/// A small generator of numbers, the same on every run (Marsaglia's xorshift).
pub(in crate::graph) struct Numbers(pub(in crate::graph) u64);

impl Numbers {
    pub(in crate::graph) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

const STATUSES: [u16; 5] = [404, 429, 500, 502, 503];

fn random_modes(numbers: &mut Numbers) -> ModeSet {
    let modes = [Mode::Refused, Mode::Timeout].into_iter().chain(STATUSES.map(Mode::Status)).chain([Mode::Grpc(14)]);
    match numbers.below(4) {
        0 => any_5xx(),
        1 => refused(),
        _ => modes.filter(|_| numbers.below(2) == 0).collect(),
    }
}

pub(in crate::graph) fn random_graph(seed: u64) -> Build {
    let numbers = &mut Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut b = Build::new();
    let components = 2 + numbers.below(5);
    for i in 0..components {
        let kind = if numbers.below(5) == 0 { ComponentKind::Gateway } else { ComponentKind::Service };
        b.of_kind(kind, &format!("c{i}"));
    }
    for from in 0..components {
        for to in from + 1..components {
            if numbers.below(5) < 2 {
                continue;
            }
            let layers: Vec<LayerIx> = (0..numbers.below(3))
                .map(|_| {
                    let kinds = [LayerKind::Code, LayerKind::Client, LayerKind::Mesh];
                    let kind = kinds[numbers.below(3) as usize];
                    let (count, modes) = (1 + numbers.below(5), random_modes(numbers));
                    let layer = b.layer(kind, count, modes);
                    match numbers.below(12) {
                        0 => b.layer_mut(layer).attempts = Setting::unknown("an argument", None),
                        1 => b.layer_mut(layer).attempts = Setting::default(Attempts::Unbounded, "test"),
                        _ => {}
                    }
                    if numbers.below(3) == 0 {
                        b.layer_mut(layer).overall = Some(Setting::default(std::time::Duration::ZERO, "test"));
                    }
                    layer
                })
                .collect();
            let (from, to) = (format!("c{from}"), format!("c{to}"));
            let hop = b.hop(&from, &to, &layers);
            hop.on_request = numbers.below(8) != 0;
            hop.grpc = numbers.below(6) == 0;
            if numbers.below(4) == 0 {
                let answer = [Answer::Success, Answer::Status(503), Answer::Status(404)][numbers.below(3) as usize];
                hop.answers = vec![(random_modes(numbers), answer)];
            }
        }
    }
    b
}

/// A failure somewhere: how bad, in which mode, at how many hops from the entry; its layers with their leaf.
type Worst = (Product, Reverse<u16>, Reverse<usize>, Reverse<Vec<u16>>, Vec<u32>, u32);

/// The modes that a random graph can tell apart, each by the first of its like.
fn told_apart() -> impl Iterator<Item = Mode> {
    let statuses = [400, 404, 429, 500, 502, 503, 504].map(Mode::Status);
    [Mode::Refused, Mode::Timeout].into_iter().chain(statuses).chain([2, 4, 5, 8, 13, 14].map(Mode::Grpc))
}

/// What a failure at the end of a path comes to: the product, the ranks of the modes further out, the layers.
type Outwards = Option<(Product, Vec<u16>, Vec<LayerIx>)>;

struct Naive<'a> {
    b: &'a Build,
    done: RefCell<BTreeMap<(Vec<usize>, Mode), Outwards>>,
    /// The worst failure of each path, by its repeated hops.
    worst: BTreeMap<Vec<usize>, Option<Worst>>,
}

impl Naive<'_> {
    /// The algebra of one hop has its own tests; here it is asked mode by mode, without classes.
    fn failure(&self, hop: usize, mode: Mode) -> Option<(Vec<LayerIx>, ModeSet)> {
        products::failure_counting(
            &self.b.hops[hop],
            &self.b.components,
            &self.b.draft.model.layers,
            mode,
            products::multiplies,
        )
    }

    fn layered(&self, hop: usize) -> bool {
        let layers = &self.b.draft.model.layers;
        self.b.hops[hop].layers.iter().any(|l| products::multiplies(&layers[l.layer.0 as usize]))
    }

    fn starts(&self, hop: usize) -> bool {
        let all_end = told_apart().filter_map(|m| self.failure(hop, m)).all(|(_, outside)| outside.is_empty());
        !self.b.hops[hop].on_request || all_end
    }

    /// The layers of a path whose last callee fails in `mode`, for every choice of what the components answer;
    /// the worst, then the one whose modes are named first, from the inside out.
    fn outwards(&self, path: &[usize], mode: Mode) -> Outwards {
        let key = (path.to_vec(), mode);
        if let Some(done) = self.done.borrow().get(&key) {
            return done.clone();
        }
        let out = self.outwards_once(path, mode);
        self.done.borrow_mut().insert(key, out.clone());
        out
    }

    fn outwards_once(&self, path: &[usize], mode: Mode) -> Outwards {
        let (&hop, rest) = path.split_last()?;
        let (mut layers, outside) = self.failure(hop, mode)?;
        let mut own = Product::ONE;
        for layer in &layers {
            own = own.times(Product::of(&self.b.draft.model.layers[layer.0 as usize]));
        }
        if rest.is_empty() || outside.is_empty() {
            return Some((own, Vec::new(), layers));
        }
        let recorded = rest.last().is_some_and(|h| self.layered(*h));
        let choices = told_apart().filter(|m| outside.contains(*m)).filter_map(|m| {
            let (product, ranks, layers) = self.outwards(rest, m)?;
            let here = recorded.then(|| m.rank());
            Some((product, here.into_iter().chain(ranks).collect::<Vec<_>>(), layers))
        });
        let best = choices.reduce(|a, b| if (b.0, Reverse(&b.1)) > (a.0, Reverse(&a.1)) { b } else { a })?;
        let mut all = best.2;
        all.append(&mut layers);
        Some((own.times(best.0), best.1, all))
    }

    /// The worst failure at the end of this path in which its last hop is repeated.
    fn at_end(&self, path: &[usize], depth: usize) -> Option<Worst> {
        let &last = path.last()?;
        told_apart()
            .filter(|m| self.failure(last, *m).is_some_and(|(layers, _)| !layers.is_empty()))
            .filter_map(|m| {
                let (product, ranks, layers) = self.outwards(path, m)?;
                let leaf = self.b.hops[last].to.0;
                Some((product, Reverse(m.rank()), Reverse(depth), Reverse(ranks), ids(&layers), leaf))
            })
            .max()
    }

    fn walk(&mut self, path: &mut Vec<usize>, worst: Option<Worst>) {
        let folded: Vec<usize> = path.iter().copied().filter(|h| self.layered(*h)).collect();
        let here = match path.last() {
            Some(&last) if self.layered(last) => worst.max(self.at_end(path, folded.len())),
            _ => worst,
        };
        let at = path.last().map(|h| self.b.hops[*h].to);
        let entry = path.is_empty();
        for hop in 0..self.b.hops.len() {
            let is_entry = self.starts(hop)
                || self.b.hops.iter().enumerate().all(|(i, h)| h.to != self.b.hops[hop].from || i == hop);
            let goes_on = Some(self.b.hops[hop].from) == at && !self.starts(hop);
            if if entry { is_entry } else { goes_on } {
                path.push(hop);
                self.walk(path, here.clone());
                path.pop();
            }
        }
        let known = self.worst.entry(folded).or_insert(None);
        *known = known.take().max(here);
    }

    /// The worst failure of each maximal path, folded.
    fn paths(mut self) -> Vec<(Product, Vec<u32>, u32)> {
        self.walk(&mut Vec::new(), None);
        let folded: Vec<&Vec<usize>> = self.worst.keys().collect();
        let inside = |short: &[usize], long: &[usize]| {
            long.len() > short.len() && long.windows(short.len().max(1)).any(|w| w == short)
        };
        let maximal = |path: &[usize]| !folded.iter().any(|other| inside(path, other));
        let mut out: Vec<_> = self
            .worst
            .iter()
            .filter(|(path, _)| maximal(path))
            .filter_map(|(_, worst)| worst.clone().map(|(product, _, _, _, layers, leaf)| (product, layers, leaf)))
            .collect();
        out.sort();
        out.dedup_by(|a, b| (&a.1, a.2) == (&b.1, b.2));
        out
    }
}

#[test]
fn the_listing_says_what_walking_every_path_says() {
    let mut several = 0;
    for seed in 1..250 {
        let mut b = random_graph(seed);
        let naive = Naive { b: &b, done: RefCell::default(), worst: BTreeMap::new() }.paths();
        let mut expected: Vec<_> = naive.iter().map(|(p, layers, leaf)| (p.shown(), layers.clone(), *leaf)).collect();
        expected.sort();
        let leaf = |name: &str| b.components.iter().position(|c| c.name == name).unwrap() as u32;
        let all = {
            b.limit = 0;
            b.paths().listed
        };
        let mut listed: Vec<_> = all.iter().map(|p| (p.product, ids(&p.layers), leaf(&p.leaf))).collect();
        listed.sort();
        assert_eq!(listed, expected, "seed {seed}: {:#?}", b.hops);
        several += usize::from(listed.len() > 2);
    }
    assert!(several > 60, "the graphs are too simple to tell anything: {several}");
}
