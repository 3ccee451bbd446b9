//! Calls that leave the program: finding them, and making the one under test fail.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::episode::Stir;
use super::key::Carried;
use super::machine::{Eval, Exit, Machine};
use super::value::{HttpError, Kind, Limit, Response, Taint, Text, Unknown, Value, Why};
use crate::model::{IdempotencyKey, Mode, ModeSet};
use crate::rust::crates::Described;
use crate::rust::reading;
use crate::source::Span;

/// The statuses of a good answer.
pub(crate) const GOOD_STATUSES: [u16; 4] = [200, 201, 202, 204];

/// A call under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Goal {
    /// The call.
    pub(crate) span: Span,
    /// The chain of calls down to it.
    pub(crate) chain: u64,
    /// The branches, arms and bodies that it stands in.
    pub(crate) branches: BTreeSet<Span>,
    /// Whether it is a request whose statuses can be told.
    pub(crate) http: bool,
    /// Whether these are the codes of gRPC.
    pub(crate) grpc: bool,
}

/// A call that a discovery found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The call.
    pub(crate) goal: Goal,
    /// Whether a loop, a recursion or a library's retry stands around it.
    pub(crate) looped: bool,
}

/// How the call under test ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum World {
    /// Refused or timed out.
    Transport(Mode),
    /// Answered with one of these failing statuses: all that could not be told apart so far.
    Statuses(Vec<u16>),
    /// Ended with one of these codes of gRPC.
    Codes(Vec<u16>),
    /// An error of which nothing can be told: it stands for every mode.
    Opaque,
    /// A good answer, with one of these statuses.
    Success(Vec<u16>),
}

impl World {
    /// Whether the answer may have this status.
    pub(crate) fn has(&self, status: u16) -> bool {
        match self {
            // Always ascending.
            Self::Statuses(all) | Self::Codes(all) | Self::Success(all) => all.binary_search(&status).is_ok(),
            Self::Transport(_) | Self::Opaque => false,
        }
    }

    /// How many statuses the answer may have.
    pub(crate) fn breadth(&self) -> usize {
        match self {
            Self::Statuses(all) | Self::Codes(all) | Self::Success(all) => all.len(),
            Self::Transport(_) | Self::Opaque => 1,
        }
    }

    /// Keeps only these statuses.
    pub(crate) fn narrow(&mut self, mut to: Vec<u16>) {
        to.sort_unstable();
        if let Self::Statuses(all) | Self::Codes(all) | Self::Success(all) = self {
            *all = to;
        }
    }

    /// The failures that it stands for.
    pub(crate) fn modes(&self) -> ModeSet {
        match self {
            Self::Transport(mode) => [*mode].into_iter().collect(),
            Self::Statuses(all) => ModeSet::statuses(all.iter().copied()),
            Self::Codes(all) => all.iter().flat_map(|code| super::grpc::modes(*code)).collect(),
            Self::Opaque => Mode::http().collect(),
            Self::Success(_) => ModeSet::EMPTY,
        }
    }

    /// Whether it is a good answer.
    pub(crate) fn is_success(&self) -> bool {
        matches!(self, Self::Success(_))
    }
}

/// Whom the call under test reaches.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The URL.
    pub(crate) target: reading::Target,
    /// The method.
    pub(crate) method: Option<String>,
    /// What its tries carry for an idempotency key.
    pub(crate) key: IdempotencyKey,
    /// Whether the call takes messages from a queue, or says that they are done.
    pub(crate) takes_messages: bool,
    /// How long it is waited for at most, by whatever limit is around it.
    pub(crate) limit: Option<Limit>,
    /// What begins again if it is a stream.
    pub(crate) stream: Option<Arc<Described>>,
    /// What its first try carries.
    first: Carried,
}

/// A call that is about to leave the program.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    /// The whole call.
    pub(crate) span: Span,
    /// Equal for equal calls: target and content, headers left out.
    pub(crate) identity: u64,
    /// Whether it is a request whose statuses can be told.
    pub(crate) http: bool,
    /// Whether these are the codes of gRPC.
    pub(crate) grpc: bool,
    /// The URL and its place.
    pub(crate) url: Option<(Rc<Text>, Span)>,
    /// The HTTP method.
    pub(crate) method: Option<Rc<str>>,
    /// Its idempotency key.
    pub(crate) key: Carried,
    /// How long it may take by its client's or its own setting.
    pub(crate) limit: Option<Limit>,
    /// Whether a layer of its own is around it.
    pub(crate) layered: bool,
    /// Whether it takes messages from a queue, or says that they are done.
    pub(crate) takes_messages: bool,
    /// What begins again if it is a stream's next item that is waited for: whoever goes on after an error, repeats.
    pub(crate) stream: Option<Arc<Described>>,
    /// What the call is, for a target that is not known.
    pub(crate) what: String,
}

/// How a call ends in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It is the call under test: as the world says.
    Tested,
    /// Well.
    Well,
    /// With an error of which nothing is known.
    Badly,
}

impl<'a> Machine<'a, '_> {
    /// A call leaves the program.
    pub(crate) fn outgoing(&mut self, call: &Outgoing) -> Result<End, Exit<'a>> {
        self.step()?;
        if self.discovering() {
            let goal = Goal {
                span: call.span,
                chain: self.chain(),
                branches: self.branches.iter().copied().collect(),
                http: call.http,
                grpc: call.grpc,
            };
            let looped = call.layered || self.episodes.iter().any(|e| e.repeats());
            if !self.found.iter().any(|f| f.goal.span == goal.span && f.goal.chain == goal.chain) {
                self.found.push(Found { goal, looped });
            }
            return Ok(End::Well);
        }
        let Some(goal) = self.goal else { return Ok(End::Well) };
        let here = call.span == goal.span && self.chain() == goal.chain;
        if here || self.goal_identity == Some(call.identity) {
            if self.goal_identity.is_none() {
                self.goal_identity = Some(call.identity);
                let set = self.deadlines.iter().map(|(_, _, length, span)| (*length, *span));
                let limit = set.chain(call.limit).min_by(|a, b| a.0.total_cmp(&b.0));
                self.target = Some(Target { limit, ..target_of(call) });
            } else if let Some(target) = &mut self.target {
                target.key = target.key.max(call.key.after(target.first));
            }
            self.hit(call);
            return Ok(End::Tested);
        }
        self.stir(Stir::Work);
        Ok(if self.others_fail && self.hits == 0 { End::Badly } else { End::Well })
    }

    /// What a request gives back.
    pub(crate) fn http_result(&mut self, end: End) -> Value<'a> {
        match (end, &self.world) {
            (End::Well, _) => Value::wrap("Ok", Value::new(Kind::Response(Response::Other))),
            (End::Tested, World::Success(_)) => {
                Value::wrap("Ok", Value::new(Kind::Response(Response::Good)).tainted(Taint::ANSWER))
            }
            (End::Tested, World::Statuses(_)) => {
                Value::wrap("Ok", Value::new(Kind::Response(Response::Failed)).tainted(Taint::FAILURE))
            }
            (End::Tested, World::Transport(mode)) => {
                let error = HttpError { transport: Some(*mode) };
                Value::wrap("Err", Value::new(Kind::HttpError(Rc::new(error))).tainted(Taint::FAILURE))
            }
            (End::Tested, World::Opaque | World::Codes(_)) | (End::Badly, _) => self.opaque_error(end),
        }
    }

    /// What a call of which nothing is known gives back.
    pub(crate) fn opaque_result(&mut self, end: End, name: &'a str) -> Value<'a> {
        let failed = match end {
            End::Badly => true,
            End::Tested => !self.world.is_success(),
            End::Well => false,
        };
        if failed {
            return self.opaque_error(end);
        }
        let id = self.fresh_id();
        let unknown = Unknown { id, why: Why::Call(name), ty: None, succeeded: true, call: None, keys: None };
        let taint = if end == End::Tested { Taint::ANSWER } else { Taint::NONE };
        Value::new(Kind::Unknown(Rc::new(unknown))).tainted(taint)
    }

    fn opaque_error(&mut self, end: End) -> Value<'a> {
        // The same failure each time, and so the same answers to what is asked of it.
        let id = Value::digest_all("the error", []);
        let error = Value::unknown(id, Why::Other("is an error of which nothing is known"));
        Value::wrap("Err", if end == End::Tested { error.tainted(Taint::FAILURE) } else { error })
    }

    /// The statuses that the answer under test may have, each as a value.
    pub(crate) fn statuses(&self, taint: Taint) -> Value<'a> {
        let all = match &self.world {
            World::Statuses(all) | World::Codes(all) | World::Success(all) => all.as_slice(),
            World::Transport(_) | World::Opaque => &[],
        };
        let kind = match all {
            [one] => Kind::Status(*one),
            all => Kind::Lifted(Rc::new(all.iter().map(|s| (*s, Value::new(Kind::Status(*s)))).collect())),
        };
        Value::new(kind).tainted(taint)
    }

    /// Runs what stands in a place that other calls decide on: for `Eval` of the call's result.
    pub(crate) fn call_outside(&mut self, call: &Outgoing, name: &'a str) -> Eval<'a> {
        let end = self.outgoing(call)?;
        // What is asked for its status is an HTTP response, whatever client brought it.
        let told = end == End::Tested && self.goal.is_some_and(|goal| goal.http && !goal.grpc);
        if call.http || told {
            return Ok(self.http_result(end));
        }
        let result = self.opaque_result(end, name);
        if let (true, Some(answer)) = (self.discovering(), result.as_unknown()) {
            self.answers.insert(answer.id, (call.span, self.chain()));
        }
        Ok(result)
    }

    /// What stands in an answer belongs to the same call.
    pub(crate) fn answer_holds(&mut self, answer: u64, inner: u64) {
        if let Some(call) = self.answers.get(&answer).copied() {
            self.answers.insert(inner, call);
        }
    }

    /// The answer is asked for its status: the call is an HTTP request.
    pub(crate) fn asked_for_status(&mut self, answer: u64) {
        let Some((span, chain)) = self.answers.get(&answer) else { return };
        for found in self.found.iter_mut().filter(|f| f.goal.span == *span && f.goal.chain == *chain) {
            found.goal.http = true;
        }
    }
}

fn target_of(call: &Outgoing) -> Target {
    let target = match &call.url {
        Some((text, span)) if !text.parts.is_empty() => reading::Target::Url { parts: text.url_parts(), span: *span },
        _ => reading::Target::Unknown { why: format!("the URL of {} is not known", call.what) },
    };
    let method = call.method.as_deref().map(str::to_owned);
    let takes_messages = call.takes_messages;
    Target {
        target,
        method,
        key: call.key.after(call.key),
        takes_messages,
        limit: call.limit,
        stream: call.stream.clone(),
        first: call.key,
    }
}
