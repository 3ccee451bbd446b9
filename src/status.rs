//! The exit status: never different by output format.

use crate::config::Config;
use crate::run::Run;

/// What the process ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Nothing at or above the level that makes a run fail.
    Clean,
    /// Findings, or with `strict` something that could not be read.
    Findings,
    /// Wrong usage or configuration, or an output that could not be written.
    Usage,
    /// No file at all under the given paths: a green run over nothing is the worst bug.
    Nothing,
}

impl Status {
    /// The status of a run.
    pub fn of(run: &Run, config: &Config) -> Self {
        let failing = config.fail_on.is_some_and(|least| run.findings.iter().any(|f| f.severity >= least));
        if run.files == 0 {
            Self::Nothing
        } else if failing || (config.strict && !run.unread.is_empty()) {
            Self::Findings
        } else {
            Self::Clean
        }
    }

    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Nothing => 3,
        }
    }
}

impl From<Status> for std::process::ExitCode {
    fn from(status: Status) -> Self {
        status.code().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Finding, RuleMeta, Severity};
    use crate::source::{FileId, Span, Unread};

    static RULE: RuleMeta = RuleMeta { id: "missing-jitter", level: Severity::Error, summary: "", page: "" };

    fn run(severities: &[Severity]) -> Run {
        let finding = |s: &Severity| Finding::new(&RULE, Span::start_of(FileId(0)), "", "").severity(*s);
        Run { findings: severities.iter().map(finding).collect(), files: 1, ..Run::default() }
    }

    fn fail_on(fail_on: Option<Severity>) -> Config {
        Config { fail_on, ..Config::default() }
    }

    #[test]
    fn findings_at_or_above_the_level_fail() {
        let warning = run(&[Severity::Note, Severity::Warning]);
        assert_eq!(Status::of(&warning, &fail_on(Some(Severity::Error))), Status::Clean);
        assert_eq!(Status::of(&warning, &fail_on(Some(Severity::Warning))), Status::Findings);
        assert_eq!(Status::of(&warning, &fail_on(Some(Severity::Note))), Status::Findings);
        assert_eq!(Status::of(&run(&[Severity::Error]), &fail_on(None)), Status::Clean);
    }

    #[test]
    fn what_is_unread_fails_only_if_strict() {
        let mut run = run(&[]);
        run.unread.push(Unread { path: "a.yaml".into(), span: None, reason: "permission denied".into() });
        assert_eq!(Status::of(&run, &Config::default()), Status::Clean);
        assert_eq!(Status::of(&run, &Config { strict: true, ..Config::default() }), Status::Findings);
    }

    #[test]
    fn nothing_to_lint_is_a_status_of_its_own() {
        assert_eq!(Status::of(&Run::default(), &fail_on(None)), Status::Nothing);
    }
}
