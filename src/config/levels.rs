//! The levels that the configuration gives to rules, applied to findings.

use super::{Config, Globs, RuleLevel};
use crate::rules::{Finding, RuleMeta, Severity};
use crate::source::{Sources, Span};

/// Gives each finding the level that the configuration sets, and drops those whose rule is off where they start.
///
/// A level replaces the rule's own one: a finding that its rule puts one level lower than usual stays one lower.
pub fn apply_levels(findings: Vec<Finding>, config: &Config, sources: &Sources) -> Vec<Finding> {
    let levels = Levels::new(config);
    findings.into_iter().filter_map(|finding| levels.apply(finding, sources)).collect()
}

/// The levels that hold, file by file.
#[derive(Debug)]
pub(super) struct Levels<'c> {
    everywhere: &'c [RuleLevel],
    overrides: Vec<(Globs, &'c [RuleLevel])>,
}

impl<'c> Levels<'c> {
    pub(super) fn new(config: &'c Config) -> Self {
        let overrides = config.overrides.iter().map(|o| (config.globs(&o.paths), &*o.levels)).collect();
        Self { everywhere: &config.levels, overrides }
    }

    /// The level of a rule in a file, by its shown path (`None` = off), and where that is set, if it is.
    pub(super) fn of(&self, rule: &RuleMeta, path: &str) -> (Option<Severity>, Option<Span>) {
        let applying = self.overrides.iter().rev().filter(|(globs, _)| globs.matches(path));
        let set =
            applying.map(|(_, levels)| *levels).chain([self.everywhere]).find_map(|levels| level_in(levels, rule.id));
        set.map_or((Some(rule.level), None), |set| (set.level, set.place))
    }

    /// A finding at the level that holds where it starts; nothing where its rule is off.
    fn apply(&self, finding: Finding, sources: &Sources) -> Option<Finding> {
        let path = sources.get(finding.primary.span.file).map_or("", |file| &file.path);
        let (level, _) = self.of(finding.rule, path);
        let severity = moved(finding.severity, finding.rule.level, level?);
        Some(finding.severity(severity))
    }
}

fn level_in<'l>(levels: &'l [RuleLevel], rule: &str) -> Option<&'l RuleLevel> {
    levels.iter().rev().find(|l| l.rule == rule)
}

/// The level of a finding whose rule's level moves from `usual` to `set`.
fn moved(severity: Severity, usual: Severity, set: Severity) -> Severity {
    let rank = |s: Severity| s as i8;
    match rank(set) + rank(severity) - rank(usual) {
        i8::MIN..=0 => Severity::Note,
        1 => Severity::Warning,
        _ => Severity::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PathLevels;
    use crate::source::{FileId, SourceFile};

    static JITTER: RuleMeta = RuleMeta { id: "missing-jitter", level: Severity::Error, summary: "", page: "" };
    static IMPLICIT: RuleMeta = RuleMeta { id: "implicit-retries", level: Severity::Note, summary: "", page: "" };

    fn sources() -> Sources {
        let mut sources = Sources::default();
        for (n, path) in ["legacy/a.yaml", "src/main.rs"].into_iter().enumerate() {
            sources.insert(SourceFile { id: FileId(n as u32), path: path.into(), text: "".into() });
        }
        sources
    }

    fn finding(rule: &'static RuleMeta, file: u32) -> Finding {
        Finding::new(rule, Span::start_of(FileId(file)), "", "")
    }

    fn level(rule: &str, level: Option<Severity>) -> RuleLevel {
        RuleLevel { rule: rule.to_owned(), level, place: None }
    }

    fn severities(config: &Config, findings: Vec<Finding>) -> Vec<Severity> {
        apply_levels(findings, config, &sources()).iter().map(|f| f.severity).collect()
    }

    #[test]
    fn a_level_holds_everywhere_and_off_removes() {
        let config = Config {
            levels: vec![level("missing-jitter", Some(Severity::Note)), level("implicit-retries", None)],
            ..Config::default()
        };
        assert_eq!(severities(&config, vec![finding(&JITTER, 0), finding(&IMPLICIT, 1)]), [Severity::Note]);
    }

    #[test]
    fn an_override_wins_where_its_paths_match_and_the_last_one_wins_over_others() {
        let over =
            |path: &str, to| PathLevels { paths: vec![path.to_owned()], levels: vec![level("missing-jitter", to)] };
        let config = Config {
            levels: vec![level("missing-jitter", Some(Severity::Warning))],
            overrides: vec![over("legacy", None), over("legacy/a.yaml", Some(Severity::Note))],
            ..Config::default()
        };
        let found = severities(&config, vec![finding(&JITTER, 0), finding(&JITTER, 1)]);
        assert_eq!(found, [Severity::Note, Severity::Warning]);
    }

    #[test]
    fn a_finding_that_its_rule_lowers_stays_lower() {
        let lowered = || vec![finding(&JITTER, 0).severity(Severity::Warning)];
        let set = |to| Config { levels: vec![level("missing-jitter", Some(to))], ..Config::default() };
        assert_eq!(severities(&set(Severity::Error), lowered()), [Severity::Warning]);
        assert_eq!(severities(&set(Severity::Warning), lowered()), [Severity::Note]);
        assert_eq!(severities(&set(Severity::Note), lowered()), [Severity::Note]);
    }

    #[test]
    fn a_note_can_be_made_an_error() {
        let config = Config { levels: vec![level("implicit-retries", Some(Severity::Error))], ..Config::default() };
        assert_eq!(severities(&config, vec![finding(&IMPLICIT, 1)]), [Severity::Error]);
    }
}
