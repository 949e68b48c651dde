//! Matches: games of the greedy networks against scripts, as first and as second player, with the newest parameters and
//! on streams of their own. They train nothing.
//!
//! A game of two equal players says nothing about how well either plays, and who begins has an advantage: strength is
//! what is left against fixed opponents from either side.

use std::sync::Arc;

use super::parts::acting::{Acting, Workspace, act};
use super::parts::agents::Agents;
use super::parts::explore::Behaviour;
use super::parts::world::{ResetAll, Starts, Step, World};
use super::settings::LearnerSettings;
use crate::base::float::Real;
use crate::base::rng::Stream;
use crate::env::api::Env;
use crate::env::script::Script;
use crate::nn::graph::{Compute, Id, List, Phase, Plan, Training, View, Wires, Words};

/// Whom learners are measured against: chance, the first thing a beginner sees, and what most people lose to.
pub const OPPONENTS: [Script; 3] = [Script::Uniform, Script::OnePly, Script::Negamax4];

/// Outcomes of a pairing: won, drawn, lost, seen from the network.
pub const OUTCOMES: usize = 3;

/// Pairings of networks with scripts, played one after the other in the same worlds.
#[derive(Debug)]
pub struct Matches {
    /// Opponent, and the seat of the network.
    pub pairings: Vec<(Script, u32)>,
    /// Games of a pairing.
    pub games: u32,
    /// Games won, drawn and lost in each pairing `[pairings, 3]`.
    pub results: Id<Words, Training>,
    /// The list.
    pub list: List,
}

impl Matches {
    /// Its buffers and its list; `None` where agents do not move in turns, nobody acts with a network, no script plays, or
    /// no games are asked for.
    pub fn new(
        plan: &mut Plan,
        env: &Arc<dyn Env>,
        settings: &LearnerSettings,
        agents: &Agents,
        seed: u64,
    ) -> Option<Self> {
        let (info, games) = (env.info(), settings.match_games);
        let with_network = agents.networked();
        if !info.in_turns || games == 0 || with_network.count() == 0 {
            return None;
        }
        let scripts = OPPONENTS.into_iter().filter(|script| env.scripts().contains(script));
        let pairings: Vec<_> = scripts.flat_map(|script| with_network.iter().map(move |seat| (script, seat))).collect();
        let players: Vec<_> = pairings.iter().map(|&(script, seat)| agents.against(&**env, script, seat)).collect();
        let world = World::new(plan, "match", Arc::clone(env), games, settings.agent_id);
        let space = Workspace::new(plan, "match", &world, players.first()?);
        let results = plan.buffer("match.results", &[pairings.len() as u32, OUTCOMES as u32]);
        let epsilon = plan.buffer("match.epsilon", &[1]);
        let mut list = List::default();
        list.train(Phase::Environment, ClearResults { results });
        for (first, (&(script, seat), players)) in (0..).zip(pairings.iter().zip(&players)) {
            let name = format!("match.{}.{}", script.info().id, seat + 1);
            let stream = Stream::new(seed, &name);
            // The most likely action of a policy is the greedy one of its logits.
            let acting = Acting { behaviour: Behaviour::EpsilonGreedy, epsilon, stream, pool: None };
            list.train(Phase::Environment, ResetAll { world: world.clone(), stream, starts: Starts::Drawn });
            list.repeat(info.max_steps, |list| {
                act(plan, list, &name, &world, players, acting, space);
                list.train(Phase::Environment, Step { world: world.clone(), stream, auto_reset: false });
                list.train(Phase::Store, CountOutcomes { world: world.clone(), seat, first, games, results });
            });
        }
        Some(Self { pairings, games, results, list })
    }
}

#[derive(Clone, Debug)]
struct ClearResults {
    results: Id<Words, Training>,
}

impl Compute for ClearResults {
    type Side = Training;
    const NAME: &'static str = "clear_results";
    fn wires(&self, wires: &mut Wires) {
        wires.writes(self.results);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        view.write(self.results).fill(0);
    }
}

/// Counts the games that this env step has ended, by what it paid one seat.
#[derive(Clone, Debug)]
pub(super) struct CountOutcomes {
    pub(super) world: World,
    pub(super) seat: u32,
    /// Pairing of the first world.
    pub(super) first: u32,
    /// Worlds of a pairing, one after the other.
    pub(super) games: u32,
    /// Won, drawn and lost of each pairing `[pairings, 3]`.
    pub(super) results: Id<Words, Training>,
}

impl Compute for CountOutcomes {
    type Side = Training;
    const NAME: &'static str = "count_outcomes";
    fn wires(&self, wires: &mut Wires) {
        let w = &self.world;
        wires.reads(w.reward).reads(w.live).reads(w.ended).writes(self.results);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let w = &self.world;
        let (reward, live, ended) = (view.read(w.reward), view.read(w.live), view.read(w.ended));
        let mut results = view.write(self.results);
        let width = w.env.info().num_agents as usize + 1;
        for e in (0..w.envs as usize).filter(|&e| live[e] != 0 && ended[e] != 0) {
            let paid = reward[e * width + self.seat as usize];
            let outcome = if paid > R::ZERO { 0 } else { 1 + usize::from(paid < R::ZERO) };
            let pairing = self.first as usize + e / self.games as usize;
            results[pairing * OUTCOMES + outcome] += 1;
        }
    }
}
