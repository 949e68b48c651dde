//! Evaluation: episodes on streams of their own, played with the newest parameters, which train nothing.

use std::sync::Arc;

use super::parts::acting::{Acting, Workspace, act};
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
    /// Episodes where something is drawn; where all starts are enumerated, at least this many and a whole number from
    /// each start, and one from each where nothing is drawn.
    pub episodes: u32,
    /// Whether they follow the behaviour policy rather than the greedy one.
    pub explores: bool,
}

/// Episodes on streams of their own, one per world, to the time limit.
#[derive(Debug)]
pub struct Evaluation {
    /// Its worlds.
    pub world: World,
    /// Starts that are played once each, where these are all and nothing is drawn; else 0.
    pub exhausted_starts: u32,
    /// Undiscounted return of each agent `[E, n]`.
    pub returns: Id<Reals, Training>,
    /// Raw reward parts of each agent, summed over its episode `[E, n, parts]`.
    pub parts: Id<Reals, Training>,
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
        let draws = explores || agents.programs.iter().flatten().any(|program| program.draws());
        let (starts, episodes) = match info.enumerated_starts {
            0 => (Starts::Drawn, episodes),
            count if draws => (Starts::Enumerated(count), episodes.next_multiple_of(count)),
            count => (Starts::Enumerated(count), count),
        };
        let exhausted_starts = if draws { 0 } else { info.enumerated_starts };
        let world = World::new(plan, "evaluation", Arc::clone(env), episodes, settings.agent_id);
        let epsilon = plan.buffer("evaluation.epsilon", &[1]);
        let (n, p) = (info.num_agents, info.part_names.len() as u32);
        let returns = plan.buffer("evaluation.return", &[episodes, n]);
        let parts = plan.buffer("evaluation.parts", &[episodes, n, p]);
        let sums = Sums { agents: n, world: world.clone(), returns, parts };
        let stream = Stream::new(seed, "evaluation");
        // The most likely action of a policy is the greedy one of its logits.
        let behaviour = if explores { behaviour } else { Behaviour::EpsilonGreedy };
        let acting = Acting { behaviour, epsilon, stream: Stream::new(seed, "evaluation explore"), pool: None };
        let mut list = List::default();
        list.train(Phase::Environment, ResetAll { world: world.clone(), stream, starts });
        list.train(Phase::Environment, ClearSums(sums.clone()));
        list.train(Phase::Observe, BeginEvaluation { clock, explores, epsilon });
        let space = Workspace::new(plan, "evaluation", &world, agents);
        list.repeat(info.max_steps, |list| {
            act(plan, list, "evaluation", &world, agents, acting, space);
            list.train(Phase::Environment, Step { world: world.clone(), stream, auto_reset: false });
            list.train(Phase::Store, AddSums(sums.clone()));
        });
        Self { world, exhausted_starts, returns, parts, list }
    }
}

/// What an evaluation's episodes add up to.
#[derive(Clone, Debug)]
struct Sums {
    agents: u32,
    world: World,
    returns: Id<Reals, Training>,
    parts: Id<Reals, Training>,
}

#[derive(Clone, Debug)]
struct ClearSums(Sums);

impl Compute for ClearSums {
    type Side = Training;
    const NAME: &'static str = "clear_sums";
    fn wires(&self, wires: &mut Wires) {
        wires.writes(self.0.returns).writes(self.0.parts);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        view.write(self.0.returns).fill(R::ZERO);
        view.write(self.0.parts).fill(R::ZERO);
    }
}

#[derive(Clone, Debug)]
struct AddSums(Sums);

impl Compute for AddSums {
    type Side = Training;
    const NAME: &'static str = "add_sums";
    fn wires(&self, wires: &mut Wires) {
        let sums = &self.0;
        wires.reads(sums.world.reward).reads(sums.world.parts).writes(sums.returns).writes(sums.parts);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let sums = &self.0;
        let n = sums.agents as usize;
        let (reward, mut returns) = (view.read(sums.world.reward), view.write(sums.returns));
        for (sums, rewards) in returns.chunks_exact_mut(n).zip(reward.chunks_exact(n + 1)) {
            for (sum, &r) in sums.iter_mut().zip(rewards) {
                *sum += r;
            }
        }
        for (sum, &part) in view.write(sums.parts).iter_mut().zip(view.read(sums.world.parts).iter()) {
            *sum += part;
        }
    }
}
