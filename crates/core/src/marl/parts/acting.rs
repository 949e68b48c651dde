//! The acting part of a list: agents observe, and act on their own observations alone. The only kernels here that see
//! training data are the worlds' own.

use super::agents::Agents;
use super::explore::{Behaviour, EpsilonGreedy, SoftmaxDraw};
use super::world::{Observe, World};
use crate::base::rng::Stream;
use crate::nn::graph::{Execution, Id, List, Phase, Plan, Reals};

/// How agents act in one list.
#[derive(Clone, Copy, Debug)]
pub struct Acting {
    /// What the networks' outputs mean.
    pub behaviour: Behaviour,
    /// ε `[1]`, of ε-greedy agents.
    pub epsilon: Id<Reals, Execution>,
    /// Draws.
    pub stream: Stream,
}

/// Observe and act; returns ln π(a_i|o_i) `[E, n]` of a softmax policy, which ε-greedy agents have not. New buffers are
/// named `{name}.act.…`.
pub fn act(
    plan: &mut Plan,
    list: &mut List,
    name: &str,
    world: &World,
    agents: &Agents,
    Acting { behaviour, epsilon, stream }: Acting,
) -> Option<Id<Reals, Execution>> {
    list.train(Phase::Observe, Observe { world: world.clone() });
    let outputs = agents.act(plan, list, &format!("{name}.act"), world);
    let (count, actions) = (agents.count, agents.net(0).outputs());
    let &World { mask, time, action, explored, .. } = world;
    match behaviour {
        Behaviour::EpsilonGreedy => {
            let q = outputs;
            let kernel = EpsilonGreedy { stream, agents: count, actions, q, mask, epsilon, time, action, explored };
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
    }
}
