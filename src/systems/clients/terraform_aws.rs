//! The AWS provider of Terraform.

use std::sync::Arc;
use std::time::Duration;

use super::base;
use crate::facts::Facts;
use crate::model::{Advice, Attempts, Conditions, Jitter, Layer, ModeSet, Setting, Wait};
use crate::source::SourceFile;
use crate::syntax::Node;
use crate::systems::settings::{self, Ids};
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// The AWS provider of Terraform.
pub struct TerraformAws;

const ID: &str = "terraform-aws";
const DOCS: &str = "hashicorp/terraform-provider-aws website/docs/index.html.markdown";
const SDK: &str = "hashicorp/aws-sdk-go-base aws_config.go";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "Terraform AWS provider",
    reads: "`provider \"aws\"` in *.tf and *.tf.json: max_retries, retry_mode",
    marks: &["\"aws\""],
    defaults: &[
        DefaultFigure { what: "max_retries absent", value: "25 attempts", source: DOCS },
        DefaultFigure { what: "max_retries", value: "all tries, the first included", source: SDK },
        DefaultFigure { what: "waits", value: "growing, with full jitter; they cannot be set", source: SDK },
    ],
};

impl System for TerraformAws {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mut ids = Ids::default();
        let is_terraform = |path: &str| path.ends_with(".tf") || path.ends_with(".tf.json");
        for (file, root) in unit.documents().filter(|(file, _)| is_terraform(&file.path)) {
            let blocks = |node: &'_ Node, key: &str| -> Vec<Arc<Node>> {
                node.entries().iter().filter(|e| &*e.key == key).map(|e| e.value.clone()).collect()
            };
            for aws in blocks(root, "provider").iter().flat_map(|providers| blocks(providers, "aws")) {
                let listed = aws.items().iter().map(|n| &**n);
                let single = Some(&*aws).filter(|n| n.items().is_empty());
                for provider in listed.chain(single) {
                    facts.layers.push(layer(file, provider, &mut ids));
                }
            }
        }
    }
}

fn layer(file: &SourceFile, provider: &Node, ids: &mut Ids) -> Layer {
    let alias = provider.get("alias").and_then(Node::as_str).map(|a| format!(".{a}")).unwrap_or_default();
    let name = format!("Terraform provider aws{}", settings::shown(&alias));
    let opens = settings::opening(file, provider);
    let attempts = Setting::default(Attempts::Count(25), DOCS);
    let mut layer = base::apart(ID, ids.next(format!("{ID}:aws{alias}")), name, opens, None, attempts);
    if let Some(count) = provider.entry("max_retries") {
        base::counted(&mut layer, count, base::tries(count));
    }
    layer.wait = Wait::Exponential {
        base: Setting::default(Duration::from_secs(1), SDK),
        factor: Setting::default(2.0, SDK),
        cap: Setting::unknown("the provider may set its own", None),
    };
    layer.jitter = Setting::default(Jitter::Full, SDK);
    layer.retries = Conditions {
        yes: base::and_transport([500, 502, 503, 504]),
        unknown: ModeSet::statuses([400, 429]),
        ..Conditions::default()
    };
    layer.advice = Advice { none: Some("set `max_retries` to 1".to_owned()), ..Advice::default() };
    layer
}
