//! The acting part of a list: agents observe, and act on their own observations alone. The only kernels here that see
//! training data are the worlds' own.

use super::agents::Agents;
use super::explore::{Behaviour, EpsilonGreedy, SoftmaxDraw};
use super::pool::Pool;
use super::scripted::ScriptedAct;
use super::world::{Observe, World};
use crate::base::rng::Stream;
use crate::nn::graph::{Execution, Id, List, Phase, Plan, Reals};

/// How agents act in one list.
#[derive(Clone, Copy, Debug)]
pub struct Acting<'a> {
    /// What the networks' outputs mean.
    pub behaviour: Behaviour,
    /// ε `[1]`, of ε-greedy agents.
    pub epsilon: Id<Reals, Execution>,
    /// Draws.
    pub stream: Stream,
    /// Who plays in the place of some agents.
    pub pool: Option<&'a Pool>,
}

/// Observe and act: by networks, then by scripts in the seats that have one. Returns ln π(a_i|o_i) `[E, n]` of a softmax
/// policy, which ε-greedy agents have not. New buffers are
/// named `{name}.act.…`.
pub fn act(
    plan: &mut Plan,
    list: &mut List,
    name: &str,
    world: &World,
    agents: &Agents,
    Acting { behaviour, epsilon, stream, pool }: Acting<'_>,
) -> Option<Id<Reals, Execution>> {
    list.train(Phase::Observe, Observe { world: world.clone() });
    let outputs = agents.act(plan, list, &format!("{name}.act"), world, pool);
    let (count, actions) = (agents.count, agents.shape.outputs());
    let &World { mask, time, action, explored, .. } = world;
    let log_prob = match behaviour {
        Behaviour::EpsilonGreedy => {
            let q = outputs;
            let explorers = agents.learners();
            let kernel =
                EpsilonGreedy { stream, agents: count, actions, explorers, q, mask, epsilon, time, action, explored };
            list.act(Phase::Act, kernel);
            None
        }
        Behaviour::Softmax => {
            let log_prob = plan.buffer(&format!("{name}.act.log_prob"), &[world.envs, count]);
            let logits = outputs;
            let kernel = SoftmaxDraw { stream, agents: count, actions, logits, mask, time, action, explored, log_prob };
            list.act(Phase::Act, kernel);
            Some(log_prob)
        }
    };
    if agents.programs.iter().any(Option::is_some) {
        let obs_len = world.env.info().obs_len;
        let shown = plan.buffer(&format!("{name}.act.shown"), &[obs_len]);
        let programs = agents.programs.clone();
        let obs = world.obs;
        let kernel = ScriptedAct { stream, programs, actions, obs_len, obs, mask, time, shown, action, explored };
        list.act(Phase::Act, kernel);
    }
    log_prob
}
