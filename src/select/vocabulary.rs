//! The words that make a Rust file worth a look.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::rust;
use crate::systems;

/// Names of types and traits that repeat calls; the crates themselves are known by their marks.
const TYPES: [&str; 10] = [
    "Retryable",
    "RetryTransientMiddleware",
    "RetryIf",
    "RetryLayer",
    "RetryConfig",
    "RetryPolicy",
    "ExponentialBackoff",
    "ExponentialBuilder",
    "ConstantBuilder",
    "FibonacciBuilder",
];

/// Crates that repeat calls, as code names them.
const CRATES: [&str; 13] = [
    "backoff",
    "reqwest_middleware",
    "tokio_retry",
    "tokio_retry2",
    "again",
    "tryhard",
    "exponential_backoff",
    "mulligan",
    "fure",
    "stubborn_io",
    "failsafe",
    "retry",
    "retry_policies",
];

static LIBRARIES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let marks = rust::metas().flat_map(|meta| meta.marks).copied();
    // Types by which clients are made; functions have names that many others have.
    let makers = rust::client_makers().filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
    marks.chain(TYPES).chain(CRATES).chain(makers).collect()
});

/// What takes a message out of a queue: its consumer's work begins there.
static RECEIVES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| systems::receives().collect());

/// Whether a name is of a library that repeats calls.
pub(super) fn is_library(word: &str) -> bool {
    // Each service has a crate of its own.
    LIBRARIES.contains(word) || word.starts_with("aws_sdk_")
}

/// Whether calling it, or what is in it, makes a request.
pub(super) fn is_client(word: &str) -> bool {
    matches!(word, "reqwest" | "execute" | "ureq" | "hyper" | "surf" | "isahc" | "awc" | "tonic")
        || matches!(
            word,
            "redis" | "moka" | "mini_moka" | "quick_cache" | "LruCache" | "max_capacity" | "insert_into" | "find_by_id"
        )
        || RECEIVES.contains(word)
        || is_watch(word)
}

/// Whether calling it opens a watch that begins again by itself.
fn is_watch(word: &str) -> bool {
    matches!(word, "watcher" | "metadata_watcher" | "watch_object" | "watch_metadata")
}

/// Whether a call of this name may leave the program, whoever has it.
pub(super) fn is_outgoing(word: &str) -> bool {
    matches!(word, "send" | "call" | "execute" | "query" | "fetch" | "publish" | "connect" | "fetch_one")
        || word.starts_with("spawn")
}

/// Whether a text may be a statement that reads or changes records.
pub(super) fn is_sql(text: &str) -> bool {
    let text = text.trim_start();
    let verbs = ["select", "insert", "delete", "update", "with", "truncate", "replace", "merge"];
    verbs.iter().any(|verb| {
        let after = text.get(verb.len()..).and_then(|rest| rest.chars().next());
        text.get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb))
            && after.is_some_and(char::is_whitespace)
    })
}

/// Whether a call of this name suspends.
pub(super) fn is_sleep(word: &str) -> bool {
    matches!(word, "sleep" | "sleep_until" | "sleep_ms" | "park_timeout" | "delay_for" | "wait_timeout" | "tick")
}

/// Whether waiting for a call of this name never leaves the program.
pub(super) fn is_local_wait(word: &str) -> bool {
    matches!(
        word,
        "recv"
            | "next"
            | "lock"
            | "accept"
            | "join_next"
            | "notified"
            | "cancelled"
            | "changed"
            | "acquire"
            | "try_next"
    )
}

/// Whether a word cannot be a name.
pub(super) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "as" | "async"
            | "await"
            | "break"
            | "const"
            | "continue"
            | "crate"
            | "dyn"
            | "else"
            | "enum"
            | "extern"
            | "false"
            | "fn"
            | "for"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "pub"
            | "ref"
            | "return"
            | "self"
            | "Self"
            | "static"
            | "struct"
            | "super"
            | "trait"
            | "true"
            | "type"
            | "unsafe"
            | "use"
            | "where"
            | "while"
    )
}
