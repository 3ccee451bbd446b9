//! Tests of an answer's status in expression languages: alternatives of comparisons.

use crate::model::{ModeSet, STATUSES};

/// Longer expressions are none that a person wrote.
const MAX_TESTS: usize = 1_000;

/// The modes for which `a && b || c` surely holds, and those for which it may: `of_test` reads one comparison, and
/// gives nothing for one that asks for something else.
pub(super) fn alternatives(text: &str, of_test: impl Fn(&str) -> Option<ModeSet>) -> (ModeSet, ModeSet) {
    let http = ModeSet::statuses(STATUSES).union(ModeSet::transport());
    let (mut yes, mut unknown) = (ModeSet::EMPTY, ModeSet::EMPTY);
    for clause in text.split("||").take(MAX_TESTS) {
        let mut modes = http;
        let mut sure = true;
        for test in clause.split("&&").take(MAX_TESTS) {
            match of_test(test) {
                Some(of_test) => modes = modes.intersection(of_test),
                None => sure = false,
            }
        }
        if sure {
            yes = yes.union(modes);
        } else {
            unknown = unknown.union(modes);
        }
    }
    (yes, unknown.difference(yes))
}

/// The statuses that compare so with a number, or are among some (`in`).
pub(super) fn compared(sign: &str, numbers: &[u16]) -> ModeSet {
    let first = numbers.first().copied().unwrap_or_default();
    ModeSet::statuses(STATUSES.filter(|code| match sign {
        "==" => *code == first,
        "!=" => *code != first,
        ">=" => *code >= first,
        "<=" => *code <= first,
        ">" => *code > first,
        "<" => *code < first,
        _ => numbers.contains(code),
    }))
}

/// The numbers of a list: `[429, 503]`, `429`.
pub(super) fn numbers(text: &str) -> Vec<u16> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}
