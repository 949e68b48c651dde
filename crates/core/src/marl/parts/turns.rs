//! Games of turns in which one network moves whoever's turn it is: what a move leads to is known when its maker is to
//! move again, so a decision is what an agent learns from, not an env step.
//!
//! The return of a decision is all rewards from it to the maker's next one (a win pays its loser at the winner's move),
//! then γ times what follows from there: γ counts decisions of one's own. Moves that nobody is to learn from (of scripts,
//! of frozen agents, of a random opening) have weight 0 and are moves of the world to everybody else, and so are those of
//! earlier selves.

use super::advantage::Lookahead;
use super::pool::Past;
use super::trajectories::Trajectories;
use super::world::{MAX_AGENTS, World};
use crate::base::float::Real;
use crate::base::rng::{Stream, below, uniform};
use crate::env::api::StateRef;
use crate::marl::seats::{Controller, Members};
use crate::marl::settings::{AdvantageChoice, AlgoChoice, LearnerSettings};
use crate::nn::graph::{Compute, Execution, Id, List, Phase, Plan, Reals, Training, View, Wires, Words};

/// Whose turn it is in each environment, and whether it is learned from.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// Who moves in this env step `[E]`.
    pub mover: Id<Words, Training>,
    /// Who learns.
    pub learners: Members,
    /// Whether this env step is part of a random opening `[E]`.
    pub opened: Id<Words, Execution>,
    /// Where an earlier self plays, whose moves are not learned from.
    pub past: Past,
}

/// Whether one network learns whoever's move it is, where `agents` move in turns: then decisions are learned from. So it is
/// while nobody learns, for whoever goes on learning is one. Where a team's value is learned, episodes are compared whole or
/// players have networks of their own, it is not.
pub fn one_moves_all(settings: &LearnerSettings, algo: AlgoChoice, agents: u32) -> bool {
    let mut groups = (0..agents).filter_map(|agent| match settings.seats.of(agent) {
        Controller::Learner(group) => Some(group),
        Controller::Frozen | Controller::Scripted(_) | Controller::Human(_) => None,
    });
    let first = groups.next();
    let is_group = algo.is_policy_gradient() && settings.advantage == AdvantageChoice::Group;
    let is_apart = algo.info().team_value || is_group;
    settings.shared && !is_apart && groups.all(|group| Some(group) == first)
}

impl Turns {
    /// Buffers for `world`, named `{name}.…`.
    pub fn new(plan: &mut Plan, name: &str, world: &World, learners: Members, past: Past) -> Self {
        Self {
            mover: plan.buffer(&format!("{name}.mover"), &[world.envs]),
            learners,
            opened: plan.buffer(&format!("{name}.opened"), &[world.envs]),
            past,
        }
    }

    /// Before the worlds move: whose turn it is, and what a random opening puts in the place of their moves.
    pub fn begin(&self, list: &mut List, world: &World, settings: &LearnerSettings, seed: u64) {
        list.train(Phase::Observe, WhoseTurn { world: world.clone(), turns: *self });
        if settings.opening > 0 && settings.opening_share > 0.0 {
            let &World { mask, time, action, explored, .. } = world;
            let (stream, info) = (Stream::new(seed, "opening"), world.env.info());
            let (share, plies) = (settings.opening_share, settings.opening);
            let (agents, actions, opened) = (info.num_agents, info.num_actions, self.opened);
            list.act(
                Phase::Act,
                Opening { stream, share, plies, agents, actions, mask, time, action, explored, opened },
            );
        }
    }

    /// What those who ask read.
    pub fn wires(&self, wires: &mut Wires) {
        wires.reads(self.mover).reads(self.opened);
    }

    /// Who moved in world `e`.
    pub fn mover<R: Real>(&self, view: &View<'_, R, Training>, e: u32) -> u32 {
        view.read(self.mover)[e as usize]
    }

    /// Whether the move in world `e` is one to learn from.
    pub fn teach<R: Real>(&self, view: &View<'_, R, Training>, e: u32) -> bool {
        let mover = self.mover(view, e);
        let is_own = self.learners.contains(mover) && self.past.seat(e) != Some(mover);
        is_own && view.read(self.opened)[e as usize] == 0
    }
}

impl World {
    /// Who is to move in world `e` as it is now; 0 where nobody is.
    pub(super) fn to_move<R: Real>(&self, view: &View<'_, R, Training>, e: u32) -> u32 {
        let info = self.env.info();
        let (i, r, e) = (info.ints as usize, info.reals as usize, e as usize);
        let (ints, reals) = (view.read(self.ints), view.read(self.reals));
        self.env.to_move(StateRef { ints: &ints[e * i..(e + 1) * i], reals: &reals[e * r..(e + 1) * r] }).unwrap_or(0)
    }
}

/// Looks whose turn it is, before anybody moves.
#[derive(Clone, Debug)]
pub struct WhoseTurn {
    /// The worlds.
    pub world: World,
    /// Where it is written.
    pub turns: Turns,
}

impl Compute for WhoseTurn {
    type Side = Training;
    const NAME: &'static str = "whose_turn";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.world.ints).reads(self.world.reals).writes(self.turns.mover);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let mut mover = view.write(self.turns.mover);
        for (e, mover) in (0..).zip(mover.iter_mut()) {
            *mover = self.world.to_move(&view, e);
        }
    }
}

/// Random openings: in a share of the games the first 0 to `plies` moves, their number drawn evenly, are uniform over the
/// legal ones, whoever's they are. So positions are met that nobody who plays well would let happen.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Draws: of a game at counter (environment, episode, 0, 0), of a move at (environment, episode, step + 1, agent·256).
    pub stream: Stream,
    /// Share of the games.
    pub share: f32,
    /// Most moves.
    pub plies: u32,
    /// n.
    pub agents: u32,
    /// |A|.
    pub actions: u32,
    /// Legal actions `[E, n, |A|]`.
    pub mask: Id<Words, Execution>,
    /// Episode and step of each environment `[E, 2]`.
    pub time: Id<Words, Execution>,
    /// Chosen actions `[E, n]`.
    pub action: Id<Words, Execution>,
    /// Whether a choice was exploratory `[E, n]`.
    pub explored: Id<Words, Execution>,
    /// Whether this env step is part of an opening `[E]`.
    pub opened: Id<Words, Execution>,
}

impl Compute for Opening {
    type Side = Execution;
    const NAME: &'static str = "opening";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.mask).reads(self.time);
        wires.writes(self.action).writes(self.explored).writes(self.opened);
    }
    fn run<R: Real>(&self, view: View<'_, R, Execution>) {
        let (n, a) = (self.agents as usize, self.actions as usize);
        let (mask, time) = (view.read(self.mask), view.read(self.time));
        let (mut action, mut explored) = (view.write(self.action), view.write(self.explored));
        for (e, opened) in view.write(self.opened).iter_mut().enumerate() {
            let (number, episode, step) = (e as u32, time[e * 2], time[e * 2 + 1]);
            let game = self.stream.words([number, episode, 0, 0]);
            let is_opened = uniform(game[0]) < self.share && step < below(game[1], self.plies + 1);
            *opened = u32::from(is_opened);
            if !is_opened {
                continue;
            }
            for (agent, row) in (0..).zip(e * n..(e + 1) * n) {
                let legal = || (0..).zip(&mask[row * a..(row + 1) * a]).filter(|(_, legal)| **legal != 0);
                let count = legal().count() as u32;
                let word = self.stream.words([number, episode, step + 1, agent * 256])[0];
                if let Some((drawn, _)) = legal().nth(below(word, count.max(1)) as usize) {
                    (action[row], explored[row]) = (drawn, u32::from(count > 1));
                }
            }
        }
    }
}

/// A and the critic's target R of every decision, by GAE or n-step over the decisions of one agent: V is what the mover
/// expects. A decision whose maker is not to move again by the end of the rollout has no R yet: the last n − 1 env steps
/// are left out whatever happened in them, or those that end a game would count for more.
#[derive(Clone, Copy, Debug)]
pub struct TurnAdvantages {
    /// n.
    pub agents: u32,
    /// γ.
    pub gamma: f32,
    /// What R is.
    pub lookahead: Lookahead,
    /// The rollout.
    pub rollout: Trajectories,
    /// Who moved `[T+1, E]`.
    pub mover: Id<Words, Training>,
    /// V of the mover `[T, E]`.
    pub value: Id<Reals, Training>,
    /// V of whoever is to move when the rollout ends, in its last row `[T, E]`.
    pub next_value: Id<Reals, Training>,
    /// A `[T, E]`, 0 where the weight is.
    pub advantage: Id<Reals, Training>,
    /// R `[T, E]`.
    pub target: Id<Reals, Training>,
}

/// What follows a decision.
#[derive(Clone, Copy, PartialEq)]
enum Next<R> {
    /// The end of the game.
    End,
    /// The same agent's decision at that env step.
    Decision(usize),
    /// The same agent is to move when the rollout ends, and expects that much.
    Expected(R),
}

impl Compute for TurnAdvantages {
    type Side = Training;
    const NAME: &'static str = "turn_advantages";
    fn wires(&self, wires: &mut Wires) {
        let r = &self.rollout;
        wires.reads(r.reward).reads(r.ended).reads(r.weight).reads(self.mover).reads(self.value).reads(self.next_value);
        wires.writes(self.advantage).writes(self.target);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let r = &self.rollout;
        let (reward, ended, weight) = (view.read(r.reward), view.read(r.ended), view.read(r.weight));
        let (value, next_value, mover) = (view.read(self.value), view.read(self.next_value), view.read(self.mover));
        let (mut advantage, mut target) = (view.write(self.advantage), view.write(self.target));
        let (steps, envs, n) = (r.steps as usize, r.envs as usize, self.agents as usize);
        let gamma = R::from_f32(self.gamma);
        for e in 0..envs {
            let item = |t: usize| t * envs + e;
            // What the decision of env step t earned its maker, and what followed.
            let decision = |t: usize| {
                let agent = mover[item(t)];
                let mut earned = R::ZERO;
                for k in t..steps {
                    earned += reward[item(k) * (n + 1) + agent as usize];
                    if ended[item(k)] != R::ZERO {
                        return (earned, Next::End);
                    }
                    if mover[item(k + 1)] == agent {
                        let is_last = k + 1 == steps;
                        let next = if is_last { Next::Expected(next_value[item(k)]) } else { Next::Decision(k + 1) };
                        return (earned, next);
                    }
                }
                unreachable!("whoever has moved is to move again within n env steps, and as many are left")
            };
            let worth = |next: Next<R>| match next {
                Next::End => R::ZERO,
                Next::Decision(at) => value[item(at)],
                Next::Expected(value) => value,
            };
            let is_open = |t: usize| t + n > steps;
            let mut later = [R::ZERO; MAX_AGENTS];
            for t in (0..steps).rev() {
                let (at, agent) = (item(t), mover[item(t)] as usize);
                let a = if is_open(t) {
                    R::ZERO
                } else {
                    let (earned, next) = decision(t);
                    match self.lookahead {
                        Lookahead::Gae(lambda) => {
                            let delta = earned + gamma * worth(next) - value[at];
                            let follows = if next == Next::End { R::ZERO } else { later[agent] };
                            delta + gamma * R::from_f32(lambda) * follows
                        }
                        Lookahead::Steps(count) => {
                            let (mut sum, mut factor, mut next) = (earned, gamma, next);
                            for _ in 1..count {
                                let Next::Decision(at) = next else { break };
                                if is_open(at) {
                                    break;
                                }
                                let (earned, following) = decision(at);
                                sum += factor * earned;
                                (factor, next) = (factor * gamma, following);
                            }
                            sum + factor * worth(next) - value[at]
                        }
                    }
                };
                // The chain goes through moves that are not learned from only where they are not the agent's own.
                later[agent] = a * weight[at];
                (advantage[at], target[at]) = (later[agent], later[agent] + value[at]);
            }
        }
    }
}
