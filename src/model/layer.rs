//! A layer: one place that repeats a request or a message.

use std::sync::Arc;
use std::time::Duration;

use super::{Mode, ModeSet, Scope, Setting};
use crate::source::Span;

/// How often a layer tries in all, the first try included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempts {
    /// At most so many (1 and more; 1 = this layer does not retry).
    Count(u64),
    /// As often as the schedule fits into a time; `about` counts it with the mean wait.
    Within {
        /// The deadline.
        deadline: Duration,
        /// How often that is, with the mean wait and an operation that takes no time.
        about: u64,
    },
    /// No count and no deadline.
    Unbounded,
}

impl Attempts {
    /// The number that enters a product; `None` for unbounded.
    pub fn count(self) -> Option<u64> {
        match self {
            Self::Count(n) => Some(n.max(1)),
            Self::Within { about, .. } => Some(about.max(1)),
            Self::Unbounded => None,
        }
    }

    /// As often as `wait` fits into a time, each at `mean` times its length. Not known where the waits are not, nor
    /// where there are none: then it is the length of the tries that decides.
    pub fn within(limit: &Setting<Duration>, wait: &Wait, mean: f64) -> Setting<Self> {
        let deadline = match limit {
            Setting::Unknown { why, span } => return Setting::unknown(why.clone(), *span),
            Setting::Written { value, .. } | Setting::Default { value, .. } => *value,
        };
        match wait.fits(deadline, mean) {
            Some(about) => limit.clone().map(|deadline| Self::Within { deadline, about }),
            None if wait.nominal(0).is_some_and(|w| w.is_zero()) => {
                Setting::unknown("is bounded by time alone, and it does not wait", limit.span())
            }
            None => Setting::unknown("is bounded by time, and its waits are not known", limit.span()),
        }
    }
}

/// What kind of place repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// A gateway's route or service.
    Gateway,
    /// A mesh policy, applied by sidecars.
    Mesh,
    /// A client's setting: every request of that client has it.
    Client,
    /// A loop or a library call in code.
    Code,
    /// A queue's redelivery.
    Queue,
    /// A job's rerun.
    Job,
}

impl LayerKind {
    /// The word in the JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Mesh => "mesh",
            Self::Client => "client",
            Self::Code => "code",
            Self::Queue => "queue",
            Self::Job => "job",
        }
    }

    /// The order on one hop, outermost first: queue or job, code, client, sidecar or gateway proxy.
    pub fn depth(self) -> u8 {
        match self {
            Self::Queue | Self::Job => 0,
            Self::Code => 1,
            Self::Client => 2,
            Self::Mesh | Self::Gateway => 3,
        }
    }

    /// Whether a proxy does it: it answers with a status where its upstream gave none.
    pub fn is_proxy(self) -> bool {
        matches!(self, Self::Gateway | Self::Mesh)
    }
}

/// The wait between two tries, jitter left out.
#[derive(Debug, Clone, PartialEq)]
pub enum Wait {
    /// It tries again at once.
    None,
    /// The same each time.
    Fixed(Setting<Duration>),
    /// Grows by the same step; `cap: None` inside the setting = no upper bound.
    Linear {
        /// The first wait, and the step.
        step: Setting<Duration>,
        /// The upper bound.
        cap: Setting<Option<Duration>>,
    },
    /// Grows by a factor.
    Exponential {
        /// The first wait.
        base: Setting<Duration>,
        /// The factor.
        factor: Setting<f64>,
        /// The upper bound.
        cap: Setting<Option<Duration>>,
    },
    /// A list of waits, or one that grows in another way; the nominal waits before try 2, 3, ...
    Scheduled {
        /// The waits.
        waits: Vec<Duration>,
        /// Whether the last one repeats for ever or the series is finite and complete.
        capped: bool,
    },
    /// It cannot be known.
    Unknown {
        /// Why not.
        why: String,
    },
}

impl Wait {
    /// The nominal wait before try `n + 2` (`n` from 0), the cap applied. `None` where it is unknown.
    pub fn nominal(&self, n: u32) -> Option<Duration> {
        let capped = |wait: Duration, cap: &Setting<Option<Duration>>| match cap.value() {
            Some(Some(cap)) => wait.min(*cap),
            _ => wait,
        };
        match self {
            Wait::None => Some(Duration::ZERO),
            Wait::Fixed(d) => d.value().copied(),
            Wait::Linear { step, cap } => Some(capped(step.value()?.saturating_mul(n.saturating_add(1)), cap)),
            Wait::Exponential { base, factor, cap } => {
                let seconds = base.value()?.as_secs_f64() * factor.value()?.powi(n.min(MAX_POWER) as i32);
                let wait = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
                Some(capped(wait, cap))
            }
            Wait::Scheduled { waits, .. } => waits.get(n as usize).or(waits.last()).copied(),
            Wait::Unknown { .. } => None,
        }
    }

    /// How many tries fit into a time, where each wait takes `mean` times its length and a try takes none: the first
    /// try, and one after each wait that ends in time. `None` where the waits are not known, or where it does not wait.
    pub fn fits(&self, deadline: Duration, mean: f64) -> Option<u64> {
        if matches!(self, Wait::Exponential { cap: Setting::Unknown { .. }, .. }) {
            return None;
        }
        let time = deadline.as_secs_f64() / mean;
        let (mut spent, mut n) = self.steps_within(time)?;
        loop {
            let wait = self.nominal(n)?.as_secs_f64();
            if self.is_settled(n) {
                let more = ((time - spent) / wait + ROUNDING).max(0.0);
                return (wait > 0.0 && more.is_finite()).then(|| (more as u64).saturating_add(u64::from(n) + 1));
            }
            spent += wait;
            if spent > time {
                return Some(u64::from(n) + 1);
            }
            n += 1;
        }
    }

    /// The waits that need not be added up one by one, as many as end within so many seconds: how long they are
    /// together, and how many. They grow by the same step.
    fn steps_within(&self, time: f64) -> Option<(f64, u32)> {
        let Wait::Linear { step, cap } = self else { return Some((0.0, 0)) };
        let step = Some(step.value()?.as_secs_f64()).filter(|step| *step > 0.0)?;
        let to_cap = cap.value()?.map_or(f64::INFINITY, |cap| (cap.as_secs_f64() / step).floor());
        let to_end = (((8.0 * time / step + 1.0).sqrt() - 1.0) / 2.0).floor() - 1.0;
        let n = to_cap.min(to_end).clamp(0.0, f64::from(u32::MAX / 2));
        Some((step * n * (n + 1.0) / 2.0, n as u32))
    }

    /// Whether no wait from that before try `n + 2` on is longer than it, or can be told from it.
    fn is_settled(&self, n: u32) -> bool {
        match self {
            Wait::None | Wait::Fixed(_) | Wait::Unknown { .. } => true,
            Wait::Linear { cap, .. } => n >= u32::MAX / 2 || self.nominal(n) == cap.value().copied().flatten(),
            Wait::Exponential { factor, cap, .. } => {
                n >= MAX_POWER || factor.value() == Some(&1.0) || self.nominal(n) == cap.value().copied().flatten()
            }
            Wait::Scheduled { waits, .. } => n as usize + 1 >= waits.len(),
        }
    }
}

/// Beyond this power of its factor a wait grows no more.
const MAX_POWER: u32 = 10_000;

/// Ten waits of 100 ms are a second, though their quotient may be a trifle less than 10.
const ROUNDING: f64 = 1e-9;

/// How much of a wait is random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Jitter {
    /// Nothing: all clients come back in step.
    None,
    /// The wait times a random factor of this range.
    Partial {
        /// The smallest factor.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Anything from zero to the wait.
    Full,
    /// Random between the base and a multiple of the wait before.
    Decorrelated,
}

/// Which failures a layer retries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conditions {
    /// Surely retried.
    pub yes: ModeSet,
    /// Perhaps: the test cannot be read. Counts as retried in products, and fires no rule about statuses.
    pub unknown: ModeSet,
    /// What picks modes for a retry, each with its place, in the order of the text.
    pub picks: Vec<Pick>,
    /// Set where the layer does not discriminate: the arm or setting that takes every error,
    /// or the retry call that has no predicate.
    pub any_error: Option<Span>,
    /// Whether a connection that breaks after the request was sent is retried: no failure mode of its own, yet the request
    /// may have been processed.
    pub lost_answers: bool,
}

/// One item of a condition: a list item, a token, an arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    /// What it picks.
    pub modes: ModeSet,
    /// Where it stands; for a default, what opens the layer.
    pub span: Span,
    /// What it is called there: "`retriable-4xx`", "the default predicate".
    pub text: String,
}

impl Conditions {
    /// Whether a product counts this layer for `mode`.
    pub fn retries(&self, mode: Mode) -> bool {
        self.yes.contains(mode) || self.unknown.contains(mode)
    }

    /// The place that picks `mode`, if one is known.
    pub fn pick_of(&self, mode: Mode) -> Option<&Pick> {
        self.picks.iter().find(|p| p.modes.contains(mode))
    }
}

/// What may be repeated, as far as HTTP methods go.
#[derive(Debug, Clone, PartialEq)]
pub enum Methods {
    /// Any; nobody named methods.
    Any,
    /// Only these, upper case.
    Only(Vec<String>),
    /// Only these, upper case, and a setting says so: what lets POST or PATCH be repeated stands there.
    Written {
        /// The methods.
        methods: Vec<String>,
        /// The setting's place.
        span: Span,
    },
    /// Not known.
    Unknown,
}

/// A limit on the share of retries in all traffic: lowers the sustained load, not what one request can cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Retries per request that it lets through in the long run: 0.2 = 20 %.
    pub ratio: Setting<f64>,
}

/// What to write in this system to mend a finding; `None` where the system has no such setting.
/// Each is a phrase that completes "…: ", such as "set `num_retries: 0`".
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Advice {
    /// No second attempt.
    pub none: Option<String>,
    /// Fewer attempts.
    pub fewer: Option<String>,
    /// A limit where there is none.
    pub limit: Option<String>,
    /// A wait between the tries.
    pub wait: Option<String>,
    /// A wait that grows.
    pub grow: Option<String>,
    /// An upper bound of the wait.
    pub cap: Option<String>,
    /// Jitter.
    pub jitter: Option<String>,
    /// Retrying fewer statuses.
    pub statuses: Option<String>,
    /// Using Retry-After.
    pub retry_after: Option<String>,
    /// Leaving 429 and 503 to the caller, where nothing uses Retry-After: "take 429 and 503 out of `codes`".
    pub pass_on: Option<String>,
}

/// One place that repeats a request or a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// System, kind, object or item path, ordinal; no file, no line: it survives moves.
    pub id: Arc<str>,
    /// The system that does it: "envoy", "backon", "rust" for a hand-written loop.
    pub system: &'static str,
    /// What kind of place.
    pub kind: LayerKind,
    /// For people, with its system: "Kong service orders", "backon call in `Tickets::load`".
    pub name: String,
    /// What says how many attempts, as a label shows it after "4 attempts: ":
    /// "`retries: 3` on Kong service orders". Starts with what stands at `place`.
    pub reading: String,
    /// Where findings about it point: its count, or what opens it where no count is written.
    pub place: Span,
    /// What opens it: the route or service entry, the `retry:` key, the builder or call, the loop.
    pub opens: Span,
    /// The component that has it, where the settings alone tell; else linking finds it.
    pub component: Option<String>,
    /// Which hops it sits on.
    pub scope: Scope,
    /// Tries in all.
    pub attempts: Setting<Attempts>,
    /// Whether something in the repository asks for retries here (then a default count is not implicit).
    pub asked_for: bool,
    /// The wait between tries.
    pub wait: Wait,
    /// Where the wait is set: the `sleep`, the key that opens the wait block, where the strategy is made.
    pub wait_place: Option<Span>,
    /// How the wait is spread.
    pub jitter: Setting<Jitter>,
    /// What it retries.
    pub retries: Conditions,
    /// Whether the wait follows a Retry-After of the response.
    pub retry_after: Setting<bool>,
    /// Methods it may repeat.
    pub methods: Methods,
    /// Limit on one try.
    pub per_try: Option<Setting<Duration>>,
    /// Limit on all tries together.
    pub overall: Option<Setting<Duration>>,
    /// Budget.
    pub budget: Option<Budget>,
    /// Other places that belong to it (a constant, a base policy), each with what it says.
    pub labels: Vec<(Span, String)>,
    /// What to write to mend it.
    pub advice: Advice,
    /// Copies sent in parallel: they count in every failure mode.
    pub copies: bool,
    /// Each new try goes to another target, and each target once: what one of them refuses, the next may not.
    pub elsewhere: bool,
    /// What it repeats, and whether somebody waits for that.
    pub purpose: Purpose,
    /// How sure the reading is.
    pub confidence: Confidence,
}

/// What a layer repeats, and whether somebody waits for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Requests or messages: it multiplies on their call paths.
    #[default]
    Request,
    /// Its own work, for which no request waits: telemetry on its way, the downloads of a build. On no call path.
    Background,
    /// Nothing but its own beginning: a stream or watcher that reconnects, a wait until something is up. On no call
    /// path, and only missing-backoff concerns it.
    Upkeep,
}

impl Purpose {
    /// The word in the outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Background => "background",
            Self::Upkeep => "upkeep",
        }
    }
}

/// How sure we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Likely, not certain.
    Low,
    /// Follows from a unique name or a usual shape.
    Medium,
    /// Follows from the text.
    High,
}

impl Confidence {
    /// The word in the outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl Layer {
    /// Whether it tries more than once, or may (an unknown count).
    pub fn is_active(&self) -> bool {
        !matches!(self.attempts.value(), Some(Attempts::Count(0 | 1)))
    }

    /// Whether it can stand in a path: somebody's requests come to its place.
    pub fn is_on_paths(&self) -> bool {
        self.purpose == Purpose::Request
    }

    /// Whether nothing bounds it.
    pub fn is_unbounded(&self) -> bool {
        matches!(self.attempts.value(), Some(Attempts::Unbounded))
    }

    /// Whether nothing in the repository asks for it: its count is a default and no code or setting asked for retries.
    pub fn is_implicit(&self) -> bool {
        self.attempts.is_default() && !self.asked_for && self.is_active()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T>(value: T) -> Setting<T> {
        Setting::default(value, "test")
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn exponential(base: u64, factor: f64, cap: Option<u64>) -> Wait {
        Wait::Exponential { base: of(ms(base)), factor: of(factor), cap: of(cap.map(ms)) }
    }

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn tries_that_fit_into_a_time() {
        assert_eq!(Wait::Fixed(of(ms(100))).fits(DAY, 1.0), Some(864_001));
        assert_eq!(Wait::Fixed(of(ms(100))).fits(DAY, 0.5), Some(1_728_001));
        assert_eq!(Wait::Fixed(of(ms(100))).fits(ms(1000), 1.0), Some(11));
        assert_eq!(Wait::Fixed(of(ms(1000))).fits(ms(999), 1.0), Some(1));
        assert_eq!(exponential(100, 1.5, Some(100)).fits(DAY, 1.0), Some(864_001));
        assert_eq!(exponential(5000, 1.5, Some(30_000)).fits(ms(300_000), 1.0), Some(13));
        // 1 + 2 + 4 + 8 s fit into 20 s, 16 s more do not.
        assert_eq!(exponential(1000, 2.0, None).fits(ms(20_000), 1.0), Some(5));
        let listed = Wait::Scheduled { waits: vec![ms(0), ms(0), ms(1000)], capped: true };
        assert_eq!(listed.fits(ms(10_500), 1.0), Some(13));
    }

    #[test]
    fn waits_that_grow_by_a_step() {
        for (step, cap, time) in
            [(100, Some(1000), 60_000), (100, None, 60_000), (100, Some(1050), 2_000), (7, Some(7), 70)]
        {
            let wait = Wait::Linear { step: of(ms(step)), cap: of(cap.map(ms)) };
            let (mut spent, mut tries) = (0, 1);
            loop {
                spent += (step * tries).min(cap.unwrap_or(u64::MAX));
                if spent > time {
                    break;
                }
                tries += 1;
            }
            assert_eq!(wait.fits(ms(time), 1.0), Some(tries), "{step} {cap:?} {time}");
        }
    }

    #[test]
    fn no_figure_where_none_can_be_told() {
        assert_eq!(Wait::None.fits(DAY, 1.0), None);
        assert_eq!(Wait::Fixed(of(Duration::ZERO)).fits(DAY, 1.0), None);
        assert_eq!(Wait::Fixed(Setting::unknown("test", None)).fits(DAY, 1.0), None);
        assert_eq!(Wait::Linear { step: of(Duration::ZERO), cap: of(None) }.fits(DAY, 1.0), None);
        let cap = Wait::Exponential { base: of(ms(1)), factor: of(2.0), cap: Setting::unknown("test", None) };
        assert_eq!(cap.fits(DAY, 1.0), None);
        let within = |wait: &Wait| Attempts::within(&of(DAY), wait, 1.0);
        for (wait, why) in [(Wait::None, "does not wait"), (cap, "not known")] {
            assert!(matches!(within(&wait), Setting::Unknown { why: told, .. } if told.contains(why)));
        }
    }

    #[test]
    fn no_schedule_takes_long_to_count() {
        for wait in [
            Wait::Fixed(of(Duration::from_nanos(1))),
            Wait::Linear { step: of(Duration::from_nanos(1)), cap: of(None) },
            Wait::Linear { step: of(Duration::from_nanos(1)), cap: of(Some(Duration::MAX)) },
            exponential(1, 1.000_000_1, None),
            exponential(1, 0.5, None),
            exponential(1, f64::MAX, None),
        ] {
            let _ = wait.fits(Duration::MAX, 1.0);
            let _ = wait.fits(Duration::MAX, 0.0);
        }
    }
}
