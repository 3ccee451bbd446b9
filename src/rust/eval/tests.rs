//! Tests of whole functions: what is read of a few lines of code.

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
