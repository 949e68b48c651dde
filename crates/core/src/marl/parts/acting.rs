//! The acting part of a list: agents observe, and act on their own observations alone. The only kernels here that see
//! training data are the worlds' own.

use super::agents::Agents;
use super::explore::{Behaviour, EpsilonGreedy, SoftmaxDraw};
use super::pool::Pool;
use super::scripted::ScriptedAct;
use super::world::{Observe, World};
use crate::base::lanes::padded;
use crate::base::rng::Stream;
use crate::nn::graph::{Execution, Id, List, Phase, Plan, Reals, Singles};

/// How agents act in one list.
#[derive(Clone, Copy, Debug)]
pub struct Acting<'a> {
    /// What the networks' outputs mean.
    pub behaviour: Behaviour,
    /// ε `[1]`; 0 where the algorithm has none.
    pub epsilon: Id<Reals, Execution>,
    /// Draws.
    pub stream: Stream,
    /// Who plays in the place of some agents.
    pub pool: Option<&'a Pool>,
}

/// What acting leaves on its way. Agents that act in the same worlds one after the other, never at once, may share it.
#[derive(Clone, Copy, Debug)]
pub struct Workspace {
    /// Kept activations `[E, n, hidden_width]`.
    pub hidden: Id<Reals, Execution>,
    /// Q values or logits `[E, n, padded(|A|)]`; rows of agents without a network are not written.
    pub outputs: Id<Reals, Execution>,
    /// One observation as a script reads it, where there are scripts.
    pub shown: Option<Id<Singles, Execution>>,
}

impl Workspace {
    /// Buffers named `{name}.act.…`.
    pub fn new(plan: &mut Plan, name: &str, world: &World, agents: &Agents) -> Self {
        let (shape, rows) = (&agents.shape, |width: u32| [world.envs, agents.count, width]);
        let has_scripts = agents.programs.iter().any(Option::is_some);
        Self {
            hidden: plan.buffer(&format!("{name}.act.hidden"), &rows(shape.hidden_width())),
            outputs: plan.buffer(&format!("{name}.act.outputs"), &rows(padded(shape.outputs()))),
            shown: has_scripts.then(|| plan.buffer(&format!("{name}.act.shown"), &[world.env.info().obs_len])),
        }
    }
}

/// Observe and act: by networks, then by scripts in the seats that have one. Returns ln π(a_i|o_i) `[E, n]` of a softmax
/// policy, which ε-greedy agents have not, in a new buffer `{name}.act.log_prob`.
pub fn act(
    plan: &mut Plan,
    list: &mut List,
    name: &str,
    world: &World,
    agents: &Agents,
    Acting { behaviour, epsilon, stream, pool }: Acting<'_>,
    Workspace { hidden, outputs, shown }: Workspace,
) -> Option<Id<Reals, Execution>> {
    list.train(Phase::Observe, Observe { world: world.clone() });
    agents.act(list, world, pool, hidden, outputs);
    let (count, actions) = (agents.count, agents.shape.outputs());
    let &World { mask, time, action, explored, .. } = world;
    let explorers = agents.learners();
    let log_prob = match behaviour {
        Behaviour::EpsilonGreedy => {
            let q = outputs;
            let kernel =
                EpsilonGreedy { stream, agents: count, actions, explorers, q, mask, epsilon, time, action, explored };
            list.act(Phase::Act, kernel);
            None
        }
        Behaviour::Softmax => {
            let log_prob = plan.buffer(&format!("{name}.act.log_prob"), &[world.envs, count]);
            let logits = outputs;
            let (agents, to) = (count, (action, explored, log_prob));
            let kernel = SoftmaxDraw {
                stream,
                agents,
                actions,
                explorers,
                epsilon,
                logits,
                mask,
                time,
                action: to.0,
                explored: to.1,
                log_prob: to.2,
            };
            list.act(Phase::Act, kernel);
            Some(log_prob)
        }
    };
    if let Some(shown) = shown {
        let obs_len = world.env.info().obs_len;
        let programs = agents.programs.clone();
        let obs = world.obs;
        let kernel = ScriptedAct { stream, programs, actions, obs_len, obs, mask, time, shown, action, explored };
        list.act(Phase::Act, kernel);
    }
    log_prob
}
