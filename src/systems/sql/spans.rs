//! Spans of time in a purge: how old a record is at least when it goes.

use std::ops::Range;
use std::time::Duration;

use super::cursor::Cursor;
use super::lex::{Kind, Token};

/// The one span of time that a statement, or a part of one, names, with its place. Several, or one that is multiplied by
/// something unknown: `None`.
pub(super) fn age(all: Cursor<'_>) -> Option<(Duration, Range<usize>)> {
    let tokens = all.rest();
    let mut found: Vec<(f64, Range<usize>)> = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        match at(all, i) {
            Some((seconds, last)) => {
                let (seconds, first, last) = times(all, seconds, i, last)?;
                let range = tokens.get(first)?.range.start..tokens.get(last)?.range.end;
                found.push((seconds, range));
                i = last + 1;
            }
            None => i += 1,
        }
    }
    let [(seconds, place)] = found.as_slice() else { return None };
    let age = Duration::try_from_secs_f64(seconds.abs()).ok().filter(|d| !d.is_zero())?;
    Some((age, place.clone()))
}

/// The seconds that begin at a token, and the last token of theirs.
fn at(all: Cursor<'_>, i: usize) -> Option<(f64, usize)> {
    let tokens = all.rest().get(i..)?;
    let cursor = Cursor::new(all.text, tokens);
    let token = cursor.first()?;
    let get = |n: usize| tokens.get(n);
    let number = |n: usize| get(n).filter(|t| t.kind == Kind::Number).and_then(|t| cursor.word(t).parse::<f64>().ok());
    let unit_at = |n: usize| get(n).filter(|t| t.kind == Kind::Word).and_then(|t| unit(cursor.word(t)));
    let opens = |n: usize| get(n).is_some_and(|t| t.kind == Kind::Mark(b'('));
    if cursor.is(&["INTERVAL"]) {
        if let Some(text) = get(1).filter(|t| t.kind == Kind::Text) {
            let text = cursor.word(text);
            return match (text.trim().parse::<f64>(), unit_at(2)) {
                (Ok(n), Some(unit)) => Some((n * unit, i + 2)),
                _ => Some((spelled(text)?, i + 1)),
            };
        }
        return Some((number(1)? * unit_at(2)?, i + 2));
    }
    if token.kind == Kind::Text {
        // '7 days'::interval, cast('7 days' as interval), datetime('now', '-7 days').
        let casts = |n: usize| {
            let name = get(n).map_or("", |t| cursor.word(t));
            get(1).is_some_and(|t| t.kind == Kind::Mark(b':'))
                && name.trim_start_matches(':').eq_ignore_ascii_case("interval")
        };
        if let Some(last) = [2, 3].into_iter().find(|n| casts(*n)) {
            return Some((spelled(cursor.word(token))?, i + last));
        }
        let is_cast = get(1).is_some_and(|t| cursor.is_word(t, &["AS"]))
            && get(2).is_some_and(|t| cursor.is_word(t, &["INTERVAL"]));
        let text = cursor.word(token);
        if is_cast || text.starts_with('-') {
            return Some((spelled(text)?, i));
        }
        return None;
    }
    if cursor.is(&["make_interval"]) && opens(1) {
        let unit = unit_at(2)?;
        let at = (3..7).find(|n| number(*n).is_some())?;
        return Some((number(at)? * unit, i + at + 1));
    }
    if cursor.is(&["DATEADD", "TIMESTAMPADD"]) && opens(1) {
        let unit = unit_at(2)?;
        let at = (4..6).find(|n| number(*n).is_some())?;
        return Some((number(at)? * unit, i + at));
    }
    let is_seconds = cursor.is(&["unixepoch", "UNIX_TIMESTAMP"]) && opens(1);
    if is_seconds {
        let close = tokens.iter().position(|t| t.kind == Kind::Mark(b')'))?;
        let is_minus = get(close + 1).is_some_and(|t| t.kind == Kind::Mark(b'-'));
        return is_minus.then(|| number(close + 2)).flatten().map(|n| (n, i + close + 2));
    }
    if cursor.is(&["SYSDATE"]) && get(1).is_some_and(|t| t.kind == Kind::Mark(b'-')) {
        return Some((number(2)? * 86_400.0, i + 2));
    }
    None
}

/// A span that stands beside a `*`: what it comes to, and its first and last token.
fn times(all: Cursor<'_>, seconds: f64, first: usize, last: usize) -> Option<(f64, usize, usize)> {
    let is_times = |i: usize| all.rest().get(i).is_some_and(|t| t.kind == Kind::Mark(b'*'));
    let number = |i: usize| {
        let token: &Token = all.rest().get(i).filter(|t| t.kind == Kind::Number)?;
        all.word(token).parse::<f64>().ok()
    };
    if is_times(last + 1) {
        return Some((seconds * number(last + 2)?, first, last + 2));
    }
    match first.checked_sub(1) {
        Some(before) if is_times(before) => Some((seconds * number(before.checked_sub(1)?)?, before - 1, last)),
        _ => Some((seconds, first, last)),
    }
}

/// `30 days`, `-7 day`, `1 day 12 hours`, `7d`, `P7D`, `12:00:00`.
fn spelled(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(iso) = text.strip_prefix('P') {
        let (date, time) = iso.split_once('T').unwrap_or((iso, ""));
        return Some(units(date, 2_592_000.0)? + units(time, 60.0)?);
    }
    if let [hours, minutes, rest] = text.split(':').collect::<Vec<_>>().as_slice() {
        let number = |s: &str| s.parse::<f64>().ok();
        return Some(number(hours)? * 3600.0 + number(minutes)? * 60.0 + number(rest)?);
    }
    units(text, 60.0).filter(|n| *n != 0.0)
}

/// Numbers with their units; `m` is what the caller says.
fn units(text: &str, m: f64) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-' || c == '+')).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let number: f64 = number.parse().ok()?;
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (name, after) = after.split_at(end);
        sum += number * if name.eq_ignore_ascii_case("m") { m } else { unit(name)? };
        rest = after.trim_start_matches([' ', ',']);
    }
    Some(sum)
}

/// The seconds of a unit.
fn unit(name: &str) -> Option<f64> {
    Some(match name.to_ascii_lowercase().trim_end_matches('s') {
        "second" | "sec" | "" => 1.0,
        "minute" | "min" | "mi" => 60.0,
        "hour" | "h" | "hr" | "hh" => 3600.0,
        "day" | "d" | "dd" => 86_400.0,
        "week" | "w" | "wk" => 604_800.0,
        "month" | "mon" | "mm" => 2_592_000.0,
        "year" | "y" | "yr" | "yy" => 31_536_000.0,
        _ => return None,
    })
}
