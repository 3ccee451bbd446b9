//! The servers behind a name.

use std::collections::BTreeMap;

use super::include::Files;
use crate::model::HostRef;
use crate::source::{FileId, Span};
use crate::syntax::Node;
use crate::systems::settings;

/// An `upstream` block.
#[derive(Debug, Clone, Default)]
pub(super) struct Upstream {
    /// The hosts by name; the upstream's own name stands for addresses.
    pub to: Vec<HostRef>,
    /// How many servers there are: not those that are `down`. `None` where a template makes them.
    pub servers: Option<u64>,
    /// Where it opens; none for a host that `proxy_pass` itself names.
    pub place: Option<Span>,
}

/// The upstreams of all files, by name.
pub(super) struct Upstreams {
    by_name: BTreeMap<String, Vec<(FileId, Upstream)>>,
}

impl Upstreams {
    pub(super) fn new(files: &Files<'_>) -> Self {
        let mut by_name: BTreeMap<String, Vec<(FileId, Upstream)>> = BTreeMap::new();
        for file in files.iter() {
            for entry in file.root.walk().flat_map(|n| n.directives("upstream")) {
                let (Some(name), Some(block)) = (entry.value.arg(0), entry.value.block()) else { continue };
                let mut upstream = Upstream { servers: Some(0), place: Some(entry.head()), ..Upstream::default() };
                add_servers(files, block, 0, &mut upstream);
                let has_address = upstream.to.iter().any(|h| settings::is_address(&h.name));
                upstream.to.retain(|h| !settings::is_address(&h.name));
                if upstream.to.is_empty() && has_address {
                    upstream.to.extend(settings::host(name, entry.head(), None));
                }
                upstream.to = settings::distinct(std::mem::take(&mut upstream.to));
                by_name.entry(name.to_lowercase()).or_default().push((file.file.id, upstream));
            }
        }
        Self { by_name }
    }

    /// The upstream of a name: that of the same file, else the first.
    pub(super) fn of(&self, name: &str, file: FileId) -> Option<&Upstream> {
        let all = self.by_name.get(&name.to_lowercase())?;
        all.iter().find(|(id, _)| *id == file).or(all.first()).map(|(_, upstream)| upstream)
    }
}

/// Files that include each other in a circle end here.
const MAX_DEPTH: usize = 8;

fn add_servers(files: &Files<'_>, block: &Node, depth: usize, out: &mut Upstream) {
    for entry in block.entries() {
        match &*entry.key {
            "include" if depth < MAX_DEPTH => {
                let included = files.included(entry);
                if included.is_empty() {
                    out.servers = None;
                }
                included.iter().for_each(|f| add_servers(files, f.root, depth + 1, out));
            }
            "server" => {
                let Some(address) = entry.value.args().next() else { continue };
                let text = address.as_str().unwrap_or_default();
                if is_template(text) {
                    out.servers = None;
                }
                if entry.value.args().any(|a| a.as_str() == Some("down")) {
                    continue;
                }
                out.servers = out.servers.map(|n| n + 1);
                out.to.extend(host(text, address.span));
            }
            _ => {}
        }
    }
}

/// Whether a template decides it, perhaps several times over.
pub(super) fn is_template(text: &str) -> bool {
    ["{{", "{%", "<%", "${"].iter().any(|mark| text.contains(mark))
}

/// The host of an address; none for a socket.
pub(super) fn host(text: &str, span: Span) -> Option<HostRef> {
    (!text.starts_with("unix:")).then(|| settings::host(text, span, None)).flatten()
}
