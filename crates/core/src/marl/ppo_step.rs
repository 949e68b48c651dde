//! What IPPO and MAPPO share: advantages of a rollout, passes over it in minibatches, PPO's loss, the optimiser.
//!
//! An algorithm file says what its critic reads and what a minibatch's loss is made of.

use super::parts::advantage::{Advantages, GroupRelative, Lookahead};
use super::parts::agents::{Agents, Pass};
use super::parts::clock::{BeginGradientStep, CRITIC_LR_NOW, Clock, LR_NOW};
use super::parts::critic::{Critic, CriticView, NextValues, Values};
use super::parts::minibatch::{BeginPass, Gather, Minibatch};
use super::parts::optimise::{Adam, Block, ClipNorm, TraceLoss, ZeroGradient};
use super::parts::policy_loss::{Fit, Normalise, PolicyLoss, Statistics, ValueLoss};
use super::parts::popart::PopArt;
use super::parts::trajectories::Trajectories;
use super::parts::turns::TurnAdvantages;
use super::settings::{AdvantageChoice, DeviationChoice, InactiveChoice, LearnerSettings, NormAdvChoice};
use crate::base::lanes::padded;
use crate::base::rng::Stream;
use crate::nn::graph::{Id, List, Phase, Plan, Reals, Training, Words};

/// Buffers and settings of the gradient steps of an update.
#[derive(Debug)]
pub struct PpoStep<'a> {
    /// The agents' policies.
    pub agents: &'a Agents,
    /// The critic, unless advantages are group-relative.
    pub critic: Option<&'a Critic>,
    /// Settings.
    pub settings: &'a LearnerSettings,
    /// Counters and schedules.
    pub clock: Clock,
    /// The rollout, of that many players.
    pub rollout: Trajectories,
    players: u32,
    /// What is told of the policy.
    pub statistics: Statistics,
    /// A of every item `[T, E, n or M]`.
    pub advantage: Id<Reals, Training>,
    batch: Minibatch,
    policy: Pass,
    dlogits: Id<Reals, Training>,
    scaled: Id<Reals, Training>,
    order: Id<Words, Training>,
    values: Option<ValueBuffers>,
    scratch: Id<Reals, Training>,
    trace: Id<Words, Training>,
    stream: Stream,
}

/// Buffers of values, of the rollout and of the minibatch.
#[derive(Clone, Copy, Debug)]
struct ValueBuffers {
    all: Pass,
    value: Id<Reals, Training>,
    next_value: Id<Reals, Training>,
    target: Id<Reals, Training>,
    /// What the critic reads in a minibatch; the agents' observations are there already.
    state: Option<Id<Reals, Training>>,
    batch_value: Id<Reals, Training>,
    batch_target: Id<Reals, Training>,
    batch: Pass,
    dy: Id<Reals, Training>,
}

impl ValueBuffers {
    fn new(plan: &mut Plan, critic: &Critic, items: u32, batch: u32) -> Self {
        let (heads, hidden, inputs) = (critic.heads, critic.hidden_width(), padded(critic.nets[0].inputs()));
        let mut pass = |name: &str, items: u32| Pass {
            hidden: plan.buffer(&format!("{name}.hidden"), &[items, heads.rows, hidden]),
            outputs: plan.buffer(&format!("{name}.outputs"), &[items, heads.rows, heads.width]),
        };
        let (all, in_batch) = (pass("rollout.critic", items), pass("minibatch.critic", batch));
        let m = heads.columns;
        Self {
            all,
            value: plan.buffer("rollout.value", &[items, m]),
            next_value: plan.buffer("rollout.next_value", &[items, m]),
            target: plan.buffer("rollout.target", &[items, m]),
            state: (critic.sees == CriticView::Central).then(|| plan.buffer("minibatch.state", &[batch, inputs])),
            batch_value: plan.buffer("minibatch.value", &[batch, m]),
            batch_target: plan.buffer("minibatch.target", &[batch, m]),
            batch: in_batch,
            dy: plan.buffer("minibatch.critic.gradient", &[batch, heads.rows, heads.width]),
        }
    }
}

impl<'a> PpoStep<'a> {
    /// Its buffers.
    pub fn new(
        plan: &mut Plan,
        (agents, critic): (&'a Agents, Option<&'a Critic>),
        settings: &'a LearnerSettings,
        clock: Clock,
        (rollout, players): (Trajectories, u32),
        trace: Id<Words, Training>,
        stream: Stream,
    ) -> Self {
        let (items, n, actions) = (rollout.count(), agents.count, agents.shape.outputs());
        let count = (items / settings.minibatches).max(1);
        let columns = critic.map_or(n, |critic| critic.heads.columns);
        Self {
            agents,
            critic,
            settings,
            clock,
            rollout,
            players,
            statistics: Statistics::new(plan),
            advantage: plan.buffer("rollout.advantage", &[rollout.steps, rollout.envs, columns]),
            batch: Minibatch::new(plan, count, agents, columns),
            policy: agents.pass(plan, "minibatch.policy", &[count]),
            dlogits: plan.buffer("minibatch.policy.gradient", &[count, n, padded(actions)]),
            scaled: plan.buffer("minibatch.scaled_advantage", &[count, n]),
            order: plan.buffer("rollout.order", &[items]),
            values: critic.map(|critic| ValueBuffers::new(plan, critic, items, count)),
            scratch: plan.buffer("scratch", &[0]),
            trace,
            stream,
        }
    }

    /// V of what was there and of what followed, in the rewards' unit; `reads` are the critic's inputs then and after.
    pub fn values(&self, list: &mut List, [x, next_x]: [Id<Reals, Training>; 2]) {
        let (Some(critic), Some(values)) = (self.critic, &self.values) else { return };
        let ValueBuffers { value, next_value, all: Pass { hidden, outputs: y }, .. } = *values;
        critic.forward(list, x, self.rollout.count(), hidden, y);
        list.train(Phase::Centralise, Values { heads: critic.heads, moments: critic.moments, y, value });
        let (critic, rollout) = (critic.clone(), self.rollout);
        list.train(Phase::Centralise, NextValues { critic, rollout, x: next_x, hidden, y, value, next_value });
    }

    /// A of every env step and R for the critic, from V as the update found it.
    pub fn advantages(&self, plan: &mut Plan, list: &mut List) {
        let &Self { settings, rollout, advantage, statistics, .. } = self;
        let gamma = settings.gamma;
        let (Some(critic), Some(values)) = (self.critic, &self.values) else {
            let agents = self.agents.count;
            let returns = plan.buffer("group.return", &[rollout.envs, agents]);
            let is_sample = settings.deviation == DeviationChoice::Sample;
            let group = settings.group;
            list.train(Phase::Target, GroupRelative { group, agents, gamma, is_sample, rollout, returns, advantage });
            return;
        };
        let lookahead = match settings.advantage {
            AdvantageChoice::NStep => Lookahead::Steps(settings.n_step),
            AdvantageChoice::Gae | AdvantageChoice::Group => Lookahead::Gae(settings.gae_lambda),
        };
        let &ValueBuffers { value, next_value, target, .. } = values;
        let heads = critic.heads;
        match rollout.mover {
            None => {
                let call = Advantages { heads, gamma, lookahead, rollout, value, next_value, advantage, target };
                list.train(Phase::Target, call);
            }
            Some(mover) => {
                let agents = self.players;
                let call =
                    TurnAdvantages { agents, gamma, lookahead, rollout, mover, value, next_value, advantage, target };
                list.train(Phase::Target, call);
            }
        }
        list.train(Phase::Target, Fit { columns: heads.trained, weight: rollout.weight, value, target, statistics });
        if critic.moments.is_some() {
            list.train(Phase::Target, PopArt { critic: critic.clone(), weight: rollout.weight, value, target });
        }
    }

    /// epochs × minibatches: each pass takes the rollout's items in a new order, each minibatch is one gradient step on
    /// `losses`. `critic_reads` is the rollout's buffer of what the critic reads.
    pub fn passes(&self, list: &mut List, critic_reads: Id<Reals, Training>, losses: impl Fn(&mut List)) {
        let &Self { stream, clock, order, statistics, .. } = self;
        list.repeat(self.settings.epochs, |list| {
            list.train(Phase::Sample, BeginPass { stream, clock, order, statistics });
            list.repeat(self.settings.minibatches, |list| {
                self.minibatch(list, critic_reads);
                losses(list);
                self.apply(list);
            });
        });
    }

    /// −L^CLIP of the policies π_i(·|o_i) as they are now, less the weight of their entropy.
    pub fn policy_loss(&self, list: &mut List) {
        let normalise = match (self.settings.advantage, self.settings.norm_adv) {
            (AdvantageChoice::Group, _) | (_, NormAdvChoice::Off) => Normalise::Off,
            (_, NormAdvChoice::Batch) => Normalise::Batch,
            (_, NormAdvChoice::Agent) => Normalise::Agent,
        };
        self.agents.forward_items(list, self.batch.obs, self.batch.count, self.policy);
        list.train(
            Phase::Target,
            PolicyLoss {
                agents: self.agents.count,
                actions: self.agents.shape.outputs(),
                columns: self.critic.map_or(self.agents.count, |critic| critic.heads.columns),
                clip: self.settings.clip_ratio,
                learners: self.agents.learners(),
                normalise,
                batch: self.batch,
                logits: self.policy.outputs,
                dlogits: self.dlogits,
                scaled: self.scaled,
                clock: self.clock,
                statistics: self.statistics,
            },
        );
    }

    /// c_v·(V − R)² of the critic as it is now.
    pub fn value_loss(&self, list: &mut List) {
        let (Some(critic), Some(values)) = (self.critic, &self.values) else { return };
        let x = values.state.unwrap_or(self.batch.obs);
        critic.forward(list, x, self.batch.count, values.batch.hidden, values.batch.outputs);
        list.train(
            Phase::Target,
            ValueLoss {
                agents: self.agents.count,
                actions: self.agents.shape.outputs(),
                heads: critic.heads,
                coefficient: self.settings.value_coef,
                clip: self.settings.value_clip,
                masks_inactive: self.settings.inactive == InactiveChoice::Mask,
                batch: self.batch,
                value: values.batch_value,
                target: values.batch_target,
                y: values.batch.outputs,
                dy: values.dy,
                clock: self.clock,
                statistics: self.statistics,
            },
        );
    }

    /// The next minibatch.
    fn minibatch(&self, list: &mut List, critic_reads: Id<Reals, Training>) {
        let (r, b) = (&self.rollout, &self.batch);
        list.train(Phase::Sample, BeginGradientStep { clock: self.clock });
        let mut reals =
            vec![(r.obs, b.obs), (r.log_prob, b.log_prob), (self.advantage, b.advantage), (r.weight, b.weight)];
        if let Some(values) = &self.values {
            reals.extend([(values.value, values.batch_value), (values.target, values.batch_target)]);
            reals.extend(values.state.map(|state| (critic_reads, state)));
        }
        let words = vec![(r.mask, b.mask), (r.action, b.action)];
        let minibatches = self.settings.minibatches;
        let per_update = self.settings.epochs * minibatches;
        list.train(
            Phase::Sample,
            Gather { clock: self.clock, minibatches, per_update, order: self.order, reals, words, count: b.count },
        );
    }

    /// From the gradients at the outputs to new parameters: one norm over policies and critic, one learning rate each.
    fn apply(&self, list: &mut List) {
        let (clock, count) = (self.clock, self.batch.count);
        let policies = (self.agents.block.seen_by_training(), LR_NOW, self.agents.parts());
        let critic = self.critic.map(|critic| (critic.block, CRITIC_LR_NOW, critic.parts()));
        let all: Vec<_> = std::iter::once(policies).chain(critic).collect();
        let blocks: Vec<Block<Training>> = all.iter().map(|&(block, ..)| block).collect();
        list.train(Phase::Apply, ZeroGradient { blocks: blocks.clone() });
        self.agents.backward_items(list, self.batch.obs, count, self.policy, self.dlogits, self.scratch);
        if let (Some(critic), Some(values)) = (self.critic, &self.values) {
            let x = values.state.unwrap_or(self.batch.obs);
            critic.backward(list, x, count, values.batch.hidden, values.dy, self.scratch);
        }
        list.train(Phase::Apply, ClipNorm { blocks, limit: self.settings.clip, clock });
        for (block, rate, parts) in all {
            list.train(Phase::Apply, Adam { block, parts, rate, clock });
        }
        list.train(Phase::Apply, TraceLoss { clock, trace: self.trace });
    }
}
