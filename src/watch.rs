//! Who is told how far a run is: a stage at a time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Which files there are.
    Discover,
    /// Their texts.
    Read,
    /// Which of them are parsed.
    Select,
    /// What each of them says.
    Extract,
    /// What the Rust code does, run abstractly.
    Evaluate,
    /// All of it on one graph.
    Link,
    /// The rules.
    Check,
    /// Writing it down.
    Report,
}

impl Stage {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discover => "discover",
            Self::Read => "read",
            Self::Select => "select",
            Self::Extract => "extract",
            Self::Evaluate => "evaluate",
            Self::Link => "link",
            Self::Check => "check",
            Self::Report => "report",
        }
    }
}

/// Somebody who is told when a stage begins, with the number of files that it works on; from one thread, in order.
pub trait Watch: Sync {
    /// A stage begins, and with it the one before ends.
    fn begins(&self, stage: Stage, files: usize);
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn begins(&self, _: Stage, _: usize) {}
}

/// How long each stage takes.
#[derive(Debug, Default)]
pub struct Timings {
    begun: Mutex<Vec<(Stage, Instant)>>,
}

impl Watch for Timings {
    fn begins(&self, stage: Stage, _: usize) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).push((stage, Instant::now()));
    }
}

impl Timings {
    /// The stages in their order, the last of them ended at `end`.
    pub fn until(&self, end: Instant) -> Vec<(Stage, Duration)> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = begun.iter().skip(1).map(|(_, begin)| *begin).chain([end]);
        begun.iter().zip(ends).map(|((stage, begin), end)| (*stage, end.saturating_duration_since(*begin))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_ends_where_the_next_begins() {
        let timings = Timings::default();
        let end = Instant::now() + Duration::from_secs(60);
        timings.begins(Stage::Discover, 0);
        timings.begins(Stage::Read, 3);
        let told = timings.until(end);
        assert_eq!(told.iter().map(|(stage, _)| stage.name()).collect::<Vec<_>>(), ["discover", "read"]);
        assert!(told[0].1 < Duration::from_secs(30) && told[1].1 > Duration::from_secs(30));
    }
}
