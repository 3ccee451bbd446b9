//! Expected load: how many requests one at the entry becomes on average, where each try at the leaf fails with some
//! probability.
//!
//! Each layer tries until it succeeds, or its attempts are used up. What it then comes to is one try of the layer
//! outside. With a failure probability p of one try and n attempts that is (1 − pⁿ) / (1 − p) tries, and a failure with
//! the probability pⁿ. The average over the layers is the product of theirs: how often a layer asks depends on what it
//! was answered before, and not on what it will be (Wald's equation).

use super::{Attempts, Layer, LayerIx, Model, Path};

/// What one layer sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    /// The layer.
    pub layer: LayerIx,
    /// Its tries for one request that it is given.
    pub tries: f64,
    /// What leaves it inwards, for one request at the entry; infinite where it never ends.
    pub requests: f64,
    /// The probability that it gives up.
    pub fails: f64,
}

/// The expected load on a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Layer by layer, the outermost first.
    pub sent: Vec<Sent>,
    /// The requests that reach the leaf, for one at the entry.
    pub leaf: f64,
    /// The probability that the request at the entry fails for good.
    pub fails: f64,
}

impl Load {
    /// The load on a path whose leaf fails each try with the probability `failing` (0 to 1), each try by itself.
    /// `budgets`: whether retry budgets are counted, as they work in the long run.
    ///
    /// Without budgets and with a leaf that always fails, `leaf` is the product of the path.
    pub fn of(model: &Model, path: &Path, failing: f64, budgets: bool) -> Self {
        let mut fails = if failing.is_nan() { 1.0 } else { failing.clamp(0.0, 1.0) };
        let mut sent: Vec<Sent> = Vec::new();
        for ix in path.layers.iter().rev() {
            let layer = model.layer(*ix);
            let tries = tries(layer, fails, budgets);
            fails = give_up(layer, fails, tries);
            sent.push(Sent { layer: *ix, tries, requests: 1.0, fails });
        }
        sent.reverse();
        let mut requests = 1.0;
        for layer in &mut sent {
            requests *= layer.tries;
            layer.requests = requests;
        }
        Self { sent, leaf: requests, fails }
    }
}

/// How often a layer tries on average.
fn tries(layer: &Layer, fails: f64, budgets: bool) -> f64 {
    let all = match layer.attempts.value().map(|a: &Attempts| a.count()) {
        // Copies do not wait for one of them to fail.
        Some(Some(n)) if layer.copies => n as f64,
        Some(Some(n)) => until_success(fails, n as f64),
        Some(None) => 1.0 / (1.0 - fails),
        None => 1.0,
    };
    let ratio = layer.budget.as_ref().filter(|_| budgets).and_then(|b| b.ratio.value());
    ratio.map_or(all, |ratio| all.min(1.0 + ratio.max(0.0)))
}

/// (1 − pⁿ) / (1 − p), also where p is next to 1.
fn until_success(p: f64, n: f64) -> f64 {
    let succeeds = 1.0 - p;
    if succeeds <= 0.0 {
        return n;
    }
    if p <= 0.0 {
        return 1.0;
    }
    -(n * p.ln()).exp_m1() / succeeds
}

/// Of a request's tries at most one succeeds, each with the same probability: so it does with that times their number,
/// whether the count or a budget has ended them.
fn give_up(layer: &Layer, fails: f64, tries: f64) -> f64 {
    match layer.attempts.value().map(|a: &Attempts| a.count()) {
        Some(Some(n)) if layer.copies => fails.powf(n as f64),
        Some(None) if tries.is_infinite() => 1.0,
        _ => (1.0 - (1.0 - fails) * tries).clamp(0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Budget, Mode, Setting};
    use crate::testing::Draft;

    /// A path through layers with these attempts, outermost first; 0 = without limit.
    fn path(attempts: &[u64]) -> Draft {
        let mut draft = Draft::new();
        for (i, n) in attempts.iter().enumerate() {
            let layer = draft.any_layer(&format!("layer {i}"));
            let count = if *n == 0 { Attempts::Unbounded } else { Attempts::Count(*n) };
            layer.attempts = Setting::default(count, "test");
        }
        let layers: Vec<u32> = (0..attempts.len() as u32).collect();
        draft.path("leaf", Mode::Status(503), &layers);
        draft
    }

    fn load(draft: &Draft, p: f64, budgets: bool) -> Load {
        Load::of(&draft.model, &draft.model.paths[0], p, budgets)
    }

    /// A small generator of numbers, the same on every run (Marsaglia's xorshift).
    struct Numbers(u64);

    impl Numbers {
        /// From 0 up to, and without, 1.
        fn next(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// The layers of a system, each with a stock of retries where it has a budget.
    struct Simulation<'d> {
        draft: &'d Draft,
        numbers: Numbers,
        stocks: Vec<f64>,
        sent: Vec<u64>,
    }

    impl Simulation<'_> {
        /// One request that layer `at` is given; whether it succeeds.
        fn ask(&mut self, at: usize, p: f64) -> bool {
            let Some(layer) = self.draft.model.layers.get(at) else { return self.numbers.next() >= p };
            let count = layer.attempts.value().and_then(|a| a.count()).unwrap_or(u64::MAX);
            let ratio = layer.budget.as_ref().and_then(|b| b.ratio.value()).copied();
            self.stocks[at] += ratio.unwrap_or_default();
            for n in 0..count {
                if n > 0 && ratio.is_some() {
                    if self.stocks[at] < 1.0 {
                        return false;
                    }
                    self.stocks[at] -= 1.0;
                }
                self.sent[at] += 1;
                if self.ask(at + 1, p) {
                    return true;
                }
            }
            false
        }
    }

    /// What `requests` requests come to on average: sent by each layer, and the share that failed.
    fn simulated(draft: &Draft, p: f64, requests: u32) -> (Vec<f64>, f64) {
        let layers = draft.model.layers.len();
        let numbers = Numbers(0x9E37_79B9_7F4A_7C15);
        let mut simulation = Simulation { draft, numbers, stocks: vec![0.0; layers], sent: vec![0; layers] };
        let failed = (0..requests).filter(|_| !simulation.ask(0, p)).count();
        let all = f64::from(requests);
        (simulation.sent.iter().map(|n| *n as f64 / all).collect(), failed as f64 / all)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 0.02 * b.max(0.2)
    }

    #[test]
    fn a_simulation_comes_to_the_same() {
        for attempts in [&[3][..], &[4, 4, 4], &[2, 5], &[3, 0], &[1, 7, 2]] {
            for p in [0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 0.95] {
                let draft = path(attempts);
                let load = load(&draft, p, false);
                let (sent, failed) = simulated(&draft, p, 200_000);
                for (layer, sent) in load.sent.iter().zip(&sent) {
                    assert!(close(*sent, layer.requests), "{attempts:?} at {p}: {sent} is not {}", layer.requests);
                }
                assert!(close(failed, load.fails), "{attempts:?} at {p}: {failed} fail, not {}", load.fails);
            }
        }
    }

    #[test]
    fn a_simulation_with_budgets_comes_to_the_same() {
        for budgeted in 0..3 {
            for p in [0.05, 0.2, 0.5, 0.9, 1.0] {
                let mut draft = path(&[3, 4, 3]);
                draft.model.layers[budgeted].budget = Some(Budget { ratio: Setting::default(0.2, "test") });
                let load = load(&draft, p, true);
                let (sent, failed) = simulated(&draft, p, 200_000);
                for (layer, sent) in load.sent.iter().zip(&sent) {
                    assert!(close(*sent, layer.requests), "{budgeted} at {p}: {sent} is not {}", layer.requests);
                }
                assert!(close(failed, load.fails), "{budgeted} at {p}: {failed} fail, not {}", load.fails);
            }
        }
    }

    #[test]
    fn where_every_try_fails_it_is_the_product() {
        let mut draft = path(&[4, 4, 4]);
        draft.model.layers[1].budget = Some(Budget { ratio: Setting::default(0.5, "test") });
        assert_eq!(load(&draft, 1.0, false).leaf, 64.0);
        assert_eq!(load(&draft, 1.0, true).leaf, 4.0 * 1.5 * 4.0);
        assert_eq!(load(&draft, 1.0, false).fails, 1.0);
        assert_eq!(load(&path(&[3, 0]), 1.0, false).leaf, f64::INFINITY);
        assert_eq!(load(&draft, 0.0, false).leaf, 1.0);
    }

    #[test]
    fn an_unknown_count_is_one_and_copies_are_always_sent() {
        let mut draft = path(&[4, 3]);
        draft.model.layers[0].attempts = Setting::unknown("an argument", None);
        draft.model.layers[1].copies = true;
        let load = load(&draft, 0.5, false);
        assert_eq!((load.leaf, load.fails), (3.0, 0.125));
    }

    #[test]
    fn next_to_certain_failure_nothing_is_lost_to_rounding() {
        let load = load(&path(&[1_000_000]), 1.0 - 1e-12, false);
        assert!((load.leaf - 1e6).abs() < 1.0, "{}", load.leaf);
    }

    #[test]
    fn no_number_is_out_of_range() {
        for p in [f64::NAN, -1.0, 2.0, f64::INFINITY] {
            let load = load(&path(&[3]), p, true);
            assert!((1.0..=3.0).contains(&load.leaf) && (0.0..=1.0).contains(&load.fails), "{load:?}");
        }
    }
}
