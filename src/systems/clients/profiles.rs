//! Profiles of applications: which are active, and what holds under them.

use crate::facts::{EnvFact, Platform};
use crate::systems::settings::is_template;

/// The profiles that the environment names, later ones over earlier ones; `None` where it does not say.
pub(super) fn active<'e>(platform: Platform, env: &[&'e EnvFact]) -> Option<Vec<&'e str>> {
    let variables: &[&str] = match platform {
        Platform::Jvm => &["SPRING_PROFILES_ACTIVE", "MICRONAUT_ENVIRONMENTS", "QUARKUS_PROFILE"],
        Platform::DotNet => &["ASPNETCORE_ENVIRONMENT", "DOTNET_ENVIRONMENT"],
    };
    let value = variables.iter().find_map(|name| env.iter().find(|e| e.name == *name))?.value.as_str();
    let names: Vec<&str> = value.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    (!names.is_empty() && !is_template(value)).then_some(names)
}

/// The names in an expression: `prod & !(cloud | test)`.
pub(super) fn names(expression: &str) -> impl Iterator<Item = &str> {
    expression.split(['|', '&', '!', '(', ')', ',']).map(str::trim).filter(|name| !name.is_empty())
}

/// Whether an expression holds while these are active. One with brackets that cannot be read does not.
pub(super) fn holds(expression: &str, active: &[&str]) -> bool {
    either(expression, active, 0).unwrap_or(false)
}

/// Where the last active profile of an expression stands among all of them; what says only what must not be active comes
/// first.
pub(super) fn place(expression: &str, active: &[&str]) -> usize {
    let of = |name: &str| active.iter().rposition(|a| a.eq_ignore_ascii_case(name));
    names(expression).filter_map(of).max().map_or(0, |at| at + 1)
}

/// Nobody nests brackets deeper.
const MAX_DEPTH: usize = 16;

fn either(expression: &str, active: &[&str], depth: usize) -> Option<bool> {
    let parts = split(expression, ['|', ','])?;
    parts.into_iter().try_fold(false, |any, part| Some(any | all(part, active, depth)?))
}

fn all(expression: &str, active: &[&str], depth: usize) -> Option<bool> {
    let parts = split(expression, ['&', '&'])?;
    parts.into_iter().try_fold(true, |all, part| Some(all & one(part.trim(), active, depth)?))
}

fn one(name: &str, active: &[&str], depth: usize) -> Option<bool> {
    if depth > MAX_DEPTH {
        return None;
    }
    if let Some(not) = name.strip_prefix('!') {
        return Some(!one(not.trim(), active, depth + 1)?);
    }
    if let Some(inner) = name.strip_prefix('(').and_then(|n| n.strip_suffix(')')) {
        return either(inner, active, depth + 1);
    }
    Some(active.iter().any(|a| a.eq_ignore_ascii_case(name)))
}

/// The parts between signs that stand in no brackets; `None` where a bracket is open.
fn split(text: &str, signs: [char; 2]) -> Option<Vec<&str>> {
    let (mut parts, mut open, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open = open.checked_sub(1)?,
            c if open == 0 && signs.contains(&c) => {
                parts.push(text.get(start..at)?);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..)?);
    (open == 0).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};

    #[test]
    fn expressions() {
        for (expression, active, expected) in [
            ("prod", &["prod"][..], true),
            ("prod", &[], false),
            ("!prod", &[], true),
            ("prod | staging", &["staging"], true),
            ("dev,test", &["test"], true),
            ("prod & !cloud", &["prod", "cloud"], false),
            ("(prod | staging) & eu", &["staging", "eu"], true),
            ("!(prod | staging)", &["staging"], false),
            ("(prod", &["prod"], false),
            ("prod)", &["prod"], false),
        ] {
            assert_eq!(holds(expression, active), expected, "{expression} with {active:?}");
        }
        assert_eq!(names("!(a|b) & c, d").collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!((place("b", &["a", "b"]), place("!c", &["a", "b"])), (2, 0));
        assert!(!holds(&"!(".repeat(200), &[]));
    }

    #[test]
    fn what_the_environment_names() {
        let fact = |name: &str, value: &str| EnvFact {
            name: name.to_owned(),
            value: value.to_owned(),
            span: Span::start_of(FileId(0)),
        };
        let spring = fact("SPRING_PROFILES_ACTIVE", "prod, eu");
        assert_eq!(active(Platform::Jvm, &[&spring]), Some(vec!["prod", "eu"]));
        assert_eq!(active(Platform::DotNet, &[&spring]), None);
        let open = fact("ASPNETCORE_ENVIRONMENT", "${ENVIRONMENT}");
        assert_eq!(active(Platform::DotNet, &[&open]), None);
    }
}
