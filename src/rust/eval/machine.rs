//! One run of a function: its budget, its choices where a condition is not known, and the way it came.
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::env::Env;
use super::episode::{Episode, Pick, Trace};
use super::goal::{Found, Goal, World};
use super::oracle::Oracle;
use super::value::{Context, Kind, Taint, Typed, Unknown, Value, Why};
use crate::facts::{PackageFact, SettingsFact};
use crate::model::ModeSet;
use crate::rust::cargo::Release;
use crate::rust::index::{ConstIx, FnIx, Index, Resolved, ScopeIx, TypeIx, TypeName};
use crate::rust::ir::{Name, Pat};
use crate::source::Span;

/// Steps in one run.
pub(crate) const STEPS: u32 = 100_000;

/// Expressions within expressions, calls included. One level takes up to about 10 KiB of stack in a build without
/// optimisation, and evaluation has [`crate::rust::stack`] of it.
const DEPTH: u32 = 3_000;

/// Functions within functions.
const FRAMES: usize = 40;

/// Why an expression has no value here: control goes elsewhere.
pub(crate) type Exit<'a> = Box<Flow<'a>>;

/// What an expression comes to.
pub(crate) type Eval<'a> = Result<Value<'a>, Exit<'a>>;

/// Where control goes.
#[derive(Debug)]
pub(crate) enum Flow<'a> {
    Break {
        label: Option<&'a Name>,
        value: Value<'a>,
    },
    Continue {
        label: Option<&'a Name>,
    },
    Return(Value<'a>),
    /// The deadline with this number has passed.
    Expired(usize),
    /// The run is over.
    Stop(Stop),
}

/// Why a run is over before its function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A loop that does not end.
    Endless,
    /// The budget is spent.
    Budget,
    /// `panic!`, `process::exit`.
    Panic,
    /// What was looked for is found.
    Done,
}

impl<'a> From<Stop> for Exit<'a> {
    fn from(stop: Stop) -> Self {
        Box::new(Flow::Stop(stop))
    }
}

/// What all runs of all threads look at.
pub(crate) struct Common<'a> {
    pub(crate) index: &'a Index<'a>,
    pub(crate) packages: &'a [PackageFact],
    pub(crate) settings: &'a [SettingsFact],
    pub(crate) statics: super::statics::Statics,
}

/// What the runs of one thread look at, and what they have looked up.
pub(crate) struct Shared<'a> {
    pub(crate) index: &'a Index<'a>,
    pub(super) packages: &'a [PackageFact],
    pub(crate) settings: &'a [SettingsFact],
    pub(crate) statics: &'a super::statics::Statics,
    /// What paths and types of the code mean, by their addresses and where they stand.
    pub(crate) resolved: RefCell<FxHashMap<At, Resolved>>,
    pub(crate) types: RefCell<FxHashMap<At, TypeName>>,
    /// The functions that a function calls.
    pub(super) calls: RefCell<FxHashMap<FnIx, Rc<BTreeSet<FnIx>>>>,
    /// What settings files say of a chain of fields: by the type that has the last, and that with the first.
    pub(super) looked_up: RefCell<FxHashMap<Chain<'a>, Option<Value<'a>>>>,
}

impl<'a> Shared<'a> {
    /// Nothing looked up yet.
    pub(crate) fn new(common: &'a Common<'a>) -> Self {
        Self {
            index: common.index,
            packages: common.packages,
            settings: common.settings,
            statics: &common.statics,
            resolved: RefCell::default(),
            types: RefCell::default(),
            calls: RefCell::default(),
            looked_up: RefCell::default(),
        }
    }
}

/// A chain of fields: the type that has the last, the type that has the first, and their names.
type Chain<'a> = (TypeIx, TypeIx, Vec<&'a str>);

/// A path or type of the code, and where it stands.
pub(crate) type At = (usize, ScopeIx, Option<TypeIx>);

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// To find the calls that leave the program: every branch is taken.
    Discover,
    /// To watch a call fail or succeed.
    Watch,
    /// To see what a type is made with.
    Capture(TypeIx),
}

/// A function that is running.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) function: FnIx,
    /// Where it was called.
    pub(crate) span: Span,
    /// A number for the chain of calls down to here; a recursive call has that of the first.
    pub(crate) chain: u64,
    /// Whether it is a closure's body, of which there may be many in one function.
    pub(crate) closure: bool,
}

/// One run.
pub(crate) struct Machine<'a, 'c> {
    pub(crate) shared: &'c Shared<'a>,
    pub(crate) aim: Aim,
    /// How many conditions were answered that have nothing to do with the failure and cannot be told.
    pub(super) guessed: u32,
    /// The values of types whose making was seen.
    pub(crate) instances: &'c super::instances::Instances<'a>,
    pub(crate) goal: Option<&'c Goal>,
    pub(crate) world: World,
    /// Whether calls before the goal fail, for a goal that stands in the error arm of another call.
    pub(crate) others_fail: bool,
    /// Whether a loop is left as soon as it is seen to repeat the call.
    pub(crate) brief: bool,
    pub(crate) steps: u32,
    pub(crate) depth: u32,
    pub(crate) clock: f64,
    /// Deadlines that hold now: number, end, length, and where that is written.
    pub(crate) deadlines: Vec<(usize, f64, f64, Span)>,
    pub(crate) deadlines_made: usize,
    /// The last call whose result is awaited where it stands.
    pub(super) joined: Option<Span>,
    pub(crate) frames: Vec<Frame>,
    /// Where the futures that run are awaited, outermost first.
    pub(super) awaits: Vec<Span>,
    pub(crate) contexts: Vec<Context>,
    /// Values given back on the way, in a discovery.
    pub(crate) returned: Vec<Option<Value<'a>>>,
    pub(crate) episodes: Vec<Episode<'a>>,
    pub(crate) traces: Vec<Trace<'a>>,
    pub(crate) goal_identity: Option<u64>,
    pub(crate) target: Option<super::goal::Target>,
    pub(crate) hits: u32,
    pub(crate) pick: Option<Pick>,
    pub(crate) oracle: Oracle,
    pub(super) sites: BTreeMap<(Span, u64), Site>,
    /// The variants of enums of the repository that things not known were taken for, by their identity.
    pub(super) variants: BTreeMap<u64, Name>,
    /// What was decided of things that may not be there, by their identity.
    pub(crate) there: BTreeMap<u64, bool>,
    pub(crate) found: Vec<Found>,
    /// What calls of which nothing is known gave back, by its identity: the call and its chain.
    pub(crate) answers: BTreeMap<u64, (Span, u64)>,
    pub(crate) branches: Vec<Span>,
    /// What the two sides of the comparison that is made are called.
    pub(super) comparing: (Option<&'a Name>, Option<&'a Name>),
    /// The patterns of the arms that are being run, outermost first.
    pub(super) arms: Vec<&'a Pat>,
    pub(crate) inlined: BTreeMap<FnIx, u32>,
    pub(crate) captured: Vec<Value<'a>>,
    /// Layers that clients were made with.
    pub(crate) layers_made: Vec<super::value::ClientLayer<'a>>,
    pub(crate) constants: BTreeMap<ConstIx, Value<'a>>,
    pub(crate) scopes: Vec<Env<'a>>,
    pub(crate) fresh: u64,
    /// The wait before the next try that a crate's hook asked for.
    pub(crate) next_wait: Option<Value<'a>>,
    /// What the parameters of the last function came to.
    pub(crate) last_params: Vec<Option<Value<'a>>>,
    pub(super) outermost: super::episode::Turn<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) answer: bool,
    pub(super) asked: u32,
    /// What was asked about first.
    pub(super) of: u64,
}

/// What is known of a branching before it is decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hint {
    /// The answer if nothing speaks against it.
    pub(crate) prefer: bool,
    /// Whether the branches differ in more than what is logged.
    pub(crate) matters: bool,
    /// Whether a branch may leave a loop or a function.
    pub(crate) leaves: bool,
    /// The answer that leads to the call under test.
    pub(crate) forced: Option<bool>,
    /// Whether the answer ends a loop's turn or a `while` goes on by it.
    pub(crate) turns_after: Option<u32>,
}

impl Hint {
    /// A condition that stands for itself.
    pub(crate) fn plain() -> Self {
        Self { prefer: true, matters: true, leaves: true, forced: None, turns_after: None }
    }
}

impl<'a, 'c> Machine<'a, 'c> {
    /// A run that has not begun.
    pub(crate) fn new(shared: &'c Shared<'a>, instances: &'c super::instances::Instances<'a>, aim: Aim) -> Self {
        Self {
            shared,
            aim,
            guessed: 0,
            instances,
            goal: None,
            world: World::Success(super::goal::GOOD_STATUSES.to_vec()),
            others_fail: false,
            brief: false,
            steps: STEPS,
            depth: 0,
            clock: 0.0,
            deadlines: Vec::new(),
            deadlines_made: 0,
            joined: None,
            frames: Vec::new(),
            awaits: Vec::new(),
            contexts: Vec::new(),
            returned: Vec::new(),
            episodes: Vec::new(),
            traces: Vec::new(),
            goal_identity: None,
            target: None,
            hits: 0,
            pick: None,
            oracle: Oracle::default(),
            sites: BTreeMap::new(),
            variants: BTreeMap::new(),
            there: BTreeMap::new(),
            found: Vec::new(),
            answers: BTreeMap::new(),
            branches: Vec::new(),
            comparing: (None, None),
            arms: Vec::new(),
            inlined: BTreeMap::new(),
            captured: Vec::new(),
            layers_made: Vec::new(),
            constants: BTreeMap::new(),
            scopes: Vec::new(),
            fresh: 0,
            next_wait: None,
            last_params: Vec::new(),
            outermost: super::episode::Turn::default(),
        }
    }

    /// Runs `function` with arguments that are not known (or known from where its type is made).
    pub(crate) fn run(&mut self, function: FnIx) -> Eval<'a> {
        let info = self.shared.index.function(function);
        let args = info.function.params.iter().map(|p| self.root_argument(function, p)).collect();
        let result = self.enter(function, args, info.function.name_span);
        match result {
            Err(exit) => match *exit {
                Flow::Return(value) => Ok(value),
                other => Err(Box::new(other)),
            },
            ok => ok,
        }
    }

    /// The version of a package with which the code that runs is built; `None`: the newest, as far as can be told.
    pub(crate) fn release_of(&self, package: &str) -> Option<Release> {
        let own = self.shared.index.function(self.context().function).package?;
        self.shared.packages.get(own)?.release_of(package)
    }

    /// Ends the run: scopes that hold closures that hold the scopes are taken apart.
    pub(crate) fn tidy(&mut self) {
        for scope in std::mem::take(&mut self.scopes) {
            scope.clear();
        }
    }

    /// Whether every branch is taken.
    pub(crate) fn discovering(&self) -> bool {
        self.aim == Aim::Discover
    }

    /// One step of the budget.
    pub(crate) fn step(&mut self) -> Result<(), Exit<'a>> {
        match self.steps.checked_sub(1) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(Stop::Budget.into()),
        }
    }

    /// Goes one level down; [`Machine::up`] must follow.
    pub(crate) fn down(&mut self) -> Result<(), Exit<'a>> {
        self.step()?;
        if self.depth >= DEPTH {
            return Err(Stop::Budget.into());
        }
        self.depth += 1;
        Ok(())
    }

    /// Comes back up.
    pub(crate) fn up(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether another call still fits on the stack of calls.
    pub(crate) fn may_enter(&self) -> bool {
        self.frames.len() < FRAMES
    }

    /// The chain of calls down to here.
    pub(crate) fn chain(&self) -> u64 {
        self.frames.last().map_or(0, |f| f.chain)
    }

    /// Where names resolve now.
    pub(crate) fn context(&self) -> Context {
        let fallback = Context { scope: crate::rust::index::ScopeIx(0), self_ty: None, function: FnIx(0) };
        self.contexts.last().copied().unwrap_or(fallback)
    }

    /// The major version of a crate that the package of the code that runs asks for; of 0.x, 0.
    pub(crate) fn major(&self, crate_name: &str) -> Option<u64> {
        let scope = self.context().scope;
        let version = self.shared.index.dependency_on(scope, crate_name)?.version.as_deref()?;
        let digits = version.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// A number that no other has in this run.
    pub(crate) fn fresh_id(&mut self) -> u64 {
        self.fresh += 1;
        Value::digest_all("fresh", [&Value::int(i128::from(self.fresh))])
    }

    /// Something not known, unlike anything else.
    pub(crate) fn opaque(&mut self, why: Why<'a>) -> Value<'a> {
        let id = self.fresh_id();
        Value::unknown(id, why)
    }

    /// Something not known that follows from these values: the same values give the same.
    pub(crate) fn derived(&mut self, name: &str, why: Why<'a>, from: &[&Value<'a>]) -> Value<'a> {
        let taint = from.iter().fold(Taint::NONE, |t, v| t.with(v.taint));
        let why = from.iter().find_map(|v| v.as_unknown().map(|u| u.why.clone())).unwrap_or(why);
        Value::unknown(Value::digest_all(name, from.iter().copied()), why).tainted(taint)
    }

    /// The struct or enum of the repository, or the path outside, that a type means.
    pub(crate) fn type_name(&self, typed: Typed<'a>) -> TypeName {
        let key = (std::ptr::from_ref(typed.ty) as usize, typed.scope, typed.self_ty);
        if let Some(found) = self.shared.types.borrow().get(&key) {
            return found.clone();
        }
        let found = self.shared.index.resolve_type(typed.scope, typed.self_ty, typed.ty);
        self.shared.types.borrow_mut().insert(key, found.clone());
        found
    }

    /// The type of a repository that a value has.
    pub(crate) fn local_type(&self, value: &Value<'a>) -> Option<TypeIx> {
        match &value.kind {
            Kind::Object(o) => o.ty,
            Kind::Variant(v) => v.ty,
            Kind::Unknown(u) => match self.type_name(u.ty?) {
                TypeName::Local(ix) => Some(ix),
                _ => self.only_implementor(u.ty?),
            },
            _ => None,
        }
    }

    /// `dyn Trait`, `impl Trait`: the one type of the repository that implements it.
    fn only_implementor(&self, typed: Typed<'a>) -> Option<TypeIx> {
        let ty = self.shared.index.unwrapped(typed.scope, typed.ty, 8);
        if !matches!(ty.shape, crate::rust::ir::TyShape::Dyn | crate::rust::ir::TyShape::Impl) {
            return None;
        }
        match self.shared.index.implementors(ty.path.segments.last()?) {
            &[one] => Some(one),
            _ => None,
        }
    }

    /// The element type of `Vec<T>`, `[T]`, `Option<T>`.
    pub(crate) fn element_type(&self, typed: Typed<'a>) -> Option<Typed<'a>> {
        let ty = self.shared.index.unwrapped(typed.scope, typed.ty, 8);
        ty.args.first().map(|ty| Typed { ty, ..typed })
    }

    /// The failures that this run stands for.
    pub(crate) fn modes(&self) -> ModeSet {
        self.world.modes()
    }

    /// Remembers a scope, so that it can be taken apart at the end.
    pub(crate) fn scope(&mut self, parent: Option<&Env<'a>>) -> Env<'a> {
        let env = parent.map_or_else(Env::root, Env::inner);
        self.scopes.push(env.clone());
        env
    }

    /// The functions inlined so far, for the roots: what another function runs is no root.
    pub(crate) fn reached(&self) -> BTreeSet<FnIx> {
        self.inlined.keys().copied().collect()
    }
}

/// A shared handle on something not known, for messages.
pub(crate) type Reason<'a> = Rc<Unknown<'a>>;
