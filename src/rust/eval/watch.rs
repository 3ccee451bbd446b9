//! Watching: a function is run again and again, with the call under test failing in each way, and with it succeeding.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::episode::{Counted, Repeater, Trace};
use super::goal::{Found, GOOD_STATUSES, Goal, Target, World};
use super::instances::Instances;
use super::machine::{Aim, Eval, Flow, Machine, Shared, Stop};
use super::oracle::{Choice, Oracle};
use super::reply::{self, Reply};
use super::value::{Brand, Client, ClientLayer, Request};
use crate::model::{Mode, ModeSet, STATUSES};
use crate::rust::index::FnIx;

/// The failures that are looked at where nothing repeats a call.
const SERVER: std::ops::RangeInclusive<u16> = 500..=599;

/// Runs for one way of failing.
const MAX_FORKS: usize = 48;

/// The part of the steps that is kept for the runs in which the call succeeds.
const KEPT: u64 = 4;

/// What one run showed.
#[derive(Debug, Clone)]
pub(crate) struct Fork<'a> {
    /// The failures that it stands for.
    pub(crate) modes: ModeSet,
    /// The statuses of a good answer that it stands for.
    pub(crate) good: Vec<u16>,
    pub(crate) traces: Vec<Trace<'a>>,
    pub(crate) choices: Vec<Choice>,
    /// Whether some ways in which the failure may be judged were not run.
    pub(crate) partial: bool,
    /// What the function gave back; `None` if it did not come to that.
    pub(crate) reply: Option<Reply>,
}

/// What watching one call showed.
#[derive(Debug)]
pub(crate) struct Watched<'a> {
    pub(crate) goal: Goal,
    pub(crate) target: Option<Target>,
    pub(crate) failing: Vec<Fork<'a>>,
    pub(crate) succeeding: Vec<Fork<'a>>,
    /// Whether the budget ran out somewhere.
    pub(crate) cut: bool,
}

/// What a discovery found.
pub(crate) struct Discovery<'a> {
    pub(crate) layers: Vec<ClientLayer<'a>>,
    pub(crate) found: Vec<Found>,
    pub(crate) reached: BTreeSet<FnIx>,
    pub(crate) cut: bool,
}

/// Finds the calls that leave the program from `root` on.
pub(crate) fn discover<'a>(shared: &Shared<'a>, instances: &Instances<'a>, root: FnIx) -> Discovery<'a> {
    let mut machine = Machine::new(shared, instances, Aim::Discover);
    let result = machine.run(root);
    let cut = matches!(result, Err(ref exit) if matches!(**exit, Flow::Stop(Stop::Budget)));
    drop(result);
    machine.episodes.clear();
    machine.tidy();
    Discovery {
        layers: std::mem::take(&mut machine.layers_made),
        found: std::mem::take(&mut machine.found),
        reached: machine.reached(),
        cut,
    }
}

/// Watches one call, with at most so many steps; those taken are subtracted.
pub(crate) fn watch<'a>(
    shared: &Shared<'a>,
    instances: &Instances<'a>,
    root: FnIx,
    found: &Found,
    steps: &mut u64,
) -> Watched<'a> {
    let start: Start<'_, 'a> = &|m| m.run(root);
    let mut eye = Eye { shared, instances, start, goal: &found.goal, brief: false, looped: found.looped, steps };
    if !found.looped && found.goal.http {
        // Nothing around it repeats, as far as can be seen: then it is enough to know whom it reaches, and what is
        // answered where it matters most. A call that is made twice all the same gets the full treatment.
        let plain =
            vec![World::Transport(Mode::Refused), World::Transport(Mode::Timeout), World::Statuses(SERVER.collect())];
        let watched = eye.look(&if found.goal.grpc { worlds(&found.goal) } else { plain });
        if !watched.failing.iter().any(|f| f.traces.iter().any(|t| t.hits > 1)) {
            return watched;
        }
    }
    eye.look(&worlds(&found.goal))
}

/// Watches one call just long enough to see whom it reaches and what repeats it.
pub(crate) fn watch_briefly<'a>(
    shared: &Shared<'a>,
    instances: &Instances<'a>,
    root: FnIx,
    found: &Found,
    steps: &mut u64,
) -> Watched<'a> {
    let start: Start<'_, 'a> = &|m| m.run(root);
    let goal = &found.goal;
    Eye { shared, instances, start, goal, brief: true, looped: found.looped, steps }.look(&worlds(goal))
}

/// Watches a request through a client's layer, for a client that no call was seen to go through.
pub(crate) fn watch_layer<'a>(
    shared: &Shared<'a>,
    instances: &Instances<'a>,
    layer: &ClientLayer<'a>,
    steps: &mut u64,
) -> Watched<'a> {
    let span = layer.described().opens;
    let goal = Goal { span, chain: 0, branches: BTreeSet::new(), http: true, grpc: false };
    let layer = layer.clone();
    let start = move |m: &mut Machine<'a, '_>| {
        let client = Client { layers: vec![layer.clone()], ..Client::plain(0, Brand::Reqwest, true) };
        let key = super::key::Carried::Perhaps;
        let request = Request {
            client: Rc::new(client),
            method: None,
            url: None,
            url_span: span,
            content: 0,
            key,
            timeout: None,
        };
        m.send(&Rc::new(request), span)
    };
    Eye { shared, instances, start: &start, goal: &goal, brief: false, looped: false, steps }.look(&worlds(&goal))
}

/// Where a run starts.
type Start<'s, 'a> = &'s dyn Fn(&mut Machine<'a, '_>) -> Eval<'a>;

/// The ways in which a call may fail.
fn worlds(goal: &Goal) -> Vec<World> {
    if goal.grpc {
        vec![World::Codes(super::grpc::CODES.collect())]
    } else if goal.http {
        let statuses = World::Statuses(STATUSES.collect());
        vec![World::Transport(Mode::Refused), World::Transport(Mode::Timeout), statuses]
    } else {
        vec![World::Opaque]
    }
}

/// What watches one call.
struct Eye<'s, 'a> {
    shared: &'s Shared<'a>,
    instances: &'s Instances<'a>,
    start: Start<'s, 'a>,
    goal: &'s Goal,
    /// One short run for each way of ending.
    brief: bool,
    /// Whether something that may repeat stands around the call.
    looped: bool,
    /// The steps that are left.
    steps: &'s mut u64,
}

impl<'a> Eye<'_, 'a> {
    fn look(&mut self, worlds: &[World]) -> Watched<'a> {
        let mut watched =
            Watched { goal: self.goal.clone(), target: None, failing: Vec::new(), succeeding: Vec::new(), cut: false };
        let mut others_fail = false;
        // Some steps are kept for the question whether a good answer ends it: without that nothing is a retry.
        let kept = if self.brief { 0 } else { *self.steps / KEPT };
        *self.steps -= kept;
        for world in worlds {
            let mut forks = self.runs(world, others_fail, MAX_FORKS, &mut watched);
            if forks.is_empty() && !others_fail && watched.failing.is_empty() {
                others_fail = true;
                forks = self.runs(world, others_fail, MAX_FORKS, &mut watched);
            }
            watched.failing.extend(forks);
        }
        if !self.goal.http {
            let traces = watched.failing.iter_mut().map(|fork| &mut fork.traces);
            traces.for_each(|traces| traces.retain(is_plain));
        }
        *self.steps += kept;
        let repeats = watched.failing.iter().any(|f| f.traces.iter().any(|t| t.hits > 1 && !t.changed));
        if (repeats || self.looped) && !self.brief {
            let good = World::Success(GOOD_STATUSES.to_vec());
            // What repeats nothing is asked only if a good answer leads on to the next item.
            let most = if repeats { MAX_FORKS } else { 1 };
            watched.succeeding = self.runs(&good, others_fail, most, &mut watched);
        }
        watched
    }

    fn runs(&mut self, world: &World, others_fail: bool, most: usize, watched: &mut Watched<'a>) -> Vec<Fork<'a>> {
        let mut forks = Vec::new();
        let mut script = Vec::new();
        let mut left = true;
        for _ in 0..most {
            if *self.steps == 0 {
                watched.cut = true;
                break;
            }
            let mut machine = Machine::new(self.shared, self.instances, Aim::Watch);
            machine.goal = Some(self.goal);
            machine.world = world.clone();
            machine.others_fail = others_fail;
            machine.brief = self.brief;
            machine.oracle = Oracle::with(script);
            let before = machine.steps;
            let result = (self.start)(&mut machine);
            machine.close_all();
            *self.steps = self.steps.saturating_sub(u64::from(before - machine.steps));
            if machine.hits > 0 {
                match (&mut watched.target, &machine.target) {
                    (Some(known), Some(seen)) => known.key = known.key.max(seen.key),
                    (none, seen) => none.clone_from(seen),
                }
                forks.push(fork(&mut machine, &result));
            }
            let out_of_steps = matches!(&result, Err(exit) if matches!(**exit, Flow::Stop(Stop::Budget)));
            let next = machine.oracle.next();
            drop(result);
            machine.tidy();
            watched.cut |= out_of_steps;
            match next {
                Some(next) if !out_of_steps && !self.brief && !enough(&forks, world, watched) => script = next,
                _ => {
                    left = false;
                    break;
                }
            }
        }
        forks.iter_mut().for_each(|fork| fork.partial |= left);
        forks
    }
}

fn fork<'a>(machine: &mut Machine<'a, '_>, result: &Eval<'a>) -> Fork<'a> {
    Fork {
        modes: machine.modes(),
        good: match &machine.world {
            World::Success(all) => all.clone(),
            _ => Vec::new(),
        },
        traces: std::mem::take(&mut machine.traces),
        choices: machine.oracle.trail.clone(),
        partial: machine.oracle.trail.iter().any(|c| c.failure && c.of == 1),
        reply: result.as_ref().ok().and_then(reply::of),
    }
}

/// Whether what repeats a call of which only the name is known is plainly a retry: a crate's own, or a loop with a
/// count or a deadline. Loops without either are as often those of workers and event handlers.
fn is_plain(trace: &Trace<'_>) -> bool {
    match &trace.repeater {
        Repeater::Library(_) => true,
        Repeater::Sequence { .. } => false,
        Repeater::Loop { .. } | Repeater::Recursion { .. } => {
            matches!(trace.counted, Counted::Times(_) | Counted::Within { .. })
        }
    }
}

/// Whether more runs could not change what is concluded.
fn enough(forks: &[Fork<'_>], world: &World, watched: &Watched<'_>) -> bool {
    let repeats = |t: &Trace<'_>| t.hits > 1 && !t.changed;
    if world.is_success() {
        // As soon as a good answer is seen to lead back to the call, whatever its status, it is no retry.
        let retried = |t: &Trace<'_>| {
            watched
                .failing
                .iter()
                .flat_map(|f| &f.traces)
                .any(|u| u.hits > 1 && !u.changed && u.repeater.span() == t.repeater.span() && u.chain == t.chain)
        };
        return GOOD_STATUSES
            .iter()
            .all(|s| forks.iter().any(|f| f.good.contains(s) && f.traces.iter().any(|t| repeats(t) && retried(t))));
    }
    // The first run goes on wherever it may. If it does not come back to the call, and how the call failed was never
    // asked in a way that cannot be answered, no other run does; but for those with another variant of an enum.
    let open = |c: &Choice| c.failure || c.site.is_none() || c.early && c.of > 1;
    match forks {
        [only] => !only.traces.iter().any(repeats) && !only.choices.iter().any(open),
        _ => false,
    }
}
