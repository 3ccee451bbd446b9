//! Files of environment variables: `.env`, and those that Compose services name.

use std::collections::BTreeMap;

use super::Unit;
use crate::facts::{EnvFact, EnvFileFact, Facts};
use crate::syntax::Syntax;

/// No environment has more variables.
const MAX_VALUES: usize = 10_000;

/// What components take from such files in all; one file can be named very often.
const MAX_TAKEN: usize = 200_000;

/// Notes the files of variables in a unit.
pub(super) fn note(unit: &Unit<'_>, facts: &mut Facts) {
    for (file, root) in unit.documents() {
        if Syntax::of_path(&file.path) != Some(Syntax::Variables) {
            continue;
        }
        let value = |e: &crate::syntax::Entry| {
            let value = e.value.as_str()?.to_owned();
            Some(EnvFact { name: e.key.to_string(), value, span: e.value.span })
        };
        let values: Vec<EnvFact> = root.entries().iter().take(MAX_VALUES).filter_map(value).collect();
        facts.env_files.push(EnvFileFact { path: file.path.to_string(), values });
    }
}

/// Gives components the variables that they take from files. What is written at the service wins over its files.
pub(super) fn join(facts: &mut Facts) {
    let uses = std::mem::take(&mut facts.env_file_uses);
    let files: BTreeMap<&str, &EnvFileFact> = facts.env_files.iter().map(|f| (f.path.as_str(), f)).collect();
    let index: BTreeMap<_, _> = facts.components.iter().enumerate().map(|(i, c)| (c.span, i)).collect();
    let mut left = MAX_TAKEN;
    for taken in uses {
        let (Some(file), Some(&at)) = (files.get(taken.path.as_str()), index.get(&taken.component)) else { continue };
        let Some(component) = facts.components.get_mut(at) else { continue };
        let more: Vec<EnvFact> = match taken.value {
            None => file.values.clone(),
            Some(open) => filled(&open.value, file).map(|value| EnvFact { value, ..open }).into_iter().collect(),
        };
        if more.len() > left {
            break;
        }
        left -= more.len();
        for variable in more {
            if !component.env.iter().any(|e| e.name == variable.name) {
                component.env.push(variable);
            }
        }
    }
}

/// A value with what the file says put in for `${NAME}` and `$NAME`. `None` where the file does not say it.
fn filled(value: &str, file: &EnvFileFact) -> Option<String> {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (name, next) = match after.strip_prefix('{') {
            Some(inner) => inner.split_once('}')?,
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                after.split_at(end)
            }
        };
        let name = name.split([':', '-', '?', '+']).next().unwrap_or(name);
        out.push_str(&file.values.iter().rev().find(|v| v.name == name)?.value);
        rest = next;
    }
    Some(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};

    #[test]
    fn references_are_filled_in() {
        let fact = |name: &str, value: &str| EnvFact {
            name: name.to_owned(),
            value: value.to_owned(),
            span: Span::start_of(FileId(0)),
        };
        let file = EnvFileFact { path: ".env".to_owned(), values: vec![fact("N", "5"), fact("HOST", "orders")] };
        for (value, filled_in) in [
            ("${N}", Some("5")),
            ("http://$HOST:${N:?no number}/x", Some("http://orders:5/x")),
            ("${M}", None),
            ("${N", None),
            ("plain", Some("plain")),
        ] {
            assert_eq!(filled(value, &file).as_deref(), filled_in, "{value}");
        }
    }
}
