//! Tests of whole functions: what is read of a few lines of code.

mod defaults;
mod fixtures;
mod sdks;
mod support;

use support::layers;

#[test]
fn a_counted_loop_is_a_layer() {
    let text = r#"
pub async fn load(http: &reqwest::Client) -> Result<String, reqwest::Error> {
    let mut tries = 0;
    loop {
        match http.get("http://stock/levels").send().await.and_then(|r| r.error_for_status()) {
            Ok(answer) => return answer.text().await,
            Err(e) if tries < 3 => {
                tries += 1;
                tokio::time::sleep(std::time::Duration::from_millis(100 << tries)).await;
            }
            Err(e) => return Err(e),
        }
    }
}
"#;
    assert_eq!(layers(text), "rust:4: 4 attempts, 200ms x2 @9, no jitter, on refused timeout 4xx 5xx, any error: 7");
}

/// Reads one function in which `count` is what bounds a loop.
fn counted_by(around: &str, count: &str) -> String {
    layers(&format!(
        "{around}
pub async fn load(http: &reqwest::Client) -> bool {{
    for _ in 0..{count} {{
        if http.get(\"http://stock/levels\").send().await.is_ok() {{ return true; }}
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }}
    false
}}"
    ))
}

#[test]
fn defaults_of_settings_count() {
    let clap = "#[derive(clap::Parser)] struct Cli { #[arg(long, default_value_t = 4, env = \"N\")] n: u32 }
        fn cli() -> Cli { Cli::parse() }";
    let text = "#[derive(clap::Args)] struct Cli { #[clap(long, default_value = \"6\")] n: u32 }
        fn cli() -> Cli { Cli::parse() }";
    let constant = "const N: u32 = 7; #[derive(clap::Parser)] struct Cli { #[arg(default_value_t = N)] n: u32 }
        fn cli() -> Cli { Cli::parse() }";
    let serde = "#[derive(serde::Deserialize)] struct Cli { #[serde(default = \"three\")] n: u32 }
        fn three() -> u32 { 3 } fn cli() -> Cli { serde_json::from_str(TEXT).unwrap() }";
    for (around, attempts) in [(clap, 4), (text, 6), (constant, 7), (serde, 3)] {
        let found = counted_by(around, "cli().n");
        assert!(found.contains(&format!("{attempts} attempts")), "{found}");
    }
    let without = "#[derive(clap::Parser)] struct Cli { #[arg(long)] n: u32 } fn cli() -> Cli { Cli::parse() }";
    assert!(counted_by(without, "cli().n").contains("? attempts"), "{}", counted_by(without, "cli().n"));
}

#[test]
fn defaults_of_environment_variables_count() {
    let text = "std::env::var(\"N\").unwrap_or_else(|_| \"5\".to_string()).parse().unwrap_or(3)";
    let number = "std::env::var(\"N\").ok().and_then(|n| n.parse().ok()).unwrap_or(3)";
    assert!(counted_by("", text).contains("5 attempts"), "{}", counted_by("", text));
    assert!(counted_by("", number).contains("3 attempts"), "{}", counted_by("", number));
}

#[test]
fn limits_of_tries_and_of_all_tries_are_told_apart() {
    let read = |code: &str| {
        let text = format!("use std::time::Duration; pub async fn load(http: &reqwest::Client) -> bool {{ {code} }}");
        let read = support::read(&[("src/lib.rs", &text)], &[], &[]);
        let layer = read.reading.layers.first().expect("there is a layer").clone();
        let seconds = |s: &Option<crate::model::Setting<std::time::Duration>>| s.as_ref()?.value().map(|d| d.as_secs());
        (seconds(&layer.per_try), seconds(&layer.overall))
    };
    let looped = |call: &str| {
        format!(
            "for _ in 0..3 {{
                 if {call} {{ return true; }}
                 tokio::time::sleep(Duration::from_secs(1)).await;
             }} false"
        )
    };
    let send = "http.get(\"http://stock/levels\").send()";
    let inside =
        looped(&format!("tokio::time::timeout(Duration::from_secs(2), {send}).await.is_ok_and(|r| r.is_ok())"));
    assert_eq!(read(&inside), (Some(2), None));
    let own = looped("http.get(\"http://stock/levels\").timeout(Duration::from_secs(5)).send().await.is_ok()");
    assert_eq!(read(&own), (Some(5), None));
    let around = looped(&format!("{send}.await.is_ok()"));
    let around = format!("tokio::time::timeout(Duration::from_secs(60), async {{ {around} }}).await.unwrap_or(false)");
    assert_eq!(read(&around), (None, Some(60)));
    assert_eq!(read(&looped(&format!("{send}.await.is_ok()"))), (None, None));
}
