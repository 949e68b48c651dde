//! The parts of COMA's update: targets, passes of the critic over the rollout, the policies' step.

use super::parts::agents::{Agents, Pass};
use super::parts::clock::{BeginGradientStep, CRITIC_LR_NOW, Clock, LR_NOW};
use super::parts::counterfactual::{ActionValueLoss, CounterfactualAdvantage, CounterfactualLoss};
use super::parts::joint_critic::{JointCritic, ReadJoint};
use super::parts::minibatch::{BeginPass, Gather};
use super::parts::optimise::{Adam, Block, ClipNorm, TargetRule, TraceLoss, UpdateTarget, ZeroGradient};
use super::parts::policy_loss::{Fit, Statistics};
use super::parts::td::PayTeam;
use super::parts::td_lambda::TdLambda;
use super::parts::trajectories::Trajectories;
use super::settings::{LearnerSettings, TeamRewardChoice};
use crate::base::lanes::padded;
use crate::base::rng::Stream;
use crate::nn::graph::{Id, List, Phase, Plan, Reals, Training, Words};

/// Buffers and settings of the gradient steps of an update.
#[derive(Debug)]
pub struct ComaStep<'a> {
    /// The agents' policies.
    pub agents: &'a Agents,
    /// The critic.
    pub critic: &'a JointCritic,
    /// Settings.
    pub settings: &'a LearnerSettings,
    /// Counters and schedules.
    pub clock: Clock,
    /// The rollout.
    pub rollout: Trajectories,
    /// What is told of the policy.
    pub statistics: Statistics,
    /// Whether agents' own rewards are joined to one of the team.
    joins_rewards: bool,
    /// What the critic reads `[T·E, n, …]`.
    x: Id<Reals, Training>,
    /// Of all items: by the slow copy for the targets, by the critic itself for the policies.
    all: Pass,
    target: Id<Reals, Training>,
    weight: Id<Reals, Training>,
    batch: Batch,
    order: Id<Words, Training>,
    scratch: Id<Reals, Training>,
    trace: Id<Words, Training>,
    stream: Stream,
}

/// What a gradient step of the critic looks at: M items.
#[derive(Clone, Copy, Debug)]
struct Batch {
    count: u32,
    x: Id<Reals, Training>,
    action: Id<Words, Training>,
    target: Id<Reals, Training>,
    weight: Id<Reals, Training>,
    pass: Pass,
    dq: Id<Reals, Training>,
}

impl Batch {
    fn new(plan: &mut Plan, critic: &JointCritic, count: u32) -> Self {
        let (n, width) = (critic.input.agents, padded(critic.input.actions));
        Self {
            count,
            x: plan.buffer("minibatch.joint", &[count, n, padded(critic.input.width())]),
            action: plan.buffer("minibatch.action", &[count, n]),
            target: plan.buffer("minibatch.target", &[count, n]),
            weight: plan.buffer("minibatch.weight", &[count]),
            pass: pass(plan, "minibatch.critic", critic, count),
            dq: plan.buffer("minibatch.critic.gradient", &[count, n, width]),
        }
    }
}

fn pass(plan: &mut Plan, name: &str, critic: &JointCritic, count: u32) -> Pass {
    let n = critic.input.agents;
    Pass {
        hidden: plan.buffer(&format!("{name}.hidden"), &[count, n, critic.net.hidden_width()]),
        outputs: plan.buffer(&format!("{name}.outputs"), &[count, n, padded(critic.input.actions)]),
    }
}

impl<'a> ComaStep<'a> {
    /// Its buffers.
    pub fn new(
        plan: &mut Plan,
        (agents, critic): (&'a Agents, &'a JointCritic),
        settings: &'a LearnerSettings,
        clock: Clock,
        (rollout, has_team_reward): (Trajectories, bool),
        trace: Id<Words, Training>,
        stream: Stream,
    ) -> Self {
        let (items, n) = (rollout.count(), agents.count);
        Self {
            agents,
            critic,
            settings,
            clock,
            rollout,
            statistics: Statistics::new(plan),
            joins_rewards: !has_team_reward,
            x: plan.buffer("rollout.joint", &[rollout.steps, rollout.envs, n, padded(critic.input.width())]),
            all: pass(plan, "rollout.critic", critic, items),
            target: plan.buffer("rollout.target", &[items, n]),
            weight: plan.buffer("rollout.learned", &[items]),
            batch: Batch::new(plan, critic, (items / settings.minibatches).max(1)),
            order: plan.buffer("rollout.order", &[items]),
            scratch: plan.buffer("scratch", &[0]),
            trace,
            stream,
        }
    }

    /// One reward of the team, where every agent has one of its own.
    pub fn pay_team(&self, list: &mut List) {
        let choice = self.settings.team_reward;
        if self.joins_rewards && choice != TeamRewardChoice::Given {
            let (reward, agents, members) = (self.rollout.reward, self.agents.count, self.agents.networked());
            let is_mean = choice == TeamRewardChoice::Mean;
            list.train(Phase::Sample, PayTeam { reward, agents, items: self.rollout.count(), members, is_mean });
        }
    }

    /// y of every item, from the slow copy as the update found it.
    pub fn targets(&self, plan: &mut Plan, list: &mut List) {
        let &Self { critic, rollout, x, target, weight, statistics, .. } = self;
        let (n, learners, settings) = (self.agents.count, self.agents.learners(), self.settings);
        let taken = plan.buffer("rollout.value", &[rollout.count(), n]);
        list.train(Phase::Centralise, ReadJoint { input: critic.input, rollout, x });
        let (hidden, q) = (self.all.hidden, self.all.outputs);
        critic.forward(list, critic.copy.target, learners, (x, rollout.count()), [hidden, q]);
        let (gamma, lambda, width) = (settings.gamma, settings.gae_lambda, padded(critic.input.actions));
        list.train(Phase::Target, TdLambda { agents: n, width, gamma, lambda, rollout, q, taken, target, weight });
        list.train(Phase::Target, Fit { columns: learners, weight, value: taken, target, statistics });
    }

    /// epochs × minibatches gradient steps of the critic on `loss`.
    pub fn passes(&self, list: &mut List, loss: impl Fn(&mut List)) {
        let &Self { stream, clock, order, statistics, settings, batch, critic, .. } = self;
        list.repeat(settings.epochs, |list| {
            list.train(Phase::Sample, BeginPass { stream, clock, order, statistics });
            list.repeat(settings.minibatches, |list| {
                list.train(Phase::Sample, BeginGradientStep { clock });
                let reals = vec![(self.x, batch.x), (self.target, batch.target), (self.weight, batch.weight)];
                let words = vec![(self.rollout.action, batch.action)];
                let (minibatches, per_update) = (settings.minibatches, settings.epochs * settings.minibatches + 1);
                let count = batch.count;
                list.train(Phase::Sample, Gather { clock, minibatches, per_update, order, reals, words, count });
                loss(list);
                self.apply(list, critic.block, vec![vec![critic.net.range()]], CRITIC_LR_NOW);
                let rule = TargetRule::of(settings);
                list.train(Phase::Apply, UpdateTarget { target: critic.copy, rule, clock });
                list.train(Phase::Apply, TraceLoss { clock, trace: self.trace });
            });
        });
    }

    /// (y − Q(s, (a_i, a_-i)))² of the critic as it is now, and its gradient.
    pub fn critic_loss(&self, list: &mut List) {
        let &Self { clock, statistics, batch, critic, .. } = self;
        let (agents, learners, width) = (self.agents.count, self.agents.learners(), padded(critic.input.actions));
        let Batch { count, x, action, target, weight, dq, pass: Pass { hidden, outputs: q } } = batch;
        critic.forward(list, critic.block.weights, learners, (x, count), [hidden, q]);
        list.train(
            Phase::Target,
            ActionValueLoss { agents, width, learners, action, weight, target, q, dq, clock, statistics },
        );
        list.train(Phase::Apply, ZeroGradient { blocks: vec![critic.block] });
        critic.backward(list, learners, (x, count), [hidden, dq], self.scratch);
    }

    /// One gradient step of the policies on the whole rollout, judged by the critic as its passes left it.
    pub fn policy_step(&self, plan: &mut Plan, list: &mut List) {
        let &Self { clock, statistics, critic, rollout, agents, .. } = self;
        let (items, n, actions, learners) = (rollout.count(), agents.count, critic.input.actions, agents.learners());
        let policy = agents.pass(plan, "rollout.policy", &[items]);
        let dlogits = plan.buffer("rollout.policy.gradient", &[items, n, padded(actions)]);
        let bounded = plan.buffer("rollout.policy.bounded", &[items, n, actions]);
        let advantage = plan.buffer("rollout.advantage", &[items, n]);
        list.train(Phase::Sample, BeginGradientStep { clock });
        let (hidden, q) = (self.all.hidden, self.all.outputs);
        critic.forward(list, critic.block.weights, learners, (self.x, items), [hidden, q]);
        agents.forward_items(list, rollout.obs, items, policy);
        let (epsilon, logits) = (clock.epsilon.seen_by_training(), policy.outputs);
        let (mask, action, weight) = (rollout.mask, rollout.action, self.weight);
        list.train(
            Phase::Target,
            CounterfactualAdvantage {
                agents: n,
                actions,
                learners,
                epsilon,
                mask,
                action,
                q,
                logits,
                policy: bounded,
                advantage,
            },
        );
        list.train(
            Phase::Target,
            CounterfactualLoss {
                agents: n,
                actions,
                learners,
                epsilon,
                mask,
                action,
                weight,
                advantage,
                logits,
                dlogits,
                clock,
                statistics,
            },
        );
        let block = agents.block.seen_by_training();
        list.train(Phase::Apply, ZeroGradient { blocks: vec![block] });
        agents.backward_items(list, rollout.obs, items, policy, dlogits, self.scratch);
        self.apply(list, block, agents.parts(), LR_NOW);
        list.train(Phase::Apply, TraceLoss { clock, trace: self.trace });
    }

    /// From gradients to new parameters.
    fn apply(&self, list: &mut List, block: Block<Training>, parts: Vec<Vec<std::ops::Range<usize>>>, rate: usize) {
        let clock = self.clock;
        list.train(Phase::Apply, ClipNorm { blocks: vec![block], limit: self.settings.clip, clock });
        list.train(Phase::Apply, Adam { block, parts, rate, clock });
    }
}
