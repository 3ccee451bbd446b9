//! Clients of libraries that repeat their own calls: settings become a client, and what is called on it becomes one
//! call, with the client's layer around it, once it is awaited.
use std::rc::Rc;
use std::sync::Arc;

use super::call::Call;
use super::{At, ClientRetry, Described, Native, Policy};
use crate::model::{Advice, Confidence, Jitter, LayerKind, Mode, Setting, Wait};
use crate::rust::eval::goal::World;
use crate::rust::eval::machine::{Eval, Exit, Hint, Machine};
use crate::rust::eval::methods::no_place;
use crate::rust::eval::value::{ClientLayer, Kind, Value, Why};
use crate::source::Span;

/// A library whose clients repeat their own calls.
pub(crate) struct Library {
    /// Its system.
    pub(crate) system: &'static str,
    /// "AWS SDK client"
    pub(crate) client: &'static str,
    /// Which of its failures a call is made again after; `None`: it hangs on more than that.
    pub(crate) retries: fn(machine: &Machine<'_, '_>, op: &str, mode: Mode) -> Option<bool>,
    /// The policy of a client for which nothing is set. `None`: it does not retry.
    pub(crate) default: fn(machine: &Machine<'_, '_>, made: Span) -> Option<Policy>,
    /// What a method does to settings: `retry_config(..)`, `build()`. `None`: nothing that matters here.
    pub(crate) configure: Configure,
    /// Whether it waits as long as a response asks for, and where that is documented.
    pub(crate) retry_after: (bool, &'static str),
    /// What picks failures: "the SDK's default classifiers".
    pub(crate) picks: &'static str,
    /// What to write to mend a finding.
    pub(crate) advice: fn() -> Advice,
    /// Whether a method of a client, or of a call in the making, reaches nobody.
    pub(crate) is_local: fn(&str) -> bool,
    /// Whether an operation takes messages from a queue, or says that they are done: what redelivers them does not
    /// repeat that.
    pub(crate) takes_messages: fn(&str) -> bool,
    /// Whether what was put together is sent by a method of its own (`send`), and not merely awaited.
    pub(crate) sends: &'static [&'static str],
    /// Functions that make its settings or clients: a package that calls one makes its own clients.
    pub(crate) makers: &'static [&'static str],
    /// Whether a client that nothing in the repository makes is taken to have the default policy: not where as many
    /// repeat nothing.
    pub(crate) default_if_made_elsewhere: bool,
    /// Whether a path names the type of a client.
    pub(crate) is_client: fn(&[&str]) -> bool,
}

/// See [`Library::configure`].
pub(crate) type Configure = for<'a, 'c> fn(&Client, &mut Machine<'a, 'c>, &str, &[Value<'a>], At) -> Option<Value<'a>>;

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.system)
    }
}

/// The layer of a client, as far as it is known.
#[derive(Debug, Clone)]
pub(crate) enum Link {
    /// This policy, written by somebody or by default.
    Policy(Rc<Policy>, Span),
    /// Nothing is repeated.
    Off,
    /// It is made elsewhere.
    Open,
}

/// Settings or a client.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(super) library: &'static Library,
    /// Whom its calls reach: `dynamodb`.
    pub(super) leaf: Option<Rc<str>>,
    pub(super) link: Link,
    pub(super) id: u64,
    /// Whether it is still being put together.
    pub(super) settings: bool,
    pub(super) asked_for: bool,
    /// Whether its policy leaves no failure out.
    pub(super) everything: bool,
}

impl Client {
    /// Settings that are made at `made`, with the library's default policy.
    pub(crate) fn settings(library: &'static Library, machine: &Machine<'_, '_>, made: Span) -> Self {
        let link = match (library.default)(machine, made) {
            Some(policy) => Link::Policy(Rc::new(policy), made),
            None => Link::Off,
        };
        let id = Value::digest_all(
            library.system,
            [&Value::int(i128::from(made.start)), &Value::int(i128::from(made.file.0))],
        );
        Self { library, leaf: None, link, id, settings: true, asked_for: false, everything: false }
    }

    /// Settings or a client of which only the type is known.
    pub(crate) fn open(library: &'static Library, id: u64, settings: bool) -> Self {
        Self { library, leaf: None, link: Link::Open, id, settings, asked_for: false, everything: false }
    }

    /// The same, calling this service.
    pub(crate) fn calling(self, leaf: impl Into<Rc<str>>) -> Self {
        Self { leaf: Some(leaf.into()), ..self }
    }

    /// The same with a policy that somebody wrote. Of a value that is no policy nothing is known.
    pub(crate) fn with_policy(self, policy: &Value<'_>, place: Span) -> Self {
        let everything = matches!(&policy.kind, Kind::Native(native) if native.retries_everything());
        let policy = super::tabled::Tabled::of(policy)
            .unwrap_or_else(|| Rc::new(Policy::unknown(policy, place, self.library.client)));
        // One that a constant is stands where it is put in.
        let made = if policy.made == no_place() { place } else { policy.made };
        let policy = Rc::new(Policy { made, ..(*policy).clone() });
        Self { link: Link::Policy(policy, place), asked_for: true, everything, ..self }
    }

    /// The same with a policy that somebody asked for.
    pub(crate) fn having(self, policy: Policy, place: Span) -> Self {
        Self { link: Link::Policy(Rc::new(policy), place), asked_for: true, ..self }
    }

    /// The same without retries.
    pub(crate) fn without_retries(self) -> Self {
        Self { link: Link::Off, ..self }
    }

    /// Whether nothing is repeated.
    pub(crate) fn is_off(&self) -> bool {
        matches!(self.link, Link::Off)
    }

    /// Whether somebody wrote a policy for it.
    pub(crate) fn has_policy(&self) -> bool {
        self.asked_for
    }

    /// Whether it is still being put together.
    pub(crate) fn is_settings(&self) -> bool {
        self.settings
    }

    /// A part of it that has the same layer: a database, a collection.
    pub(crate) fn part<'a>(self, name: &str, args: &[Value<'a>]) -> Self {
        let own = Value::int(i128::from(self.id));
        let id = Value::digest_all(name, args.iter().chain([&own]));
        Self { id, settings: false, ..self }
    }

    /// The same, its policy being nobody's.
    pub(crate) fn by_default(self) -> Self {
        Self { asked_for: false, ..self }
    }

    /// Its policy, where it is known.
    pub(crate) fn policy(&self) -> Option<Policy> {
        match &self.link {
            Link::Policy(policy, _) => Some((**policy).clone()),
            Link::Off | Link::Open => None,
        }
    }

    /// The same with these waits.
    pub(crate) fn keeping(self, waits: Option<(Wait, Setting<Jitter>)>) -> Self {
        match (&self.link, waits) {
            (Link::Policy(policy, opens), Some((wait, jitter))) => {
                let policy = Policy { wait, jitter, ..(**policy).clone() };
                Self { link: Link::Policy(Rc::new(policy), *opens), ..self }
            }
            _ => self,
        }
    }

    /// The same with the waits of another policy.
    pub(crate) fn with_waits(self, waits: &Value<'_>, place: Span) -> Self {
        let Link::Policy(policy, opens) = &self.link else { return self };
        let mut policy = (**policy).clone();
        match super::tabled::Tabled::of(waits) {
            Some(waits) => {
                (policy.wait, policy.jitter, policy.made) = (waits.wait.clone(), waits.jitter.clone(), place)
            }
            None => policy.wait = Wait::Unknown { why: "is set outside of the code read".to_owned() },
        }
        Self { link: Link::Policy(Rc::new(policy), *opens), ..self }
    }

    /// The same with the layer of `other`.
    pub(crate) fn with_layer_of(self, other: &Client) -> Self {
        Self { link: other.link.clone(), asked_for: other.asked_for, ..self }
    }

    /// Whether its layer is not known here.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.link, Link::Open)
    }

    /// The client that these settings make.
    pub(crate) fn finish<'a>(self, machine: &mut Machine<'a, '_>, at: Span) -> Value<'a> {
        let id = Value::digest_all("client", [&Value::int(i128::from(at.start)), &Value::int(i128::from(self.id))]);
        let client = Self { settings: false, id, ..self };
        client.note(machine);
        client.value()
    }

    /// Notes its layer among those that are made.
    pub(crate) fn note(&self, machine: &mut Machine<'_, '_>) {
        if let Some(layer) = self.layer() {
            machine.layers_made.push(Rc::new(layer));
        }
    }

    /// Its policy as a value that other settings may be told.
    pub(crate) fn told<'a>(&self) -> Option<Value<'a>> {
        let Link::Policy(policy, _) = &self.link else { return None };
        Some(Value::wrap("Some", Value::new(Kind::Native(Rc::new(Told(policy.clone()))))))
    }

    /// A value of it.
    pub(crate) fn value<'a>(self) -> Value<'a> {
        Value::new(Kind::Native(Rc::new(self)))
    }

    /// The client or the settings of `library` that a value is.
    pub(crate) fn of(library: &'static Library, value: &Value<'_>) -> Option<Client> {
        match &value.kind {
            Kind::Native(native) => native.client().filter(|c| std::ptr::eq(c.library, library)),
            _ => match value.variant() {
                Some((_, Some(inner))) => Self::of(library, inner),
                _ => None,
            },
        }
    }

    /// Its layer, where it is known and repeats.
    pub(super) fn layer(&self) -> Option<Layer> {
        let Link::Policy(policy, opens) = &self.link else { return None };
        Some(Layer {
            library: self.library,
            described: Arc::new(Described {
                undiscriminating: self.everything,
                ..describe(self.library, policy, *opens, self.asked_for)
            }),
            leaf: self.leaf.clone(),
        })
    }
}

/// The layer of a client that nothing in the repository makes.
pub(crate) fn default_layer<'a>(
    library: &'static Library,
    machine: &Machine<'a, '_>,
    place: Span,
) -> Option<ClientLayer<'a>> {
    let policy = (library.default)(machine, place).filter(|_| library.default_if_made_elsewhere)?;
    let described = Described { confidence: Confidence::Medium, ..describe(library, &policy, place, false) };
    Some(Rc::new(Layer { library, described: Arc::new(described), leaf: None }))
}

/// The layer of a client that may be any of these: one of them, with what they do not agree on left open.
pub(crate) fn one_of_several<'a>(library: &'static Library, all: &[ClientLayer<'a>]) -> Option<ClientLayer<'a>> {
    let first = all.first()?.described();
    let leaf = all.iter().all(|l| l.leaf() == all.first().and_then(|l| l.leaf()));
    let leaf = all.first().filter(|_| leaf).and_then(|l| l.leaf());
    let agree = all.iter().all(|l| l.described().attempts.value() == first.attempts.value());
    let mut described = Described { confidence: Confidence::Medium, ..(*first).clone() };
    if !agree {
        described.attempts = Setting::unknown(
            "hangs on which of several clients it is: they have different settings",
            Some(first.opens),
        );
    }
    Some(Rc::new(Layer { library, described: Arc::new(described), leaf }))
}

fn describe(library: &'static Library, policy: &Policy, opens: Span, asked_for: bool) -> Described {
    let (heeds, source) = library.retry_after;
    Described {
        advice: (library.advice)(),
        picks: library.picks,
        asked_for,
        retry_after: Some(Setting::default(heeds, source)),
        ..Described::new(library.system, LayerKind::Client, library.client, opens).with(policy)
    }
}

/// A policy that was read back from settings.
#[derive(Debug)]
struct Told(Rc<Policy>);

impl<'a> Native<'a> for Told {
    fn method(self: Rc<Self>, _: &mut Machine<'a, '_>, _: &'a str, _: &[Value<'a>], _: At) -> Option<Eval<'a>> {
        None
    }

    fn policy(&self) -> Option<Rc<Policy>> {
        Some(self.0.clone())
    }
}

/// What a client puts around each of its calls.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    pub(super) library: &'static Library,
    pub(super) described: Arc<Described>,
    pub(super) leaf: Option<Rc<str>>,
}

impl Layer {
    /// Whether the library makes a call again that has failed as this run's world says.
    pub(super) fn repeats<'a>(
        &self,
        machine: &mut Machine<'a, '_>,
        op: &str,
        result: &Value<'a>,
    ) -> Result<bool, Exit<'a>> {
        use crate::rust::eval::value::Taint;
        if machine.discovering() || !result.taint.has(Taint::FAILURE) {
            return Ok(false);
        }
        machine.pick = None;
        if self.described.undiscriminating {
            return Ok(true);
        }
        let judged = |mode: Mode| match (self.library.retries)(machine, op, mode) {
            Some(again) => Value::bool(again),
            None => {
                let id = Value::digest_all("again", [&Value::text(self.library.system)]);
                Value::unknown(id, Why::Other("hangs on the error's code"))
            }
        };
        let test = match &machine.world {
            World::Transport(mode) => judged(*mode),
            World::Statuses(all) => {
                Value::new(Kind::Lifted(Rc::new(all.iter().map(|s| (*s, judged(Mode::Status(*s)))).collect())))
            }
            World::Codes(_) | World::Opaque => Value::bool(true),
            World::Success(_) => Value::bool(false),
        };
        machine.decide(&test.tainted(Taint::FAILURE), self.described.opens, Hint::plain())
    }
}

impl<'a> ClientRetry<'a> for Layer {
    fn described(&self) -> Arc<Described> {
        self.described.clone()
    }

    fn leaf(&self) -> Option<Rc<str>> {
        self.leaf.clone()
    }

    fn again(&self, machine: &mut Machine<'a, '_>, result: &Value<'a>) -> Result<bool, Exit<'a>> {
        self.repeats(machine, "", result)
    }
}

/// Methods that give back what they are called on, without arguments or with what to say on failure.
pub(super) fn is_same(name: &str, args: &[Value<'_>]) -> bool {
    let taken = matches!(
        name,
        "expect" | "context" | "with_context" | "map_err" | "ok_or" | "ok_or_else" | "unwrap_or_else" | "wrap_err"
    );
    taken
        || args.is_empty()
            && matches!(
                name,
                "clone"
                    | "unwrap"
                    | "as_ref"
                    | "as_mut"
                    | "borrow"
                    | "borrow_mut"
                    | "deref"
                    | "to_owned"
                    | "into"
                    | "lock"
                    | "read"
                    | "write"
                    | "ok"
                    | "cloned"
                    | "into_inner"
                    | "boxed"
                    | "inner"
                    | "get"
            )
}

impl<'a> Native<'a> for Client {
    fn identity(&self) -> u64 {
        self.id
    }

    fn method(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &'a str,
        args: &[Value<'a>],
        at: At,
    ) -> Option<Eval<'a>> {
        if let Some(changed) = (self.library.configure)(&self, machine, name, args, at) {
            return Some(Ok(changed));
        }
        if self.settings {
            return None;
        }
        if is_same(name, args) || (self.library.is_local)(name) {
            return None;
        }
        // A cell that is filled when it is first asked.
        if let ("get_or_init" | "get_or_try_init" | "get_or_insert_with", [make]) = (name, args) {
            return Some(machine.call_value(make, Vec::new(), at.span));
        }
        let content = Value::digest_all(name, args);
        let call = Call { client: self, op: name, content, span: at.span, sent: false, streamed: false, pages: false };
        Some(Ok(call.value()))
    }

    fn with_field(
        self: Rc<Self>,
        machine: &mut Machine<'a, '_>,
        name: &str,
        value: &Value<'a>,
        place: Span,
    ) -> Option<Value<'a>> {
        let at = At { span: place, name_span: place };
        (self.library.configure)(&self, machine, name, std::slice::from_ref(value), at)
    }

    fn mutates(&self, name: &str) -> bool {
        self.settings && name.starts_with("set_")
    }

    fn client(&self) -> Option<Client> {
        Some(self.clone())
    }

    fn client_layer(self: Rc<Self>) -> Option<ClientLayer<'a>> {
        Some(Rc::new(self.layer()?))
    }
}
