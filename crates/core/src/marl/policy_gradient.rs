//! Policy-gradient learners (IPPO, MAPPO, COMA): rollouts drawn from the agents' own policies, several passes over each, then
//! it is thrown away.

use super::coma_step::ComaStep;
use super::learner::{Built, Central, Common, Experience, activation};
use super::parts::acting::{Acting, Workspace, act};
use super::parts::clock::BeginUpdate;
use super::parts::critic::{Critic, CriticView};
use super::parts::explore::Behaviour;
use super::parts::joint_critic::{JointCritic, JointInput};
use super::parts::policy_loss::Statistics;
use super::parts::trajectories::{Record, Trajectories};
use super::parts::world::{ResetAll, Starts, Step, input_len};
use super::ppo_step::PpoStep;
use super::settings::{AdvantageChoice, AlgoChoice, InactiveChoice};
use super::{coma, ippo, mappo};
use crate::base::rng::Stream;
use crate::nn::graph::{List, Phase, Plan};

/// A rollout and what a pass over it told.
#[derive(Clone, Copy, Debug)]
pub struct OnPolicy {
    /// The env steps of this update.
    pub rollout: Trajectories,
    /// How the policy moved, how well the critic knew.
    pub statistics: Statistics,
}

/// Lists and buffers of `algo`.
pub(super) fn build(plan: &mut Plan, algo: AlgoChoice, common: &Common<'_>) -> Built {
    let &Common { settings, seed, clock, world, agents, tally, turns, pool, environment } = common;
    let info = world.env.info();
    let sees = algo.info().critic.expect("policy gradients name what their critic would see");
    let is_group = algo.info().is_ppo() && settings.advantage == AdvantageChoice::Group;
    let to = Trajectories::new(plan, world, settings.rollout, turns.is_some());

    let mut rollout = List::default();
    rollout.train(Phase::Observe, BeginUpdate { clock });
    if let Some(pool) = pool {
        pool.keep(&mut rollout, agents, clock);
    }
    if is_group {
        let starts = Starts::Groups { of: settings.group, clock };
        rollout.train(Phase::Environment, ResetAll { world: world.clone(), stream: environment, starts });
    }
    let stream = Stream::new(seed, "explore");
    let acting = Acting { behaviour: Behaviour::Softmax, epsilon: clock.epsilon, stream, pool };
    let space = Workspace::new(plan, "train", world, agents);
    rollout.repeat(settings.rollout, |list| {
        let log_prob =
            act(plan, list, "train", world, agents, acting, space).expect("a softmax policy has log-probabilities");
        if let Some(turns) = turns {
            turns.begin(list, world, settings, seed);
        }
        list.train(Phase::Environment, Step { world: world.clone(), stream: environment, auto_reset: !is_group });
        let timeout_terminal = settings.timeout_terminal;
        let zero_inactive = settings.inactive == InactiveChoice::Zero;
        list.train(
            Phase::Store,
            Record { world: world.clone(), log_prob, to, clock, timeout_terminal, zero_inactive, turns },
        );
        list.train(Phase::Store, tally.clone());
    });

    let hidden = vec![settings.hidden; settings.layers as usize];
    let mut gradient_steps = List::default();
    let order = Stream::new(seed, "order");
    if algo.info().is_counterfactual {
        let input = JointInput { state: info.state_len, agents: info.num_agents, actions: info.num_actions };
        let critic = JointCritic::new(plan, input, &hidden, activation(settings));
        let rewards = (to, info.team_reward);
        let step = ComaStep::new(plan, (agents, &critic), settings, clock, rewards, tally.trace, order);
        coma::gradient_steps(plan, &mut gradient_steps, &step);
        let experience = Experience::OnPolicy(OnPolicy { rollout: to, statistics: step.statistics });
        let targets = vec![critic.copy];
        return Built { central: Central::Counterfactual(critic), targets, experience, rollout, gradient_steps };
    }
    let inputs = match sees {
        CriticView::Local => input_len(&*world.env, world.agent_id),
        CriticView::Central => info.state_len,
    };
    // In turns whoever moves is the one agent there is to learn from.
    let mover = turns.map(|_| agents.as_mover());
    let agents = mover.as_ref().unwrap_or(agents);
    let (n, shared, normalised) = (agents.count, settings.shared, settings.value_norm);
    let critic = (!is_group).then(|| {
        Critic::new(
            plan,
            sees,
            (n, inputs),
            agents.learners(),
            &hidden,
            activation(settings),
            shared,
            info.team_reward,
            normalised,
        )
    });
    let step =
        PpoStep::new(plan, (agents, critic.as_ref()), settings, clock, (to, info.num_agents), tally.trace, order);
    match sees {
        CriticView::Local => ippo::gradient_steps(plan, &mut gradient_steps, &step),
        CriticView::Central => mappo::gradient_steps(plan, &mut gradient_steps, &step),
    }
    let experience = Experience::OnPolicy(OnPolicy { rollout: to, statistics: step.statistics });
    let central = critic.map_or(Central::Nothing, Central::Critic);
    Built { central, targets: Vec::new(), experience, rollout, gradient_steps }
}
