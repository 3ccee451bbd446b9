//! Ways to write a retry with crates that the fixtures do without, and what only looks like one.

use super::support::read;

/// The layers in a file.
fn layers(text: &str) -> String {
    read(&[("src/lib.rs", text)], &[], &[]).layers()
}

#[test]
fn a_token_that_may_end_a_wait_is_waited_for_as_long_as_a_sleep() {
    let of = |wait: &str| {
        layers(&format!(
            "use std::time::Duration;
             pub async fn f(http: &reqwest::Client, stop: &tokio_util::sync::CancellationToken) {{
                 for _ in 0..3 {{
                     if http.get(\"http://stock/a\").send().await.is_ok() {{ return; }}
                     {wait}
                 }}
             }}"
        ))
    };
    for wait in [
        "tokio::time::timeout(Duration::from_secs(2), stop.cancelled()).await.ok();",
        "if tokio::time::timeout(Duration::from_secs(2), stop.cancelled()).await.is_ok() { return; }",
        "tokio::select! { _ = stop.cancelled() => return, _ = tokio::time::sleep(Duration::from_secs(2)) => {} }",
    ] {
        assert_eq!(of(wait), "rust:3: 3 attempts, fixed 2s @5, no jitter, on refused timeout", "{wait}");
    }
    assert_eq!(of("drop(stop.clone());"), "rust:3: 3 attempts, no wait, no jitter, on refused timeout");
}

#[test]
fn ticks_of_a_stream_are_a_poll() {
    let text = "use std::time::Duration;
        pub async fn f(http: &reqwest::Client, stop: Stop) {
            let mut ticks = IntervalStream::new(tokio::time::interval(Duration::from_secs(2))).take_until(stop);
            while ticks.next().await.is_some() {
                if let Err(e) = http.get(\"http://stock/a\").send().await { eprintln!(\"{e}\"); }
            }
        }";
    assert_eq!(layers(text), "");
}

#[test]
fn what_a_thread_ends_it_ends_some_other_time() {
    let text = "fn watch() {
            std::thread::spawn(|| { for _ in signals() { std::process::exit(1); } });
        }
        pub fn f() -> Option<String> {
            watch();
            for _ in 0..3 {
                if let Ok(answer) = reqwest::blocking::get(\"http://stock/a\") { return answer.text().ok(); }
            }
            None
        }";
    assert_eq!(layers(text), "rust:6: 3 attempts, no wait, no jitter, on refused timeout");
    let ends = text.replace("std::thread::spawn(|| { for _ in signals() { std::process::exit(1); } });", "panic!();");
    assert_eq!(layers(&ends), "");
}

#[test]
fn what_code_outside_reads_into_a_buffer_is_in_it() {
    let text = "pub async fn f(http: &reqwest::Client, from: Lines) -> Result<(), Box<dyn std::error::Error>> {
            loop {
                let mut line = String::new();
                from.read_line(&mut line).await?;
                if line.is_empty() { return Ok(()); }
                for _ in 0..3 {
                    if http.post(\"http://stock/a\").body(line.clone()).send().await.is_ok() { break; }
                }
            }
        }";
    assert_eq!(layers(text), "rust:6: 3 attempts, no wait, no jitter, on refused timeout");
}

#[test]
fn the_errors_of_a_function_that_is_handed_over_are_told_apart_all_the_same() {
    let text = "use futures::TryFutureExt;
        pub async fn f(url: &str) -> Result<bool, E> { again(url, sqlx::Any::database_exists).await }
        async fn again<F, Fut>(url: &str, mut op: F) -> Result<bool, E> where F: FnMut(&str) -> Fut {
            backoff::future::retry(backoff::ExponentialBackoff::default(), || {
                op(url).map_err(|e| JUDGE)
            }).await
        }";
    let judged = text.replace(
        "JUDGE",
        "{ if let sqlx::Error::Io(inner) = &e { return backoff::Error::transient(e); } backoff::Error::permanent(e) }",
    );
    assert!(!layers(&judged).contains("any error"), "{}", layers(&judged));
    let unjudged = text.replace("JUDGE", "backoff::Error::transient(e)");
    assert!(layers(&unjudged).contains("any error"), "{}", layers(&unjudged));
}

#[test]
fn a_predicate_that_may_count_leaves_the_count_open() {
    let of = |test: &str| {
        layers(&format!(
            "pub async fn f(http: &reqwest::Client, judge: &mut dyn Judge) -> Result<String, reqwest::Error> {{
                 loop {{
                     match http.get(\"http://stock/a\").send().await {{
                         Ok(answer) => return answer.text().await,
                         Err(e) if {test} => return Err(e),
                         Err(_) => tokio::time::sleep(std::time::Duration::from_secs(1)).await,
                     }}
                 }}
             }}"
        ))
    };
    assert!(of("judge.gives_up(&e)").contains("? attempts"), "{}", of("judge.gives_up(&e)"));
    assert!(of("e.is_builder()").contains("unbounded"), "{}", of("e.is_builder()"));
}
