//! "Did you mean": the known word that a mistyped one is nearest to.

/// The one of `known` that `word` is most likely meant to be, if any is near.
/// `_` counts as `-`, and case does not count.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_the_word_that_was_meant() {
        let known = ["missing-jitter", "missing-backoff", "fail-on"];
        assert_eq!(closest("missing_jiter", known), Some("missing-jitter"));
        assert_eq!(closest("Missing-Backof", known), Some("missing-backoff"));
        assert_eq!(closest("fail_on", known), Some("fail-on"));
        assert_eq!(closest("something-else", known), None);
    }
}
