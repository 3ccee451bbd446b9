//! The reports over hand-made runs.

mod formats;
mod json;
mod report;
mod text;

use std::sync::Arc;

use super::Report;
use crate::model::{Attempts, Mode, Setting, Unresolved};
use crate::run::Run;
use crate::source::Unread;
use crate::testing::Draft;

const GATEWAY: &str = "\
services:
  - name: orders
    url: http://orders:8080
    retries: 3
";

const ORDERS: &str = "\
pub async fn load(http: &Client) -> Result<Order, Error> {
    let retry = ExponentialBuilder::default().with_max_times(3).with_jitter();
    (|| fetch(http)).retry(retry).await
}
";

const INVENTORY: &str = "\
fn reserve() -> Result<(), Error> {
    // 재고 예약: 다시 시도
    for attempt in 0..4 {
        ask_warehouse()?;
    }
}
";

/// A gateway, a client and a loop: 4 × 4 × 4.
fn shop() -> Draft {
    let mut draft = Draft::new();
    let gateway = draft.file("deploy/kong.yaml", GATEWAY);
    let orders = draft.file("services/orders/src/client.rs", ORDERS);
    let inventory = draft.file("services/inventory/src/stock.rs", INVENTORY);
    for (name, reading, file, needle) in [
        ("Kong service orders", "`retries: 3` on Kong service orders", gateway, "3\n"),
        ("backon call in `load`", "`with_max_times(3)` of the backon call in `load`", orders, "with_max_times(3)"),
        ("loop in `reserve`", "`for` loop in `reserve`", inventory, "for"),
    ] {
        let mut place = draft.span(file, needle);
        if needle.ends_with('\n') {
            place.end -= 1;
        }
        let layer = draft.layer(name, place);
        layer.reading = reading.to_string();
        layer.attempts = Setting::written(Attempts::Count(4), place);
    }
    draft.path("warehouse", Mode::Status(503), &[0, 1, 2]);
    draft
}

/// The shop, with what could not be resolved and what could not be read.
fn shop_with_gaps() -> Run {
    let mut draft = shop();
    let place = draft.model.layers[1].place;
    draft.model.unresolved.push(Unresolved {
        span: place,
        what: "attempts of the backon call in `load`".to_string(),
        reason: "comes from the environment variable TRIES, which nothing in the repository sets".to_string(),
    });
    let mut run = draft.run();
    run.unread.push(Unread { path: Arc::from("charts/broken.yaml"), span: None, reason: "is not UTF-8".to_string() });
    run.files = 12;
    run
}

fn written(report: &dyn Report, run: &Run) -> String {
    let mut out = Vec::new();
    report.write(run, &mut out).expect("a Vec takes everything");
    String::from_utf8(out).expect("UTF-8")
}
