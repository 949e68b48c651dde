//! What all Q-learners' gradient steps share: the minibatch, the agents' utilities now and next, loss and optimiser.
//!
//! An algorithm file says what happens between the utilities and the loss.

use super::parts::agents::{Agents, Pass};
use super::parts::clock::{BeginGradientStep, Clock, LR_NOW};
use super::parts::optimise::{Adam, Block, ClipNorm, Target, TargetRule, TraceLoss, UpdateTarget, ZeroGradient};
use super::parts::replay::{Replay, Sample, Segments};
use super::parts::td::{Columns, Dims, Loss, NextValue, PayTeam, RewardMoments, Taken, TakenBackward, TdTarget};
use super::qmix::MixingNetwork;
use super::seats::Members;
use super::settings::{LearnerSettings, TeamRewardChoice};
use crate::base::rng::Stream;
use crate::nn::graph::{Doubles, Id, List, Phase, Plan, Reals, Training, Words};

/// Buffers and settings of a gradient step.
#[derive(Debug)]
pub struct QStep<'a> {
    /// The agents' networks.
    pub agents: &'a Agents,
    /// Their slow copy.
    pub copy: Target,
    /// Settings.
    pub settings: &'a LearnerSettings,
    /// Counters and schedules.
    pub clock: Clock,
    /// The ring.
    pub ring: Segments,
    /// The minibatch.
    pub batch: Segments,
    /// B, T, n, N, |A|.
    pub dims: Dims,
    /// q_i = Q_i(o_i, a_i) of the members `[B, T, N]`.
    pub taken: Id<Reals, Training>,
    /// q_i' = Q_i⁻(o_i', a_i') `[B, T, N]`.
    pub next: Id<Reals, Training>,
    /// ∂L/∂q_i `[B, T, N]`.
    pub dtaken: Id<Reals, Training>,
    /// Working space of backward passes.
    pub scratch: Id<Reals, Training>,
    online: Pass,
    target: Pass,
    dq: Id<Reals, Training>,
    slot: Id<Words, Training>,
    moments: Id<Doubles, Training>,
    trace: Id<Words, Training>,
    stream: Stream,
}

impl<'a> QStep<'a> {
    /// Its buffers.
    pub fn new(
        plan: &mut Plan,
        (agents, copy): (&'a Agents, Target),
        members: Members,
        settings: &'a LearnerSettings,
        clock: Clock,
        Replay { ring, batch, reward_moments }: Replay,
        trace: Id<Words, Training>,
        stream: Stream,
    ) -> Self {
        let (b, t, n) = (batch.count, batch.steps, agents.count);
        let values = [b, t, members.count()];
        let online = agents.pass(plan, "online", &[b, t + 1]);
        let target = agents.pass(plan, "target", &[b, t + 1]);
        let width = crate::base::lanes::padded(agents.shape.outputs());
        Self {
            agents,
            copy,
            settings,
            clock,
            ring,
            batch,
            dims: Dims { segments: b, steps: t, agents: n, members, actions: agents.shape.outputs() },
            taken: plan.buffer("taken", &values),
            next: plan.buffer("next", &values),
            dtaken: plan.buffer("taken.gradient", &values),
            scratch: plan.buffer("scratch", &[0]),
            online,
            target,
            dq: plan.buffer("online.q.gradient", &[b, t + 1, n, width]),
            slot: plan.buffer("batch.slot", &[b]),
            moments: reward_moments,
            trace,
            stream,
        }
    }

    /// Draws the minibatch for `columns` of values.
    pub fn sample(&self, list: &mut List, columns: Columns) {
        list.train(Phase::Sample, BeginGradientStep { clock: self.clock });
        let (stream, ring, batch, clock, slot) = (self.stream, self.ring, self.batch, self.clock, self.slot);
        list.train(Phase::Sample, Sample { stream, ring, batch, clock, slot });
        let team = self.settings.team_reward;
        if columns == Columns::Team && team != TeamRewardChoice::Given {
            let (reward, agents, members) = (batch.reward, self.dims.agents, self.dims.members);
            let is_mean = team == TeamRewardChoice::Mean;
            list.train(Phase::Sample, PayTeam { reward, agents, items: batch.count, members, is_mean });
        }
        if self.settings.standardise {
            list.train(Phase::Sample, RewardMoments { moments: self.moments, batch, dims: self.dims, columns });
        }
    }

    /// q_i(now) from the online networks and q_i(next) from the target networks.
    pub fn utilities(&self, list: &mut List) {
        let (dims, batch) = (self.dims, self.batch);
        let steps = batch.steps;
        let online = self.agents.block.weights.seen_by_training();
        // Only double Q-learning asks the online networks about o'.
        let times = if self.settings.double_q { 0..steps + 1 } else { 0..steps };
        self.agents.forward(list, Phase::Sample, online, dims.members, &batch, times, self.online);
        self.agents.forward(list, Phase::Sample, self.copy.target, dims.members, &batch, 1..steps + 1, self.target);
        list.train(Phase::Sample, Taken { dims, q: self.online.outputs, batch, value: self.taken });
        let chooser = if self.settings.double_q { self.online.outputs } else { self.target.outputs };
        list.train(Phase::Sample, NextValue { dims, chooser, target_q: self.target.outputs, batch, next: self.next });
    }

    /// y = r + γ·(1 − terminal)·`next`, L = mean (y − `value`)² and ∂L/∂`value`; `columns` of values.
    pub fn td_error(
        &self,
        plan: &mut Plan,
        list: &mut List,
        columns: Columns,
        value: Id<Reals, Training>,
        next: Id<Reals, Training>,
        dvalue: Id<Reals, Training>,
    ) {
        let (dims, batch) = (self.dims, self.batch);
        let target = plan.buffer("td_target", &[batch.count, batch.steps, dims.columns(columns)]);
        let moments = self.settings.standardise.then_some(self.moments);
        list.train(
            Phase::Target,
            TdTarget { dims, columns, gamma: self.settings.gamma, moments, batch, next, y: target },
        );
        let hysteresis = self.settings.hysteresis;
        list.train(Phase::Target, Loss { dims, columns, hysteresis, batch, value, target, dvalue, clock: self.clock });
    }

    /// Gradients to zero, before anything adds to them.
    pub fn zero(&self, list: &mut List, mixer: Option<&MixingNetwork>) {
        list.train(Phase::Apply, ZeroGradient { blocks: self.blocks(mixer) });
    }

    /// From ∂L/∂q_i to new parameters of agents and mixer.
    pub fn apply(&self, list: &mut List, mixer: Option<&MixingNetwork>) {
        let clock = self.clock;
        list.train(
            Phase::Apply,
            TakenBackward { dims: self.dims, dtaken: self.dtaken, batch: self.batch, dq: self.dq },
        );
        self.agents.backward(list, &self.batch, self.online, self.dq, self.scratch);
        let blocks = self.blocks(mixer);
        list.train(Phase::Apply, ClipNorm { blocks: blocks.clone(), limit: self.settings.clip, clock });
        let mixing = mixer.map(|mixer| vec![vec![0..mixer.layout.len as usize]]);
        for (block, parts) in blocks.into_iter().zip(std::iter::once(self.agents.parts()).chain(mixing)) {
            list.train(Phase::Apply, Adam { block, parts, rate: LR_NOW, clock });
        }
        let rule = TargetRule::of(self.settings);
        for target in std::iter::once(self.copy).chain(mixer.map(|mixer| mixer.copy)) {
            list.train(Phase::Apply, UpdateTarget { target, rule, clock });
        }
        list.train(Phase::Apply, TraceLoss { clock, trace: self.trace });
    }

    fn blocks(&self, mixer: Option<&MixingNetwork>) -> Vec<Block<Training>> {
        std::iter::once(self.agents.block.seen_by_training()).chain(mixer.map(|mixer| mixer.block)).collect()
    }
}
