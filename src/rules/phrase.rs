//! Wordings that rules and reports share: how a layer, a wait, a failure is said.

use std::time::Duration;

use crate::model::{Attempts, Layer, LayerKind, Mode, ModeSet, Setting, grpc_name};

/// "4 attempts: `retries: 3` on Kong service orders", with the source of a count that nobody wrote.
pub(super) fn layer_label(layer: &Layer) -> String {
    let mut text = format!("{}: {}", attempts(layer), layer.reading);
    if let Setting::Default { source, .. } = &layer.attempts {
        let what = if layer.asked_for { "the default count" } else { "a default: nobody wrote it" };
        text.push_str(&format!(" ({what}; {source})"));
    }
    text
}

/// "4 attempts", "about 12 attempts within 30 s", "attempts without limit", "attempts unknown".
pub(crate) fn attempts(layer: &Layer) -> String {
    let noun = |n: u64| if layer.copies { count(n, "parallel copy", "parallel copies") } else { tries(n) };
    match layer.attempts.value() {
        Some(Attempts::Count(n)) => noun(*n),
        Some(Attempts::Within { deadline, about }) => {
            format!("about {} within {}", noun(*about), duration(*deadline))
        }
        Some(Attempts::Unbounded) => "attempts without limit".to_string(),
        None => match &layer.attempts {
            Setting::Unknown { why, .. } => format!("attempts not known ({why})"),
            _ => "attempts not known".to_string(),
        },
    }
}

/// The same for the middle of a sentence: why a count is not known, a label says.
pub(super) fn attempts_briefly(layer: &Layer) -> String {
    match layer.attempts.value() {
        Some(_) => attempts(layer),
        None => "attempts not known".to_string(),
    }
}

/// "4 attempts".
pub(super) fn tries(n: u64) -> String {
    count(n, "attempt", "attempts")
}

/// A number with its noun.
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// How often a request that keeps failing is sent: "4 times", "about 12 times", "without end", "again and again".
pub(super) fn times(layer: &Layer) -> String {
    match layer.attempts.value() {
        Some(Attempts::Count(n)) => count(*n, "time", "times"),
        Some(Attempts::Within { about, .. }) => format!("about {}", count(*about, "time", "times")),
        Some(Attempts::Unbounded) => "without end".to_string(),
        None => "again and again".to_string(),
    }
}

/// What a layer repeats.
pub(super) fn unit(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::Queue => "message",
        LayerKind::Job => "run",
        LayerKind::Gateway | LayerKind::Mesh | LayerKind::Client | LayerKind::Code => "request",
    }
}

/// "inventory answers 503", "inventory refuses the connection".
pub(crate) fn failing(leaf: &str, mode: Mode) -> String {
    match mode {
        Mode::Refused => format!("{leaf} refuses the connection"),
        Mode::Timeout => format!("{leaf} does not answer in time"),
        Mode::Status(_) | Mode::Grpc(_) => format!("{leaf} answers {}", mode_name(mode)),
    }
}

/// "503", "UNAVAILABLE (grpc:14)".
fn mode_name(mode: Mode) -> String {
    match mode {
        Mode::Grpc(code) => format!("{} ({mode})", grpc_name(code)),
        Mode::Refused | Mode::Timeout | Mode::Status(_) => mode.to_string(),
    }
}

/// The modes for a sentence: "400, 401 and 404", runs folded.
pub(super) fn modes(set: ModeSet) -> String {
    let http = set.difference(Mode::grpc().collect());
    let grpc = set.iter().filter(|m| matches!(m, Mode::Grpc(_))).map(mode_name);
    list(&http.names().into_iter().chain(grpc).collect::<Vec<_>>())
}

/// What to do, and, where the system has a setting for it, how it is written there.
pub(super) fn help(what: &str, advice: Option<&String>) -> String {
    advice.map_or_else(|| format!("{what}."), |advice| format!("{what}: {advice}."))
}

/// "a", "a and b", "a, b and c".
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// "200 ms", "1.25 s", "5 min", "2 h".
pub(crate) fn duration(d: Duration) -> String {
    let (amount, unit) = match d.as_secs_f64() {
        0.0 => (0.0, "s"),
        s if s < 0.001 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3600.0, "h"),
        s => (s / 86_400.0, "days"),
    };
    let rounded = format!("{amount:.2}");
    format!("{} {unit}", rounded.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_two_decimals() {
        for (micros, said) in [
            (0, "0 s"),
            (250, "250 µs"),
            (1_500, "1.5 ms"),
            (200_000, "200 ms"),
            (1_250_000, "1.25 s"),
            (100_000_000, "100 s"),
            (300_000_000, "5 min"),
            (36_000_000_000, "10 h"),
        ] {
            assert_eq!(duration(Duration::from_micros(micros)), said);
        }
    }
}
