//! Hops that the settings of applications tell: they hold the address of another component, or name it.

use super::draft::Draft;
use super::owners::Owners;
use crate::facts::{AddressFact, AddressOf, ApplicationNameFact};
use crate::model::{ComponentIx, HostRef, Reason};

/// Lets components be called by the names of their applications, where nothing else is called so.
pub(super) fn name_applications(draft: &mut Draft<'_>, owners: &Owners, names: &[ApplicationNameFact]) {
    for fact in names.iter().filter(|n| !n.served) {
        let known = draft.hosts.all_named(&fact.name);
        if let (true, Some(ix)) = (known.is_empty(), owners.existing(&fact.path, &draft.hosts)) {
            draft.hosts.call(ix, [fact.name.to_lowercase()]);
        }
    }
}

/// Adds a hop for each address of a component that a manifest declares, where none is known between the two.
pub(super) fn add_hops(draft: &mut Draft<'_>, owners: &Owners, addresses: &[AddressFact]) {
    for address in addresses {
        if declared(draft, &address.to).is_empty() {
            continue;
        }
        for from in callers(draft, owners, address) {
            let namespace = draft.hosts.part(from).and_then(|p| p.namespace.clone());
            let host = HostRef { namespace, ..address.to.clone() };
            for to in declared(draft, &host).into_iter().filter(|to| *to != from) {
                if !draft.has_hop(from, to) {
                    let reasons = [Reason::new(host.span, address.says.as_str()), draft.hosts.why(&host, to)];
                    let hop = draft.hop_because((from, to), Some(host.span), reasons);
                    draft.add_hop(hop);
                }
            }
        }
    }
}

fn declared(draft: &Draft<'_>, host: &HostRef) -> Vec<ComponentIx> {
    let is = |ix: &ComponentIx| draft.hosts.part(*ix).is_some_and(|p| p.declared);
    draft.hosts.known(host).components.into_iter().filter(is).collect()
}

fn callers(draft: &mut Draft<'_>, owners: &Owners, address: &AddressFact) -> Vec<ComponentIx> {
    match &address.of {
        AddressOf::Component(name) => {
            declared(draft, &HostRef { name: name.to_lowercase(), namespace: None, ..address.to.clone() })
        }
        AddressOf::File | AddressOf::Folder(_) => {
            let span = address.to.span;
            let path = draft.sources.get(span.file).map_or_else(String::new, |f| f.path.to_string());
            owners.of_place(span, &path, &mut draft.hosts)
        }
    }
}
