//! Durations as settings write them.

use std::time::Duration;

use crate::syntax::Node;

/// Go's form and its subsets in Envoy (`0.5s`), Istio and the Gateway API: `1h30m`, `1.5s`, `250ms`, `0`.
pub fn go(text: &str) -> Option<Duration> {
    let text = text.trim();
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let (number, after) = split_number(rest)?;
        let letters = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at_checked(letters)?;
        seconds += number * unit_seconds(unit)?;
        rest = next;
    }
    (!text.is_empty()).then(|| from_seconds(seconds)).flatten()
}

/// Go's form, or a number of seconds.
pub fn go_or_seconds(node: &Node) -> Option<Duration> {
    let text = node.as_str()?;
    let number: Option<u32> = text.trim().parse().ok();
    number.map(|n| Duration::from_secs(n.into())).or_else(|| go(text))
}

/// A protobuf duration in YAML or JSON: a string of seconds, or the older map of `seconds` and `nanos`.
pub fn proto(node: &Node) -> Option<Duration> {
    if let Some(text) = node.as_str() {
        return go(text);
    }
    let part = |key: &str| node.get(key).map(|n| n.as_f64());
    match (part("seconds"), part("nanos")) {
        (None, None) => None,
        (seconds, nanos) => from_seconds(seconds.unwrap_or(Some(0.0))? + nanos.unwrap_or(Some(0.0))? * 1e-9),
    }
}

/// Spring Boot's form: a bare number of milliseconds, a number with one unit (`500ms`, `2s`), or ISO 8601 (`PT1.5S`).
pub fn spring(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Some(iso) = iso(text) {
        return Some(iso);
    }
    let (number, unit) = split_number(text.strip_prefix('+').unwrap_or(text))?;
    match unit.trim() {
        "" => millis(number),
        unit => from_seconds(number * unit_seconds(&unit.to_ascii_lowercase())?),
    }
}

/// ISO 8601, days and smaller: `PT0.25S`, `P1DT2H`.
pub fn iso(text: &str) -> Option<Duration> {
    let upper = text.trim().to_ascii_uppercase();
    let body = upper.strip_prefix('P')?;
    let (days, time) = body.split_once('T').unwrap_or((body, ""));
    let mut seconds = 0.0;
    let mut parts = 0;
    for (mut rest, units) in [(days, [('D', 86_400.0)].as_slice()), (time, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)])] {
        while !rest.is_empty() {
            let (number, after) = split_number(rest)?;
            let mut letters = after.chars();
            let letter = letters.next()?;
            seconds += number * units.iter().find(|(l, _)| *l == letter)?.1;
            rest = letters.as_str();
            parts += 1;
        }
    }
    (parts > 0).then(|| from_seconds(seconds)).flatten()
}

/// .NET's `TimeSpan`: `[d.]hh:mm[:ss[.fff]]`; a bare number is days.
pub fn time_span(text: &str) -> Option<Duration> {
    let text = text.trim();
    let mut parts = text.split(':');
    let first = parts.next()?;
    let rest: Vec<&str> = parts.collect();
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| *n >= 0.0);
    let whole = |text: &str| text.parse::<u32>().ok().map(f64::from);
    match rest.as_slice() {
        [] => from_seconds(whole(first)? * 86_400.0),
        [minutes, seconds @ ..] if seconds.len() < 2 => {
            let (days, hours) = first.split_once('.').unwrap_or(("0", first));
            let seconds = seconds.first().map_or(Some(0.0), |s| number(s))?;
            from_seconds(whole(days)? * 86_400.0 + whole(hours)? * 3600.0 + whole(minutes)? * 60.0 + seconds)
        }
        _ => None,
    }
}

/// So many milliseconds; `None` where that is negative or too large.
pub fn millis(number: f64) -> Option<Duration> {
    from_seconds(number / 1e3)
}

fn split_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, rest))
}

fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    })
}

/// Rounded to a microsecond, so that decimal fractions come out as written.
fn from_seconds(seconds: f64) -> Option<Duration> {
    let micros = (seconds * 1e6).round();
    (0.0..1e19).contains(&micros).then(|| Duration::from_micros(micros as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Option<Duration> = |n| Some(Duration::from_millis(n));

    #[test]
    fn go_forms() {
        for (text, ms) in [("0.5s", 500), ("1h1m", 3_660_000), ("250ms", 250), ("0", 0), ("0s", 0), (" 1.5s ", 1500)] {
            assert_eq!(go(text), MS(ms), "{text}");
        }
        for text in ["", "5", "s", "1x", "-1s", "1.2.3s", "5 s", "99999999999999999999h", "é"] {
            assert_eq!(go(text), None, "{text}");
        }
    }

    #[test]
    fn time_spans() {
        for (text, ms) in [
            ("00:00:00.500", 500),
            ("00:00:20", 20_000),
            ("1.02:00:00", 93_600_000),
            ("00:05", 300_000),
            ("5", 432_000_000),
        ] {
            assert_eq!(time_span(text), MS(ms), "{text}");
        }
        for text in ["", ":", "00:00:00:00", "a", "-1", "00:00:-1", "é:é"] {
            assert_eq!(time_span(text), None, "{text}");
        }
    }

    #[test]
    fn spring_forms() {
        for (text, ms) in
            [("250", 250), ("2s", 2000), ("PT1.5S", 1500), ("pt1m", 60_000), ("P1DT2H", 93_600_000), ("1S", 1000)]
        {
            assert_eq!(spring(text), MS(ms), "{text}");
        }
        for text in ["", "P", "PT", "PT1D", "P1H", "1 week", "${WAIT}", "-5"] {
            assert_eq!(spring(text), None, "{text}");
        }
    }
}
