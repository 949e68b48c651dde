//! Value-based learners (IQL, VDN, QMIX): ε-greedy rollouts into replay, gradient steps on minibatches of it.

use super::learner::{Built, Central, Common, Experience};
use super::parts::acting::{Acting, Workspace, act};
use super::parts::clock::BeginUpdate;
use super::parts::explore::Behaviour;
use super::parts::optimise::{Block, Target};
use super::parts::replay::{Replay, Segments, Store};
use super::parts::turn_replay::StoreTurn;
use super::parts::world::Step;
use super::q_step::QStep;
use super::qmix::MixingNetwork;
use super::settings::{AlgoChoice, LearnerSettings, PositivityChoice};
use super::{iql, qmix, vdn};
use crate::base::rng::Stream;
use crate::env::api::EnvInfo;
use crate::nn::graph::{List, Phase, Plan};
use crate::nn::layers::{Layout, Mixer, Positivity};

/// Lists and buffers of `algo`.
pub(super) fn build(plan: &mut Plan, algo: AlgoChoice, common: &Common<'_>) -> Built {
    let &Common { settings, seed, clock, world, agents, tally, turns, pool, environment } = common;
    let info = world.env.info();
    let (segment, in_turns) = (if turns.is_some() { 1 } else { info.segment_steps() }, turns.is_some());
    let replay = Replay {
        ring: Segments::new(plan, "replay", world, settings.buffer, segment, in_turns),
        batch: Segments::new(plan, "batch", world, settings.batch, segment, in_turns),
        reward_moments: plan.buffer("reward.moments", &[3]),
    };
    let store_turn = turns.map(|turns| StoreTurn::new(plan, world, turns, replay.ring, clock));

    let mut rollout = List::default();
    rollout.train(Phase::Observe, BeginUpdate { clock });
    if let Some(pool) = pool {
        pool.keep(&mut rollout, agents, clock);
    }
    let stream = Stream::new(seed, "explore");
    let acting = Acting { behaviour: Behaviour::EpsilonGreedy, epsilon: clock.epsilon, stream, pool };
    let space = Workspace::new(plan, "train", world, agents);
    rollout.repeat(settings.rollout, |list| {
        act(plan, list, "train", world, agents, acting, space);
        if let Some(turns) = turns {
            turns.begin(list, world, settings, seed);
        }
        list.train(Phase::Environment, Step { world: world.clone(), stream: environment, auto_reset: true });
        let timeout_terminal = settings.timeout_terminal;
        match store_turn.clone() {
            None => {
                list.train(Phase::Store, Store { world: world.clone(), ring: replay.ring, clock, timeout_terminal });
            }
            Some(store_turn) => list.train(Phase::Store, store_turn),
        }
        list.train(Phase::Store, tally.clone());
    });

    // In turns whoever moves is the one agent there is to learn from.
    let mover = turns.map(|_| agents.as_mover());
    let agents = mover.as_ref().unwrap_or(agents);
    let copy = Target::new(plan, "agents", agents.block.weights.seen_by_training(), agents.layout.len);
    // Frozen agents learn nothing, but the team's value still counts what they do; scripts have no value to count.
    let members = if algo.info().team_value { agents.networked() } else { agents.learners() };
    let mixer = algo.info().has_mixer.then(|| mixing_network(plan, info, members.count(), settings));
    let mut gradient_steps = List::default();
    let sampling = Stream::new(seed, "replay");
    let step = QStep::new(plan, (agents, copy), members, settings, clock, replay, tally.trace, sampling);
    gradient_steps.repeat(settings.grad_steps, |list| match (&mixer, algo.info().team_value) {
        (Some(mixer), _) => qmix::gradient_step(plan, list, &step, mixer),
        (None, true) => vdn::gradient_step(plan, list, &step),
        (None, false) => iql::gradient_step(plan, list, &step),
    });
    let targets = std::iter::once(copy).chain(mixer.iter().map(|mixer| mixer.copy)).collect();
    let central = match mixer {
        Some(mixer) => Central::Mixer(mixer),
        None if algo.info().team_value => Central::Sum,
        None => Central::Nothing,
    };
    Built { central, targets, experience: Experience::Replay(replay), rollout, gradient_steps }
}

fn mixing_network(plan: &mut Plan, info: &EnvInfo, members: u32, settings: &LearnerSettings) -> MixingNetwork {
    let positivity = match (settings.monotone, settings.positivity) {
        (false, _) => Positivity::Free,
        (true, PositivityChoice::Abs) => Positivity::Abs,
        (true, PositivityChoice::Softplus) => Positivity::Softplus,
    };
    let mut layout = Layout::default();
    let s = info.state_len;
    let (embed, layers, hidden) = (settings.embed, settings.hyper_layers, settings.hyper_hidden);
    let net = Mixer::new(&mut layout, "mixer", members, s, embed, layers, hidden, positivity);
    let block = Block::new(plan, "mixer", layout.len, 1);
    let copy = Target::new(plan, "mixer", block.weights, layout.len);
    MixingNetwork { net, layout, block, copy }
}
