//! `[[helper]]` and `[[system]]`: what is known of code and settings that nobody else has.

use std::time::Duration;

use crate::source::Span;

/// `[[helper]]`: a function, method or macro of the project that retries.
#[derive(Debug, Clone, PartialEq)]
pub struct HelperConfig {
    /// The end of its path: `["Client", "with_retry"]`.
    pub path: Vec<String>,
    /// Whether it is a macro.
    pub is_macro: bool,
    /// How often it tries.
    pub count: HelperCount,
    /// Which argument is tried again, from 0.
    pub call: Option<usize>,
    /// Its wait.
    pub wait: Option<HelperWait>,
    /// What each wait is multiplied by to give the next; `None`: the same each time.
    pub factor: Option<f64>,
    /// The longest wait.
    pub cap: Option<Duration>,
    /// Whether waits are drawn at random.
    pub jitter: Option<bool>,
    /// Where it is configured.
    pub span: Span,
}

/// How often a helper tries, all in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperCount {
    /// So often, and where that is configured.
    Fixed(u64, Span),
    /// As often as this argument says, from 0.
    Attempts(usize),
    /// Once more than this argument says, from 0.
    Retries(usize),
    /// It is not said.
    Unknown,
}

/// How long a helper waits before its first retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperWait {
    /// So long, and where that is configured.
    Fixed(Duration, Span),
    /// As long as this argument says, from 0.
    Argument(usize),
}

impl HelperConfig {
    /// Whether it is what a call of this path calls.
    pub fn is_called(&self, path: &[&str]) -> bool {
        let end = path.len().checked_sub(self.path.len()).and_then(|from| path.get(from..));
        end.is_some_and(|end| end.iter().zip(&self.path).all(|(a, b)| a == b))
    }

    /// Its own name.
    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// `[[system]]`: a format of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemConfig {
    /// Its name. Lives as long as the program: layers refer to their system by it, as to that of any other.
    pub name: &'static str,
    /// Globs of its files, relative to the configuration file.
    pub files: Vec<String>,
    /// The chain of keys that leads to each layer.
    pub layers: KeyPath,
    /// The host, below a layer.
    pub target: Option<KeyPath>,
    /// The count, and whether it is one of retries.
    pub count: Option<(KeyPath, bool)>,
    /// The first wait.
    pub base: Option<KeyPath>,
    /// What each wait is multiplied by.
    pub factor: Option<KeyPath>,
    /// The longest wait.
    pub cap: Option<KeyPath>,
    /// Jitter: a flag, or how much of the wait is random.
    pub jitter: Option<KeyPath>,
    /// The statuses that are retried.
    pub statuses: Option<KeyPath>,
    /// What a bare number of time counts.
    pub unit: Duration,
    /// What holds where nothing is written.
    pub defaults: SystemDefaults,
    /// Where it is configured.
    pub span: Span,
}

/// What holds in a format where nothing is written; `None`: it is not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SystemDefaults {
    /// All tries.
    pub attempts: Option<u64>,
    /// The first wait.
    pub base: Option<Duration>,
    /// What each wait is multiplied by.
    pub factor: Option<f64>,
    /// The longest wait.
    pub cap: Option<Duration>,
    /// Whether waits are drawn at random.
    pub jitter: Option<bool>,
    /// Statuses that are retried.
    pub statuses: Option<Vec<u16>>,
}

/// A chain of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath(pub Vec<KeyStep>);

/// A step down a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStep {
    /// To the value of a key.
    Key(String),
    /// To every value, or every item of a list.
    Any,
}

impl KeyPath {
    /// `client.retry.max`, with `*` for any key or item, and quotes around a key with dots in it. The error says what
    /// is wrong.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let mut steps = Vec::new();
        let mut rest = text.trim();
        if rest == "." {
            return Ok(Self(steps));
        }
        loop {
            let (step, next) = match rest.strip_prefix('"') {
                Some(quoted) => {
                    let (key, next) = quoted.split_once('"').ok_or("a quote is not closed")?;
                    (KeyStep::Key(key.to_owned()), next)
                }
                None => {
                    let end = rest.find('.').unwrap_or(rest.len());
                    let (key, next) = rest.split_at(end);
                    (if key == "*" { KeyStep::Any } else { KeyStep::Key(key.to_owned()) }, next)
                }
            };
            if step == KeyStep::Key(String::new()) {
                return Err("a key between the dots is missing");
            }
            steps.push(step);
            match next.strip_prefix('.') {
                Some(more) => rest = more,
                None if next.is_empty() => return Ok(Self(steps)),
                None => return Err("a dot is missing after the quote"),
            }
        }
    }

    /// Whether it leads to one place only.
    pub fn is_single(&self) -> bool {
        !self.0.contains(&KeyStep::Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_keys() {
        let key = |k: &str| KeyStep::Key(k.to_owned());
        assert_eq!(KeyPath::parse("clients.*.retry").unwrap().0, [key("clients"), KeyStep::Any, key("retry")]);
        assert_eq!(KeyPath::parse("\"a.b\".c").unwrap().0, [key("a.b"), key("c")]);
        assert_eq!(KeyPath::parse(".").unwrap().0, []);
        for text in ["", "a..b", ".a", "a.", "\"a", "\"a\"b"] {
            assert!(KeyPath::parse(text).is_err(), "{text}");
        }
    }
}
