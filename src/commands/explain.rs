//! `retrylint explain RULE`.

use super::Failure;
use crate::cli::ExplainArgs;
use crate::report::page;
use crate::rules;
use crate::status::Status;
use crate::suggest::closest;
use crate::terminal::Terminal;

pub(super) fn run(args: &ExplainArgs, terminal: Terminal) -> Result<Status, Failure> {
    let rule = rules::by_name(&args.rule).ok_or_else(|| unknown(&args.rule))?;
    terminal.out(|out| page::write(rule.page, terminal.style, out))?;
    Ok(Status::Clean)
}

fn unknown(rule: &str) -> Failure {
    let hint = match closest(rule, rules::all().iter().map(|r| r.meta().id)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`retrylint rules` lists all rules".to_owned(),
    };
    Failure::Usage(format!("unknown rule `{rule}`; {hint}"))
}
