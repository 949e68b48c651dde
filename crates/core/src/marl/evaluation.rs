//! Evaluation: episodes on streams of their own, played with the newest parameters, which train nothing.

use std::sync::Arc;

use super::parts::acting::{Acting, act};
use super::parts::agents::Agents;
use super::parts::clock::{BeginEvaluation, Clock};
use super::parts::explore::Behaviour;
use super::parts::world::{ResetAll, Starts, Step, World};
use super::settings::LearnerSettings;
use crate::base::float::Real;
use crate::base::rng::Stream;
use crate::env::api::Env;
use crate::nn::graph::{Compute, Id, List, Phase, Plan, Reals, Training, View, Wires};

/// How evaluations are made.
#[derive(Clone, Copy, Debug)]
pub struct Evaluations {
    /// Episodes where starts are drawn; where all starts are enumerated, at least this many unless play is greedy, and
    /// always a whole number from each start.
    pub episodes: u32,
    /// Whether they follow the behaviour policy rather than the greedy one.
    pub explores: bool,
}

/// Episodes on streams of their own, one per world, to the time limit.
#[derive(Debug)]
pub struct Evaluation {
    /// Its worlds.
    pub world: World,
    /// Whether it plays every start and nothing by chance.
    pub is_exhaustive: bool,
    /// Undiscounted return of each agent `[E, n]`.
    pub returns: Id<Reals, Training>,
    /// The list.
    pub list: List,
}

impl Evaluation {
    /// Its buffers and its list, for agents that explore by `behaviour` where evaluations explore.
    pub fn new(
        plan: &mut Plan,
        env: &Arc<dyn Env>,
        settings: &LearnerSettings,
        agents: &Agents,
        behaviour: Behaviour,
        clock: Clock,
        seed: u64,
        Evaluations { episodes, explores }: Evaluations,
    ) -> Self {
        let info = env.info();
        let (starts, episodes) = match info.enumerated_starts {
            0 => (Starts::Drawn, episodes),
            count if explores => (Starts::Enumerated(count), episodes.next_multiple_of(count)),
            count => (Starts::Enumerated(count), count),
        };
        let is_exhaustive = info.enumerated_starts > 0 && !explores;
        let world = World::new(plan, "evaluation", Arc::clone(env), episodes, settings.agent_id);
        let epsilon = plan.buffer("evaluation.epsilon", &[1]);
        let returns = plan.buffer("evaluation.return", &[episodes, info.num_agents]);
        let stream = Stream::new(seed, "evaluation");
        // The most likely action of a policy is the greedy one of its logits.
        let behaviour = if explores { behaviour } else { Behaviour::EpsilonGreedy };
        let acting = Acting { behaviour, epsilon, stream: Stream::new(seed, "evaluation explore") };
        let mut list = List::default();
        list.train(Phase::Environment, ResetAll { world: world.clone(), stream, starts });
        list.train(Phase::Environment, ClearReturns { returns });
        list.train(Phase::Observe, BeginEvaluation { clock, explores, epsilon });
        list.repeat(info.max_steps, |list| {
            act(plan, list, "evaluation", &world, agents, acting);
            list.train(Phase::Environment, Step { world: world.clone(), stream, auto_reset: false });
            list.train(Phase::Store, AddReturns { agents: info.num_agents, reward: world.reward, returns });
        });
        Self { world, is_exhaustive, returns, list }
    }
}

#[derive(Debug)]
struct ClearReturns {
    returns: Id<Reals, Training>,
}

impl Compute for ClearReturns {
    type Side = Training;
    const NAME: &'static str = "clear_returns";
    fn wires(&self, wires: &mut Wires) {
        wires.writes(self.returns);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        view.write(self.returns).fill(R::ZERO);
    }
}

#[derive(Debug)]
struct AddReturns {
    agents: u32,
    reward: Id<Reals, Training>,
    returns: Id<Reals, Training>,
}

impl Compute for AddReturns {
    type Side = Training;
    const NAME: &'static str = "add_returns";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.reward).writes(self.returns);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (reward, mut returns) = (view.read(self.reward), view.write(self.returns));
        let n = self.agents as usize;
        for (sums, rewards) in returns.chunks_exact_mut(n).zip(reward.chunks_exact(n + 1)) {
            for (sum, &r) in sums.iter_mut().zip(rewards) {
                *sum += r;
            }
        }
    }
}
