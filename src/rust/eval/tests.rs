//! Tests of whole functions: what is read of a few lines of code.

mod defaults;
mod fixtures;
mod idioms;
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

#[test]
fn a_loop_that_a_clock_ends_is_bounded_by_time_however_long_that_is() {
    for (seconds, about) in [(5, 51), (3600, 36_000)] {
        let text = format!(
            r#"
pub async fn load(http: &reqwest::Client) -> bool {{
    let start = std::time::Instant::now();
    while start.elapsed() < std::time::Duration::from_secs({seconds}) {{
        if http.get("http://stock/levels").send().await.is_ok() {{
            return true;
        }}
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }}
    false
}}
"#
        );
        let read = layers(&text);
        assert!(read.contains(&format!("about {about} within {seconds}s")), "{read}");
    }
}

#[test]
fn what_no_root_is_seen_to_reach_is_read_by_itself() {
    let text = r#"
pub async fn serve(http: &reqwest::Client) {
    let remote = false;
    if remote {
        load(http).await;
    }
}

async fn load(http: &reqwest::Client) -> bool {
    for _ in 0..3 {
        if http.get("http://stock/levels").send().await.is_ok() {
            return true;
        }
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    false
}
"#;
    assert_eq!(layers(text), "rust:10: 3 attempts, fixed 1s @14, no jitter, on refused timeout");
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
fn an_answer_that_is_asked_for_its_status_is_that_of_a_request() {
    let text = r#"
pub fn recoverable(status: u16) -> bool { !(400..500).contains(&status) || matches!(status, 400 | 408 | 429) }
pub async fn send(transport: std::sync::Arc<dyn Transport>, body: Vec<u8>) -> bool {
    for attempt in 1..=2 {
        if attempt == 2 { tokio::time::sleep(std::time::Duration::from_secs(1)).await; }
        let request = http::Request::builder().uri("http://events:8080/bulk").method("POST").body(body.clone()).unwrap();
        let response = match transport.request(request).await {
            Ok(response) => response,
            Err(_) if attempt == 1 => continue,
            Err(_) => return false,
        };
        if response.status().is_success() { return true; }
        if !recoverable(response.status().as_u16()) { return false; }
    }
    false
}"#;
    assert_eq!(layers(text), "rust:4: 2 attempts, fixed 1s @5, no jitter, on refused timeout 400 408 429 5xx");
}

#[test]
fn of_a_call_that_may_be_no_request_no_status_is_said_to_be_retried() {
    let text = r#"
pub async fn run(tool: &dyn Tool, input: Input) -> Result<Output, Error> {
    for attempt in 0..3u32 {
        match tool.run_tool(input.clone()).await {
            Ok(output) => return Ok(output),
            Err(_) => tokio::time::sleep(std::time::Duration::from_secs(1)).await,
        }
    }
    Err(Error)
}"#;
    let found = layers(text);
    assert!(
        found.starts_with("rust:3: 3 attempts, fixed 1s @6, no jitter, on refused timeout, perhaps 4xx"),
        "{found}"
    );
    assert!(found.contains("any error: 6"), "{found}");
}

#[test]
fn clients_that_send_without_retries_of_their_own() {
    let looped = |call: &str, asked: &str| {
        layers(&format!(
            "pub async fn f() -> bool {{
                for _ in 0..3 {{
                    match {call} {{
                        Ok(r) if {asked} => return true,
                        _ => std::thread::sleep(std::time::Duration::from_secs(1)),
                    }}
                }}
                false
            }}"
        ))
    };
    for call in [
        "isahc::get(\"http://stock/\")",
        "isahc::post_async(\"http://stock/\", \"x\").await",
        "isahc::HttpClient::new().unwrap().get(\"http://stock/\")",
        "surf::get(\"http://stock/\").await",
        "awc::Client::default().get(\"http://stock/\").send().await",
        "hyper::Client::new().get(\"http://stock/\".parse().unwrap()).await",
        "hyper::Client::builder().build(connector()).request(hyper::Request::new(body())).await",
    ] {
        let found = looped(call, "!r.status().is_server_error()");
        assert_eq!(found, "rust:2: 3 attempts, fixed 1s @5, no jitter, on refused timeout 5xx", "{call}");
    }
    for call in [
        "ureq::get(\"http://stock/\").call()",
        "ureq::Agent::new_with_config(ureq::Agent::config_builder().build()).post(\"http://stock/\").send_json(1)",
        "ureq::AgentBuilder::new().build().request(\"PUT\", \"http://stock/\").set(\"a\", \"b\").send_string(\"x\")",
    ] {
        let found = looped(call, "true");
        assert_eq!(
            found, "rust:2: 3 attempts, fixed 1s @5, no jitter, on refused timeout 4xx 5xx, any error: 5",
            "{call}"
        );
    }
    let plain = "ureq::Agent::new_with_config(ureq::Agent::config_builder().http_status_as_error(false).build())";
    let found = looped(&format!("{plain}.get(\"http://stock/\").call()"), "r.status() < 500");
    assert_eq!(found, "rust:2: 3 attempts, fixed 1s @5, no jitter, on refused timeout 5xx");
}

#[test]
fn a_retry_call_whose_operation_lies_elsewhere_is_a_layer() {
    let text = r#"
use retry::{delay::Fibonacci, retry_with_index, OperationResult};
pub struct Source { rt: tokio::runtime::Runtime, url: String }
impl Source {
    fn connect(&mut self) -> Result<(), tendermint_rpc::Error> {
        self.rt.block_on(tendermint_rpc::WebSocketClient::new(self.url.as_str())).map(|_| ())
    }
    pub fn reconnect(&mut self) -> bool {
        retry_with_index(Fibonacci::from_millis(1000).take(4), |_| match self.connect() {
            Ok(()) => OperationResult::Ok(()),
            Err(_) => OperationResult::Retry(()),
        }).is_ok()
    }
}"#;
    let found = layers(text);
    assert!(found.starts_with("retry:9: 5 attempts, [1s 1s 2s 3s 5s]"), "{found}");
}

#[test]
fn a_local_store_repeats_nothing() {
    let store = |scheme: &str| {
        layers(&format!(
            "pub async fn read(url: &url::Url) -> Result<usize, String> {{
                let (store, path) = match url.scheme() {{
                    {scheme} => object_store::parse_url(url).map_err(|e| e.to_string())?,
                    other => return Err(other.to_owned()),
                }};
                Ok(store.get(&path).await.map_err(|e| e.to_string())?.size())
            }}"
        ))
    };
    assert_eq!(store("\"memory\" | \"file\""), "");
    assert!(store("\"s3\" | \"file\"").contains("11 attempts"), "{}", store("\"s3\" | \"file\""));
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

#[test]
fn a_timeout_around_tries_that_ends_before_they_do_is_told() {
    let cut = |limit: u64| {
        let text = format!(
            "use std::time::Duration;
             async fn load(http: &reqwest::Client) -> bool {{
                 for _ in 0..6 {{
                     if http.get(\"http://stock/levels\").send().await.is_ok() {{ return true; }}
                     tokio::time::sleep(Duration::from_secs(1)).await;
                 }}
                 false
             }}
             pub async fn outer(http: &reqwest::Client) -> bool {{
                 tokio::time::timeout(Duration::from_secs({limit}), load(http)).await.unwrap_or(false)
             }}"
        );
        let read = support::read(&[("src/lib.rs", &text)], &[], &[]);
        let told = |cut: &crate::rust::reading::CutShort| (cut.attempts, cut.limit.value().map(|d| d.as_secs()));
        read.reading.cut_short.iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(cut(3), [(6, Some(3))]);
    assert_eq!(cut(60), []);
}

#[test]
fn a_call_that_nothing_repeats_keeps_its_limit() {
    let limit = |call: &str| {
        let text = format!(
            "use std::time::Duration; pub async fn load(http: &reqwest::Client) -> bool {{ {call}.await.is_ok() }}"
        );
        let read = support::read(&[("src/lib.rs", &text)], &[], &[]);
        read.reading.calls.first().and_then(|c| c.limit.as_ref()?.value().map(|d| d.as_secs()))
    };
    let send = "http.get(\"http://stock/levels\")";
    assert_eq!(limit(&format!("{send}.send()")), None);
    assert_eq!(limit(&format!("{send}.timeout(Duration::from_secs(5)).send()")), Some(5));
    assert_eq!(limit(&format!("tokio::time::timeout(Duration::from_secs(2), {send}.send())")), Some(2));
}

/// How the calls of one function leave it: host, layers, and whether it is once for each item.
fn calls(body: &str) -> Vec<(String, usize, bool)> {
    let text = format!(
        "use futures::future::{{join_all, try_join_all}};
         use futures::stream::{{self, FuturesUnordered, StreamExt, TryStreamExt}};
         use tokio::task::JoinSet;
         async fn one(http: &reqwest::Client, id: u64) -> Result<String, reqwest::Error> {{
             http.get(format!(\"http://stock/{{id}}\")).send().await?.text().await
         }}
         pub async fn all(http: &reqwest::Client, ids: Vec<u64>) -> Result<(), reqwest::Error> {{ {body} Ok(()) }}"
    );
    let read = support::read(&[("src/lib.rs", &text)], &[], &[]);
    let host = |call: &crate::rust::reading::CodeCall| match &call.target {
        crate::rust::reading::Target::Url { parts, .. } => format!("{:?}", parts.first()),
        other => format!("{other:?}"),
    };
    let of_all = read.reading.calls.iter().filter(|c| c.root.name == "all");
    of_all.map(|c| (host(c), c.layers.len(), c.per_item)).collect()
}

#[test]
fn calls_for_each_of_several_items_are_no_retries() {
    for body in [
        "for id in ids { let _ = one(http, id).await; }",
        "for id in ids { one(http, id).await?; }",
        "join_all(ids.into_iter().map(|id| one(http, id))).await;",
        "join_all(ids.iter().map(|_| http.get(\"http://stock/up\").send())).await;",
        "try_join_all(ids.iter().map(|id| async move { one(http, *id).await })).await?;",
        "let calls: Vec<_> = ids.iter().map(|id| one(http, *id)).collect(); join_all(calls).await;",
        "let mut calls = FuturesUnordered::new();
         for id in ids { calls.push(one(http, id)); }
         while let Some(done) = calls.next().await { let _ = done; }",
        "let _: Vec<_> = ids.iter().map(|id| one(http, *id)).collect::<FuturesUnordered<_>>().collect().await;",
        "stream::iter(ids).map(|id| one(http, id)).buffer_unordered(8).collect::<Vec<_>>().await;",
        "stream::iter(ids).map(|id| one(http, id)).buffered(8).for_each(|_| async {}).await;",
        "stream::iter(ids).for_each_concurrent(8, |id| async move { let _ = one(http, id).await; }).await;",
        "stream::iter(ids.into_iter().map(Ok)).try_for_each_concurrent(4, |id| async move {
             one(http, id).await.map(|_| ())
         }).await?;",
        "let mut set = JoinSet::new();
         for id in ids { let http = http.clone(); set.spawn(async move { one(&http, id).await }); }
         while let Some(done) = set.join_next().await { let _ = done; }",
    ] {
        let found = calls(body);
        assert!(!found.is_empty() && found.iter().all(|(_, layers, each)| *layers == 0 && *each), "{body}\n{found:?}");
    }
}

#[test]
fn calls_beside_each_other_are_as_many_hops_and_not_one_for_each_item() {
    let found = calls("let _ = tokio::join!(http.get(\"http://a\").send(), http.get(\"http://b\").send());");
    assert_eq!(found.iter().map(|c| (c.1, c.2)).collect::<Vec<_>>(), [(0, false), (0, false)]);
    assert_ne!(found[0].0, found[1].0);
    let found = calls("let _ = tokio::try_join!(one(http, 1), http.get(\"http://b\").send())?;");
    assert_eq!(found.iter().map(|c| (c.1, c.2)).collect::<Vec<_>>(), [(0, false), (0, false)]);
}

#[test]
fn tries_of_each_item_stay_a_retry() {
    let body = "join_all(ids.iter().map(|id| async move {
        for _ in 0..3 {
            if one(http, *id).await.is_ok() { return; }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    })).await;";
    let found = calls(body);
    assert_eq!(found.iter().map(|c| (c.1, c.2)).collect::<Vec<_>>(), [(1, true)]);
    let around = "for _ in 0..3 {
        let all = try_join_all(ids.iter().map(|id| one(http, *id))).await;
        if all.is_ok() { return Ok(()); }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }";
    let found = calls(around);
    assert_eq!(found.iter().map(|c| (c.1, c.2)).collect::<Vec<_>>(), [(1, true)]);
}

/// A service's client as tonic's build script makes it, out of sight.
const STOCK: &str = "use tonic::{Code, Status, transport::{Channel, Endpoint}};
    pub mod pb { tonic::include_proto!(\"stock\"); }
    use pb::stock_client::StockClient;";

#[test]
fn codes_of_grpc_say_what_is_tried_again() {
    let read = |test: &str| {
        layers(&format!(
            "{STOCK}
            pub async fn f(client: &mut StockClient<Channel>) -> Result<Level, Status> {{
                let mut failures = 0;
                loop {{
                    match client.level(pb::Ask {{}}).await {{
                        Ok(level) => return Ok(level),
                        Err(status) if {test} && failures < 3 => failures += 1,
                        Err(status) => return Err(status),
                    }}
                    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                }}
            }}"
        ))
    };
    let loops = "rust:6: 4 attempts, fixed 1s @12, no jitter, on ";
    assert_eq!(read("status.code() == Code::Unavailable"), format!("{loops}refused grpc:14"));
    assert_eq!(
        read("matches!(status.code(), tonic::Code::DeadlineExceeded | tonic::Code::Aborted)"),
        format!("{loops}timeout grpc:4 grpc:10")
    );
    assert!(read("true").starts_with(&format!("{loops}refused timeout grpc:1 grpc:2")), "{}", read("true"));
    assert!(read("true").ends_with("any error: 9"), "{}", read("true"));
}

#[test]
fn calls_of_grpc_are_hops_to_their_channels() {
    let text = format!(
        "{STOCK}
        pub async fn f() -> Result<Level, Status> {{
            let mut client = pb::stock_client::StockClient::connect(\"http://stock:50051\").await?;
            client.level(pb::Ask {{}}).await
        }}
        pub async fn g() -> Result<Level, Status> {{
            let channel = Endpoint::from_static(\"http://tax:50051\").connect_lazy();
            StockClient::new(channel).level(pb::Ask {{}}).await
        }}"
    );
    let read = support::read(&[("src/lib.rs", &text)], &[], &[]);
    let calls = read.calls();
    assert!(calls.contains("f - http://stock:50051") && calls.contains("g - http://tax:50051"), "{calls}");
    assert!(read.reading.calls.iter().all(|c| c.grpc), "{calls}");
}

#[test]
fn what_waits_and_lies_elsewhere_waits_for_what_it_is_given() {
    let read = |wait: &str| {
        layers(&format!(
            "pub async fn f<C: Clock>(http: &reqwest::Client, clock: C) -> bool {{
                for n in 1..=4u64 {{
                    if http.get(\"http://stock/\").send().await.is_ok() {{ return true; }}
                    {wait}
                }}
                false
            }}"
        ))
    };
    let known = "rust:2: 4 attempts, linear 1s @4, no jitter, on refused timeout";
    for wait in [
        "clock.sleep(std::time::Duration::from_secs(n)).await;",
        "clock.sleep(std::time::Duration::from_secs(n));",
        "clock.pause_before_retry(std::time::Duration::from_secs(n))",
    ] {
        assert_eq!(read(wait), known, "{wait}");
    }
    // What is noted in a statistic waits for nothing.
    let noted = read("clock.note(std::time::Duration::from_secs(n));");
    assert!(noted.starts_with("rust:2: 4 attempts, no wait"), "{noted}");
}

#[test]
fn counters_of_different_failures_add_up() {
    let read = |limited: &str, lost: &str| {
        layers(&format!(
            "pub async fn f(http: &reqwest::Client) -> Result<String, reqwest::Error> {{
                let (mut a, mut b) = (0, 0);
                loop {{
                    let error = match http.get(\"http://stock/\").send().await.and_then(|r| r.error_for_status()) {{
                        Ok(r) => return r.text().await,
                        Err(error) => error,
                    }};
                    if error.status().is_some_and(|s| s == 429) {{ {limited} }} else {{ {lost} }}
                    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                }}
            }}"
        ))
    };
    let up_to = |counter: &str, most: u32| format!("{counter} += 1; if {counter} > {most} {{ return Err(error); }}");
    let attempts = |text: String| text.split(", ").next().unwrap_or_default().to_owned();
    assert_eq!(attempts(read(&up_to("a", 10), &up_to("b", 3))), "rust:3: 14 attempts");
    assert_eq!(attempts(read(&up_to("a", 10), &up_to("a", 3))), "rust:3: 11 attempts");
    // One that counts every failure bounds the whole.
    let all = format!("{} {}", up_to("b", 5), up_to("a", 2));
    assert_eq!(attempts(read(&all, &up_to("b", 5))), "rust:3: 6 attempts");
}

#[test]
fn a_status_is_picked_by_the_test_that_tells_it_apart() {
    let text = "
pub fn recoverable(status: u16) -> bool { !(400..500).contains(&status) || matches!(status, 400 | 408 | 429) }
pub async fn send(http: &reqwest::Client) -> bool {
    for attempt in 1..=2 {
        if attempt == 2 { tokio::time::sleep(std::time::Duration::from_secs(1)).await; }
        let response = match http.get(\"http://stock/\").send().await {
            Ok(response) => response,
            Err(_) if attempt == 1 => continue,
            Err(_) => return false,
        };
        if response.status().is_success() { return true; }
        if !recoverable(response.status().as_u16()) { return false; }
    }
    false
}";
    let read = support::read(&[("src/lib.rs", text)], &[], &[]);
    let layer = read.reading.layers.first().expect("there is a layer");
    let at = |status| {
        let pick = layer.retries.picks.iter().find(|p| p.modes.contains(crate::model::Mode::Status(status)));
        pick.and_then(|p| text.get(p.span.range())).unwrap_or_default().to_owned()
    };
    assert_eq!(at(400), "!recoverable(response.status().as_u16())");
    assert_eq!(at(429), at(400));
}

#[test]
fn a_middleware_for_some_requests_repeats_no_other() {
    let read = |method: &str| {
        let text = format!(
            "use reqwest_middleware::ClientBuilder;
            use reqwest_conditional_middleware::ConditionalMiddleware;
            use reqwest_retry::{{policies::ExponentialBackoff, RetryTransientMiddleware}};
            pub async fn f() -> bool {{
                let policy = ExponentialBackoff::builder().build_with_max_retries(3);
                let retry = RetryTransientMiddleware::new_with_policy(policy);
                let retry = ConditionalMiddleware::new(retry, |r: &reqwest::Request| r.method() == reqwest::Method::GET);
                let http = ClientBuilder::new(reqwest::Client::new()).with(retry).build();
                http.{method}(\"http://stock/\").send().await.is_ok()
            }}"
        );
        support::read(&[("src/lib.rs", &text)], &[], &[])
            .reading
            .calls
            .iter()
            .map(|c| c.layers.len())
            .collect::<Vec<_>>()
    };
    assert_eq!(read("get"), [1]);
    assert_eq!(read("post"), [0]);
}

#[test]
fn functions_that_call_each_other_repeat() {
    let read = |again: &str| {
        layers(&format!(
            "pub async fn f(http: &reqwest::Client) -> bool {{ send(http, 0).await }}
            async fn send(http: &reqwest::Client, tried: u32) -> bool {{
                if http.get(\"http://stock/\").send().await.is_ok() {{ return true; }}
                after(http, tried).await
            }}
            async fn after(http: &reqwest::Client, tried: u32) -> bool {{
                if tried >= 3 {{ return false; }}
                {again}
            }}"
        ))
    };
    assert_eq!(
        read("Box::pin(send(http, tried + 1)).await"),
        "rust:2: 4 attempts, no wait, no jitter, on refused timeout"
    );
    assert_eq!(read("http.get(\"http://other/\").send().await.is_ok()"), "");
}

#[test]
fn a_variant_that_does_not_retry_hides_none_that_does() {
    let text = "
pub enum Strategy { Once, Retry(u32) }
impl Strategy {
    fn goes_on(&self, tries: u32) -> bool {
        match (self, tries) {
            (Strategy::Once, 0) => true,
            (Strategy::Retry(n), x) if x < *n => true,
            _ => false,
        }
    }
}
pub async fn send(http: &reqwest::Client, strategy: &Strategy) -> Option<String> {
    let mut tries = 0;
    while strategy.goes_on(tries) {
        if let Ok(answer) = http.get(\"http://stock/\").send().await { return answer.text().await.ok(); }
        tries += 1;
    }
    None
}";
    let found = layers(text);
    assert!(found.contains("on refused timeout"), "{found}");
}

#[test]
fn a_worker_that_asks_again_at_once_after_a_failure_spins() {
    let read = |failed: &str, done: &str| {
        layers(&format!(
            "pub async fn work(http: &reqwest::Client, seen: tokio::sync::Notify) {{
                loop {{
                    let event = match http.get(\"http://events/next\").send().await {{
                        Ok(event) => event,
                        Err(e) => {{ tracing::error!(\"{{e}}\"); {failed} continue; }}
                    }};
                    {done}
                }}
            }}
            async fn handle(http: &reqwest::Client, event: reqwest::Response) {{
                http.post(\"http://events/done\").body(event.text().await.unwrap_or_default()).send().await.ok();
            }}"
        ))
    };
    let done = "handle(http, event).await;";
    assert_eq!(read("", done), "rust:2: unbounded, no wait, no jitter, on refused timeout");
    for failed in [
        "tokio::time::sleep(std::time::Duration::from_secs(1)).await;",
        "seen.notified().await;",
        "http.get(\"http://events/up\").send().await.ok();",
        "pause(2);",
    ] {
        assert_eq!(read(failed, done), "", "{failed}");
    }
    // One that does nothing with what it gets is there to make requests.
    assert_eq!(read("", "drop(event);"), "");
}

#[test]
fn a_timer_that_is_made_when_it_is_first_needed_ticks_at_once_only_then() {
    let text = "pub async fn f(http: &reqwest::Client) -> bool {
        let mut timer = None;
        for _ in 0..4 {
            if http.get(\"http://stock/\").send().await.is_ok() { return true; }
            let every = std::time::Duration::from_secs(2);
            timer.get_or_insert_with(|| tokio::time::interval(every)).tick().await;
        }
        false
    }";
    assert_eq!(layers(text), "rust:3: 4 attempts, [0ns 2s 2s] @6, no jitter, on refused timeout");
}
