//! The Azure SDK for .NET: clients that take a section of `appsettings.json`.

use std::time::Duration;

use super::dotnet::time_span;
use super::{appsettings, base};
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Jitter, Layer, Setting, Wait};
use crate::syntax::{Entry, Node};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions, settings};

/// The Azure SDK for .NET.
pub struct AzureSdk;

const ID: &str = "azure-sdk";
const OPTIONS: &str = "Azure/azure-sdk-for-net sdk/core/Azure.Core/src/RetryOptions.cs";
const DELAY: &str = "Azure/azure-sdk-for-net sdk/core/Azure.Core/src/DelayStrategy.cs";
const CLASSIFIER: &str = "Azure/azure-sdk-for-net sdk/core/Azure.Core/src/ResponseClassifier.cs";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Azure SDK for .NET",
    reads: "sections of appsettings*.json with `Retry` and a service's address (`serviceUri`, `VaultUri`, `Endpoint`, …), and `AzureDefaults`; `Section__Key` in the environment",
    marks: &["MaxRetries", "NetworkTimeout", "maxRetries", "AzureDefaults", "VaultUri", "serviceUri"],
    defaults: &[
        DefaultFigure { what: "MaxRetries absent", value: "4 attempts", source: OPTIONS },
        DefaultFigure { what: "Mode absent", value: "Exponential, × 2", source: OPTIONS },
        DefaultFigure { what: "Delay, MaxDelay absent", value: "0.8 s, at most 60 s", source: OPTIONS },
        DefaultFigure { what: "jitter", value: "0.8 to 1.2 of an exponential wait; it cannot be set", source: DELAY },
        DefaultFigure { what: "Mode: Fixed", value: "the same wait, without jitter", source: DELAY },
        DefaultFigure { what: "NetworkTimeout absent", value: "100 s for each try", source: OPTIONS },
        DefaultFigure {
            what: "what is retried",
            value: "408, 429, 500, 502, 503, 504 and failed connections, with Retry-After",
            source: CLASSIFIER,
        },
    ],
};

impl System for AzureSdk {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        appsettings::note(unit, facts);
        for part in unit.parts.iter().filter(|part| !appsettings::is_of(part)) {
            for root in &part.parsed.documents {
                facts.layers.extend(read(root, ""));
            }
        }
    }

    fn join(&self, facts: &mut Facts) {
        appsettings::add_layers(facts, read);
    }
}

fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    node.entries().iter().rev().find(|e| e.key.eq_ignore_ascii_case(key)).filter(|e| !e.value.is_null())
}

fn read(root: &Node, folder: &str) -> Vec<Layer> {
    let mut out: Vec<Layer> = root.walk().flat_map(|node| node.entries().iter().filter_map(client)).collect();
    if !folder.is_empty() {
        out.iter_mut().for_each(|layer| layer.id = layer.id.replacen(ID, &format!("{ID}:{folder}"), 1).into());
    }
    out
}

/// A section with `Retry` that is an Azure client's: by its address, or by its customary name.
fn client(section: &Entry) -> Option<Layer> {
    let retry = get(&section.value, "Retry").filter(|e| is_retry(&e.value))?;
    let addresses = ["serviceUri", "VaultUri", "Endpoint", "fullyQualifiedNamespace", "blobUri", "queueUri"];
    let address = addresses.iter().find_map(|key| get(&section.value, key));
    if address.is_none() && !section.key.eq_ignore_ascii_case("AzureDefaults") {
        return None;
    }
    let field = |key| get(&retry.value, key);
    let name = format!("Azure client {}", settings::shown(&section.key));
    let attempts = Setting::default(Attempts::Count(4), OPTIONS);
    let id = format!("{ID}:{}", section.key);
    let mut layer = base::client(ID, id.into(), name, retry.key_span, base::host(address), attempts);
    layer.asked_for = true;
    if let Some(count) = field("MaxRetries") {
        base::counted(&mut layer, count, settings::retries(count));
    }
    let delay = base::or_default(field("Delay"), time_span, Duration::from_millis(800), OPTIONS);
    let fixed = field("Mode").filter(|e| e.value.as_str().is_some_and(|m| m.eq_ignore_ascii_case("fixed")));
    (layer.wait, layer.jitter) = match fixed {
        Some(_) => (Wait::Fixed(delay), Setting::default(Jitter::None, DELAY)),
        None => {
            let cap = base::or_default(field("MaxDelay"), time_span, Duration::from_secs(60), OPTIONS).map(Some);
            let spread = Jitter::Partial { low: 0.8, high: 1.2 };
            (base::exponential(delay, Setting::default(2.0, DELAY), cap), Setting::default(spread, DELAY))
        }
    };
    layer.wait_place = fixed.or(field("Delay")).map(|e| e.key_span);
    layer.retries = base::by_default(base::and_transport([408, 429, 500, 502, 503, 504]), layer.opens);
    layer.retry_after = Setting::default(true, OPTIONS);
    layer.per_try = Some(base::or_default(field("NetworkTimeout"), time_span, Duration::from_secs(100), OPTIONS));
    layer.advice = advice();
    Some(layer)
}

fn is_retry(node: &Node) -> bool {
    let own = ["MaxRetries", "NetworkTimeout", "Mode", "MaxDelay", "Delay"];
    let entries = node.entries();
    !entries.is_empty() && entries.iter().all(|e| own.iter().any(|key| e.key.eq_ignore_ascii_case(key)))
}

fn advice() -> Advice {
    let some = |s: &str| Some(s.to_string());
    Advice {
        none: some("set `MaxRetries` to 0"),
        grow: some("set `Mode` to \"Exponential\""),
        jitter: some("set `Mode` to \"Exponential\", whose waits are spread"),
        ..Advice::default()
    }
}
