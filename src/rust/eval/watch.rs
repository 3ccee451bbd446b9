//! Watching: a function is run again and again, with the call under test failing in each way, and with it succeeding.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::episode::Trace;
use super::goal::{Found, GOOD_STATUSES, Goal, Target, World};
use super::instances::Instances;
use super::machine::{Eval, Flow, Machine, Purpose, Shared, Stop};
use super::oracle::{Choice, Oracle};
use super::reply::{self, Reply};
use super::value::{Client, ClientLayer, Request};
use crate::model::{Mode, ModeSet, STATUSES};
use crate::rust::index::FnIx;

/// Runs for one way of failing.
const MAX_FORKS: usize = 96;

/// What one run showed.
#[derive(Debug, Clone)]
pub(crate) struct Fork<'a> {
    /// The failures that it stands for.
    pub(crate) modes: ModeSet,
    /// The statuses of a good answer that it stands for.
    pub(crate) good: Vec<u16>,
    pub(crate) traces: Vec<Trace<'a>>,
    pub(crate) choices: Vec<Choice>,
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
    pub(crate) steps: u64,
}

/// Finds the calls that leave the program from `root` on.
pub(crate) fn discover<'a>(shared: &Shared<'a>, instances: &Instances<'a>, root: FnIx) -> Discovery<'a> {
    let mut machine = Machine::new(shared, instances, Purpose::Discover);
    let before = machine.steps;
    let result = machine.run(root);
    let cut = matches!(result, Err(ref exit) if matches!(**exit, Flow::Stop(Stop::Budget)));
    drop(result);
    machine.episodes.clear();
    machine.tidy();
    let steps = u64::from(before - machine.steps);
    Discovery {
        layers: std::mem::take(&mut machine.layers_made),
        found: std::mem::take(&mut machine.found),
        reached: machine.reached(),
        cut,
        steps,
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
    watch_from(shared, instances, &|m| m.run(root), &found.goal, steps)
}

/// Watches a request through a client's layer, for a client that no call was seen to go through.
pub(crate) fn watch_layer<'a>(
    shared: &Shared<'a>,
    instances: &Instances<'a>,
    layer: &ClientLayer<'a>,
    steps: &mut u64,
) -> Watched<'a> {
    let span = layer.described().opens;
    let goal = Goal { span, chain: 0, branches: BTreeSet::new(), http: true };
    let layer = layer.clone();
    let start = move |m: &mut Machine<'a, '_>| {
        let client = Client { layers: vec![layer.clone()], id: 0, open: false, blocking: true };
        let key = super::key::Carried::Perhaps;
        let request = Request { client: Rc::new(client), method: None, url: None, url_span: span, content: 0, key };
        m.send(&Rc::new(request), span)
    };
    watch_from(shared, instances, &start, &goal, steps)
}

/// Where a run starts.
type Start<'s, 'a> = &'s dyn Fn(&mut Machine<'a, '_>) -> Eval<'a>;

fn watch_from<'a>(
    shared: &Shared<'a>,
    instances: &Instances<'a>,
    root: Start<'_, 'a>,
    goal: &Goal,
    steps: &mut u64,
) -> Watched<'a> {
    let worlds: Vec<World> = if goal.http {
        vec![World::Transport(Mode::Refused), World::Transport(Mode::Timeout), World::Statuses(STATUSES.collect())]
    } else {
        vec![World::Opaque]
    };
    let mut watched =
        Watched { goal: goal.clone(), target: None, failing: Vec::new(), succeeding: Vec::new(), cut: false };
    let mut others_fail = false;
    for world in worlds {
        let mut forks = runs(shared, instances, root, goal, &world, others_fail, steps, &mut watched);
        if forks.is_empty() && !others_fail && watched.failing.is_empty() {
            others_fail = true;
            forks = runs(shared, instances, root, goal, &world, others_fail, steps, &mut watched);
        }
        watched.failing.extend(forks);
    }
    let repeats = watched.failing.iter().any(|f| f.traces.iter().any(|t| t.hits > 1));
    if repeats {
        let good = World::Success(GOOD_STATUSES.to_vec());
        watched.succeeding = runs(shared, instances, root, goal, &good, others_fail, steps, &mut watched);
    }
    watched
}

#[allow(clippy::too_many_arguments, reason = "what is run, and how")]
fn runs<'a>(
    shared: &Shared<'a>,
    instances: &Instances<'a>,
    root: Start<'_, 'a>,
    goal: &Goal,
    world: &World,
    others_fail: bool,
    steps: &mut u64,
    watched: &mut Watched<'a>,
) -> Vec<Fork<'a>> {
    let mut forks = Vec::new();
    let mut script = Vec::new();
    for _ in 0..MAX_FORKS {
        if *steps == 0 {
            watched.cut = true;
            break;
        }
        let mut machine = Machine::new(shared, instances, Purpose::Watch);
        machine.goal = Some(goal);
        machine.world = world.clone();
        machine.others_fail = others_fail;
        machine.oracle = Oracle::with(script);
        let before = machine.steps;
        let result = root(&mut machine);
        machine.close_all();
        *steps = steps.saturating_sub(u64::from(before - machine.steps));
        if machine.hits > 0 {
            match (&mut watched.target, &machine.target) {
                (Some(known), Some(seen)) => known.key = known.key.max(seen.key),
                (none, seen) => none.clone_from(seen),
            }
            let reply = result.as_ref().ok().and_then(|value| reply::of(value));
            forks.push(Fork {
                modes: machine.modes(),
                good: match &machine.world {
                    World::Success(all) => all.clone(),
                    _ => Vec::new(),
                },
                traces: std::mem::take(&mut machine.traces),
                choices: machine.oracle.trail.clone(),
                reply,
            });
        }
        if matches!(&result, Err(exit) if matches!(**exit, Flow::Stop(Stop::Budget))) {
            watched.cut = true;
        }
        let next = machine.oracle.next();
        drop(result);
        machine.tidy();
        match next {
            Some(next) => script = next,
            None => break,
        }
    }
    forks
}
