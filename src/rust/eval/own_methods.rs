//! Methods of the repository's own types, found by name.
use super::machine::Machine;
use super::value::Value;
use crate::rust::index::FnIx;
use crate::rust::ir::Path;

impl<'a> Machine<'a, '_> {
    /// The first of these methods that a value's own type has in the repository.
    pub(crate) fn own_method(&self, value: &Value<'a>, names: &[&str]) -> Option<crate::rust::index::FnIx> {
        let ty = self.local_type(value)?;
        names.iter().find_map(|name| self.shared.index.method(ty, name))
    }

    /// The one method of that name in the repository, for a receiver of which nothing is known.
    pub(super) fn only_method_named(&self, name: &str, args: usize) -> Option<crate::rust::index::FnIx> {
        const COMMON: [&str; 40] = [
            "get",
            "post",
            "put",
            "delete",
            "send",
            "call",
            "execute",
            "query",
            "fetch",
            "new",
            "len",
            "map",
            "and_then",
            "unwrap",
            "expect",
            "next",
            "insert",
            "push",
            "pop",
            "iter",
            "into_iter",
            "build",
            "with",
            "run",
            "start",
            "stop",
            "read",
            "write",
            "status",
            "json",
            "text",
            "parse",
            "join",
            "spawn",
            "retry",
            "clone",
            "connect",
            "name",
            "id",
            "url",
        ];
        if COMMON.contains(&name) {
            return None;
        }
        match self.shared.index.named(name) {
            &[one] => {
                let info = self.shared.index.function(one);
                let takes_self = info.function.params.first().is_some_and(
                    |p| matches!(&p.pat.kind, crate::rust::ir::PatKind::Bind { name, .. } if &**name == "self"),
                );
                (takes_self && info.function.params.len() == args + 1).then_some(one)
            }
            _ => None,
        }
    }

    /// The one function that `S::sleep(..)` of a type parameter can be: only one type has it.
    pub(super) fn only_function_of_a_trait(&self, path: &Path, args: usize) -> Option<FnIx> {
        let [parameter, name] = path.segments.as_slice() else { return None };
        if parameter.len() > 2 || !parameter.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) {
            return None;
        }
        let index = self.shared.index;
        let of_type = |ix: &&FnIx| {
            let info = index.function(**ix);
            info.of_trait.is_some() && info.of_type.is_some() && info.function.params.len() == args
        };
        let mut all = index.named(name).iter().filter(of_type);
        let only = all.next().copied()?;
        all.next().is_none().then_some(only)
    }

    /// The one method of that name that the repository adds to a type from outside.
    pub(crate) fn extension_method(&self, name: &str, args: usize) -> Option<crate::rust::index::FnIx> {
        let adds = |ix: &&crate::rust::index::FnIx| {
            let info = self.shared.index.function(**ix);
            info.of_type.is_none() && info.of_trait.is_some() && info.function.params.len() == args + 1
        };
        let mut all = self.shared.index.named(name).iter().filter(adds);
        let only = all.next().copied()?;
        all.next().is_none().then_some(only)
    }
}
