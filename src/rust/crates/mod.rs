//! Crates that retry: one file each. What they do is told here in the terms of an evaluation: a builder is a value,
//! a retried closure is called again, a client puts its layer around each request.
//!
//! To add one: its file here, and its line in [`all`].

mod again;
mod apalis;
mod aws;
mod azure;
mod backoff;
mod backon;
mod call;
pub(crate) mod client;
mod delays;
mod described;
mod exponential_backoff;
mod futures_retry;
mod google_cloud;
mod kube;
pub(crate) mod middleware;
mod mongodb;
mod object_store;
mod octocrab;
mod opendal;
pub(crate) mod policy;
mod redis;
mod reqwest_own;
mod reqwest_retry;
pub(crate) mod retried;
mod retry;
mod tabled;
mod tokio_retry;
mod tower;
mod tryhard;

use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

pub(crate) use delays::drawn;
pub(crate) use described::{At, Described};
pub(crate) use policy::{Plan, Policy};

use super::eval::iter::Iter;
use super::eval::machine::{Eval, Exit, Machine};
use super::eval::value::{ClientLayer, Kind, Request, Value};
use super::ir::{Name, Path};
use crate::source::Span;
use crate::systems::SystemMeta;

/// A value of a crate's type.
pub(crate) trait Native<'a>: Debug {
    /// Equal for equal values.
    fn identity(&self) -> u64 {
        0
    }

    /// A method of it. `None`: it has no such method, or none that matters.
    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>>;

    /// A field of it.
    fn field(self: Rc<Self>, _name: &str) -> Option<Value<'a>> {
        None
    }

    /// It with a field written to. `None`: it has no such field, or none that matters.
    fn with_field(
        self: Rc<Self>,
        _machine: &mut Machine<'a, '_>,
        _name: &str,
        _value: &Value<'a>,
        _place: Span,
    ) -> Option<Value<'a>> {
        None
    }

    /// Whether a method changes it in place: `config.set(..);`
    fn mutates(&self, _name: &str) -> bool {
        false
    }

    /// Whether something happens when it is awaited.
    fn is_future(&self) -> bool {
        false
    }

    /// What it comes to when it is awaited.
    fn awaited(self: Rc<Self>, _machine: &mut Machine<'a, '_>, _span: Span) -> Option<Eval<'a>> {
        None
    }

    /// A copy of it that shares nothing that changes; `None` where nothing of it changes.
    fn copied(&self) -> Option<Rc<dyn Native<'a> + 'a>> {
        None
    }

    /// What a `for` over it runs over.
    fn iterate(self: Rc<Self>) -> Option<Iter<'a>> {
        None
    }

    /// `call.retry(self)`
    fn retry(self: Rc<Self>, _call: &Value<'a>, _at: At) -> Option<Value<'a>> {
        None
    }

    /// What it comes to when it is called as a function.
    fn called(&self, _args: &[Value<'a>]) -> Option<Value<'a>> {
        None
    }

    /// A field of it is set.
    fn set(&self, _field: &str, _value: &Value<'a>, _place: Span) {}

    /// Whether the policy that it is leaves no failure out.
    fn retries_everything(&self) -> bool {
        false
    }

    /// The policy that it is.
    fn policy(&self) -> Option<Rc<Policy>> {
        None
    }

    /// What it has been told so far, where it is a strategy.
    fn plan(&self) -> Option<Plan> {
        None
    }

    /// The client of a library that it is.
    fn client(&self) -> Option<client::Client> {
        None
    }

    /// The gRPC channel that it is, or that it holds.
    fn channel(&self) -> Option<super::eval::grpc::Channel> {
        None
    }

    /// The layer that it is around a client.
    fn client_layer(self: Rc<Self>) -> Option<ClientLayer<'a>> {
        None
    }
}

/// A layer around each request of a client.
pub(crate) trait ClientRetry<'a>: Debug {
    /// What it is.
    fn described(&self) -> Arc<Described>;
    /// The service that all calls through it reach, where that is known.
    fn leaf(&self) -> Option<Rc<str>> {
        None
    }
    /// Whether it lies inside of what a middleware adds, whenever it was added.
    fn innermost(&self) -> bool {
        false
    }
    /// Whether this very request is sent again after this result.
    fn again_of(
        &self,
        machine: &mut Machine<'a, '_>,
        _request: Option<&Rc<Request<'a>>>,
        result: &Value<'a>,
    ) -> Result<bool, Exit<'a>> {
        self.again(machine, result)
    }
    /// A new request begins.
    fn begin(&self) {}
    /// Sends a request itself, through the layers behind it. `None`: it is sent, and [`ClientRetry::again`] is asked.
    fn around(
        &self,
        _machine: &mut Machine<'a, '_>,
        _rest: &[ClientLayer<'a>],
        _request: &Rc<Request<'a>>,
        _span: Span,
    ) -> Option<Eval<'a>> {
        None
    }
    /// Whether a request is sent again after this result.
    fn again(&self, machine: &mut Machine<'a, '_>, result: &Value<'a>) -> Result<bool, Exit<'a>>;
}

/// A crate that retries.
pub(crate) trait RetryCrate: Sync {
    /// What `retrylint systems` prints.
    fn meta(&self) -> &'static SystemMeta;

    /// A function of it.
    fn function<'a>(
        &self,
        machine: &mut Machine<'a, '_>,
        path: &[&str],
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>>;

    /// A method that a trait of it gives to other types.
    fn extension<'a>(&self, _value: &Value<'a>, _name: &str, _args: &[Value<'a>]) -> Option<Value<'a>> {
        None
    }

    /// A constant, unit struct or unit variant of it.
    fn constant<'a>(&self, _path: &[&str]) -> Option<Value<'a>> {
        None
    }

    /// A struct literal of it.
    fn struct_literal<'a>(
        &self,
        _machine: &Machine<'a, '_>,
        _path: &[&str],
        _fields: &[(Name, Value<'a>)],
        _rest: Option<&Value<'a>>,
        _span: Span,
    ) -> Option<Value<'a>> {
        None
    }

    /// What its clients are, if they repeat their own calls.
    fn library(&self) -> Option<&'static client::Library> {
        None
    }

    /// A value of which only the type is known, the type being one of it. Equal `id`s, equal values.
    fn of_type<'a>(&self, _path: &[&str], _id: u64) -> Option<Value<'a>> {
        None
    }
}

/// Packages whose version changes what they do by default.
pub(crate) const VERSIONED: [&str; 18] = [
    "async-openai",
    "aws-config",
    "aws-smithy-runtime-api",
    "aws-smithy-types",
    "azure_core",
    "backoff",
    "backon",
    "exponential-backoff",
    "kube",
    "kube-client",
    "object_store",
    "octocrab",
    "redis",
    "reqwest",
    "reqwest-retry",
    "retry",
    "retry-policies",
    "tower",
];

/// Every crate that is known.
pub(crate) fn all() -> &'static [&'static dyn RetryCrate] {
    &[
        &again::Again,
        &apalis::Apalis,
        &aws::Aws,
        &azure::Azure,
        &backoff::Backoff,
        &backon::Backon,
        &exponential_backoff::ExponentialBackoff,
        &futures_retry::FuturesRetry,
        &google_cloud::GoogleCloud,
        &kube::Kube,
        &mongodb::MongoDb,
        &object_store::ObjectStore,
        &octocrab::Octocrab,
        &opendal::OpenDal,
        &redis::Redis,
        &reqwest_own::ReqwestOwn,
        &reqwest_retry::ReqwestRetry,
        &retry::Retry,
        &tokio_retry::TokioRetry,
        &tokio_retry::TokioRetry2,
        &tower::Tower,
        &tryhard::Tryhard,
    ]
}

/// What each of them is, for the list of systems.
pub fn metas() -> impl Iterator<Item = &'static SystemMeta> {
    all().iter().map(|c| c.meta())
}

/// Whether a path leads into one of the crates.
pub(crate) fn is_of_one(path: &Path) -> bool {
    let Some(first) = path.segments.first() else { return false };
    all().iter().any(|c| c.meta().marks.iter().any(|mark| *mark.trim_end_matches("::") == **first))
}

/// A function of one of the crates.
pub(crate) fn function<'a>(machine: &mut Machine<'a, '_>, path: &Path, args: &[Value<'a>], at: At) -> Option<Eval<'a>> {
    ways(machine, path).iter().find_map(|path| {
        let path: Vec<&str> = path.iter().map(|s| &**s).collect();
        all().iter().find_map(|c| c.function(machine, &path, args, at))
    })
}

/// A constant of one of the crates.
pub(crate) fn constant<'a>(machine: &Machine<'a, '_>, path: &Path) -> Option<Value<'a>> {
    ways(machine, path).iter().find_map(|path| {
        let path: Vec<&str> = path.iter().map(|s| &**s).collect();
        all().iter().find_map(|c| c.constant(&path))
    })
}

/// A struct literal of one of the crates.
pub(crate) fn struct_literal<'a>(
    machine: &Machine<'a, '_>,
    path: &Path,
    fields: &[(Name, Value<'a>)],
    rest: Option<&Value<'a>>,
    span: Span,
) -> Option<Value<'a>> {
    ways(machine, path).iter().find_map(|path| {
        let path: Vec<&str> = path.iter().map(|s| &**s).collect();
        all().iter().find_map(|c| c.struct_literal(machine, &path, fields, rest, span))
    })
}

/// What a path of another crate may be written out as: as it is, with the crate's own name where Cargo.toml gives it
/// another one; or, if no `use` names it, as something that a glob brings in.
fn ways(machine: &Machine<'_, '_>, path: &Path) -> Vec<Vec<Name>> {
    let index = machine.shared.index;
    let scope = machine.context().scope;
    let mut ways = vec![index.true_name(scope, &path.segments)];
    if let [_] | [_, _] = path.segments.as_slice() {
        let joined = |glob: &Path| index.true_name(scope, &[&*glob.segments, &*path.segments].concat());
        ways.extend(index.outside_globs(scope).map(joined));
    }
    ways
}

/// Types and functions by which clients that repeat their own calls are made.
pub(crate) fn client_makers() -> impl Iterator<Item = &'static str> {
    all().iter().filter_map(|c| c.library()).flat_map(|library| library.makers).copied()
}

/// The systems of which a path is called to make a client, or settings of one.
pub(crate) fn makes_clients(path: &Path) -> impl Iterator<Item = &'static str> {
    let is_named = |name: &&'static str| path.segments.iter().rev().take(2).any(|s| **s == **name);
    all().iter().filter_map(|c| c.library()).filter(move |l| l.makers.iter().any(is_named)).map(|l| l.system)
}

/// A value of which only the type is known, if the type is of one of the crates.
pub(crate) fn of_type<'a>(machine: &Machine<'a, '_>, path: &Path, id: u64) -> Option<Value<'a>> {
    ways(machine, path).iter().find_map(|path| {
        let path: Vec<&str> = path.iter().map(|s| &**s).collect();
        all().iter().find_map(|c| c.of_type(&path, id))
    })
}

/// A method of a value of one of the crates, or `.retry(policy)` on something that can be called.
pub(crate) fn method<'a>(
    machine: &mut Machine<'a, '_>,
    value: &Value<'a>,
    name: &'a str,
    args: &[Value<'a>],
    at: At,
) -> Option<Eval<'a>> {
    if let Kind::Native(native) = &value.kind {
        if let Some(own) = machine.extension_method(name, args.len()).filter(|_| native.client().is_some()) {
            let all = [value.clone()].into_iter().chain(args.iter().cloned()).collect();
            return Some(machine.call_fn(own, all, at.span));
        }
        return match native.clone().method(machine, name, args, at) {
            // What can be iterated has the methods of iterators too.
            None if native.clone().iterate().is_some() => None,
            None => Some(Ok(value.clone())),
            result => result,
        };
    }
    if let ("retry", [Value { kind: Kind::Native(policy), .. }]) = (name, args) {
        return policy.clone().retry(value, at).map(Ok);
    }
    all().iter().find_map(|c| c.extension(value, name, args)).map(Ok)
}
