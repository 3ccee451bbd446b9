//! Choices: a run is repeated with other answers to its open conditions, in a fixed order, until all are tried or
//! there are too many.

use crate::source::Span;

/// How many open conditions that hang on the failure are tried both ways in the runs of one question.
const FAILURE_CHOICES: usize = 5;

/// How many others are.
const OTHER_CHOICES: usize = 3;

/// A choice that a run made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The condition; `None` where the statuses were split.
    pub(crate) site: Option<(Span, u64)>,
    /// Whether it hangs on how the call under test failed.
    pub(crate) failure: bool,
    /// Whether it picks a variant of an enum, on which a loop may hang from its first turn on.
    pub(crate) early: bool,
    /// The option taken.
    pub(crate) taken: u32,
    /// How many there were.
    pub(crate) of: u32,
}

/// Answers choices by a script, then by the first option.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    script: Vec<u32>,
    /// The choices made.
    pub(crate) trail: Vec<Choice>,
}

impl Oracle {
    /// One that follows a script first.
    pub(crate) fn with(script: Vec<u32>) -> Self {
        Self { script, trail: Vec::new() }
    }

    /// Which part of the statuses: 0 or 1.
    pub(crate) fn split(&mut self) -> u32 {
        self.take(None, false, false, 2)
    }

    /// The answer to an open condition: 0 or 1.
    pub(crate) fn choose(&mut self, site: (Span, u64), failure: bool, early: bool) -> u32 {
        let open = self.trail.iter().filter(|c| c.site.is_some() && c.of > 1 && c.failure == failure).count();
        let most = if failure { FAILURE_CHOICES } else { OTHER_CHOICES };
        let of = if open < most { 2 } else { 1 };
        self.take(Some(site), failure, early, of)
    }

    /// The script of the next run, if there is one.
    pub(crate) fn next(&self) -> Option<Vec<u32>> {
        let last = self.trail.iter().rposition(|c| c.taken + 1 < c.of)?;
        let mut script: Vec<u32> = self.trail.iter().take(last).map(|c| c.taken).collect();
        script.push(self.trail.get(last)?.taken + 1);
        Some(script)
    }

    fn take(&mut self, site: Option<(Span, u64)>, failure: bool, early: bool, of: u32) -> u32 {
        let taken = self.script.get(self.trail.len()).copied().unwrap_or(0).min(of - 1);
        self.trail.push(Choice { site, failure, early, taken, of });
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn every_combination_comes_once() {
        let mut seen = Vec::new();
        let mut script = Vec::new();
        loop {
            let mut oracle = Oracle::with(script);
            let first = oracle.choose((Span::new(FileId(0), 0, 1), 0), true, false);
            let second = if first == 0 { oracle.split() } else { 9 };
            seen.push((first, second));
            match oracle.next() {
                Some(next) => script = next,
                None => break,
            }
        }
        assert_eq!(seen, [(0, 0), (0, 1), (1, 9)]);
    }

    #[test]
    fn too_many_open_conditions_are_not_tried_both_ways() {
        let mut oracle = Oracle::default();
        for i in 0..20 {
            oracle.choose((Span::new(FileId(0), i, i + 1), 0), false, false);
        }
        assert_eq!(oracle.trail.iter().filter(|c| c.of == 2).count(), OTHER_CHOICES);
        assert!(oracle.trail.iter().any(|c| c.of == 1));
    }
}
